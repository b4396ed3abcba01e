"""Keeping a time budget: forecasts that learn from every look, and a gate."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from cvst._typing import FloatArray
from cvst.exceptions import BudgetTooSmallError
from cvst.parallel import effective_n_jobs
from cvst.race import Look, RaceState
from cvst.search._budget_settings import fitting_strategy, has_choices
from cvst.search._cost_model import CostModel, measure_costs
from cvst.search._forecast import sequential_test
from cvst.search._log import LOGGER
from cvst.search._setup import Setup
from cvst.theory import PowerCurve

__all__ = ["TimeBudget", "budget_settings", "start_budget"]

# Forecasts err; the final fit cannot be cut, so its reserve is the larger one.
LOOK_MARGIN, REFIT_MARGIN = 1.1, 1.25

# What measuring may take of the budget, and how much of what is left a chunk may take.
PROBE_SHARE, LONGEST_PROBE = 0.04, 2.0

# Small fits on a busy machine may promise a final fit that takes ages. Before a budget
# is refused, larger ones are asked.
SECOND_PROBE_SHARE, LONGEST_SECOND_PROBE = 0.1, 10.0
CHUNK_SHARE = 0.01
HOPELESS = 2.0

# Leaders are taken to be no faster and no slower than this.
PACES = 0.7, 3.0

# Share of a look, and of the budget, after which the pace of a look is believed.
DOUBT, ALARM = 0.2, 0.05


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
    """

    def __init__(
        self,
        seconds: float,
        started: float,
        clock: Callable[[], float],
        model: CostModel,
        with_refit: bool,
    ) -> None:
        self.seconds = seconds
        self.started = started
        self.clock = clock
        self.model = model
        self.with_refit = with_refit
        self.reserve = 0.0
        self.gate: LookGate | None = None

    def elapsed(self) -> float:
        """Return the seconds spent."""
        return self.clock() - self.started

    def left(self, slower: float = 1.0) -> float:
        """Return the seconds before the final fit, which may be slower than thought."""
        return self.seconds - self.elapsed() - slower * self.reserve

    def prepare(self, setup: Setup, state: RaceState, look: Look) -> float:
        """Forecast a look, set the reserve and let the look be cut if need be.

        Returns
        -------
        float
            Seconds of the look, margin included.
        """
        n_samples = setup.problem.n_samples
        # Before the first look a margin would only refuse races that might fit.
        margin = REFIT_MARGIN if state.observations else 1.0
        self.reserve = margin * self._refit(setup, state, n_samples)
        each = LOOK_MARGIN * self._each(state, look)
        n_workers = effective_n_jobs(setup.source.n_jobs)
        self.gate = LookGate(self, self.model.wall * each, n_workers)
        setup.source.gate = self.gate
        return float(self.model.overhead + self.model.wall * each.sum())

    def allows(self, setup: Setup, state: RaceState) -> bool:
        """Return whether there is time for the next look; the first always begins."""
        forecast = self.prepare(setup, state, setup.strategy.next_look(state))
        return not state.observations or forecast <= self.left()

    def learn(self, state: RaceState, seconds: float) -> None:
        """Improve the model by the look just made, which took so many seconds."""
        observation = state.observations[-1]
        worked = np.nansum(observation.fit_seconds + observation.score_seconds)
        wall = (seconds - self.model.overhead) / max(float(worked), 1e-9)
        self.model = replace(self.model, wall=max(wall, 0.5 * self.model.wall))
        sizes = state.subset_sizes
        members = np.flatnonzero(state.present.all(axis=1) & state.active)
        if len(np.unique(sizes)) < 2 or not len(members):
            return
        # Only those present in all looks tell growth from a change in the field.
        fits = [look.fit_seconds[members].mean() for look in state.observations]
        self.model = replace(self.model, fit=PowerCurve.fit(sizes, fits))

    def too_small(self, look_seconds: float) -> BudgetTooSmallError:
        """Return the error that names the smallest budget that would do."""
        needed = _round_up(self.elapsed() + look_seconds + self.reserve)
        refit = " and the final fit" if self.with_refit else ""
        return BudgetTooSmallError(
            f"time_budget={self.seconds:g} seconds is too small for a first look at "
            f"all configurations{refit}: on this machine they take about {needed} "
            "seconds. Allow that much, or race fewer configurations or rows."
        )

    def too_small_after_all(self) -> BudgetTooSmallError:
        """Return the error for a first look that took longer than forecast."""
        assert self.gate is not None
        late = (self.gate.slower(self.reserve) - 1) * self.reserve
        return self.too_small(self.gate.rest() + late)

    def _each(self, state: RaceState, look: Look) -> FloatArray:
        """Return the seconds of a worker for each configuration of a look."""
        n_test = _count(look.test)
        forecast = np.full(
            len(look.configurations), self.model.each(look.n_train, n_test)
        )
        if not state.observations:
            return forecast
        last = state.observations[-1].look
        growth = forecast[0] / self.model.each(last.n_train, _count(last.test))
        seen = _last_seconds(state)[look.configurations] * growth
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


