"""Which configurations are timed for all."""

from __future__ import annotations

import numpy as np

from cvst._typing import IntArray

__all__ = ["LARGEST_SAMPLE", "spread_sample"]

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
        chosen.extend(members)
    if len(chosen) > LARGEST_SAMPLE:
        spread = np.linspace(0, len(chosen) - 1, LARGEST_SAMPLE).round().astype(int)
        chosen = [chosen[place] for place in spread]
    return np.array(sorted(chosen), dtype=np.intp)
