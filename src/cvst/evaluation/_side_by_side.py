"""Several looks under way at a time, each with a worker of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any

from cvst.evaluation._dispatch import carries
from cvst.evaluation._keeping import Listener, paced_chunks
from cvst.evaluation._scored import Scored, Scores, lost, rows_of
from cvst.evaluation._source import DataSource
from cvst.evaluation._work import Work
from cvst.parallel import Crew, effective_n_jobs, packed, wake_workers, whereabouts
from cvst.race import Look, LookLosses

__all__ = ["SideBySide", "n_side_by_side", "workers_start"]


def n_side_by_side(source: DataSource) -> int:
    """Return how many looks of a source can be under way at a time.

    One, where workers are in this thread, on a cluster or on a device, where fits can
    be ended, or where a look goes on from the one before.
    """
    elsewhere = source.guard or source.cluster or source.device
    if elsewhere is not None or carries(source.evaluator):
        return 1
    if not Crew.works(source.n_jobs, source.evaluator.prefer):
        return 1
    return effective_n_jobs(source.n_jobs)


def workers_start(source: DataSource, seconds: float) -> bool:
    """Let worker processes of a source start, and return whether they do in time."""
    if (source.cluster or source.device) is not None:
        return True
    rows = source.data if source.stored is None else source.stored
    needed = partial(_nothing, source.evaluator, source.estimator, rows)
    if source.guard is not None:
        source.guard.wake(needed)
        return True
    return wake_workers(needed, source.n_jobs, source.evaluator.prefer, seconds)


def _nothing(*parts: Any) -> None:
    """Do nothing: to receive the parts is the point."""


class _UnderWay:
    """A look on its way: what is known of it, and what is left to be done.

    Parameters
    ----------
    work : Work
        The look as a worker gets it.
    known : sequence of Scored
        Results from an earlier run.
    groups : list of list of int
        Groups of configurations that are not known.
    paced : bool
        Whether they are handed out bit by bit; else all at once.
    """

    def __init__(
        self,
        work: Work,
        known: Sequence[Scored],
        groups: list[list[int]],
        *,
        paced: bool,
    ) -> None:
        self.work = work
        self.packed = packed(work)
        self.scored: list[Scores] = [*known]
        self._chunks = iter([groups] if groups else [])
        if paced:
            self._chunks = paced_chunks(
                groups,
                sum(map(len, groups)),
                n_done=lambda: len(self.scored) - len(known),
            )
        self.chunk: list[list[int]] = []

    def turn_to_next(self) -> bool:
        """Take the next chunk, and return whether there is one."""
        self.chunk = next(self._chunks, [])
        return bool(self.chunk)


@dataclass
class SideBySide:
    """Hands each look to the next worker that is free.

    Parameters
    ----------
    source : DataSource
        What to do, with which rows.
    """

    source: DataSource
    _crew: Crew[list[Scores]] = field(init=False)
    _looks: dict[int, _UnderWay] = field(default_factory=dict, init=False)
    _done: deque[_UnderWay] = field(default_factory=deque, init=False)
    _tickets: count[int] = field(default_factory=count, init=False)

    def __post_init__(self) -> None:
        prefer = self.source.evaluator.prefer
        self._crew = Crew(self.source.n_jobs, prefer, lost)

    def wake(self, look: Look) -> None:
        """Let all processes start at once before the first look, which may need one."""
        if self.source.evaluator.prefer == "processes":
            self._crew.wake(self.source.work(look, apart=True))

    def begin(self, look: Look) -> None:
        """Have a worker train and test the configurations of a look."""
        self._go_on(next(self._tickets), self._prepared(look))

    def take(self) -> tuple[Look, LookLosses]:
        """Wait for the first look that is over, and return its losses."""
        while not self._done:
            ticket, scored = self._crew.take()
            one = self._looks.pop(ticket)
            one.scored += scored
            self._keep(one, scored)
            self._go_on(ticket, one)
        one = self._done.popleft()
        return one.work.look, self.source.losses_of(one.work, one.scored)

    def close(self) -> None:
        """Give up what is under way."""
        self._crew.close()

    def _prepared(self, look: Look) -> _UnderWay:
        """Return a look with what is known of it, to be done bit by bit if it is kept.

        Without a checkpoint nobody asks for a part of it.
        """
        source = self.source
        work = source.work(look, apart=True)
        groups = source.evaluator.groups(work.estimator, work.configurations)
        if source.keeper is None:
            return _UnderWay(work, [], groups, paced=False)
        known = [
            Scored(**fields)
            for fields in source.keeper.known(look, groups, beside=True)
        ]
        done = {one.configuration for one in known}
        left = [group for group in groups if not done.issuperset(group)]
        # Threads tell of each group themselves; processes when a chunk is done.
        work = replace(work, listener=Listener(partial(source.keep, look=look)))
        where = whereabouts(source.n_jobs, source.evaluator.prefer)
        return _UnderWay(work, known, left, paced=where != "threads")

    def _go_on(self, ticket: int, one: _UnderWay) -> None:
        """Have a worker do the next chunk of a look; one without any is over."""
        if not one.turn_to_next():
            self._done.append(one)
            return
        self._looks[ticket] = one
        self._crew.begin(ticket, one.packed, one.chunk)

    def _keep(self, one: _UnderWay, results: Sequence[Scores]) -> None:
        """Keep what a worker has returned; what it has told before is kept already."""
        if self.source.keeper is None:
            return
        rows = {row.configuration: row for result in results for row in rows_of(result)}
        for group in one.chunk:
            self.source.keep([rows[n] for n in group if n in rows], one.work.look)
