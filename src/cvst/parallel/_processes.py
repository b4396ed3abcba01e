"""Worker processes of our own, which no other search and no library shares.

joblib has one pool of processes for all its users. A worker that dies breaks it for all
of them, so that nobody knows whose fit was to blame, and users who want different
numbers of workers resize it under each other's feet until all wait for ever. Here every
thread has a pool of its own while it works. One of those that nobody uses is kept,
since processes take a second or more to start.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import joblib

from cvst.parallel._orphans import end_with
from cvst.parallel._single import Interrupted, below_processes

try:
    from joblib.externals import loky
    from joblib.externals.loky.backend.utils import kill_process_tree
    from joblib.externals.loky.process_executor import ShutdownExecutorError
except ImportError:  # a joblib that leaves it to its own package
    import loky  # type: ignore[import-not-found, no-redef, unused-ignore]
    from loky.backend.utils import (  # type: ignore[import-not-found, unused-ignore]
        kill_process_tree,
    )
    from loky.process_executor import (  # type: ignore[import-not-found, unused-ignore]
        ShutdownExecutorError,
    )

__all__ = [
    "DESERTED",
    "SECONDS_OF_A_WAIT",
    "Processes",
    "answered",
    "in_order",
    "is_deserted",
    "leased",
]

# Seconds after which an idle process ends, as joblib has it.
IDLE_SECONDS = 300

# What ``joblib.parallel_config`` may say of workers that matters here.
SETTINGS = ("idle_worker_timeout", "initializer", "initargs")

# Ctrl-C is noticed between two waits of that many seconds where a wait is deaf to it.
SECONDS_OF_A_WAIT = 1.0

DESERTED = "nobody hands out work to the processes"

# Workers set the numbers of threads at run time; libraries that ask before find these.
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)


@dataclass(eq=False)
class Processes:
    """A pool that is started when it is needed, and anew after it was ended.

    Parameters
    ----------
    n_workers : int
        How many work side by side.
    settings : dict
        What the user told joblib about workers: how each of them begins.
    """

    n_workers: int
    settings: dict[str, Any] = field(default_factory=dict)
    _executor: Any = field(default=None, init=False)

    @property
    def is_running(self) -> bool:
        """Whether processes were started that may have worked before."""
        return self._executor is not None

    def started(self) -> Any:
        """Return the executor of now."""
        if self._executor is not None and is_deserted(self._executor):
            self.end()
        if self._executor is None:
            self._executor = loky.ProcessPoolExecutor(
                self.n_workers,
                timeout=self.settings.get("idle_worker_timeout", IDLE_SECONDS),
                initializer=_begin,
                initargs=(
                    os.getpid(),
                    self.settings.get("initializer"),
                    self.settings.get("initargs", ()),
                ),
                env={
                    name: os.environ.get(name, one) for name, one in ONE_THREAD.items()
                },
            )
        return self._executor

    def end(self, executor: Any = None) -> None:
        """End the processes, whatever they do.

        Parameters
        ----------
        executor : object
            What :meth:`started` has returned; if another one has taken its place it is
            gone already. None for the one of now.
        """
        if executor is None or executor is self._executor:
            executor, self._executor = self._executor, None
            if executor is not None:
                _end(executor)

    def dismiss(self) -> None:
        """Let processes that have nothing to do go."""
        executor, self._executor = self._executor, None
        if executor is not None and is_deserted(executor):
            _end(executor)
        elif executor is not None:
            executor.shutdown()

    def forget(self) -> Any:
        """Have no processes any more, and return the executor of those it had."""
        executor, self._executor = self._executor, None
        return executor

    def is_like(self, n_workers: int, settings: dict[str, Any]) -> bool:
        """Return whether it has that many workers, which begin like that."""
        return self.n_workers == n_workers and self.settings == settings


def is_deserted(executor: Any) -> bool:
    """Return whether the thread is gone that hands out work and takes the answers.

    It ends with an error if a warning of its own is made one, as the user's filters may
    have it: of workers that were replaced, for example. Then no answer ever comes.
    """
    thread = executor._executor_manager_thread
    return thread is not None and not thread.is_alive()


def _end(executor: Any) -> None:
    """End an executor and its processes, whatever they do."""
    if not is_deserted(executor):
        executor.shutdown(kill_workers=True)
        return
    # What that thread would do.
    processes, calls = list(executor._processes.values()), executor._call_queue
    waited_for = [item.future for item in executor._pending_work_items.values()]
    executor.shutdown(kill_workers=True)
    for process in processes:
        kill_process_tree(process)
    calls.close()
    for future in waited_for:
        if not future.done():
            future.set_exception(loky.BrokenProcessPool(DESERTED))


def _begin(owner: int, user: Callable[..., Any] | None, args: tuple[Any, ...]) -> None:
    """Be a worker of a process, and do what the user wants to be done first."""
    if hasattr(os, "fork") and os.getppid() != owner:
        # It was gone before this one began, and nobody would ever end it.
        os._exit(1)
    end_with(owner)
    if user is not None:
        user(*args)


@dataclass(eq=False)
class _Lease:
    """Whose a pool is, and how many times it was asked for."""

    thread: int
    pool: Processes
    count: int = 0


class _Desk:
    """Hands out pools, a different one to each thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._leases: list[_Lease] = []
        self._idle: Processes | None = None
        self._left_behind: list[Any] = []

    def take(self, n_workers: int, settings: dict[str, Any]) -> _Lease:
        thread = threading.get_ident()
        other = None
        with self._lock:
            for lease in self._leases:
                if lease.thread == thread and lease.pool.is_like(n_workers, settings):
                    break
            else:
                pool, self._idle = self._idle, None
                if pool is None or not pool.is_like(n_workers, settings):
                    other, pool = pool, Processes(n_workers, settings)
                lease = _Lease(thread, pool)
                self._leases.append(lease)
            lease.count += 1
        if other is not None:
            other.dismiss()
        return lease

    def give_back(self, lease: _Lease) -> None:
        """Hear that a lease is not needed any more; what it has at work was ended."""
        with self._lock:
            lease.count -= 1
            if lease.count or lease not in self._leases:
                return  # still in use, or of the process that this one was forked from
            self._leases.remove(lease)
            other, self._idle = self._idle, lease.pool
        if other is not None:
            other.dismiss()

    def forked(self) -> None:
        # The processes are those of the parent, and its thread may have had the lock.
        pools = [lease.pool for lease in self._leases]
        if self._idle is not None:
            pools.append(self._idle)
        # Kept: one that is thrown away would tell the parent's processes to go. Nobody
        # here may end them either, though their thread is not here.
        self._left_behind += [pool.forget() for pool in pools]
        self._lock, self._leases, self._idle = threading.Lock(), [], None


