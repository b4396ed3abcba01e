"""Keeping a time budget: forecasts that learn from every look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cvst._text import at_least_seconds
from cvst._typing import Configuration, FloatArray
from cvst.exceptions import BudgetTooSmallError
from cvst.parallel import effective_n_jobs
from cvst.race import Look, LookCutError, Observation, RaceState
from cvst.race.machinery import Limit
from cvst.search._setup import Setup
from cvst.search.budget._gate import LookGate
from cvst.search.budget._growth import UNKNOWN, Growth
from cvst.search.budget._model import CostModel

__all__ = ["TimeBudget", "Within"]

# Forecasts err; the final fit cannot be cut, so its reserve is the larger one.
LOOK_MARGIN, REFIT_MARGIN = 1.1, 1.25

# One look corrects a forecast by no more than that.
CORRECTIONS = 1 / 3, 3.0

# Leaders are taken to be no faster and no slower than this.
PACES = 0.7, 3.0


class TimeBudget:
    """The clock of a race, and what it says about the next look.

    Parameters
    ----------
    seconds : float
        The budget, final fit included.
    started : float
        Reading of the clock at the start.
    clock : callable
        Returns seconds.
    model : CostModel
        What looks cost.
    with_refit : bool
        Whether to keep a reserve for the final fit.
    growth : Growth
        How steeply costs can grow with the rows.
    """

    def __init__(
        self,
        seconds: float,
        started: float,
        clock: Callable[[], float],
        model: CostModel,
        with_refit: bool,
        growth: Growth = UNKNOWN,
    ) -> None:
        self.seconds = seconds
        self.started = started
        self.clock = clock
        self.model = model
        self.with_refit = with_refit
        self.growth = growth
        self.reserve = 0.0
        self.gate: LookGate | None = None
        self.left_out: list[Configuration] = []

    def now(self) -> float:
        """Return the reading of the clock."""
        return self.clock()

    def leave_out(self, configurations: Sequence[Configuration]) -> None:
        """Remember configurations for which there was no time at first."""
        self.left_out = list(configurations)

    def elapsed(self) -> float:
        """Return the seconds spent."""
        return self.clock() - self.started

    def race_seconds(self, raced: float) -> float:
        """Return what the race may take, the final fit included.

        Parameters
        ----------
        raced : float
            Seconds of the race that are over: of one that goes on.
        """
        return max(0.0, self.seconds - self.elapsed() + raced)

    def left(self, slower: float = 1.0) -> float:
        """Return the seconds before the final fit, which may be slower than thought."""
        return self.seconds - self.elapsed() - slower * self.reserve

    def prepare(self, setup: Setup, state: RaceState, look: Look) -> float:
        """Forecast a look, set the reserve and make a gate that can cut the look.

        Returns
        -------
        float
            Seconds of the look, margin included.
        """
        n_samples = setup.problem.refit_rows
        # Before the first look a margin would only refuse races that might fit.
        margin = REFIT_MARGIN if state.observations else 1.0
        self.reserve = margin * self._refit(setup, state, n_samples)
        each = LOOK_MARGIN * self._each(state, look)
        n_workers = effective_n_jobs(setup.source.n_jobs)
        forecast = dict(
            zip(
                look.configurations.tolist(),
                (self.model.wall * each).tolist(),
                strict=True,
            )
        )
        self.gate = LookGate(self, forecast, n_workers)
        return float(self.model.overhead + self.model.wall * each.sum())

    def allows(self, setup: Setup, state: RaceState, look: Look) -> bool:
        """Return whether there is time for a look; the first always begins."""
        forecast = self.prepare(setup, state, look)
        return not state.observations or forecast <= self.left()

    def learn(self, state: RaceState) -> None:
        """Improve the model by the look just made."""
        observation = state.observations[-1]
        worked = np.nansum(observation.fit_seconds + observation.score_seconds)
        wall = (observation.seconds - self.model.overhead) / max(float(worked), 1e-9)
        # One look that went unusually well must not promise that all will.
        self.model = replace(self.model, wall=max(wall, 0.5 * self.model.wall))
        self._correct_level(observation)
        sizes = state.subset_sizes
        members = np.flatnonzero(state.present.all(axis=1) & state.active)
        if len(np.unique(sizes)) < 2 or not len(members):
            return
        # Only those present in all looks tell growth from a change in the field.
        fits = state.fit_seconds[members].mean(axis=0)
        curve, n_train = self.growth.curve(sizes, fits), observation.look.n_train
        # The curve through all looks takes part of the correction back. If a lone fit
        # kept it, the next look would correct it again, and so without end.
        level = curve(n_train) / max(self.model.fit(n_train), 1e-9)
        self.model = replace(
            self.model, fit=curve, alone=self.model.alone.scaled(level)
        )

    def _correct_level(self, observation: Observation) -> None:
        """Move the curves of fits to what the look just made has shown."""
        look, model = observation.look, self.model
        company = model.company(len(look.configurations))
        forecast = model.fit(look.n_train) * company
        seen = float(np.nanmean(observation.fit_seconds))
        if not (forecast > 0 and seen > 0):
            return
        factor = float(np.clip(seen / forecast, *CORRECTIONS))
        self.model = replace(
            model, fit=model.fit.scaled(factor), alone=model.alone.scaled(factor)
        )

    def too_small(
        self, look_seconds: float, refit_seconds: float | None = None
    ) -> BudgetTooSmallError:
        """Return the error that names the smallest budget that would do.

        The final fit takes what is kept for it, unless better is known.
        """
        final = self.reserve if refit_seconds is None else refit_seconds
        needed = at_least_seconds(self.elapsed() + look_seconds + final)
        refit = " and the final fit" if self.with_refit else ""
        return BudgetTooSmallError(
            f"time_budget={self.seconds:g} seconds is too small for a first look at "
            f"one configuration{refit}: on this machine they take about {needed}. "
            "Allow that much, or race on fewer rows."
        )

    def too_small_after_all(self) -> BudgetTooSmallError:
        """Return the error for a first look that took longer than forecast."""
        assert self.gate is not None
        late = (self.gate.slower(self.reserve) - 1) * self.reserve
        return self.too_small(self.gate.rest() + late)

    def _each(self, state: RaceState, look: Look) -> FloatArray:
        """Return the seconds of a worker for each configuration of a look."""
        count = len(look.configurations)
        forecast = np.full(count, self.model.each(look.n_train, look.n_test, count))
        if not state.observations:
            return forecast
        last = state.observations[-1].look
        before = self.model.each(last.n_train, last.n_test, len(last.configurations))
        growth = forecast[0] / before
        seconds = state.column("fit_seconds") + state.column("score_seconds")
        seen = seconds[look.configurations] * growth
        return np.where(np.isfinite(seen), seen, forecast)

    def _refit(self, setup: Setup, state: RaceState, n_samples: int) -> float:
        if not self.with_refit:
            return 0.0
        if not state.observations:
            return self.model.refit(n_samples)
        last = state.observations[-1]
        leader = int(setup.strategy.ranking(state)[0])
        model, n_train = self.model, last.look.n_train
        pace = _pace(state, leader)
        if n_train <= model.largest_probe:
            return pace * model.refit(n_samples)
        # Looks have gone beyond the probe, so they know more about the growth.
        growth = model.fit(n_samples) / max(model.fit(n_train), 1e-9)
        return pace * model.alone(n_train) * growth


@dataclass(frozen=True)
class Within(Limit):
    """End a race when there is no time for its next look.

    Parameters
    ----------
    decider : Decider
        What decides.
    budget : TimeBudget
        The clock.
    setup : Setup
        The race.
    """

    budget: TimeBudget
    setup: Setup

    def next_look(self, state: RaceState) -> Look:
        """Return the next look, if there is time for it.

        Raises
        ------
        LookCutError
            If there is not.
        """
        look = self.decider.next_look(state)
        if not self.budget.allows(self.setup, state, look):
            raise LookCutError
        return look


def _pace(state: RaceState, leader: int) -> float:
    """Return how much longer the leader's fits take than those of the others."""
    own = state.fit_seconds[leader]
    others = np.array([np.nanmean(look.fit_seconds) for look in state.observations])
    common = np.isfinite(own)
    if not common.any() or others[common].sum() <= 0:
        return 1.0
    ratio = own[common].sum() / others[common].sum()
    # Small looks are short, and any disturbance of one fit is a large ratio.
    return float(np.clip(ratio, *PACES))
