"""Running chunks of work side by side: the only module that imports joblib.

Dask, Ray and other joblib backends are chosen by the user's
``joblib.parallel_config``; the hints given here are soft.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

__all__ = [
    "OnFile",
    "effective_n_jobs",
    "in_chunks",
    "memory_mapped",
    "on_file",
    "run_chunks",
    "workers_share_files",
]

T = TypeVar("T")

# Arrays below this size travel faster inside the task than through a file.
SMALLEST_MAPPED_BYTES = 1_000_000

# Chunks per worker: enough to balance uneven work, few enough to keep overhead low.
CHUNKS_PER_WORKER = 8


def effective_n_jobs(n_jobs: int | None) -> int:
    """Return the number of workers that ``n_jobs`` means here and now."""
    return int(joblib.effective_n_jobs(n_jobs))


def in_chunks(groups: Sequence[list[int]], n_workers: int) -> list[list[list[int]]]:
    """Cut groups of configurations into chunks, of which each worker gets several.

    Groups stay whole, and in order: what is computed together never depends on the
    number of workers. No chunk is larger than a worker's eighth of all, or than one
    group.

    Examples
    --------
    >>> in_chunks([[0, 1], [2], [3], [4]], n_workers=1)
    [[[0, 1]], [[2]], [[3]], [[4]]]
    """
    n_members = sum(map(len, groups))
    target = max(1, n_members // (CHUNKS_PER_WORKER * max(1, n_workers)))
    chunks: list[list[list[int]]] = []
    left = 0
    for group in groups:
        if len(group) > left:
            chunks.append([])
            left = target
        chunks[-1].append(group)
        left -= len(group)
    return chunks


def run_chunks(
    function: Callable[..., T],
    chunks: Iterable[Any],
    n_jobs: int | None,
    prefer: Literal["threads", "processes"],
    *,
    eager: bool = True,
) -> Generator[T, None, None]:
    """Call a function on every chunk and yield the results in order.

    One BLAS thread per worker, whatever their number: results are then the same to
    the last bit for any ``n_jobs``, and workers never fight for cores.

    Parameters
    ----------
    function : callable
        What to do with a chunk.
    chunks : iterable
        The work. It may end early: what was taken from it is finished.
    n_jobs : int or None
        Number of workers.
    prefer : {"threads", "processes"}
        A hint for joblib.
    eager : bool
        Whether a worker's next chunk waits for it; otherwise chunks are taken as late
        as possible.
    """
    if effective_n_jobs(n_jobs) == 1:
        with _thread_pools().limit(limits=1, user_api="blas"):
            for chunk in chunks:
                yield function(chunk)
        return
    parallel = joblib.Parallel(
        n_jobs=n_jobs,
        prefer=prefer,
        return_as="generator",
        batch_size=1,
        pre_dispatch="2*n_jobs" if eager else "n_jobs",
    )
    with _thread_pools().limit(limits=1, user_api="blas"):
        results = parallel(
            joblib.delayed(_single_threaded)(function, chunk) for chunk in chunks
        )
        try:
            for result in results:
                if isinstance(result, _Interrupted):
                    raise KeyboardInterrupt
                yield result
        finally:
            # joblib would warn of chunks in flight when the caller has seen enough.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results.close()


def _thread_pools() -> ThreadpoolController:
    """Return the thread pools of all libraries that are loaded by now."""
    # To find them takes as long as many a fit. Libraries come with modules, so there
    # is nothing new to find until another module is imported.
    return _thread_pools_with(len(sys.modules))


@lru_cache(maxsize=1)
def _thread_pools_with(n_modules: int) -> ThreadpoolController:
    del n_modules
    return ThreadpoolController()


class _Interrupted:
    """Stands for a chunk that Ctrl-C cut short."""


def _single_threaded(function: Callable[..., T], chunk: Any) -> T | _Interrupted:
    # OpenMP's limit belongs to the calling thread, and a worker process has its own
    # BLAS, so both are set where the work is done.
    try:
        with _thread_pools().limit(limits=1):
            return function(chunk)
    except KeyboardInterrupt:
        # A terminal sends Ctrl-C to workers too. Raised there it would kill a thread
        # that somebody waits for, or fill the screen with tracebacks.
        return _Interrupted()


@contextmanager
def memory_mapped(*arrays: Any) -> Iterator[list[Any]]:
    """Write large arrays to a temporary file once, so that workers share them.

    Slices of a memory map travel to another process as a reference to the file.
    """
    with ExitStack() as stack:
        folder: AbstractContextManager[str] | None = None
        mapped = []
        for number, array in enumerate(arrays):
            large = isinstance(array, np.ndarray) and array.dtype != object
            if not large or array.nbytes < SMALLEST_MAPPED_BYTES:
                mapped.append(array)
                continue
            if folder is None:
                folder = tempfile.TemporaryDirectory(
                    prefix="cvst-", ignore_cleanup_errors=True
                )
                path = Path(stack.enter_context(folder))
            file = path / f"{number}.npy"
            np.save(file, array)
            mapped.append(np.load(file, mmap_mode="r"))
        yield mapped


class OnFile(Generic[T]):
    """A value that travels to another process as the name of a file.

    The receiver finds the value itself, read once per process.
    """

    def __init__(self, value: T, path: str) -> None:
        self.value = value
        self._path = path

    def __reduce__(self) -> tuple[Callable[[str], Any], tuple[str]]:
        return _read, (self._path,)


@lru_cache(maxsize=1)
def _read(path: str) -> Any:
    return joblib.load(path, mmap_mode="r")


@contextmanager
def on_file(value: T) -> Iterator[OnFile[T]]:
    """Write a value to a temporary file, from which workers map its arrays."""
    with tempfile.TemporaryDirectory(prefix="cvst-", ignore_cleanup_errors=True) as at:
        path = str(Path(at) / "value")
        joblib.dump(value, path)
        yield OnFile(value, path)


def workers_share_files() -> bool:
    """Return whether workers are processes of this machine, as joblib's own are."""
    backend, _ = joblib.parallel.get_active_backend(prefer="processes")
    own = joblib.parallel.BACKENDS["loky"], joblib.parallel.BACKENDS["multiprocessing"]
    return isinstance(backend, own)