_DESK = _Desk()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_DESK.forked)


@contextmanager
def leased(n_workers: int) -> Iterator[Processes]:
    """Have processes that no other thread has.

    Whoever asks again in the same thread gets the same.
    """
    backend, _ = joblib.parallel.get_active_backend(prefer="processes")
    told = getattr(backend, "backend_kwargs", {})
    lease = _DESK.take(n_workers, {one: told[one] for one in SETTINGS if one in told})
    try:
        yield lease.pool
    finally:
        _DESK.give_back(lease)


def answered(future: Future[Any], executor: Any) -> Any:
    """Wait for the answer of a process, and return it."""
    while not future.done():
        wait([future], timeout=SECONDS_OF_A_WAIT)
        # In this order: its last answers come before it goes.
        if is_deserted(executor) and not future.done():
            raise loky.BrokenProcessPool(DESERTED)
    try:
        result = future.result()
    except ShutdownExecutorError as error:
        # Somebody else in this thread has found one dead, or has seen enough.
        raise loky.BrokenProcessPool(str(error)) from error
    if isinstance(result, Interrupted):
        raise KeyboardInterrupt
    return result


def in_order(
    pool: Processes, function: Callable[..., Any], chunks: Iterable[Any], n_at_once: int
) -> Generator[Any, None, None]:
    """Call a function on every chunk in a process, and yield the results in order.

    Parameters
    ----------
    pool : Processes
        The processes; those that are at work when nobody wants to know are ended.
    function : callable
        What to do with a chunk.
    chunks : iterable
        The work; the next one is taken, in any thread, when one is done.
    n_at_once : int
        How many chunks are handed out at a time.

    Raises
    ------
    concurrent.futures.BrokenExecutor
        If a process has died.
    """
    feed = _Feed(pool.started(), function, chunks, n_at_once)
    try:
        feed.more()
        while (future := feed.next()) is not None:
            yield answered(future, feed.executor)
    finally:
        if feed.stop():
            pool.end(feed.executor)


class _Feed:
    """Keeps processes at work: whenever a chunk is done the next one is handed out."""

    def __init__(
        self,
        executor: Any,
        function: Callable[..., Any],
        chunks: Iterable[Any],
        n_at_once: int,
    ) -> None:
        self.executor = executor
        self._function = function
        self._chunks = iter(chunks)
        self._room = n_at_once
        self._is_over = False
        self._lock = threading.Lock()
        self._out: set[Future[Any]] = set()
        self._order: queue.SimpleQueue[Future[Any] | None] = queue.SimpleQueue()

    def more(self) -> None:
        """Hand out as many chunks as there is room for."""
        with self._lock:
            begun = []
            while self._room and not self._is_over:
                if (future := self._begun()) is not None:
                    begun.append(future)
                    self._out.add(future)
                    self._room -= 1
                self._order.put(future)
        # Without the lock: of one that is done already this thread hears at once.
        for future in begun:
            future.add_done_callback(self._heard)

    def next(self) -> Future[Any] | None:
        """Return the oldest chunk that was not asked for yet, None after the last."""
        while True:
            try:
                return self._order.get(timeout=SECONDS_OF_A_WAIT)
            except queue.Empty:
                continue

    def stop(self) -> bool:
        """Hand out no more, and return whether processes are at work or dead."""
        with self._lock:
            self._is_over = True
            return any(not one.done() or _is_broken(one) for one in self._out)

    def _heard(self, future: Future[Any]) -> None:
        with self._lock:
            self._room += 1
            if not _is_broken(future):
                self._out.discard(future)
        self.more()

    def _begun(self) -> Future[Any] | None:
        """Return the next chunk as it is being done, None if there is none."""
        try:
            chunk = next(self._chunks)
        except StopIteration:
            self._is_over = True
            return None
        except BaseException as error:
            # Perhaps in a thread of the pool, which has nobody to tell.
            return self._failed(error)
        try:
            future: Future[Any] = self.executor.submit(
                below_processes, self._function, chunk
            )
        except BaseException as error:
            return self._failed(error)
        return future

    def _failed(self, error: BaseException) -> Future[Any]:
        self._is_over = True
        future: Future[Any] = Future()
        future.set_exception(error)
        return future


def _is_broken(future: Future[Any]) -> bool:
    return future.done() and isinstance(future.exception(), BrokenExecutor)
