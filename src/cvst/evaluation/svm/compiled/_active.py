"""The active variables of the compiled solver: packed, shrunk and brought back."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvst.evaluation.svm.compiled._state import (
    END,
    IS_WHOLE,
    LANES,
    MIDDLE,
    N_ACTIVE,
    N_PACKED,
    Active,
    Limits,
    Problem,
    Rows,
    State,
)
from cvst.evaluation.svm.compiled._vectors import compiled, fused

__all__ = ["activate_all", "add_row", "pack", "row_of", "set_masks", "shrink", "start"]

# Variables are packed anew when this share of them is left.
PACKED_SHARE = 0.8


@compiled
def start(problem: Problem, limits: Limits, state: State) -> None:
    """Compute the slopes of all variables from scratch.

    Wherever variables start above zero, all variables of a point start alike.
    """
    n_points = limits.n_points
    for p in range(n_points):
        state.bounded[p] = 0.0
        state.shared[p] = 0.0
    for v in range(limits.n_variables):
        state.order[v] = v
        state.slopes[v] = problem.starts[v]
        state.shared[problem.points[v]] = problem.starts[v]
    is_moved = False
    for v in range(limits.n_variables):
        alpha, bound = state.alpha[v], problem.bounds[v]
        if alpha > 0:
            is_moved = True
            sign = 1.0 if v < limits.n_positive else -1.0
            row = problem.points[v] * n_points
            # libsvm keeps the share of variables at their bounds apart (its G_bar):
            # slopes of those set aside are then rebuilt from the free ones alone.
            if alpha >= bound:
                _add_twice(limits, state, problem.kernel, row, sign * bound)
            else:
                _add(limits, state.shared, problem.kernel, row, sign * alpha)
    # In epsilon regression the two variables of a point have unlike starts, which one
    # shared value could not hold; but there none starts above zero.
    if is_moved:
        for v in range(limits.n_variables):
            state.slopes[v] = state.shared[problem.points[v]]


@compiled
def _add(limits: Limits, target: Any, kernel: Any, row: int, step: float) -> None:
    """Add a row of the kernel, times a step."""
    # Only one product is added here, so ways 1 and 2 of rounding are the same.
    if limits.rounding == 0:
        for p in range(limits.n_points):
            target[p] += step * np.float64(kernel[row + p])
    else:
        for p in range(limits.n_points):
            target[p] = fused(step, np.float64(kernel[row + p]), target[p])


@compiled
def _add_twice(
    limits: Limits, state: State, kernel: Any, row: int, step: float
) -> None:
    shared, bounded = state.shared, state.bounded
    if limits.rounding == 0:
        for p in range(limits.n_points):
            share = step * np.float64(kernel[row + p])
            shared[p] += share
            bounded[p] += share
    else:
        for p in range(limits.n_points):
            value = np.float64(kernel[row + p])
            shared[p] = fused(step, value, shared[p])
            bounded[p] = fused(step, value, bounded[p])


@compiled
def _add_kernel(
    problem: Problem, limits: Limits, state: State, v: int, step: float, first: int
) -> None:
    """Add a row of the kernel to the slopes of the variables from a position on."""
    row = problem.points[v] * limits.n_points
    for t in range(first, limits.n_variables):
        w = state.order[t]
        value = np.float64(problem.kernel[row + problem.points[w]])
        if limits.rounding == 0:
            state.slopes[w] += step * value
        else:
            state.slopes[w] = fused(step, value, state.slopes[w])


@compiled
def add_row(
    problem: Problem, limits: Limits, state: State, v: int, bound: float
) -> None:
    """Count a variable to those at their bound; with a negative bound, take it back."""
    row = problem.points[v] * limits.n_points
    step = bound if v < limits.n_positive else -bound
    _add(limits, state.bounded, problem.kernel, row, step)


@compiled
def set_masks(
    active: Active, place: int, alpha: float, bound: float, positive: bool
) -> None:
    """Note where a slope may go: a variable of negative sign moves the other way."""
    may_grow, may_fall = alpha < bound, alpha > 0
    if not positive:
        may_grow, may_fall = may_fall, may_grow
    # Adding minus infinity takes a variable out of a maximum without a branch.
    active.up[place] = 0.0 if may_grow else -np.inf
    active.low[place] = 0.0 if may_fall else -np.inf


@compiled
def pack(
    problem: Problem, limits: Limits, state: State, active: Active, rows: Rows
) -> None:
    """Put the active variables side by side, each sign in vectors of its own."""
    is_whole = active.sizes[N_ACTIVE] == limits.n_variables
    if is_whole:
        middle = _line_up(0, limits.n_positive, active, 0)
        end = _line_up(limits.n_positive, limits.n_variables, active, middle)
    else:
        middle = _gather(limits, state, active, True, 0)
        end = _gather(limits, state, active, False, middle)
    for place in range(end):
        v = active.variables[place]
        if v < 0:
            # Padding may move neither way, so it is never chosen; point 0 only keeps
            # the address of its column valid.
            active.points[place] = 0
            active.positions[place] = -1
            active.slopes[place] = 0.0
            active.up[place] = -np.inf
            active.low[place] = -np.inf
        else:
            active.points[place] = problem.points[v]
            active.slopes[place] = state.slopes[v]
            active.places[v] = place
            positive = v < limits.n_positive
            set_masks(active, place, state.alpha[v], problem.bounds[v], positive)
    for t in range(active.sizes[N_ACTIVE]):
        active.positions[active.places[state.order[t]]] = t
    active.sizes[N_PACKED] = active.sizes[N_ACTIVE]
    active.sizes[MIDDLE] = middle
    active.sizes[END] = end
    active.sizes[IS_WHOLE] = is_whole
    # Gathered rows follow the packed places, and those have just changed.
    _forget(limits, rows)


@compiled
def _line_up(first: int, last: int, active: Active, place: int) -> int:
    """Put variables side by side as their points are."""
    for v in range(first, last):
        active.variables[place] = v
        place += 1
    end: int = _fill_up(active, place)
    return end


@compiled
def _gather(
    limits: Limits, state: State, active: Active, positive: bool, place: int
) -> int:
    """Put the active variables of one sign side by side."""
    for t in range(active.sizes[N_ACTIVE]):
        v = state.order[t]
        if (v < limits.n_positive) == positive:
            active.variables[place] = v
            place += 1
    end: int = _fill_up(active, place)
    return end


@compiled
def _fill_up(active: Active, place: int) -> int:
    while place % LANES != 0:
        active.variables[place] = -1
        place += 1
    return place


@compiled
def _forget(limits: Limits, rows: Rows) -> None:
    for p in range(limits.n_points):
        rows.slots[p] = -1
    rows.counts[0] = 0


@compiled
def row_of(
    problem: Problem, limits: Limits, active: Active, rows: Rows, point: int
) -> tuple[int, int]:
    """Return what to add to a place to get to its value in the row of a point.

    The first number is for positive places, the second one for the others. Where places
    do not follow the points, rows are gathered; if there is no room for one more, all
    others are forgotten.
    """
    middle, size = active.sizes[MIDDLE], active.sizes[END]
    if active.sizes[IS_WHOLE] == 1:
        row = point * limits.n_points
        # The points of a sign follow each other, so place and column differ by a
        # constant.
        return row + active.points[0], row + active.points[middle] - middle
    if rows.slots[point] < 0:
        if rows.counts[0] == rows.counts[1]:
            _forget(limits, rows)
        rows.slots[point] = rows.counts[0]
        rows.counts[0] += 1
        target, source = rows.slots[point] * size, point * limits.n_points
        for place in range(size):
            column = source + active.points[place]
            rows.kernel[target + place] = problem.kernel[column]
            rows.scales[target + place] = problem.scales[column]
    offset = rows.slots[point] * size
    return offset, offset


@compiled
def shrink(
    problem: Problem,
    limits: Limits,
    state: State,
    active: Active,
    rows: Rows,
    has_returned: bool,
) -> bool:
    """Set variables aside that will stay at their bounds.

    As soon as no violation exceeds ten times the tolerance, all variables return, once,
    to be judged by true slopes.
    """
    middle, end = active.sizes[MIDDLE], active.sizes[END]
    tops = (
        _top(active.up, active.slopes, -1.0, 0, middle),
        _top(active.low, active.slopes, 1.0, 0, middle),
        _top(active.up, active.slopes, -1.0, middle, end),
        _top(active.low, active.slopes, 1.0, middle, end),
    )
    # These tops also judge the variables that return below, as in libsvm, though their
    # slopes are computed anew.
    if not limits.by_sign:
        climb, fall = max(tops[0], tops[2]), max(tops[1], tops[3])
        tops = (climb, fall, climb, fall)
    _keep_slopes(state, active)
    returns = max(tops[0] + tops[1], tops[2] + tops[3]) <= limits.tol * 10
    if returns and not has_returned:
        _rebuild(problem, limits, state, active)
        active.sizes[N_ACTIVE] = active.sizes[N_PACKED] = limits.n_variables
    n_before = active.sizes[N_PACKED]
    _set_aside(problem, limits, state, active, tops)
    # Packing anew forgets all gathered rows, so a few that are set aside are only
    # masked.
    if (returns and not has_returned) or active.sizes[
        N_ACTIVE
    ] < PACKED_SHARE * n_before:
        pack(problem, limits, state, active, rows)
    else:
        _mask_others(state, active)
    return returns or has_returned


@compiled
def _top(masks: Any, slopes: Any, sign: float, first: int, last: int) -> float:
    top = -np.inf
    for place in range(first, last):
        top = max(top, masks[place] + sign * slopes[place])
    return top


@compiled
def _keep_slopes(state: State, active: Active) -> None:
    for t in range(active.sizes[N_ACTIVE]):
        v = state.order[t]
        state.slopes[v] = active.slopes[active.places[v]]


@compiled
def _rebuild(problem: Problem, limits: Limits, state: State, active: Active) -> None:
    """Compute the slopes of those that were set aside."""
    n_active = active.sizes[N_ACTIVE]
    for t in range(n_active, limits.n_variables):
        v = state.order[t]
        state.slopes[v] = state.bounded[problem.points[v]] + problem.starts[v]
    for t in range(n_active):
        v = state.order[t]
        alpha = state.alpha[v]
        # Variables at zero add nothing, and those at their bounds are in already.
        if 0 < alpha < problem.bounds[v]:
            signed = alpha if v < limits.n_positive else -alpha
            _add_kernel(problem, limits, state, v, signed, n_active)


@compiled
def _set_aside(
    problem: Problem, limits: Limits, state: State, active: Active, tops: Any
) -> None:
    """Swap those that stay at their bounds behind the others, as libsvm does."""
    # The order that these swaps leave behind settles ties later on.
    t, n_active = 0, active.sizes[N_ACTIVE]
    while t < n_active:
        if _stays(problem, limits, state, state.order[t], tops):
            n_active -= 1
            while n_active > t:
                last = state.order[n_active]
                if not _stays(problem, limits, state, last, tops):
                    state.order[n_active] = state.order[t]
                    state.order[t] = last
                    break
                n_active -= 1
        t += 1
    active.sizes[N_ACTIVE] = n_active


@compiled
def _stays(problem: Problem, limits: Limits, state: State, v: int, tops: Any) -> bool:
    """Whether a variable is at a bound, and its slope says that it belongs there."""
    alpha, slope = state.alpha[v], state.slopes[v]
    is_full = alpha >= problem.bounds[v]
    if not is_full and alpha > 0:
        return False
    if v < limits.n_positive:
        stays: bool = -slope > tops[0] if is_full else slope > tops[1]
    else:
        stays = slope > tops[3] if is_full else -slope > tops[2]
    return stays


@compiled
def _mask_others(state: State, active: Active) -> None:
    """Leave the others where they are, but let them not move."""
    for t in range(active.sizes[N_ACTIVE]):
        active.positions[active.places[state.order[t]]] = t
    for place in range(active.sizes[END]):
        v = active.variables[place]
        if v >= 0 and not _is_among(state, active, v, active.positions[place]):
            active.up[place] = -np.inf
            active.low[place] = -np.inf


@compiled
def _is_among(state: State, active: Active, v: int, position: int) -> bool:
    # The position of a variable set aside is not updated, so it may be another's by
    # now.
    is_active: bool = position < active.sizes[N_ACTIVE] and state.order[position] == v
    return is_active


@compiled
def activate_all(
    problem: Problem, limits: Limits, state: State, active: Active, rows: Rows
) -> None:
    """Bring all variables back, with true slopes."""
    _keep_slopes(state, active)
    _rebuild(problem, limits, state, active)
    active.sizes[N_ACTIVE] = limits.n_variables
    pack(problem, limits, state, active, rows)
