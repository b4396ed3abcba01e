"""Support vector machines on a shared kernel, fitted by the compiled solver.

The machines are libsvm's, to the last bit. How libsvm rounds depends on the compiler
that built it, so a few small problems are solved by both first; where they disagree,
and where numba is not installed, libsvm does the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from cvst._sklearn_compat import LibsvmModel
from cvst._typing import FloatArray, IntArray
from cvst.evaluation import _smo_ends, _smo_solver
from cvst.evaluation._smo_kernel import PreparedKernel
from cvst.evaluation._smo_state import Limits, Problem

__all__ = ["Rounding", "fit", "is_moderate"]

C_SVC, NU_SVC, EPSILON_SVR, NU_SVR = 0, 1, 3, 4

# Costs, weights and targets beyond these sizes might overflow on the way, or vanish.
SMALLEST, LARGEST = 1e-30, 1e30


@dataclass(frozen=True, slots=True)
class Rounding:
    """How this machine's libsvm rounds.

    Attributes
    ----------
    pairs : int
        Sums of two products: 0 if both products are rounded, 1 if only the second, 2
        if only the first.
    block : int or None
        Long sums of products: they are rounded in blocks of this length, and not
        rounded in what is left over. 0 if none of them is rounded; None if that is not
        known.
    """

    pairs: int
    block: int | None

    def n_plain(self, n: int) -> int:
        """Return how many of n products are rounded before they are added up."""
        return n // self.block * self.block if self.block else 0


def fit(
    kernel: PreparedKernel,
    targets: FloatArray,
    rounding: Rounding,
    *,
    svm_type: int,
    class_weight: FloatArray,
    sample_weight: FloatArray,
    tol: float,
    C: float,
    nu: float,
    epsilon: float,
    shrinking: int,
    max_iter: int,
    cache_size: float = 0.0,
) -> LibsvmModel | None:
    """Fit a machine, with the settings of libsvm.

    Returns
    -------
    LibsvmModel or None
        What libsvm returns, to the last bit; None if it has to be asked itself.
    """
    del cache_size  # there is no cache
    by_sign = svm_type in (NU_SVC, NU_SVR)
    if svm_type != NU_SVC and not SMALLEST < C < LARGEST:
        return None
    if epsilon > LARGEST or (len(class_weight) and not is_moderate(class_weight)):
        return None
    limits = Limits(
        n_points=kernel.n_points,
        n_variables=0,
        n_positive=0,
        by_sign=by_sign,
        tol=float(tol),
        shrinking=bool(shrinking),
        max_iter=int(max_iter),
        rounding=rounding.pairs,
    )
    solver = _Solver(kernel, limits, rounding)
    share = nu if by_sign else None
    if svm_type in (EPSILON_SVR, NU_SVR):
        return _regression(solver, targets, C * sample_weight, share, epsilon)
    costs = sample_weight
    if svm_type == C_SVC:
        weights = class_weight if len(class_weight) else np.ones(len(kernel.members))
        costs = sample_weight * (C * weights)[targets.astype(np.intp)]
    return _classification(solver, costs, share)


def is_moderate(values: FloatArray) -> bool:
    """Return whether values are neither so small nor so large that products vanish."""
    sizes = np.abs(values)
    return bool(np.all((sizes > SMALLEST) & (sizes < LARGEST)))


@dataclass(frozen=True, slots=True)
class _Solver:
    kernel: PreparedKernel
    limits: Limits
    rounding: Rounding

    def solve(
        self,
        points: IntArray,
        n_positive: int,
        bounds: FloatArray,
        starts: FloatArray,
        alpha: FloatArray,
    ) -> tuple[int, float, float]:
        """Move ``alpha`` to the solution; return iterations, rho and margin."""
        kernel = self.kernel
        n_variables = len(points)
        problem = Problem(
            kernel.values, kernel.scales, kernel.diagonal, points, bounds, starts
        )
        limits = self.limits._replace(n_variables=n_variables, n_positive=n_positive)
        state, *room = kernel.room
        return _smo_solver.solve(problem, limits, state._replace(alpha=alpha), *room)


def _regression(
    solver: _Solver,
    targets: FloatArray,
    bounds: FloatArray,
    nu: float | None,
    epsilon: float,
) -> LibsvmModel | None:
    """Fit two variables per row, which pull the curve up and down."""
    n_train = len(targets)
    alpha = np.zeros(2 * n_train)
    if nu is not None:
        half, is_sure = _smo_ends.half_share(
            bounds, nu, solver.rounding.n_plain(n_train)
        )
        if not is_sure and solver.rounding.block is None:
            return None
        _smo_ends.fill(alpha[:n_train], bounds, half)
        alpha[n_train:] = alpha[:n_train]
        starts = np.tile(-targets, 2)
    else:
        starts = np.concatenate([epsilon - targets, -(epsilon + targets)])
    points = solver.kernel.pair(0, 0).points
    n_iter, rho, _ = solver.solve(points, n_train, np.tile(bounds, 2), starts, alpha)
    coefficients = alpha[:n_train] - alpha[n_train:]
    support = np.flatnonzero(coefficients).astype(np.int32)
    return _model(
        support,
        np.array([len(support)], np.int32),
        coefficients[None, support],
        [rho],
        [n_iter],
        solver.limits.max_iter,
    )


def _two_classes(
    solver: _Solver, costs: FloatArray, nu: float | None
) -> LibsvmModel | None:
    found = _pair(solver, (0, 1), costs, nu)
    if found is None:
        return None
    coefficients, rho, n_iter = found
    rows, _, _, n_first = solver.kernel.pair(0, 1)
    chosen = np.flatnonzero(coefficients)
    n_before = int(np.searchsorted(chosen, n_first))
    return _model(
        rows[chosen].astype(np.int32),
        np.array([n_before, len(chosen) - n_before], np.int32),
        coefficients[None, chosen],
        [rho],
        [n_iter],
        solver.limits.max_iter,
    )


def _classification(
    solver: _Solver, costs: FloatArray, nu: float | None
) -> LibsvmModel | None:
    """Fit every pair of classes: rows of the first one, then of the second one."""
    members = solver.kernel.members
    n_classes = len(members)
    if n_classes == 2:
        return _two_classes(solver, costs, nu)
    is_support = np.zeros(len(costs), dtype=bool)
    solved, rhos, n_iters = {}, [], []
    for pair in combinations(range(n_classes), 2):
        found = _pair(solver, pair, costs, nu)
        if found is None:
            return None
        coefficients, rho, n_iter = found
        rows, _, _, n_first = solver.kernel.pair(*pair)
        solved[pair] = coefficients[:n_first], coefficients[n_first:]
        is_support[rows[coefficients != 0]] = True
        rhos.append(rho)
        n_iters.append(n_iter)
    support = [rows[is_support[rows]] for rows in members]
    n_support = np.array([len(rows) for rows in support], np.int32)
    ends = n_support.cumsum()
    dual = np.zeros((n_classes - 1, int(ends[-1])))
    for (a, b), (first, second) in solved.items():
        own = dual[b - 1, ends[a] - n_support[a] : ends[a]]
        own[:] = first[is_support[members[a]]]
        other = dual[a, ends[b] - n_support[b] : ends[b]]
        other[:] = second[is_support[members[b]]]
    return _model(
        np.concatenate(support).astype(np.int32),
        n_support,
        dual,
        rhos,
        n_iters,
        solver.limits.max_iter,
    )


def _pair(
    solver: _Solver, pair: tuple[int, int], costs: FloatArray, nu: float | None
) -> tuple[FloatArray, float, int] | None:
    """Return signed coefficients of two classes, rho and iterations."""
    rows, points, signs, n_first = solver.kernel.pair(*pair)
    bounds = costs[rows]
    if nu is None:
        alpha = np.zeros(len(rows))
        n_iter, rho, _ = solver.solve(points, n_first, bounds, -signs, alpha)
    else:
        started = _started(bounds, n_first, nu)
        if started is None:
            return None
        alpha, starts = started, np.zeros(len(rows))
        n_iter, rho, margin = solver.solve(points, n_first, bounds, starts, alpha)
        if not abs(margin) > 0:
            return None  # zero, or nothing at all: libsvm divides by it all the same
        rho /= margin
        signs = signs / margin
    return alpha * signs, rho, n_iter


def _started(bounds: FloatArray, n_first: int, nu: float) -> FloatArray | None:
    """Share out to both classes; None if libsvm might round, or refuse, differently."""
    n_all = len(bounds)
    half, is_sure = _smo_ends.half_share(bounds, nu, n_all)
    if not is_sure or nu * n_all / 2 > min(n_first, n_all - n_first):
        return None
    alpha = np.empty(n_all)
    left = _smo_ends.fill(alpha[:n_first], bounds[:n_first], half)
    left = max(left, _smo_ends.fill(alpha[n_first:], bounds[n_first:], half))
    return None if left > 0 else alpha


def _model(
    support: Any,
    n_support: Any,
    dual_coef: FloatArray,
    rhos: list[float],
    n_iters: list[int],
    max_iter: int,
) -> LibsvmModel:
    empty = np.empty(0)
    # Adding zero turns minus zero into zero.
    intercept = -np.array(rhos) + 0.0
    status = int(max_iter in n_iters)
    return LibsvmModel(
        support,
        np.empty((0, 0)),
        n_support,
        dual_coef,
        intercept,
        empty,
        empty,
        status,
        np.array(n_iters, np.int32),
    )
