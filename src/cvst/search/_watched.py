"""The source of a race as a search sees it: watched, timed and, if need be, cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from cvst._typing import Configuration
from cvst.evaluation.machinery import DataSource, SideBySide
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
    n_at_once : int
        Most looks under way at a time.
    """

    source: DataSource
    clock: Callable[[], float]
    before: Callable[[], None]
    budget: TimeBudget | None = None
    begun: RaceState | None = None
    recorder: Recorder | None = None
    n_at_once: int = 1
    n_looks: int = field(default=0, init=False)
    started: float = field(init=False)
    lost: float = field(default=0.0, init=False)
    _look: Look | None = field(default=None, init=False)
    _beside: SideBySide | None = field(default=None, init=False)
    _handing_out: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        """Take the time."""
        self.started = self.clock()
        if self.n_at_once > 1:
            self._beside = SideBySide(self.source)
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

    def has_room(self, n_pending: int) -> bool:
        """Return whether another look can begin."""
        return n_pending < self.n_at_once

    def begin(self, look: Look, alone: bool) -> None:
        """Hand a look to a free worker, or keep it for all of them."""
        start = self.clock()
        if self._beside is not None and not alone:
            self._beside.begin(look)
        else:
            self._look = look
            if self._beside is not None and self.n_looks == 0:
                self._beside.wake(look)
        self._handing_out += self.clock() - start

    def take(self) -> tuple[Look, LookLosses]:
        """Return the losses of a look, and its seconds on the clock.

        Of looks that overlap, each has the seconds since the one before was over, less
        those in which the race decided: their sum is never more than has passed.
        """
        look, start = self._look, self.clock() - self.lost - self._handing_out
        self._look, self.lost, self._handing_out = None, 0.0, 0.0
        if look is None:
            assert self._beside is not None
            look, seen = self._beside.take()
            self._begins(look)
        else:
            self._begins(look)
            gate = None if self.budget is None else self.budget.gate
            seen = self.source.observe(look, gate)
        end = self.clock()
        timed = replace(seen, seconds=end - start, elapsed=end - self.started)
        return look, timed

    def close(self) -> None:
        """Give up looks that are under way."""
        if self._beside is not None:
            self._beside.close()

    def _begins(self, look: Look) -> None:
        self.n_looks += 1
        self.before()
        log_begin(self.n_looks, look)
