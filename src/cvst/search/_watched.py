"""The source of a race as a search sees it: watched, timed and, if need be, cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from cvst._typing import Configuration
from cvst.evaluation import DataSource
from cvst.race import Look, LookLosses, RaceState
from cvst.search._log import log_begin
from cvst.search.budget import TimeBudget

__all__ = ["WatchedSource"]


@dataclass
class WatchedSource:
    """Tells of each look before it begins, and how long it took.

    Parameters
    ----------
    source : DataSource
        Trains and tests.
    clock : callable
        Returns seconds.
    before : callable
        Called before each look.
    budget : TimeBudget or None
        Cuts a look for which there is no time.
    begun : RaceState or None
        A race that goes on: its looks and its time count.
    """

    source: DataSource
    clock: Callable[[], float]
    before: Callable[[], None]
    budget: TimeBudget | None = None
    begun: RaceState | None = None
    n_looks: int = field(default=0, init=False)
    started: float = field(init=False)

    def __post_init__(self) -> None:
        """Take the time."""
        self.started = self.clock()
        if self.begun is not None:
            self.n_looks = self.begun.n_looks
            self.started -= self.begun.elapsed

    def admit(self, configurations: Sequence[Configuration]) -> None:
        """Pass configurations on that join the race."""
        self.source.admit(configurations)

    def observe(self, look: Look) -> LookLosses:
        """Return the losses of a look, and its seconds on the clock."""
        self.n_looks += 1
        self.before()
        log_begin(self.n_looks, look)
        start = self.clock()
        gate = None if self.budget is None else self.budget.gate
        seen = self.source.observe(look, gate)
        end = self.clock()
        return replace(seen, seconds=end - start, elapsed=end - self.started)
