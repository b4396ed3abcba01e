"""Several looks under way at a time, each with a worker of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from cvst.evaluation._scored import Scores, lost
from cvst.evaluation._source import DataSource
from cvst.evaluation._work import Work
from cvst.parallel import Crew, effective_n_jobs, wake_workers
from cvst.race import Look, LookLosses

__all__ = ["SideBySide", "n_side_by_side", "workers_start"]


def n_side_by_side(source: DataSource) -> int:
    """Return how many looks of a source can be under way at a time.

    One, where workers are in this thread, on a cluster or on a device, where fits can
    be ended, or where a look goes on from the one before.
    """
    elsewhere = source.guard or source.cluster or source.device
    if elsewhere is not None or getattr(source.evaluator, "carries", False):
        return 1
    if not Crew.works(source.n_jobs, source.evaluator.prefer):
        return 1
    return effective_n_jobs(source.n_jobs)


def workers_start(source: DataSource, seconds: float) -> bool:
    """Let worker processes of a source start, and return whether they do in time."""
    if (source.guard or source.cluster or source.device) is not None:
        return True
    rows = source.data if source.stored is None else source.stored
    needed = partial(_nothing, source.evaluator, source.estimator, rows)
    return wake_workers(needed, source.n_jobs, source.evaluator.prefer, seconds)


def _nothing(*parts: Any) -> None:
    """Do nothing: to receive the parts is the point."""


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
    _works: dict[int, Work] = field(default_factory=dict, init=False)
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
        work = self.source.work(look, apart=True)
        groups = self.source.evaluator.groups(work.estimator, work.configurations)
        ticket = next(self._tickets)
        self._works[ticket] = work
        self._crew.begin(ticket, work, groups)

    def take(self) -> tuple[Look, LookLosses]:
        """Wait for the first look that is over, and return its losses."""
        ticket, scored = self._crew.take()
        work = self._works.pop(ticket)
        return work.look, self.source.losses_of(work, scored)

    def close(self) -> None:
        """Give up what is under way."""
        self._crew.close()
