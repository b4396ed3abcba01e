"""The solver of libsvm, compiled anew for many fits on one kernel matrix.

It takes the steps of libsvm's sequential minimal optimisation [1]_, [2]_, each to the
last bit, so that it ends with the very same machine. What differs is the work per
step: only active variables are touched, in vectors, and divisions are left to those
few that can be chosen.

References
----------
.. [1] C.-C. Chang and C.-J. Lin, "LIBSVM: A library for support vector machines",
   ACM Transactions on Intelligent Systems and Technology 2 (2011).
.. [2] R.-E. Fan, P.-H. Chen and C.-J. Lin, "Working set selection using second order
   information for training support vector machines", JMLR 6 (2005).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from cvst._typing import FloatArray
from cvst.evaluation.svm.compiled import (
    _active,
    _ends,
    _pairs,
    _select,
    _state,
    _vectors,
)
from cvst.evaluation.svm.compiled._active import (
    activate_all,
    add_row,
    pack,
    row_of,
    set_masks,
    shrink,
    start,
)
from cvst.evaluation.svm.compiled._ends import level
from cvst.evaluation.svm.compiled._pairs import across, along, curvature
from cvst.evaluation.svm.compiled._select import find_tops, select
from cvst.evaluation.svm.compiled._state import (
    END,
    IS_WHOLE,
    LANES,
    MIDDLE,
    N_ACTIVE,
    Active,
    Limits,
    Matrix,
    Problem,
    Rows,
    State,
)
from cvst.evaluation.svm.compiled._vectors import (
    address,
    compiled,
    doubles,
    integers,
    larger,
    move_fused_first,
    move_fused_second,
    move_plain,
    singles,
)

__all__ = ["is_stored", "solve"]


@compiled
def _run(
    problem: Problem, limits: Limits, state: State, active: Active, rows: Rows
) -> int:
    """Move two variables at a time until none violates its conditions by much."""
    start(problem, limits, state)
    active.sizes[N_ACTIVE] = limits.n_variables
    pack(problem, limits, state, active, rows)
    find_tops(active)
    # libsvm's period, and its one step more before the first time: when variables are
    # set aside changes their order, and with it every later tie.
    period = min(limits.n_variables, 1000)
    countdown, n_iter, has_returned = period + 1, 0, False
    # With -1, for no limit, this is always true.
    while n_iter != limits.max_iter:
        countdown -= 1
        if countdown == 0:
            countdown = period
            if limits.shrinking:
                has_returned = shrink(
                    problem, limits, state, active, rows, has_returned
                )
                find_tops(active)
        i, j = select(problem, limits, active, rows)
        if j < 0 and active.sizes[N_ACTIVE] < limits.n_variables:
            activate_all(problem, limits, state, active, rows)
            find_tops(active)
            # libsvm sets variables aside again right before its next step.
            countdown = 1
            i, j = select(problem, limits, active, rows)
        if j < 0:
            break
        n_iter += 1
        _move(problem, limits, state, active, rows, i, j)
    return n_iter


@compiled
def _move(
    problem: Problem,
    limits: Limits,
    state: State,
    active: Active,
    rows: Rows,
    i: int,
    j: int,
) -> None:
    """Move two variables as far as that helps, and all slopes with them."""
    v, w = active.variables[i], active.variables[j]
    sign_i = 1.0 if i < active.sizes[MIDDLE] else -1.0
    sign_j = 1.0 if j < active.sizes[MIDDLE] else -1.0
    old_i, old_j = state.alpha[v], state.alpha[w]
    bound_i, bound_j = problem.bounds[v], problem.bounds[w]
    bend = curvature(problem, limits, active.points[i], active.points[j])
    # A slope times its sign is libsvm's gradient, so this is its step for like signs,
    # and minus its step for unlike ones; no sign costs a rounding.
    step = (sign_i * active.slopes[i] - sign_i * active.slopes[j]) / bend
    if sign_i == sign_j:
        new_i, new_j = along(old_i, old_j, bound_i, bound_j, step)
    else:
        new_i, new_j = across(old_i, old_j, bound_i, bound_j, -step)
    state.alpha[v], state.alpha[w] = new_i, new_j
    set_masks(active, i, new_i, bound_i, sign_i > 0)
    set_masks(active, j, new_j, bound_j, sign_j > 0)
    row_of(problem, limits, active, rows, active.points[i])
    row_j = row_of(problem, limits, active, rows, active.points[j])
    # The second row may have pushed the first one out; now there is room for both.
    row_i = row_of(problem, limits, active, rows, active.points[i])
    kernel = problem.kernel if active.sizes[IS_WHOLE] == 1 else rows.kernel
    steps = sign_i * (new_i - old_i), sign_j * (new_j - old_j)
    middle, end = active.sizes[MIDDLE] // LANES, active.sizes[END] // LANES
    active.peaks[0] = _move_slopes(
        limits, active, kernel, row_i[0], row_j[0], steps, 0, middle
    )
    active.peaks[1] = _move_slopes(
        limits, active, kernel, row_i[1], row_j[1], steps, middle, end
    )
    _count_bounded(problem, limits, state, v, old_i >= bound_i, new_i >= bound_i)
    _count_bounded(problem, limits, state, w, old_j >= bound_j, new_j >= bound_j)


@compiled
def _move_slopes(
    limits: Limits,
    active: Active,
    kernel: Any,
    i: int,
    j: int,
    steps: tuple[float, float],
    first: int,
    last: int,
) -> float:
    """Move the slopes of some vectors; return their largest top."""
    peak = -np.inf
    slopes, up, (a, b) = active.slopes, active.up, steps
    for vector in range(first, last):
        at = vector * LANES
        if limits.rounding == 0:
            top = move_plain(slopes, up, kernel, at, i + at, j + at, a, b)
        elif limits.rounding == 1:
            top = move_fused_first(slopes, up, kernel, at, i + at, j + at, a, b)
        else:
            top = move_fused_second(slopes, up, kernel, at, i + at, j + at, a, b)
        # The next selection starts from these tops; here the slopes are in registers
        # anyway.
        active.tops[vector] = top
        peak = larger(peak, top)
    return peak


@compiled
def _count_bounded(
    problem: Problem, limits: Limits, state: State, v: int, was: bool, is_now: bool
) -> None:
    if was != is_now:
        bound = problem.bounds[v]
        add_row(problem, limits, state, v, bound if is_now else -bound)


def _stored(fingerprint: int) -> Callable[..., tuple[int, float, float]]:
    """Return the solver, compiled once and then read from disk.

    What is read must have been compiled from these very sources: the number is part of
    the key under which it is stored.
    """

    @njit(nogil=True, error_model="numpy", cache=True)
    def solve(
        limits: Limits,
        points: Any,
        bounds: FloatArray,
        starts: FloatArray,
        alpha: FloatArray,
        matrix: Matrix,
        state: State,
        active: Active,
        rows: Rows,
    ) -> tuple[int, float, float]:
        """Solve a problem in place.

        Parameters
        ----------
        limits : Limits
            Sizes, and when to stop.
        points : ndarray of shape (n_variables,), intp
            Point of each variable.
        bounds, starts, alpha : ndarray of shape (n_variables,)
            Upper bounds, slopes where all variables are zero, and the variables, which
            are overwritten.
        matrix, state, active, rows : Matrix, State, Active, Rows
            Addresses of the kernel, and of the room to work in.

        Returns
        -------
        n_iter : int
            Number of iterations.
        rho : float
            Minus the intercept.
        margin : float
            By how much the levels of the two signs differ; what machines with nu are
            scaled by.
        """
        if fingerprint < 0:  # never; it only has to be part of the function
            return 0, 0.0, 0.0
        problem_at = Problem(
            doubles(matrix.kernel),
            singles(matrix.scales),
            doubles(matrix.diagonal),
            address(points),
            address(bounds),
            address(starts),
        )
        state_at = State(
            address(alpha),
            doubles(state.slopes),
            doubles(state.shared),
            doubles(state.bounded),
            integers(state.order),
        )
        active_at = Active(
            integers(active.variables),
            integers(active.points),
            integers(active.positions),
            doubles(active.slopes),
            doubles(active.up),
            doubles(active.low),
            integers(active.places),
            doubles(active.tops),
            doubles(active.gains),
            doubles(active.peaks),
            integers(active.sizes),
        )
        rows_at = Rows(
            doubles(rows.kernel),
            singles(rows.scales),
            integers(rows.slots),
            integers(rows.counts),
        )
        n_iter = _run(problem_at, limits, state_at, active_at, rows_at)
        positive = limits.n_positive
        if not limits.by_sign:
            whole = (0, limits.n_variables)
            rho = level(problem_at, limits, state_at, active_at, whole)
            return n_iter, rho, 0.0
        first = level(problem_at, limits, state_at, active_at, (0, positive))
        rest = (positive, limits.n_variables)
        second = level(problem_at, limits, state_at, active_at, rest)
        # libsvm's r2 is a level of gradients, which is minus the level of slopes here.
        return n_iter, (first + second) / 2, (first - second) / 2

    function: Callable[..., tuple[int, float, float]] = solve
    return function


# numba compares only this file with its store. Changes in the others reach the key by
# the fingerprint of their bytes.
SOURCES = (
    _active,
    _ends,
    _pairs,
    _select,
    _state,
    _vectors,
)


def _fingerprint() -> int:
    # Not ``hash``: it differs from process to process.
    number = 0
    for module in SOURCES:
        number = zlib.crc32(Path(str(module.__file__)).read_bytes(), number)
    return number


solve = _stored(_fingerprint())


def is_stored() -> bool:
    """Return whether the solver was compiled before, perhaps from other sources."""
    compiled_solve: Any = solve
    line = compiled_solve.py_func.__code__.co_firstlineno
    folder = Path(compiled_solve.stats.cache_path)
    # numba's index has the function's first line in its name, and the Python it is for.
    return any(folder.glob(f"{Path(__file__).stem}.*.solve-{line}.*.nbi"))
