"""The chunks of a race on the workers of a cluster, by the means of its engine.

joblib says which cluster it is: ``with joblib.parallel_config(backend="dask")`` or
``"ray"``. Its own way of handing tasks out would send rows again and again, and with
Ray would wait for the last result; so the chunks go to the engine itself, which moves
data, feeds workers that join, and runs elsewhere what a lost worker had.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from cvst.exceptions import ClusterLostError
from cvst.parallel._pickling import Packed
from cvst.parallel._single import Interrupted, packed, parts_of, single_threaded

__all__ = ["KILLED", "Cluster", "Engine", "SharedLostError", "WorkerLostError"]

LOGGER = logging.getLogger("cvst")

T = TypeVar("T")

KILLED = (
    "the process that fitted it ended, on several workers; a crash, too little memory "
    "or a call of os._exit does that"
)

# How often in a row the rows may vanish with all workers that held them: then chunks
# go out one by one, to see which of them is to blame; one that is, twice, is cut into
# smaller ones. And how often in a row that may happen until the cluster is to blame.
LOSSES_TO_DOUBT = 2
MOST_LOSSES = 12


class WorkerLostError(Exception):
    """Several workers in a row died with a chunk; the text says how."""


class SharedLostError(Exception):
    """What was shared is gone, with all workers that had it."""


class Engine(Protocol):
    """What a cluster can do, by whichever library."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    def n_workers(self) -> int:
        """Return how many chunks can be worked on now."""
        ...

    def share(self, value: Any) -> Any:
        """Make a value known to all workers, and return what stands for it in tasks."""
        ...

    def forget(self, shared: Any) -> None:
        """Let workers drop what was shared."""
        ...

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        """Have a function called; what was shared arrives as the value itself."""
        ...

    def finished(self, waiting: Collection[Any]) -> Iterable[Any]:
        """Wait for at least one of the calls, and return those that ended."""
        ...

    def result(self, call: Any) -> Any:
        """Return what the function returned, or raise what it raised."""
        ...

    def cancel(self, waiting: Collection[Any]) -> None:
        """Cancel calls whose results are no longer wanted."""
        ...

    def close(self) -> None:
        """Leave the cluster as it was."""
        ...


@dataclass
class _Run(Generic[T]):
    """One look under way."""

    function: Packed[T]
    shared: Any
    generation: int
    waiting: dict[Any, tuple[Any, int]] = field(default_factory=dict)
    # Losses without a result in between; chunks that go out one by one after some.
    n_losses: int = 0
    suspects: deque[Any] = field(default_factory=deque)
    alone: bool = False
    blamed: int = 0


