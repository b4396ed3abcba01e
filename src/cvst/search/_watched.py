"""The source of a race as a search sees it: watched, timed and, if need be, cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from cvst._typing import Configuration
from cvst.evaluation import DataSource
from cvst.race import Look, LookLosses, RaceState
from cvst.search._log import log_begin
from cvst.search.budget import TimeBudget
from cvst.search.checkpoint import Recorder

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
    recorder : Recorder or None
        Told of configurations that join; the time of an interrupted look counts.
    """

    source: DataSource
    clock: Callable[[], float]
    before: Callable[[], None]
    budget: TimeBudget | None = None
    begun: RaceState | None = None
    recorder: Recorder | None = None
    n_looks: int = field(default=0, init=False)
    started: float = field(init=False)
    lost: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        """Take the time."""
        self.started = self.clock()
        if self.begun is not None:
            self.n_looks = self.begun.n_looks
            # As if begun earlier by what it took before: one clock for the whole race.
            self.started -= self.begun.elapsed
            if self.recorder is not None:
                # Time of a look that was broken off counts for its repetition.
                self.lost = max(0.0, self.recorder.race_spent - self.begun.elapsed)
                self.started -= self.lost

    def admit(self, configurations: Sequence[Configuration]) -> None:
        """Pass configurations on that join the race."""
        if self.recorder is not None:
            self.recorder.admit(configurations)
        self.source.admit(configurations)

    def observe(self, look: Look) -> LookLosses:
        """Return the losses of a look, and its seconds on the clock."""
        self.n_looks += 1
        self.before()
        log_begin(self.n_looks, look)
        start, self.lost = self.clock() - self.lost, 0.0
        gate = None if self.budget is None else self.budget.gate
        seen = self.source.observe(look, gate)
        end = self.clock()
        return replace(seen, seconds=end - start, elapsed=end - self.started)
