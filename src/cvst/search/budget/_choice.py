"""Which variant of a race fits into the time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from cvst._typing import FloatArray
from cvst.exceptions import InvalidInputError
from cvst.parallel import effective_n_jobs
from cvst.race import PlannedLook, Strategy
from cvst.race.machinery import fitting_variant
from cvst.search._setup import Setup
from cvst.search.budget._expected import Expected, expected_looks
from cvst.search.budget._model import CostModel
from cvst.search.rows import enough_to_start

__all__ = [
    "expected_seconds",
    "fitting_strategy",
    "race_seconds",
    "refit_range",
    "refit_seconds",
]

# One fit is not the mean of many: four of five final fits take between half and twice
# what is expected of them (docs/measurements/forecasts.md).
DOUBT_OF_ONE_FIT = 2.0

# How many standard deviations leave out a tenth on either side.
TENTH = 1.28

# No fit counts as shorter than that part of the mean: it may have failed.
SHORTEST = 0.01


def fitting_strategy(setup: Setup, model: CostModel, seconds: float) -> Strategy:
    """Return the variant of a race with most looks that fits.

    A race fits if there is time until it can have dropped the losers and stopped early;
    should the survivors differ for longer, the clock ends it. Groups of variants are
    tried in the order of the strategy. If none fits, the race with the smallest first
    look of the first group begins; without variants the strategy stays as it is.

    Parameters
    ----------
    setup : Setup
        The race as it would be without a budget.
    model : CostModel
        What looks cost.
    seconds : float
        What the race may take, without the final fit.
    """
    strategy, problem = setup.strategy, setup.problem

    def possible() -> Iterator[list[Strategy]]:
        return (list(_possible(setup, group)) for group in strategy.variants(problem))

    def n_looks(one: Strategy) -> int:
        return len(one.planned_looks(problem))

    def cost(one: Strategy) -> float:
        return _seconds(setup, model, one)

    chosen = fitting_variant(possible(), seconds, cost=cost, n_looks=n_looks)
    if chosen is not None:
        return chosen
    # Most looks mean the smallest first look.
    first_group = next(filter(None, possible()), [strategy])
    return max(first_group, key=n_looks)


def expected_seconds(setup: Setup, model: CostModel, with_refit: bool = True) -> float:
    """Return the seconds of a race as it will probably be, final fit included."""
    strategy, problem = setup.strategy, setup.problem
    looks = strategy.planned_looks(problem)
    seconds = race_seconds(model, looks, expected_looks(strategy, problem, model))
    # Late looks are often not reached.
    seconds = strategy.look_chances(problem) * seconds
    return float(seconds.sum()) + with_refit * model.refit(problem.refit_rows)


def race_seconds(
    model: CostModel, looks: Sequence[PlannedLook], expected: Expected
) -> FloatArray:
    """Return the seconds of each look."""
    return np.array(
        [
            model.look(look.n_train, look.n_test, count, pace)
            for look, count, pace in zip(looks, *expected, strict=True)
        ]
    )


def refit_seconds(
    model: CostModel, looks: Sequence[PlannedLook], n_rows: int, n_jobs: int | None
) -> float:
    """Return the seconds of the final fit: no less than those of a fit on fewer rows.

    How much longer one takes alone is known from small fits, most of which is calls and
    noise. Where workers have a thread each, one that has all of them may be faster.
    """
    seconds = model.refit(n_rows)
    if effective_n_jobs(n_jobs) > 1:
        return seconds
    return max(seconds, *(model.fit(look.n_train) for look in looks))


def refit_range(model: CostModel, seconds: float, n_rows: int) -> tuple[float, float]:
    """Return between which seconds the final fit will probably be.

    Besides the doubt about the curve there are two that the mean of many fits does not
    have: which configuration wins is not known, and it is fitted once.

    Parameters
    ----------
    model : CostModel
        What was measured: how far the timed configurations are apart is taken from it.
    seconds : float
        What is expected.
    n_rows : int
        Rows of the final fit.

    Examples
    --------
    >>> from cvst.theory import PowerCurve
    >>> line = PowerCurve(0.0, 1.0, 1.0)
    >>> alike = CostModel(line, line, line, paces=(1.0, 1.0))
    >>> apart = CostModel(line, line, line, paces=(0.2, 1.8))
    >>> for model in (alike, apart):
    ...     print(np.round(refit_range(model, 10.0, 100), 1))
    [ 4.9 20.5]
    [ 2.1 48.5]
    """
    # Of work that is shared the first of a group may do most, whoever wins.
    shared = model.n_groups < model.n_configurations
    seen = (1.0,) if shared or not model.paces else model.paces
    paces = np.log(np.maximum(seen, SHORTEST))
    known = len(model.parts) == len(paces)
    parts = np.asarray(model.parts) if known else np.ones(len(paces))
    middle = np.average(paces, weights=parts)
    spread = TENTH * np.sqrt(np.average((paces - middle) ** 2, weights=parts))
    others = np.hypot(spread, np.log(DOUBT_OF_ONE_FIT))
    below, above = np.exp(np.hypot(others, np.log(model.doubt(n_rows))))
    return float(seconds / below), float(seconds * above)


def _possible(setup: Setup, group: Sequence[Strategy]) -> Iterator[Strategy]:
    """Yield the variants that these data allow."""
    for variant in group:
        try:
            variant.check(setup.problem)
        except InvalidInputError:
            continue
        data, classes = setup.source.data, setup.source.classes
        if enough_to_start(variant, setup.problem, data, classes):
            yield variant


def _seconds(setup: Setup, model: CostModel, strategy: Strategy) -> float:
    """Return the seconds up to an early end, of all looks where there is none."""
    looks = strategy.planned_looks(setup.problem)
    expected = expected_looks(strategy, setup.problem, model)
    seconds = race_seconds(model, looks, expected)
    return float(seconds[: strategy.fewest_looks(setup.problem)].sum())
