"""Two variables of the compiled solver, and how far they move."""

from __future__ import annotations

import numpy as np

from cvst.evaluation.svm.compiled._state import Limits, Problem
from cvst.evaluation.svm.compiled._vectors import compiled

__all__ = ["TAU", "across", "along", "curvature"]

# Stands for a curvature that is not positive.
TAU = 1e-12


@compiled
def curvature(problem: Problem, limits: Limits, p: int, q: int) -> float:
    """Return the curvature along a pair of points."""
    value = np.float64(problem.kernel[p * limits.n_points + q])
    bend = problem.diagonal[p] + problem.diagonal[q] - 2.0 * value
    return bend if bend > 0 else TAU


@compiled
def across(
    a: float, b: float, bound_a: float, bound_b: float, step: float
) -> tuple[float, float]:
    """Move variables of unlike sign: their difference stays."""
    # The tests come in libsvm's order: at a corner of the square it decides which of
    # the two variables is put exactly on its bound.
    gap = a - b
    a += step
    b += step
    if gap > 0:
        if b < 0:
            a, b = gap, 0.0
    elif a < 0:
        a, b = 0.0, -gap
    if gap > bound_a - bound_b:
        if a > bound_a:
            a, b = bound_a, bound_a - gap
    elif b > bound_b:
        a, b = bound_b + gap, bound_b
    return a, b


@compiled
def along(
    a: float, b: float, bound_a: float, bound_b: float, step: float
) -> tuple[float, float]:
    """Move variables of the same sign: their sum stays."""
    total = a + b
    a -= step
    b += step
    if total > bound_a:
        if a > bound_a:
            a, b = bound_a, total - bound_a
    elif b < 0:
        a, b = total, 0.0
    if total > bound_b:
        if b > bound_b:
            a, b = total - bound_b, bound_b
    elif a < 0:
        a, b = 0.0, total
    return a, b
