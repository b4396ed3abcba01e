"""Which race a time budget begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from cvst._text import seconds_text
from cvst._typing import IntArray
from cvst.race import RaceState
from cvst.report.machinery import EARLY_ENDS
from cvst.search._log import LOGGER
from cvst.search._options import SearchOptions
from cvst.search._setup import Setup
from cvst.search.budget._choice import expected_seconds, fitting_strategy
from cvst.search.budget._clock import LOOK_MARGIN, TimeBudget
from cvst.search.budget._costs import Allowance, measure_costs
from cvst.search.budget._fewer import (
    balanced_order,
    smaller_numbers,
    warn_of_fewer,
    with_configurations,
)
from cvst.search.budget._final_timed import FinalFit, timed_final_fit
from cvst.search.budget._growth import Growth, growth_of
from cvst.search.budget._in_turn import in_turn, warn_of_turns
from cvst.search.budget._model import CostModel

__all__ = ["budget_settings", "start_again", "start_budget"]

# What measuring may take of the budget, and of the race that it is for.
PROBE_SHARE, LONGEST_PROBE = 0.04, 5.0
PROBE_SECONDS, PROBE_OF_RACE = 1.0, 0.05

# Where the ends of a forecast are further apart than that, it does not justify leaving
# anything out.
LARGEST_DOUBT = 2.0

# Forecasts of a lone fit may turn out that much too long before a budget is refused.
LEAST_LUCK = 0.5

# Nor may what came before the race be the reason, up to that many seconds. And that
# share of the budget is the race's own, whatever workers and measuring have taken.
EXCUSED, OWN_SHARE = 0.2, 0.1

# A race of fewer configurations leaves time for more than its first look, if it can.
FIRST_SHARE, SAFE_SHARE = 0.6, 0.85

# Small fits on a busy machine may promise a final fit that takes ages. Before a budget
# is refused, larger ones are timed.
SECOND_PROBE_SHARE, LONGEST_SECOND_PROBE = 0.25, 10.0
THIRD_PROBE_SHARE = 0.1  # where the first measurement seems certain

# Rows at which two measurements are compared, besides the largest.
SMALL = 100


def start_budget(
    options: SearchOptions,
    setup: Setup,
    started: float,
    order: Callable[[Setup], IntArray] = balanced_order,
) -> tuple[Setup, TimeBudget | None]:
    """Measure, choose the race that fits and say so; nothing without a budget.

    Parameters
    ----------
    options : SearchOptions
        What the user set.
    setup : Setup
        The race as it would be without a budget.
    started : float
        Reading of the clock at the start.
    order : callable
        Returns the configurations in the order in which they are taken where there is
        no time for all.

    Raises
    ------
    BudgetTooSmallError
        If not even one configuration can be fitted twice.
    """
    if options.time_budget is None or setup.problem.n_configurations == 1:
        return setup, None
    seconds = float(options.time_budget)
    longest = min(PROBE_SHARE * seconds, LONGEST_PROBE)
    model = measure_costs(
        setup.source,
        setup.problem,
        seconds=longest,
        allowed=_allowance(options, setup, longest),
        clock=options.clock,
    )
    chosen = _Chosen.of(options, setup, started, model)
    if chosen.starts:
        return chosen.logged()
    numbers = order(setup)
    low = model.doubt(setup.problem.n_samples)[0]
    # Where a better forecast cannot let all of them start, a race in turn has a use for
    # the time that it takes.
    hopeful = _Chosen.of(options, setup, started, model.scaled(low)).starts
    if hopeful or not _takes_turns(options, setup):
        model = _refined(options, setup, model, numbers)
        chosen = _Chosen.of(options, setup, started, model)
    if chosen.starts:
        return chosen.logged()
    luck = max(LEAST_LUCK, model.doubt(setup.problem.n_samples)[0])
    if _takes_turns(options, setup):
        return _begun_in_turn(options, setup, chosen.budget, numbers, luck), None
    return _with_fewer(options, setup, chosen, numbers, luck).logged()


def _takes_turns(options: SearchOptions, setup: Setup) -> bool:
    # A model that goes on learning from look to look cannot go back to fewer rows.
    return setup.strategy.takes_turns and not options.incremental


def _begun_in_turn(
    options: SearchOptions,
    setup: Setup,
    budget: TimeBudget,
    order: IntArray,
    luck: float,
) -> Setup:
    """Return a race in turn, unless even the final fit would take too long."""
    left = budget.seconds - budget.elapsed() + _excused(budget)
    if luck * budget.reserve > left:
        _refuse_if_sure(setup, budget, int(order[0]))
        left = budget.seconds - budget.elapsed() + _excused(budget)
    warn_of_turns(budget.seconds, setup.problem.n_configurations)
    return in_turn(options, setup, left, order)


def _refuse_if_sure(setup: Setup, budget: TimeBudget, index: int) -> None:
    """Refuse a budget if fits like the final one say, too, that it is too small.

    Raises
    ------
    BudgetTooSmallError
        If so; the seconds named are those that such fits tell.
    """
    final, n_rows = _timed(setup, budget, index), setup.problem.refit_rows
    if final is None:
        raise budget.too_small(0.0)
    if final.least(n_rows) > budget.seconds - budget.elapsed() + _excused(budget):
        raise budget.too_small(0.0, final.likely(n_rows))


def _timed(setup: Setup, budget: TimeBudget, index: int) -> FinalFit | None:
    """Return what fits like the final one take, None if they fail."""
    room = SECOND_PROBE_SHARE * budget.seconds
    return timed_final_fit(setup, index, growth_of_source(setup), room, budget.clock)


def _excused(budget: TimeBudget) -> float:
    """Return the seconds of what came before the race that are no reason to refuse."""
    elapsed = budget.elapsed()
    return max(min(elapsed, EXCUSED), elapsed - (1 - OWN_SHARE) * budget.seconds)


def _allowance(options: SearchOptions, setup: Setup, longest: float) -> Allowance:
    """Return what measuring may take: no more than is worth it for a short race."""
    refit = bool(options.refit)

    def allowed(model: CostModel) -> float:
        race = expected_seconds(setup, model, refit)
        return min(longest, max(PROBE_SECONDS, PROBE_OF_RACE * race))

    return allowed


@dataclass(frozen=True)
class _Chosen:
    """A race, its clock, and the seconds of its first look."""

    setup: Setup
    budget: TimeBudget
    first: float

    @classmethod
    def of(
        cls, options: SearchOptions, setup: Setup, started: float, model: CostModel
    ) -> _Chosen:
        """Return the variant of a race that fits best."""
        seconds = float(options.time_budget or 0)
        refit = bool(options.refit)
        budget = TimeBudget(
            seconds, started, options.clock, model, refit, growth_of_source(setup)
        )
        state = RaceState(setup.problem)
        budget.prepare(setup, state, setup.strategy.next_look(state))
        strategy = fitting_strategy(setup, model, budget.left() / LOOK_MARGIN)
        setup = replace(setup, strategy=strategy)
        first = budget.prepare(setup, state, setup.strategy.next_look(state))
        return cls(setup, budget, first)

    @property
    def starts(self) -> bool:
        """Whether there is time for the first look."""
        return self.first <= self.budget.left()

    @property
    def ends(self) -> bool:
        """Whether the race will probably be over by itself in time."""
        race = expected_seconds(self.setup, self.budget.model, with_refit=False)
        return LOOK_MARGIN * race <= self.budget.left()

    def logged(self) -> tuple[Setup, TimeBudget]:
        """Say what was chosen, and return it."""
        _log_choice(self.setup, self.budget)
        return self.setup, self.budget


def _with_fewer(
    options: SearchOptions,
    setup: Setup,
    chosen: _Chosen,
    order: IntArray,
    luck: float = 1.0,
) -> _Chosen:
    """Return the best race of fewer configurations that starts in time."""
    best = _best_of(_starting(options, setup, chosen, order, luck))
    n_all, n_raced = (one.problem.n_configurations for one in (setup, best.setup))
    best.budget.leave_out([setup.problem.configurations[i] for i in order[n_raced:]])
    if n_raced < n_all:
        warn_of_fewer(best.budget.seconds, n_raced, n_all)
    return best


def _starting(
    options: SearchOptions,
    setup: Setup,
    chosen: _Chosen,
    order: IntArray,
    luck: float,
) -> list[_Chosen]:
    """Return the races of fewer configurations that start in time, the largest first.

    Raises
    ------
    BudgetTooSmallError
        If there are none with some luck, nor by what fits like the final one say.
    """
    started, model = chosen.budget.started, chosen.budget.model
    races = _of_fewer(options, setup, started, model, order) or [chosen]
    starting = _that_start(options, races, model.scaled(luck))
    if starting:
        return starting
    final = _timed(setup, chosen.budget, int(order[0]))
    if final is not None:
        model = final.corrected(model)
        races = _of_fewer(options, setup, started, model, order) or races
        starting = _that_start(options, races, model.scaled(luck))
    if not starting:
        raise races[-1].budget.too_small(races[-1].first)
    return starting


def _of_fewer(
    options: SearchOptions,
    setup: Setup,
    started: float,
    model: CostModel,
    order: IntArray,
) -> list[_Chosen]:
    """Return races of fewer and fewer configurations."""
    numbers = smaller_numbers(setup.problem.n_configurations)
    fewer = (with_configurations(setup, np.sort(order[:number])) for number in numbers)
    return [_Chosen.of(options, one, started, model) for one in fewer if one]


def _that_start(
    options: SearchOptions, races: list[_Chosen], lucky: CostModel
) -> list[_Chosen]:
    """Return the races that start in time, or the smallest if it does with luck."""
    starting = [one for one in races if one.starts]
    if starting:
        return starting
    smallest = races[-1]
    excused = smallest.budget.started + _excused(smallest.budget)
    again = _Chosen.of(options, smallest.setup, excused, lucky)
    return [again] if again.starts else []


def _refined(
    options: SearchOptions, setup: Setup, model: CostModel, order: IntArray
) -> CostModel:
    """Return a model that knows the growth better, from larger fits of one.

    To leave configurations out, or to refuse a budget, takes more than a guess.
    """
    n_samples = setup.problem.n_samples
    low, high = model.doubt(n_samples)
    one = with_configurations(setup, order[:1])
    if one is None:
        return model
    share = SECOND_PROBE_SHARE if high / low > LARGEST_DOUBT else THIRD_PROBE_SHARE
    seconds = min(share * float(options.time_budget or 0), LONGEST_SECOND_PROBE)
    if seconds < model.probe_seconds:
        # Of so little time the first measurement has taken too much already.
        return model
    grown = measure_costs(
        one.source,
        one.problem,
        seconds=seconds,
        allowed=lambda _: seconds,
        clock=options.clock,
    )
    if grown.largest_probe <= model.largest_probe:
        return model
    # What was disturbed is too long, never too short.
    places = min(SMALL, model.largest_probe), model.largest_probe
    level = min(model.fit(n) / max(grown.fit(n), 1e-12) for n in places)
    lonely = model.alone(places[0]) / max(model.fit(places[0]), 1e-12)
    return replace(
        model,
        fit=grown.fit.scaled(level),
        alone=grown.fit.scaled(level * lonely),
        plausible=tuple(curve.scaled(level) for curve in grown.plausible),
        largest_probe=grown.largest_probe,
    )


def _best_of(starting: list[_Chosen]) -> _Chosen:
    """Return the largest race, or one half as large that has time for more looks."""
    # A first look that is cut counts for nothing, so it gets some air.
    safe = [one for one in starting if one.first <= SAFE_SHARE * one.budget.left()]
    starting = safe or starting
    most = starting[0].setup.problem.n_configurations
    large = [one for one in starting if 2 * one.setup.problem.n_configurations >= most]
    for good in (
        [one for one in large if one.ends],
        [one for one in large if one.first <= FIRST_SHARE * one.budget.left()],
    ):
        if good:
            return good[0]
    return starting[0]


def start_again(
    options: SearchOptions,
    setup: Setup,
    budget: TimeBudget,
    order: Callable[[Setup], IntArray],
) -> tuple[Setup, TimeBudget | None]:
    """Return a smaller race after a first look that was slower than forecast.

    Raises
    ------
    BudgetTooSmallError
        If there is no time for one either.
    """
    assert budget.gate is not None
    slower = budget.gate.slower(budget.reserve)
    model = budget.model.scaled(slower)
    if setup.problem.n_configurations == 1:
        raise budget.too_small_after_all()
    chosen = _Chosen.of(options, setup, budget.started, model)
    numbers = order(setup)
    if _takes_turns(options, setup):
        return _begun_in_turn(options, setup, chosen.budget, numbers, LEAST_LUCK), None
    return _with_fewer(options, setup, chosen, numbers).logged()


def growth_of_source(setup: Setup) -> Growth:
    """Return how steeply the costs of a race can grow."""
    return growth_of(setup.source.estimator, setup.source.configurations)


def budget_settings(
    budget: TimeBudget | None, setup: Setup, state: RaceState, reason: str
) -> dict[str, Any]:
    """Return the parameters that repeat this race without a clock."""
    if budget is None:
        return {}
    cut = reason in (*EARLY_ENDS, "max_looks")
    settings: dict[str, Any] = {"max_looks": state.n_looks if cut else None}
    chosen = setup.strategy.repeatable(setup.problem)
    if chosen is not None:
        settings["strategy"] = clone(chosen, safe=False)
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
    test = setup.strategy.sequential_test
    zone = "" if test is None else f", safety zone {test.safety_zone:.2f} looks"
    LOGGER.info(
        "time budget %(seconds)g s: a fit costs about n^%(exponent).2g (measured in "
        "%(probe)s), %(kept)s are reserved for the final fit; racing with "
        "%(strategy)s%(zone)s",
        {
            **event,
            "probe": seconds_text(model.probe_seconds),
            "kept": seconds_text(budget.reserve),
            "zone": zone,
        },
        extra={"cvst": event},
    )
