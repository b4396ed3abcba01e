"""Chunks of work, side by side in threads or processes, through joblib."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import threading
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

import joblib

from cvst.parallel._engines import effective_n_jobs, whereabouts, works_here
from cvst.parallel._pickling import Packed
from cvst.parallel._process_state import filtered_warnings, one_blas_thread
from cvst.parallel._processes import Processes, in_order, leased
from cvst.parallel._single import Interrupted, packed, parts_of, single_threaded
from cvst.parallel._spare import sharing_processors

__all__ = [
    "Lost",
    "done_alone",
    "in_chunks",
    "let_workers_be_ended",
    "run_chunks",
]

T = TypeVar("T")

# Chunks per worker: enough to balance uneven work, few enough to keep overhead low.
CHUNKS_PER_WORKER = 8

# What stands for the results of a chunk whose worker died, given the reason.
Lost = Callable[[Any, str], T]


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
    lost: Lost[T] | None = None,
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
    lost : callable or None
        For chunks of groups of configurations and a function that returns a list:
        given a chunk of one configuration and a reason, returns what stands for its
        result if the worker process died and, with it alone, died again. None to raise
        instead.
    """
    with one_blas_thread():
        if works_here(n_jobs):
            for chunk in chunks:
                with sharing_processors():
                    result = function(chunk)
                yield result
            return
        handed = _HandedOut(chunks)
        with _pool(packed(function), n_jobs, prefer, eager) as pool:
            while True:
                try:
                    # Closed before the pool is given back: others must not get one
                    # that is at work.
                    with closing(pool.results(handed)) as results:
                        for result in results:
                            handed.back()
                            yield result
                    return
                except BrokenExecutor:
                    if lost is None:
                        raise
                # One of those under way is to blame: each gets another chance, alone.
                for chunk in handed.under_way():
                    yield done_alone(pool.function, chunk, lost)


@contextmanager
def _pool(
    function: Packed[Any],
    n_jobs: int | None,
    prefer: Literal["threads", "processes"],
    eager: bool,
) -> Iterator[_Pool | _OwnPool]:
    """Have workers as joblib would have them here and now."""
    where = whereabouts(n_jobs, prefer)
    if where != "threads":
        function.ready()
    if where != "files":
        yield _Pool(function, n_jobs, prefer, eager)
        return
    with leased(effective_n_jobs(n_jobs)) as processes:
        yield _OwnPool(function, processes, eager)


class _HandedOut:
    """An iterator over chunks that knows which of them are under way."""

    def __init__(self, chunks: Iterable[Any]) -> None:
        self._chunks = iter(chunks)
        self._out: deque[Any] = deque()
        # joblib takes chunks in a thread of its own while results are read in ours.
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Any]:
        while True:
            with self._lock:
                try:
                    chunk = next(self._chunks)
                except StopIteration:
                    return
                self._out.append(chunk)
            yield chunk

    def back(self) -> None:
        """Hear that the oldest chunk under way is done."""
        with self._lock:
            self._out.popleft()

    def under_way(self) -> list[Any]:
        """Return what is under way, and forget it."""
        with self._lock:
            chunks = list(self._out)
            self._out.clear()
        return chunks


class _Pool:
    """Workers as joblib has them here and now."""

    def __init__(
        self,
        function: Callable[..., Any],
        n_jobs: int | None,
        prefer: Literal["threads", "processes"],
        eager: bool,
    ) -> None:
        backend, _ = joblib.parallel.get_active_backend(prefer=prefer)
        streams = getattr(backend, "supports_return_generator", False)
        self.function = function
        # Asked for threads, joblib forgets the number that its context says.
        self._n_jobs = effective_n_jobs(n_jobs)
        self._prefer = prefer
        self._options = {
            # Backends of others may know lists only.
            "return_as": "generator" if streams else "list",
            # joblib would join short chunks into batches; ours are balanced already.
            "batch_size": 1,
            "pre_dispatch": "2*n_jobs" if eager else "n_jobs",
        }

    def results(self, chunks: Iterable[Any]) -> Generator[Any, None, None]:
        """Yield what the workers return, in order."""
        parallel = joblib.Parallel(self._n_jobs, prefer=self._prefer, **self._options)
        results = parallel(
            joblib.delayed(single_threaded)(self.function, chunk) for chunk in chunks
        )
        let_workers_be_ended()
        try:
            for result in results:
                if isinstance(result, Interrupted):
                    raise KeyboardInterrupt
                yield result
        finally:
            # joblib would warn of chunks in flight when the caller has seen enough.
            if hasattr(results, "close"):
                with filtered_warnings():
                    warnings.simplefilter("ignore")
                    results.close()


@dataclass(frozen=True)
class _OwnPool:
    """Processes that nobody else has; ``multiprocessing`` would wait for dead ones."""

    function: Callable[..., Any]
    processes: Processes
    eager: bool

    def results(self, chunks: Iterable[Any]) -> Generator[Any, None, None]:
        """Yield what the workers return, in order."""
        n_at_once = self.processes.n_workers * (2 if self.eager else 1)
        results = in_order(self.processes, self.function, chunks, n_at_once)
        with closing(results):
            for number, result in enumerate(results):
                if not number:
                    let_workers_be_ended()
                yield result


def done_alone(function: Callable[..., Any], chunk: Any, lost: Lost[Any]) -> Any:
    """Return the results of a chunk, in a process that does nothing else.

    Only a chunk that dies in a fresh one is to blame.

    Parameters
    ----------
    function : callable
        What to do with the chunk.
    chunk : list of list of int
        Groups of configurations.
    lost : callable
        As in :func:`run_chunks`.
    """
    with leased(1) as process:
        is_fresh = False
        while not is_fresh:
            is_fresh = not process.is_running
            try:
                (result,) = in_order(process, function, [chunk], 1)
                return result
            except BrokenExecutor as error:
                # What an earlier chunk has left behind there may be to blame.
                words = _last_words(str(error))
    parts = parts_of(chunk)
    if parts:
        return [one for part in parts for one in done_alone(function, part, lost)]
    return lost(chunk, words)


def let_workers_be_ended() -> None:
    """Lend joblib's processes a method that it calls to end them, and they lack.

    joblib asks psutil or the command ``pgrep`` for the children of a worker. In slim
    images neither is there, and it falls back to the method: without it workers go on,
    and whoever pressed Ctrl-C waits for them.
    """
    for process in multiprocessing.active_children():
        started: Any = getattr(process, "_popen", None)
        if process.pid is not None and not hasattr(started, "kill"):
            started.kill = partial(_kill, process.pid)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)


def _last_words(text: str) -> str:
    """Return why a worker died, by what joblib says of it."""
    codes = re.search(r"exit codes? of the workers (?:is|are) \{(.*?)\}", text)
    if codes is None:
        return f"WorkerDied: {text.strip().split(chr(10), 1)[0]}"
    return (
        f"WorkerDied: the process that fitted it ended by {codes.group(1)}, twice; a "
        "crash, too little memory or a call of os._exit does that"
    )
