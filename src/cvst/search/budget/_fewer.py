"""A race of fewer configurations, where there is no time for all of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cvst._typing import IntArray
from cvst._users_line import users_line
from cvst.exceptions import FallbackWarning, InvalidInputError
from cvst.race.machinery import space_of
from cvst.search._setup import Setup
from cvst.search.rows import enough_to_start

__all__ = ["balanced_order", "smaller_numbers", "warn_of_fewer", "with_configurations"]

# Beyond that a balanced order takes too long, and chance balances well enough.
LARGEST_BALANCED = 3000


def balanced_order(setup: Setup) -> IntArray:
    """Return the configurations so that the first of them are spread over the grid.

    Each is the one whose values were taken least often by those before it.

    Parameters
    ----------
    setup : Setup
        The race.
    """
    n_configurations = setup.problem.n_configurations
    # At random first, so that ties do not follow the order of the grid.
    order = np.random.default_rng(setup.problem.seed).permutation(n_configurations)
    space = setup.problem.space
    if space is None or not space.axes or n_configurations > LARGEST_BALANCED:
        return order
    codes = space.codes[:, order]
    # One place more than values: -1, where a parameter is missing, is the last.
    taken = np.zeros((len(codes), int(codes.max()) + 2), dtype=np.intp)
    axes = np.arange(len(codes))
    waiting = np.ones(n_configurations, dtype=bool)
    chosen = np.empty(n_configurations, dtype=np.intp)
    for place in range(n_configurations):
        crowd = taken[axes[:, None], codes].sum(axis=0).astype(float)
        crowd[~waiting] = np.inf
        best = int(np.argmin(crowd))
        waiting[best] = False
        taken[axes, codes[:, best]] += 1
        chosen[place] = order[best]
    return chosen


def with_configurations(setup: Setup, numbers: IntArray) -> Setup | None:
    """Return the same race of some configurations, None if it could not start.

    Parameters
    ----------
    setup : Setup
        The race of all.
    numbers : ndarray of int
        Those to race, ascending.
    """
    source, problem = setup.source, setup.problem
    rescaling = source.rescaling
    chosen = [problem.configurations[number] for number in numbers]
    smaller = replace(
        problem,
        n_configurations=len(chosen),
        configurations=tuple(chosen),
        space=space_of(chosen, dict(problem.covered)),
    )
    rules = rescaling.rules
    race = replace(
        setup,
        problem=smaller,
        source=replace(
            source,
            configurations=[source.configurations[number] for number in numbers],
            rescaling=replace(
                rescaling,
                configurations=[rescaling.configurations[one] for one in numbers],
                rules=[rules[number] for number in numbers] if rules else rules,
            ),
        ),
    )
    try:
        setup.strategy.check(smaller)
    except InvalidInputError:
        return None
    starts = enough_to_start(setup.strategy, smaller, source.data, source.classes)
    return race if starts else None


def smaller_numbers(n_configurations: int) -> Iterator[int]:
    """Yield smaller and smaller numbers, the small ones without a gap.

    Examples
    --------
    >>> list(smaller_numbers(50))[:6]
    [49, 46, 43, 40, 38, 36]
    """
    number = n_configurations - 1
    while number > 0:
        yield number
        number = min(number - 1, int(0.95 * number))


def warn_of_fewer(seconds: float, n_raced: int, n_all: int) -> None:
    """Say once that not all configurations are raced."""
    warnings.warn(
        f"time_budget={seconds:g} seconds are too few for all {n_all} configurations: "
        f"{n_raced} of {n_all} are raced. Allow more time to race more of them.",
        FallbackWarning,
        stacklevel=users_line(),
    )