class Cluster:
    """Workers of a cluster that know the rows of one race.

    Parameters
    ----------
    engine : Engine
        The way to the workers.
    rows : object
        What every chunk needs; it is sent once, before the first chunk.
    n_jobs : int or None
        Most chunks under way at a time; None or less than 0 for as many as there are
        workers.
    """

    def __init__(self, engine: Engine, rows: Any, n_jobs: int | None = None) -> None:
        self._engine = engine
        self._rows = rows
        self._most = None if n_jobs is None or n_jobs < 0 else n_jobs
        self._shared: Any = None
        self._generation = 0

    def run(
        self,
        function: Callable[[Any, Any], T],
        chunks: Iterable[Any],
        lost: Callable[[Any, str], T],
        *,
        eager: bool = True,
    ) -> Generator[T, None, None]:
        """Call a function on every chunk and the rows; yield results as they come.

        Parameters
        ----------
        function : callable
            Gets a chunk and the rows. It is sent once to each worker.
        chunks : iterable
            The work.
        lost : callable
            Given a chunk of one configuration and a reason, returns what stands for its
            result if all workers died that tried it.
        eager : bool
            Whether chunks are taken before a worker is free.
        """
        if self._shared is None:
            self._share()
        sent = packed(function)
        run = _Run(sent, self._engine.share(sent), self._generation)
        coming: Iterator[Any] = iter(chunks)
        try:
            while True:
                self._hand_out(run, coming, self._room(run, eager, chunks))
                if not run.waiting:
                    return
                for chunk, generation, result in self._ended(run):
                    if isinstance(result, SharedLostError):
                        yield from self._again(run, chunk, generation, lost)
                    elif isinstance(result, WorkerLostError):
                        yield from self._smaller(run, chunk, lost, str(result))
                    else:
                        # A result shows that the cluster works: doubts begin anew.
                        run.n_losses = run.blamed = 0
                        yield result
        finally:
            # Also where the caller has seen enough: closing a generator ends up here.
            self._engine.cancel(run.waiting)
            self._engine.forget(run.shared)

    def close(self) -> None:
        """Let the workers forget the rows."""
        if self._shared is not None:
            self._engine.forget(self._shared)
            self._shared = None
        self._engine.close()

    def _share(self) -> None:
        self._shared = self._engine.share(self._rows)
        self._generation += 1

    def _again(
        self, run: _Run[T], chunk: Any, generation: int, lost: Callable[[Any, str], T]
    ) -> Iterator[T]:
        """Have a chunk done again whose rows were gone; several times, by itself."""
        # All chunks under way report the same loss.
        if generation == self._generation:
            self._share_again(run)
        run.blamed += run.alone
        if run.n_losses < LOSSES_TO_DOUBT:
            self._submit(run, chunk)
        elif run.blamed < LOSSES_TO_DOUBT:
            run.suspects.appendleft(chunk)
        else:
            run.blamed = 0
            yield from self._smaller(run, chunk, lost, KILLED)

    def _share_again(self, run: _Run[Any]) -> None:
        run.n_losses += 1
        if run.n_losses > MOST_LOSSES:
            raise ClusterLostError(
                f"All workers of the {self._engine.name} cluster that held the rows "
                f"were lost, {run.n_losses} times without a result in between. See why "
                "they die (too little memory for the rows is the usual reason), or set "
                "checkpoint= and run the search again on another cluster."
            )
        LOGGER.warning(
            "All workers of the %s cluster that held the rows were lost; the rows are "
            "sent again.",
            self._engine.name,
        )
        self._share()
        # The function was on the same workers, and is gone with them.
        run.shared = self._engine.share(run.function)
        run.generation = self._generation

    def _room(self, run: _Run[Any], eager: bool, chunks: Iterable[Any]) -> int | None:
        """Return how many more chunks may go out now; None for all."""
        # Nothing new goes out while suspects are looked at one by one.
        if run.suspects:
            return 0
        if self._most is None and eager and isinstance(chunks, (list, tuple)):
            # The engine knows best when a worker is free or a new one comes.
            return None
        n_workers = self._most or self._engine.n_workers()
        at_once = n_workers * 2 if eager and self._most is None else n_workers
        return max(0, max(1, at_once) - len(run.waiting))

    def _hand_out(
        self, run: _Run[Any], coming: Iterator[Any], room: int | None
    ) -> None:
        if run.suspects and run.waiting:
            return
        run.alone = bool(run.suspects)
        some = [run.suspects.popleft()] if run.alone else islice(coming, room)
        for chunk in some:
            self._submit(run, chunk)

    def _submit(self, run: _Run[Any], chunk: Any) -> None:
        call = self._engine.submit(single_threaded, run.shared, chunk, self._shared)
        run.waiting[call] = chunk, run.generation

    def _ended(self, run: _Run[Any]) -> Iterator[tuple[Any, int, Any]]:
        ended = deque(self._engine.finished(run.waiting))
        while ended:
            call = ended.popleft()
            # Calls of an earlier look that were given up may still report.
            if call not in run.waiting:
                continue
            chunk, generation = run.waiting.pop(call)
            try:
                result = self._engine.result(call)
            except (SharedLostError, WorkerLostError) as error:
                result = error
            if isinstance(result, Interrupted):
                raise KeyboardInterrupt
            yield chunk, generation, result

    def _smaller(
        self,
        run: _Run[T],
        chunk: Any,
        lost: Callable[[Any, str], T],
        reason: str,
    ) -> Iterator[T]:
        """Try the parts of a chunk one by one: only one of them may be to blame."""
        parts = parts_of(chunk)
        run.suspects.extendleft(reversed(parts))
        if not parts:
            yield lost(chunk, f"WorkerDied: {reason}")
