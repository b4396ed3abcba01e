"""Which configurations are timed for all, and what they say of all."""

from __future__ import annotations

import numpy as np

from cvst._typing import FloatArray, IntArray

__all__ = ["LARGEST_SAMPLE", "parts_of_grid", "spread_sample"]

# How many configurations are timed at most.
LARGEST_SAMPLE = 64

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
