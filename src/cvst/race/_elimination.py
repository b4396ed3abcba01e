"""Step 2 of the race: drop significant losers (Algorithm 3, Section 7.2).

The open and the closed sequential test of :mod:`cvst.statistics` are elimination
rules as they are; here is the one that drops nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cvst._typing import BoolArray

__all__ = ["NoElimination"]


@dataclass(frozen=True, slots=True)
class NoElimination:
    """Drop nothing.

    Examples
    --------
    >>> NoElimination().is_loser(np.zeros((2, 9), dtype=bool))
    array([False, False])
    """

    def is_loser(self, traces: BoolArray) -> BoolArray:
        """Return False for every trace."""
        return np.zeros(len(traces), dtype=bool)
