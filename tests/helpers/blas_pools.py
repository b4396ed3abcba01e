"""What the BLAS libraries of this process are doing."""

from __future__ import annotations

from threadpoolctl import threadpool_info


def blas_threads(_=None):
    """Return the number of threads of every BLAS by its file; workers pass a chunk."""
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {pool["filepath"]: pool["num_threads"] for pool in pools}
