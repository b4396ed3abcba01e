"""Which race fits into the time: number of steps, and the level if need be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sklearn.base import clone

from cvst.exceptions import InvalidInputError
from cvst.race import CVST, LinearSchedule
from cvst.search._cost_model import CostModel
from cvst.search._fallback import enough_to_start
from cvst.search._forecast import expected_configurations, race_seconds, sequential_test
from cvst.search._setup import Setup
from cvst.theory import first_drop, minimal_steps, steady_steps

__all__ = ["fitting_strategy", "has_choices"]

# More steps buy little safety and take longer, see steady_steps.
MOST_STEPS = 20

# A test that takes every other winner for a loser deserves no name.
LARGEST_LEVEL = 0.5


def has_choices(strategy: Any) -> bool:
    """Return whether the number of steps of this strategy is ours to choose."""
    linear = strategy.schedule if isinstance(strategy, CVST) else None
    return linear == "linear" or isinstance(linear, LinearSchedule)


def fitting_strategy(setup: Setup, model: CostModel, seconds: float) -> Any:
    """Return the race with most steps that fits.

    A race fits if there is time until it can have dropped the losers and stopped early;
    should the survivors differ for longer, the clock ends it. If none fits, the loser
    level is raised, so that losers fall earlier. If that does not help either, the
    race with the smallest first look begins.

    Parameters
    ----------
    setup : Setup
        The race as it would be without a budget.
    model : CostModel
        What looks cost.
    seconds : float
        What the race may take, without the final fit.
    """
    candidates = list(_candidates(setup, setup.strategy))
    for group in (candidates, list(_candidates(setup, _quicker(setup.strategy)))):
        fitting = [one for one in group if _seconds(setup, model, one) <= seconds]
        if fitting:
            return max(fitting, key=lambda one: one.max_steps)
    return max(candidates, key=lambda one: one.max_steps, default=setup.strategy)


def _candidates(setup: Setup, strategy: Any) -> Iterator[Any]:
    """Yield the strategy with every sensible number of steps."""
    most = MOST_STEPS
    if strategy.shuffle_each_step:
        most = min(most, len(setup.problem.orders))
    for steps in _numbers_of_steps(strategy, most):
        candidate = clone(strategy, safe=False).set_params(max_steps=steps)
        try:
            candidate.check(setup.problem)
        except InvalidInputError:
            continue
        data, classes = setup.source.data, setup.source.classes
        if enough_to_start(candidate, setup.problem, data, classes):
            yield candidate


def _numbers_of_steps(strategy: CVST, most: int) -> Sequence[int]:
    """Return those the test allows, without the ones where the error bound jumps."""
    levels = strategy.loser_level, strategy.winner_level
    if strategy.elimination == "open":
        return steady_steps(*levels, most)
    fewest = 1 if sequential_test(strategy) is None else minimal_steps(*levels)
    return range(fewest, most + 1)


def _quicker(strategy: Any) -> Any:
    level = max(strategy.loser_level, LARGEST_LEVEL)
    return clone(strategy, safe=False).set_params(loser_level=level)


def _seconds(setup: Setup, model: CostModel, strategy: CVST) -> float:
    """Return the seconds up to an early end, of all steps where there is none."""
    looks = strategy.planned_looks(setup.problem)
    expected = expected_configurations(strategy, setup.problem)
    seconds = race_seconds(model, looks, expected)
    test = sequential_test(strategy)
    if test is not None:
        seconds = seconds[: max(2, first_drop(test)) + strategy.window]
    return float(seconds.sum())
