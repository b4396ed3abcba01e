"""How long a race will take: later looks cost what the earlier ones tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cvst._typing import FloatArray
from cvst.race import RaceState

__all__ = ["ComingLook", "Forecast"]

# Fits grow with the number of rows n like n^0 to n^3; a measured exponent beyond that
# is noise. With one look only, nothing is known of the growth.
LARGEST_EXPONENT = 3.0
FIRST_EXPONENT = 1.0

# A look larger than this many times those seen is not guessed at from one size alone.
FARTHEST_GUESS = 1.5


@dataclass(frozen=True, slots=True)
class ComingLook:
    """A look that is planned.

    Attributes
    ----------
    stage : str
        Part of the race.
    n_train : int
        Training rows.
    max_configurations : int
        Most configurations that can take part.
    expected_configurations : float
        How many are expected.
    """

    stage: str
    n_train: int
    max_configurations: int
    expected_configurations: float


@dataclass(slots=True)
class Forecast:
    """Learns from the looks of a race what the coming ones will take.

    What the survivors took, and how that grew with the rows, tells what they will
    take: those dropped may have been slower or faster.

    Attributes
    ----------
    planned : list of ComingLook
        All looks of the longest race; empty while they are not known.
    expected_looks : int
        How many of them are expected.
    n_samples : int
        All rows, for the final fit.
    proposes : bool
        Whether more looks may follow, at configurations that join later. Then the
        plan tells nothing about the end.
    seconds : float, optional
        What the race may take, the final fit included; None for no limit.
    """

    planned: list[ComingLook] = field(default_factory=list)
    expected_looks: int = 0
    n_samples: int = 0
    proposes: bool = False
    seconds: float | None = None
    _state: RaceState | None = None
    _each: float = 0.0
    _exponent: float | None = None
    _final_fit: float | None = None

    def plan(self, event: Mapping[str, Any]) -> None:
        """Take note of the looks that the event "start" announces."""
        names = ComingLook.__slots__
        self.planned = [
            ComingLook(*(k[name] for name in names)) for k in event["looks"]
        ]
        self.expected_looks = event["expected_looks"]
        self.n_samples = event["n_samples"]
        self.proposes = event.get("proposes", False)
        self.seconds = event.get("seconds")

    def numbered(self, look: int) -> str:
        """Return the number of a look, and of how many, if that is known."""
        most = len(self.planned)
        return str(look) if self.proposes or most < look else f"{look} of {most}"

    def saw(
        self,
        state: RaceState,
        seconds: float,
        leader: int | None = None,
        refit_seconds: float | None = None,
    ) -> None:
        """Learn from the look just made.

        Parameters
        ----------
        state : RaceState
            The race.
        seconds : float
            What the look took.
        leader : int, optional
            What would win now.
        refit_seconds : float, optional
            What the strategy expects of its final fit, where it expects anything.
        """
        self._state = state
        work = state.fit_seconds + state.score_seconds
        members = np.flatnonzero(state.active & np.isfinite(work[:, -1]))
        if not len(members):
            members = np.flatnonzero(np.isfinite(work[:, -1]))
        # Workers, and what is done besides the fits, change the seconds of the work.
        wall = seconds / max(float(np.nansum(work[:, -1])), 1e-9)
        mine = work[members]
        self._each = wall * float(mine[:, -1].mean()) if len(members) else 0.0
        self._exponent = _growth(state, mine)
        self._final_fit = refit_seconds
        if refit_seconds is None and leader is not None:
            self._final_fit = self._fit_on_all_rows(state, leader)
        # Where every fit has failed, nothing is known.
        if self._final_fit is not None and not np.isfinite(self._final_fit):
            self._final_fit = None

    def seconds_of(self, n_train: int, n_configurations: float) -> float | None:
        """Return the time of a look, None before there is anything to go by."""
        if self._state is None:
            return None
        last = int(self._state.subset_sizes[-1])
        return n_configurations * self._each * self._grown(n_train, last)

    def final_fit(self) -> float | None:
        """Return the time of the final fit of the leader, None if it is not known."""
        return self._final_fit

    def _fit_on_all_rows(self, state: RaceState, leader: int) -> float | None:
        """Return what the last fit of a configuration tells of one on all rows."""
        fits = state.fit_seconds[leader]
        looks = np.flatnonzero(np.isfinite(fits))
        if not len(looks):
            return None
        last = int(state.subset_sizes[looks[-1]])
        return float(fits[looks[-1]]) * self._grown(state.problem.refit_rows, last)

    def _grown(self, n_train: int, known: int) -> float:
        exponent = FIRST_EXPONENT if self._exponent is None else self._exponent
        growth: float = (n_train / known) ** exponent
        return growth

    def at_most(self) -> float | None:
        """Return the time until the end if no more configurations are dropped.

        The remaining looks and the final fit; the race may well end sooner.
        """
        return self._until_the_end(expected=False)

    def about(self) -> float | None:
        """Return the time until the end if all goes as expected.

        As many are dropped as usual, and the race ends where most races do.
        """
        return self._until_the_end(expected=True)

    def budget_left(self, since: float) -> float | None:
        """Return what is left of the budget, None without one.

        Parameters
        ----------
        since : float
            Seconds since the last look, or since the beginning of the race.
        """
        if self.seconds is None:
            return None
        before = 0.0 if self._state is None else self._state.elapsed
        return max(0.0, self.seconds - before - since)

    def _until_the_end(self, expected: bool) -> float | None:
        """Sum up, or return None as long as the looks or their cost are not known.

        A later stage may take up configurations again that this one has dropped: there
        the plan says how many can take part.
        """
        if self._state is None or not self.planned or self.proposes:
            return None
        done = self._state.n_looks
        last = self._state.observations[-1].look
        end = max(self.expected_looks, done + 1) if expected else len(self.planned)
        coming = self.planned[done:end]
        largest = max((look.n_train for look in coming), default=0)
        if self._exponent is None and largest > FARTHEST_GUESS * last.n_train:
            return None
        n_left = int(self._state.active.sum())
        total = self.seconds_of(self.n_samples, 1) or 0.0
        for place, look in enumerate(coming):
            count: float = look.max_configurations
            if look.stage == last.stage:
                count = min(n_left, count)
            # The configurations of the next look are known already.
            if expected and place > 0:
                count = min(count, max(1.0, look.expected_configurations))
            total += self.seconds_of(look.n_train, count) or 0.0
        return total


def _growth(state: RaceState, work: FloatArray) -> float | None:
    """Fit a power of the number of rows to the work of the survivors.

    Looks with the same number of configurations compare best, since many share work;
    if no two of them have it, all looks must do. Long looks count for more.
    """
    sizes = state.subset_sizes
    counts = np.array([len(seen.look.configurations) for seen in state.observations])
    usable = np.isfinite(work).all(axis=0) & (work.mean(axis=0) > 0)
    # The largest set of sizes, among those the latest looks.
    chosen = np.zeros(len(sizes), dtype=bool)
    for count in dict.fromkeys(counts.tolist()):
        alike = usable & (counts == count)
        if len(np.unique(sizes[alike])) >= max(2, len(np.unique(sizes[chosen]))):
            chosen = alike
    chosen = chosen if chosen.any() else usable
    if len(np.unique(sizes[chosen])) < 2:
        return None
    times = work[:, chosen].mean(axis=0)
    slope = np.polyfit(np.log(sizes[chosen]), np.log(times), 1, w=np.sqrt(times))[0]
    return float(np.clip(slope, 0.0, LARGEST_EXPONENT))
