"""Workers that get one chunk after the other, whenever one of them is free.

:func:`run_chunks` returns when all chunks of a look are done. Here chunks of several
looks are under way side by side, and what is done first comes back first.
"""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Any, Generic, Literal, Self, TypeVar

import joblib

from cvst.parallel._chunks import Lost, done_alone, let_workers_be_ended
from cvst.parallel._engines import whereabouts
from cvst.parallel._pickling import Packed
from cvst.parallel._process_state import one_blas_thread
from cvst.parallel._single import Interrupted, single_threaded

__all__ = ["Crew"]

T = TypeVar("T")

# Ctrl-C is noticed between two waits of that many seconds where a wait is deaf to it.
SECONDS_OF_A_WAIT = 1.0


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
        self._open = partial(joblib.Parallel, n_jobs, prefer=prefer)
        self._lost = lost
        self._workers: Any = None
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
        packed = Packed(function)
        self._under_way[ticket] = packed, chunk
        self._submit(ticket)

    def wake(self, function: Callable[..., T]) -> None:
        """Let all workers start and import what a function needs, at the same time."""
        workers = self._started()
        packed = Packed(function)
        for _ in range(workers.n_jobs):
            workers._backend.submit(partial(single_threaded, packed, []))

    def take(self) -> tuple[Any, T]:
        """Wait for a chunk, and return its ticket and its result."""
        while not self._known:
            ticket, answer = self._first_answer()
            try:
                result = self._workers._backend.retrieve_result_callback(answer)
            except BrokenExecutor:
                self._start_again()
                continue
            if isinstance(result, Interrupted):
                raise KeyboardInterrupt
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
        if workers is None:
            return
        if self._under_way:
            self._under_way.clear()
            workers._backend.abort_everything(ensure_ready=False)
        else:
            workers.__exit__(None, None, None)

    def _submit(self, ticket: Any) -> None:
        packed, chunk = self._under_way[ticket]
        heard = self._ended
        try:
            self._started()._backend.submit(
                partial(single_threaded, packed, chunk),
                callback=lambda answer: heard.put((ticket, answer)),
            )
        except BrokenExecutor:
            # The worker of another chunk has died just now.
            self._start_again()
        let_workers_be_ended()

    def _started(self) -> Any:
        if self._limits is None:
            # Set by a thread of a pool alone it does not hold there.
            self._limits = ExitStack()
            self._limits.enter_context(one_blas_thread())
        if self._workers is None:
            self._workers = self._open().__enter__()
        return self._workers

    def _first_answer(self) -> tuple[Any, Any]:
        while True:
            try:
                return self._ended.get(timeout=SECONDS_OF_A_WAIT)
            except queue.Empty:
                continue

    def _start_again(self) -> None:
        """Give each chunk under way another chance, alone: one of them is to blame."""
        again, self._under_way = self._under_way, {}
        # What the others report now is that the pool is broken.
        self._ended, self._workers = queue.SimpleQueue(), None
        for ticket, (packed, chunk) in again.items():
            self._known.append((ticket, done_alone(packed, chunk, self._lost)))
