"""Handing out the work of a look while the clock allows."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Protocol

from cvst.race import LookCutError

__all__ = ["Clock", "LookGate"]

# How much of what is left a chunk may take.
CHUNK_SHARE = 0.01
HOPELESS = 2.0

# Share of a look, and of the budget, after which the pace of a look is believed.
DOUBT, ALARM = 0.2, 0.05


class Clock(Protocol):
    """What a gate asks of a time budget."""

    seconds: float
    reserve: float

    def now(self) -> float:
        """Return the reading of the clock."""
        ...

    def left(self, slower: float = 1.0) -> float:
        """Return the seconds before the final fit, which may be slower than thought."""
        ...


class LookGate:
    """Hands out groups of configurations while the clock allows.

    Parameters
    ----------
    budget : Clock
        The clock.
    forecast : mapping of int to float
        Seconds on the clock for each configuration of the look.
    n_workers : int
        How many work side by side.
    """

    def __init__(self, budget: Clock, forecast: Mapping[int, float], n_workers: int):
        self._budget = budget
        self._forecast = forecast
        self._n_workers = n_workers
        self._start = budget.now()
        self._handed_out = 0.0
        self._done = 0.0
        self._heard = 0.0
        self._lock = threading.Lock()

    def chunks(self, groups: list[list[int]]) -> Iterator[list[list[int]]]:
        """Yield chunks that are small against what is left, until one does not fit."""
        waiting = list(reversed(groups))
        while waiting:
            limit = CHUNK_SHARE * self._budget.left()
            chunk = [waiting.pop()]
            seconds = self._seconds(chunk[0])
            while waiting and seconds + self._seconds(waiting[-1]) <= limit:
                seconds += self._seconds(waiting[-1])
                chunk.append(waiting.pop())
            if not self._fits(seconds):
                return
            self._handed_out += seconds
            yield chunk

    def done(self, configurations: list[int]) -> None:
        """Note what is finished."""
        with self._lock:
            self._done += self._seconds(configurations)

    def heed(self, configuration: int) -> None:
        """End the look in the middle of a group if it is hopeless.

        Raises
        ------
        LookCutError
            If so.
        """
        self._heard += self._seconds([configuration])
        pace = self._pace(self._heard)
        rest = pace * (sum(self._forecast.values()) - self._heard)
        if rest > HOPELESS * max(0.0, self._budget.left()):
            raise LookCutError

    def rest(self) -> float:
        """Return the seconds that what is not done yet will take."""
        return self.slower() * (sum(self._forecast.values()) - self._done)

    def slower(self, doubt: float | None = None) -> float:
        """Return how far the forecast is off, as the look itself says.

        Parameters
        ----------
        doubt : float
            Seconds after which the look's own pace counts as much as the forecast. The
            first chunk does what all of them share, so its time alone says little.
        """
        return self._pace(self._handed_out, doubt)

    def _pace(self, forecast: float, doubt: float | None = None) -> float:
        """Return how far a forecast of what was begun is off, at least 1."""
        if doubt is None:
            doubt = DOUBT * sum(self._forecast.values()) + ALARM * self._budget.seconds
        elapsed = self._budget.now() - self._start
        believed = forecast + doubt
        return max(1.0, (elapsed + doubt) / believed) if believed else 1.0

    def _seconds(self, configurations: list[int]) -> float:
        return sum(self._forecast[number] for number in configurations)

    def _fits(self, seconds: float) -> bool:
        """Return whether a chunk, and what is under way, will be done in time."""
        with self._lock:
            under_way = max(0.0, self._handed_out - self._done)
        # Seconds are those of all workers together; a chunk occupies one of them.
        needed = self.slower() * (under_way + self._n_workers * seconds)
        # The longer the final fit, the more it takes to believe that it will be slow.
        left = self._budget.left(self.slower(self._budget.reserve))
        # A look that will not be finished counts for nothing: no need to go on with
        # one that would take twice the time there is.
        return needed <= left and self.rest() <= HOPELESS * left
