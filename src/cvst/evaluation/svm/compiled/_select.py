"""Which two variables the compiled solver of support vector machines moves next."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvst.evaluation.svm.compiled._active import row_of
from cvst.evaluation.svm.compiled._pairs import curvature
from cvst.evaluation.svm.compiled._state import (
    END,
    IS_WHOLE,
    LANES,
    MIDDLE,
    Active,
    Limits,
    Problem,
    Rows,
)
from cvst.evaluation.svm.compiled._vectors import (
    best_gain,
    compiled,
    larger,
    top_of_sum,
)

__all__ = ["find_tops", "select"]

# Gains are compared by scales of single precision, which are right to seven digits
# (kernels with smaller curvatures than single precision has are not solved here).
# Variables this close to the best one are compared again, as libsvm does.
NEARLY = 1 - 1e-6


@compiled
def find_tops(active: Active) -> None:
    """Find the top of each vector, and the peaks of both signs."""
    active.peaks[0] = active.peaks[1] = -np.inf
    for b in range(active.sizes[END] // LANES):
        top = -np.inf
        for place in range(b * LANES, b * LANES + LANES):
            top = larger(top, active.up[place] - active.slopes[place])
        active.tops[b] = top
        side = 0 if b * LANES < active.sizes[MIDDLE] else 1
        active.peaks[side] = larger(active.peaks[side], top)


@compiled
def select(
    problem: Problem, limits: Limits, active: Active, rows: Rows
) -> tuple[int, int]:
    """Return the places of the two variables to move; -1 if nothing is left to do."""
    middle, end = active.sizes[MIDDLE] // LANES, active.sizes[END] // LANES
    first, second = active.peaks[0], active.peaks[1]
    if limits.by_sign:
        i = _last_at(active, first, 0, middle)
        k = _last_at(active, second, middle, end)
    else:
        first = second = larger(first, second)
        i = k = _last_at(active, first, 0, end)
    # If nothing may climb, the top is minus infinity and no gain is positive: any point
    # will do in its place.
    here = active.points[max(i, 0)]
    there = active.points[max(k, 0)]
    scales = problem.scales if active.sizes[IS_WHOLE] == 1 else rows.scales
    row, _ = row_of(problem, limits, active, rows, here)
    best = _find_gains(active, scales, row, first, 0, middle)
    _, row = row_of(problem, limits, active, rows, there)
    best = larger(best, _find_gains(active, scales, row, second, middle, end))
    if not best > 0:
        return -1, -1
    sides = (first, here), (second, there)
    j = _best(problem, limits, active, rows, best * NEARLY, sides)
    is_first = j < active.sizes[MIDDLE]
    violation = (first if is_first else second) + active.slopes[j]
    # libsvm asks for the worst pair. The chosen one violates no more than that, and
    # mostly enough to spare a pass over all.
    if violation < limits.tol and _violation(active, first, second) < limits.tol:
        return -1, -1
    return (i if is_first else k), j


@compiled
def _last_at(active: Active, top: float, first: int, last: int) -> int:
    """Return the place of a top; among equals the last one in libsvm's order."""
    where, position = -1, -1
    if top == -np.inf:
        return where
    for b in range(first, last):
        if active.tops[b] == top:
            for place in range(b * LANES, b * LANES + LANES):
                is_top = active.up[place] - active.slopes[place] == top
                if is_top and active.positions[place] > position:
                    where, position = place, active.positions[place]
    return where


@compiled
def _find_gains(
    active: Active, scales: Any, row: int, top: float, first: int, last: int
) -> float:
    """Bound what a move gains in each vector; return the best of them."""
    best = -np.inf
    for b in range(first, last):
        at = b * LANES
        gain = best_gain(active.slopes, active.low, scales, at, row + at, top)
        active.gains[b] = gain
        best = larger(best, gain)
    return best


@compiled
def _best(
    problem: Problem,
    limits: Limits,
    active: Active,
    rows: Rows,
    enough: float,
    sides: tuple[tuple[float, int], tuple[float, int]],
) -> int:
    """Return the place whose move gains most; among equals the last one in order."""
    where, position, most = -1, -1, -1.0
    scales = problem.scales if active.sizes[IS_WHOLE] == 1 else rows.scales
    for b in range(active.sizes[END] // LANES):
        if active.gains[b] < enough:
            continue
        side = 0 if b * LANES < active.sizes[MIDDLE] else 1
        top, point = sides[side]
        row = row_of(problem, limits, active, rows, point)[side]
        for place in range(b * LANES, b * LANES + LANES):
            # In the order of ``best_gain``, so that what passed there passes here.
            gap = top + (active.low[place] + active.slopes[place])
            if gap * np.float64(scales[row + place]) >= enough:
                gain = (
                    gap * gap / curvature(problem, limits, point, active.points[place])
                )
                if _comes_first(gain, active.positions[place], most, position):
                    where, position, most = place, active.positions[place], gain
    return where


@compiled
def _comes_first(gain: float, position: int, most: float, best: int) -> bool:
    # libsvm goes through its order with <=, so the last of equals wins.
    return gain > most or (gain == most and position > best)


@compiled
def _violation(active: Active, first: float, second: float) -> float:
    """Return by how much the worst pair violates its conditions."""
    worst = -np.inf
    for at in range(0, active.sizes[END], LANES):
        top = first if at < active.sizes[MIDDLE] else second
        worst = larger(worst, top + top_of_sum(active.slopes, active.low, at))
    return worst
