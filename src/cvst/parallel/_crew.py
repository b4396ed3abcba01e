"""Workers that get one chunk after the other, whenever one of them is free.

:func:`run_chunks` returns when all chunks of a look are done. Here chunks of several
looks are under way side by side, and what is done first comes back first.
"""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, suppress
from functools import partial
from types import TracebackType
from typing import Any, Generic, Literal, Self, TypeVar

import joblib

from cvst.parallel._chunks import Lost, done_alone, let_workers_be_ended
from cvst.parallel._engines import effective_n_jobs, whereabouts
from cvst.parallel._pickling import Packed
from cvst.parallel._process_state import one_blas_thread
from cvst.parallel._processes import (
    DESERTED,
    SECONDS_OF_A_WAIT,
    answered,
    is_deserted,
    leased,
)
from cvst.parallel._single import (
    Interrupted,
    below_processes,
    packed,
    single_threaded,
)

__all__ = ["Crew"]

T = TypeVar("T")


class Crew(Generic[T]):
    """Workers as joblib has them here and now, each with one chunk at a time.

    Parameters
    ----------
    n_jobs : int or None
        Number of workers.
    prefer : {"threads", "processes"}
        A hint for joblib.
    lost : callable
        Given a chunk of one configuration and a reason, returns what stands for its
        result if the worker process died and, with it alone, died again.

    Examples
    --------
    >>> with Crew(2, "threads", lost=lambda chunk, reason: []) as crew:
    ...     crew.begin("first", len, [[1], [2]])
    ...     crew.take()
    ('first', 2)
    """

    def __init__(
        self,
        n_jobs: int | None,
        prefer: Literal["threads", "processes"],
        lost: Lost[T],
    ) -> None:
        self._kind = n_jobs, prefer
        self._lost = lost
        self._workers: _Threads | _OwnProcesses | None = None
        self._under_way: dict[Any, tuple[Packed[T], Any]] = {}
        self._ended: queue.SimpleQueue[tuple[Any, Any]] = queue.SimpleQueue()
        self._known: deque[tuple[Any, T]] = deque()
        self._limits: ExitStack | None = None

    @staticmethod
    def works(n_jobs: int | None, prefer: Literal["threads", "processes"]) -> bool:
        """Return whether there are workers here of the kinds that this can lead."""
        return whereabouts(n_jobs, prefer) in ("threads", "files")

    def begin(self, ticket: Any, function: Callable[..., T], chunk: Any) -> None:
        """Have a worker call a function; its result comes back with the ticket."""
        self._under_way[ticket] = packed(function), chunk
        self._submit(ticket)

    def wake(self, function: Callable[..., T]) -> None:
        """Let all workers start and import what a function needs, at the same time."""
        workers = self._started()
        sent = packed(function)
        for _ in range(workers.n_workers):
            # Whether they can is told by the first chunk.
            with suppress(BrokenExecutor):
                workers.submit(sent, [], _nobody)

    def take(self) -> tuple[Any, T]:
        """Wait for a chunk, and return its ticket and its result."""
        while not self._known:
            try:
                ticket, answer = self._first_answer()
                assert self._workers is not None
                result = self._workers.result(answer)
            except BrokenExecutor:
                self._start_again()
                continue
            del self._under_way[ticket]
            self._known.append((ticket, result))
        return self._known.popleft()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the workers go; whoever has seen enough does not wait for the others."""
        workers, self._workers = self._workers, None
        limits, self._limits = self._limits, None
        if limits is not None:
            limits.close()
        if workers is not None:
            is_busy = bool(self._under_way)
            self._under_way.clear()
            workers.leave(is_busy)

    def _submit(self, ticket: Any) -> None:
        sent, chunk = self._under_way[ticket]
        heard = self._ended
        try:
            self._started().submit(
                sent, chunk, lambda answer: heard.put((ticket, answer))
            )
        except BrokenExecutor:
            # The worker of another chunk has died just now.
            self._start_again()
        let_workers_be_ended()

    def _started(self) -> _Threads | _OwnProcesses:
        if self._limits is None:
            # Set by a thread of a pool alone it does not hold there.
            self._limits = ExitStack()
            self._limits.enter_context(one_blas_thread())
        if self._workers is None:
            own = whereabouts(*self._kind) == "files"
            self._workers = (_OwnProcesses if own else _Threads)(*self._kind)
        return self._workers

    def _first_answer(self) -> tuple[Any, Any]:
        while True:
            try:
                return self._ended.get(timeout=SECONDS_OF_A_WAIT)
            except queue.Empty:
                if self._workers is not None:
                    self._workers.check()

    def _start_again(self) -> None:
        """Give each chunk under way another chance, alone: one of them is to blame."""
        again, self._under_way = self._under_way, {}
        # What the others report now is that the pool is broken.
        self._ended = queue.SimpleQueue()
        if self._workers is not None:
            workers, self._workers = self._workers, None
            workers.leave(is_busy=True)
        for ticket, (sent, chunk) in again.items():
            self._known.append((ticket, done_alone(sent, chunk, self._lost)))


class _Threads:
    """Threads, as joblib has them."""

    def __init__(
        self, n_jobs: int | None, prefer: Literal["threads", "processes"]
    ) -> None:
        # Asked for threads, joblib forgets the number that its context says.
        n_workers = effective_n_jobs(n_jobs)
        self._parallel: Any = joblib.Parallel(n_workers, prefer=prefer).__enter__()
        self.n_workers = int(self._parallel.n_jobs)

    def submit(
        self, sent: Packed[Any], chunk: Any, heard: Callable[[Any], None]
    ) -> None:
        self._parallel._backend.submit(
            partial(single_threaded, sent, chunk), callback=heard
        )

    def result(self, answer: Any) -> Any:
        result = self._parallel._backend.retrieve_result_callback(answer)
        if isinstance(result, Interrupted):
            raise KeyboardInterrupt
        return result

    def check(self) -> None:
        """Threads of this process do not vanish."""

    def leave(self, is_busy: bool) -> None:
        if is_busy:
            self._parallel._backend.abort_everything(ensure_ready=False)
        else:
            self._parallel.__exit__(None, None, None)


class _OwnProcesses:
    """Processes that nobody else has."""

    def __init__(
        self, n_jobs: int | None, prefer: Literal["threads", "processes"]
    ) -> None:
        del prefer
        self._lease = ExitStack()
        self._pool = self._lease.enter_context(leased(effective_n_jobs(n_jobs)))
        self._executor = self._pool.started()
        self.n_workers = self._pool.n_workers

    def submit(
        self, sent: Packed[Any], chunk: Any, heard: Callable[[Any], None]
    ) -> None:
        # A look in between may have needed new ones.
        self._executor = self._pool.started()
        asked = self._executor.submit(below_processes, sent.ready(), chunk)
        asked.add_done_callback(heard)

    def result(self, answer: Any) -> Any:
        return answered(answer, self._executor)

    def check(self) -> None:
        """Raise an error if no answer will ever come."""
        if is_deserted(self._executor):
            raise BrokenExecutor(DESERTED)

    def leave(self, is_busy: bool) -> None:
        if is_busy:
            self._pool.end(self._executor)
        self._lease.close()


def _nobody(answer: Any) -> None:
    """Hear what nobody asked for."""
