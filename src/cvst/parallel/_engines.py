"""Where the workers are, by what joblib's ``parallel_config`` says here and now."""

from __future__ import annotations

from typing import Any, Literal

import joblib

from cvst.parallel._cluster import Cluster, Engine

__all__ = [
    "cluster_with",
    "effective_n_jobs",
    "on_cluster",
    "whereabouts",
    "works_here",
]

Whereabouts = Literal["here", "threads", "files", "cluster", "elsewhere"]


def effective_n_jobs(n_jobs: int | None) -> int:
    """Return the number of workers that ``n_jobs`` means here and now.

    On a cluster None means all of it, and so does -1.
    """
    if n_jobs == 1 or not on_cluster():
        return int(joblib.effective_n_jobs(n_jobs))
    engine = _engine(_backend(None))
    n_workers = max(1, engine.n_workers())
    engine.close()
    return n_workers if n_jobs is None or n_jobs < 0 else min(n_jobs, n_workers)


def on_cluster() -> bool:
    """Return whether joblib's backend is one whose engine is known here."""
    return _kind(_backend(None)) is not None


def works_here(n_jobs: int | None) -> bool:
    """Return whether :func:`run_chunks` works in this thread.

    It does on a cluster too, where what is to be done elsewhere goes through
    :class:`Cluster`.
    """
    return on_cluster() or effective_n_jobs(n_jobs) == 1


def whereabouts(
    n_jobs: int | None, prefer: Literal["threads", "processes"]
) -> Whereabouts:
    """Return where the workers are.

    Returns
    -------
    {"here", "threads", "files", "cluster", "elsewhere"}
        In this thread, in other threads, in processes that share files with this one,
        on a cluster whose engine is known, or behind a backend of which nothing is
        known.
    """
    if on_cluster() and n_jobs != 1:
        return "cluster"
    if works_here(n_jobs):
        return "here"
    backend = _backend(prefer)
    if getattr(backend, "supports_sharedmem", False):
        return "threads"
    # Ray's is a subclass of joblib's own, and shares no files.
    own = joblib.parallel.BACKENDS["loky"], joblib.parallel.BACKENDS["multiprocessing"]
    return "files" if type(backend) in own else "elsewhere"


def cluster_with(rows: Any, n_jobs: int | None) -> Cluster:
    """Return the cluster that joblib's backend stands for, with the rows of a race."""
    return Cluster(_engine(_backend(None)), rows, n_jobs)


def _backend(prefer: Literal["threads", "processes"] | None) -> Any:
    backend, _ = joblib.parallel.get_active_backend(prefer=prefer)
    return backend


def _kind(backend: Any) -> Literal["dask", "ray"] | None:
    # By name: neither of them need be installed.
    known = {"DaskDistributedBackend": "dask", "RayBackend": "ray"}
    for parent in type(backend).__mro__:
        kind = known.get(parent.__name__)
        if kind == "dask":
            return "dask"
        if kind == "ray":
            return "ray"
    return None


def _engine(backend: Any) -> Engine:
    if _kind(backend) == "dask":
        from cvst.parallel._dask import DaskEngine

        return DaskEngine(backend.client, dict(backend.submit_kwargs))
    from cvst.parallel._ray import RayEngine

    return RayEngine(getattr(backend, "ray_remote_args", None))