class LookGate:
    """Hands out groups of configurations while the clock allows.

    Parameters
    ----------
    budget : TimeBudget
        The clock.
    forecast : ndarray of shape (n_configurations,)
        Seconds on the clock for each configuration of the look.
    n_workers : int
        How many work side by side.
    """

    def __init__(self, budget: TimeBudget, forecast: FloatArray, n_workers: int):
        self._budget = budget
        self._forecast = forecast
        self._n_workers = n_workers
        self._start = budget.clock()
        self._handed_out = 0.0
        self._done = 0.0
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

    def done(self, positions: list[int]) -> None:
        """Note what is finished."""
        with self._lock:
            self._done += self._seconds(positions)

    def rest(self) -> float:
        """Return the seconds that what is not done yet will take."""
        return self.slower() * (float(self._forecast.sum()) - self._done)

    def slower(self, doubt: float | None = None) -> float:
        """Return how far the forecast is off, as the look itself says.

        Parameters
        ----------
        doubt : float
            Seconds after which the look's own pace counts as much as the forecast. The
            first chunk does what all of them share, so its time alone says little.
        """
        if doubt is None:
            doubt = DOUBT * float(self._forecast.sum()) + ALARM * self._budget.seconds
        elapsed = self._budget.clock() - self._start
        believed = self._handed_out + doubt
        return max(1.0, (elapsed + doubt) / believed) if believed else 1.0

    def _seconds(self, positions: list[int]) -> float:
        return float(self._forecast[positions].sum())

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


def start_budget(
    search: Any, setup: Setup, started: float
) -> tuple[Setup, TimeBudget | None]:
    """Measure, choose the race that fits and say so; nothing without a budget.

    Raises
    ------
    BudgetTooSmallError
        If not even the first look fits.
    """
    if search.time_budget is None or len(setup.configurations) == 1:
        return setup, None
    seconds = float(search.time_budget)
    for longest in (
        min(PROBE_SHARE * seconds, LONGEST_PROBE),
        min(SECOND_PROBE_SHARE * seconds, LONGEST_SECOND_PROBE),
    ):
        chosen, budget, look_seconds = _chosen_race(search, setup, started, longest)
        if look_seconds <= budget.left():
            _log_choice(chosen, budget)
            return chosen, budget
    raise budget.too_small(look_seconds)


def _chosen_race(
    search: Any, setup: Setup, started: float, probe_seconds: float
) -> tuple[Setup, TimeBudget, float]:
    """Return the race that fits best, its clock and the seconds of its first look."""
    clock = search._clock
    model = measure_costs(
        setup.source, setup.problem, seconds=probe_seconds, clock=clock
    )
    seconds = float(search.time_budget)
    budget = TimeBudget(seconds, started, clock, model, bool(search.refit))
    state = RaceState(setup.problem)
    budget.prepare(setup, state, setup.strategy.next_look(state))
    if has_choices(setup.strategy):
        strategy = fitting_strategy(setup, model, budget.left() / LOOK_MARGIN)
        setup = replace(setup, strategy=strategy)
    look_seconds = budget.prepare(setup, state, setup.strategy.next_look(state))
    return setup, budget, look_seconds


def budget_settings(
    budget: TimeBudget | None, setup: Setup, state: RaceState, reason: str
) -> dict[str, Any]:
    """Return the parameters that repeat this race without a clock."""
    if budget is None:
        return {}
    cut = reason in ("time_budget", "interrupted", "max_looks")
    settings: dict[str, Any] = {"max_looks": state.n_steps if cut else None}
    if has_choices(setup.strategy):
        settings["strategy"] = clone(setup.strategy, safe=False)
    return settings


def _log_choice(setup: Setup, budget: TimeBudget) -> None:
    model = budget.model
    event = {
        "event": "budget",
        "seconds": budget.seconds,
        "probe_seconds": model.probe_seconds,
        "exponent": model.fit.exponent,
        "reserve": budget.reserve,
        "strategy": repr(setup.strategy),
    }
    test = sequential_test(setup.strategy)
    zone = "" if test is None else f", safety zone {test.safety_zone:.2f} steps"
    LOGGER.info(
        "time budget %(seconds)g s: a fit costs about n^%(exponent).2g (measured in "
        "%(probe_seconds).2g s), %(reserve).2g s are reserved for the final fit; "
        "racing with %(strategy)s%(zone)s",
        {**event, "zone": zone},
        extra={"cvst": event},
    )


def _pace(state: RaceState, leader: int) -> float:
    """Return how much longer the leader's fits take than those of the others."""
    own = np.array([look.fit_seconds[leader] for look in state.observations])
    others = np.array([np.nanmean(look.fit_seconds) for look in state.observations])
    common = np.isfinite(own)
    if not common.any() or others[common].sum() <= 0:
        return 1.0
    ratio = own[common].sum() / others[common].sum()
    # Small looks are short, and any disturbance of one fit is a large ratio.
    return float(np.clip(ratio, *PACES))


def _last_seconds(state: RaceState) -> FloatArray:
    """Return what each configuration took in the last look, NaN if absent."""
    last = state.observations[-1]
    return last.fit_seconds + last.score_seconds


def _count(rows: Any) -> int:
    return rows.stop - rows.start if isinstance(rows, slice) else len(rows)


def _round_up(seconds: float) -> str:
    """Write a time with two digits, never less than it is."""
    digit = 10.0 ** (np.floor(np.log10(seconds)) - 1)
    return f"{np.ceil(seconds / digit) * digit:.2g}"
