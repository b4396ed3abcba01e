"""How many configurations each look of a race will probably see."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from cvst._typing import FloatArray
from cvst.race import PlannedLook, Problem, Strategy

__all__ = ["expected_counts"]

# Shares of the most that can take part, look by look; the last one holds for all that
# follow. Counted in races of 4 to 100 configurations of trees, kernel machines, linear
# models and boosting: most fall in the first folds, and few races climb.
SHARES = {
    "late look": (0.55,),
    "confirm": (0.7, 0.5, 0.35),
    "climb": (0.15,),
    "final": (1.0, 0.9, 0.85),
}

# All go to the first look, whatever its stage is called.
SHARES_OF_FIRST = (1.0, 0.65, 0.5)

FEWEST = 2.0

# Standard errors by which one must be behind the leader to be given up beforehand. A
# race takes less, but looks on few rows exaggerate what will be seen on many.
SIGNIFICANT = 5.0


def expected_counts(
    strategy: Strategy, problem: Problem, gaps: Sequence[float] = ()
) -> FloatArray:
    """Return how many configurations each planned look will probably see.

    What a strategy says itself counts. One that only knows the most that can take part
    gets shares of that by the names of its stages, if these are known, and no more than
    will be about as good as the leader.

    Parameters
    ----------
    strategy : Strategy
        The strategy.
    problem : Problem
        What is known before.
    gaps : sequence of float
        How far some configurations are behind their leader, in standard deviations of
        the pointwise difference.

    Examples
    --------
    >>> from cvst.race import CrossValidation
    >>> folds = tuple((np.arange(2), np.arange(2)) for _ in range(3))
    >>> expected_counts(CrossValidation(3), Problem(9, 4, folds={3: folds}))
    array([9., 9., 9.])
    """
    counts = strategy.expected_configurations(problem)
    looks = strategy.planned_looks(problem)
    most = np.array([look.max_configurations for look in looks], dtype=float)
    known = all(_name(look) in SHARES or _name(look) == "first look" for look in looks)
    if not np.array_equal(counts, most) or not known:
        return counts
    shares = [
        share
        for place, (name, members) in enumerate(groupby(looks, _name))
        for share in _shares(name, place == 0, len(list(members)))
    ]
    counts = np.maximum(np.minimum(most, FEWEST), most * np.array(shares))
    if len(gaps) < 2:
        return np.asarray(counts, dtype=float)
    left = _left(looks, problem, np.asarray(gaps))
    return np.asarray(np.minimum(counts, left), dtype=float)


def _left(
    looks: Sequence[PlannedLook], problem: Problem, gaps: FloatArray
) -> FloatArray:
    """Return how many are about as good as the leader by what was tested before."""
    n_before = 0
    left = []
    for look in looks:
        close = float(np.mean(gaps * np.sqrt(n_before) < SIGNIFICANT))
        count = max(1.0, close * problem.n_configurations)
        # A final of one is none.
        ends = _name(look) == "final" and n_before and count < FEWEST
        left.append(0.0 if ends else count)
        n_before += look.n_test
    return np.array(left)


def _name(look: PlannedLook) -> str:
    return look.stage.rstrip(" 0123456789")


def _shares(name: str, first: bool, n_looks: int) -> list[float]:
    known = SHARES.get(name, (1.0,))
    if first and name in SHARES:
        known = SHARES_OF_FIRST
    return [known[min(place, len(known) - 1)] for place in range(n_looks)]
