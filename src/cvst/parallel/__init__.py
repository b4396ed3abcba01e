"""Running chunks of work side by side: the only package that imports joblib.

Dask, Ray and other joblib backends are chosen by the user's
``joblib.parallel_config``; the hints given here are soft. Dask and Ray are imported
where they are chosen, and only then.
"""

from cvst.parallel._chunks import in_chunks, run_chunks
from cvst.parallel._cluster import Cluster
from cvst.parallel._crew import Crew
from cvst.parallel._engines import (
    cluster_with,
    effective_n_jobs,
    on_cluster,
    whereabouts,
    works_here,
)
from cvst.parallel._files import OnFile, on_file
from cvst.parallel._guard import Guard, called_within
from cvst.parallel._pickling import portable
from cvst.parallel._process_state import (
    filtered_warnings,
    kept_filters,
    one_blas_thread,
    without_warnings,
)
from cvst.parallel._single import packed
from cvst.parallel._spare import others_running, sharing_processors, spare_threads
from cvst.parallel._waking import wake_workers

__all__ = [
    "Cluster",
    "Crew",
    "Guard",
    "OnFile",
    "called_within",
    "cluster_with",
    "effective_n_jobs",
    "filtered_warnings",
    "in_chunks",
    "kept_filters",
    "on_cluster",
    "on_file",
    "one_blas_thread",
    "others_running",
    "packed",
    "portable",
    "run_chunks",
    "sharing_processors",
    "spare_threads",
    "wake_workers",
    "whereabouts",
    "without_warnings",
    "works_here",
]
