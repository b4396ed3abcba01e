"""Which configurations are timed for all, and what they say of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.exceptions import AllFitsFailedError

__all__ = ["LARGEST_SAMPLE", "group_that_fits", "parts_of_grid", "spread_sample"]

# How many configurations are timed at most.
LARGEST_SAMPLE = 64

# Fits that work are looked for this many seconds, where the first ones fail.
LONGEST_FAILING = 10.0

# Multiples of it, without their whole part, are spread evenly however many there are.
GOLDEN = (5**0.5 - 1) / 2


def spread_sample(groups: list[list[int]], most: int, least: int) -> IntArray:
    """Return whole groups from all over the grid, or a part of one large group.

    Both ends of the grid and its middle come first: there the cheap and the dear are.
    The rest is spread evenly.
    """
    n_groups = len(groups)
    ends = [n_groups // 2, 0, n_groups - 1]
    rest = [int(n_groups * (place * GOLDEN % 1)) for place in range(1, 4 * most)]
    chosen: list[int] = []
    for count, place in enumerate(dict.fromkeys([*ends, *rest])):
        members = groups[place]
        room = LARGEST_SAMPLE if count < least else most
        if chosen and len(chosen) + len(members) > room:
            continue
        # Whole groups: members share work, and one alone would seem dear.
        chosen.extend(members)
    if len(chosen) > LARGEST_SAMPLE:
        spread = np.linspace(0, len(chosen) - 1, LARGEST_SAMPLE).round().astype(int)
        chosen = [chosen[place] for place in spread]
    return np.array(sorted(chosen), dtype=np.intp)


def group_that_fits(
    groups: list[list[int]],
    sizes: Sequence[int],
    losses: Callable[[int, IntArray], FloatArray],
    elapsed: Callable[[], float],
) -> list[int]:
    """Return a group of which not all fits fail, where those of the middle one do.

    Parameters
    ----------
    groups : list of list of int
        All configurations, by what shares work.
    sizes : sequence of int
        Numbers of rows to train on.
    losses : callable
        Looks at configurations trained on a number of rows; NaN is a failure.
    elapsed : callable
        Returns the seconds since the beginning.

    Raises
    ------
    AllFitsFailedError
        If there is none among those that were tried.
    """
    n_first = sum(
        len(groups[place]) for place in {0, len(groups) // 2, len(groups) - 1}
    )
    tries = list(product((n_first, LARGEST_SAMPLE), (sizes[0], sizes[-1])))
    for most, n_train in tries:
        members = spread_sample(groups, most, 1)
        try:
            good = members[np.isfinite(losses(n_train, members)).any(axis=1)]
        except AllFitsFailedError:
            if elapsed() > LONGEST_FAILING or (most, n_train) == tries[-1]:
                raise
            continue
        one = good[len(good) // 2]
        return next(group for group in groups if one in group)
    raise AssertionError("the last of them returns or raises")


def parts_of_grid(groups: list[list[int]], timed: IntArray) -> FloatArray:
    """Return the share of the grid that each configuration stands for.

    A group stands for the part of the grid that is nearest to it: the ends, where the
    cheapest and the dearest are, are few.

    Parameters
    ----------
    groups : list of list of int
        All configurations, by what shares work, in the order of the grid.
    timed : ndarray of int
        Those that were timed.

    Examples
    --------
    >>> groups = [[number] for number in range(13)]
    >>> parts_of_grid(groups, np.array([0, 6, 12])) * 52
    array([14., 24., 14.])
    """
    group_of = {one: place for place, group in enumerate(groups) for one in group}
    places, mine, counts = np.unique(
        [group_of[one] for one in timed.tolist()],
        return_inverse=True,
        return_counts=True,
    )
    ends = [-0.5, *((places[1:] + places[:-1]) / 2), len(groups) - 0.5]
    sizes = [len(groups[place]) for place in places]
    parts = np.diff(ends) * sizes
    return np.asarray((parts / counts / parts.sum())[mine])
