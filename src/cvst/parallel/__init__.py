"""Running chunks of work side by side: the only package that imports joblib.

Dask, Ray and other joblib backends are chosen by the user's
``joblib.parallel_config``; the hints given here are soft.
"""

from cvst.parallel._chunks import (
    effective_n_jobs,
    in_chunks,
    run_chunks,
    workers_share_files,
)
from cvst.parallel._files import OnFile, memory_mapped, on_file
from cvst.parallel._guard import Guard
from cvst.parallel._pickling import portable
from cvst.parallel._process_state import filtered_warnings, one_blas_thread

__all__ = [
    "Guard",
    "OnFile",
    "effective_n_jobs",
    "filtered_warnings",
    "in_chunks",
    "memory_mapped",
    "on_file",
    "one_blas_thread",
    "portable",
    "run_chunks",
    "workers_share_files",
]
