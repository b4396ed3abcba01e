"""Support vector machines on a shared kernel, fitted by the compiled solver.

The machines are libsvm's, to the last bit. How libsvm rounds depends on the compiler
that built it, so a few small problems are solved by both first; where they disagree,
and where numba is not installed, libsvm does the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cvst._typing import FloatArray
from cvst.evaluation.svm._solutions import SvmSolution
from cvst.evaluation.svm.compiled import _solver
from cvst.evaluation.svm.compiled._ends import share_out
from cvst.evaluation.svm.compiled._kernel import Pair, PreparedKernel
from cvst.evaluation.svm.compiled._state import Limits

__all__ = ["Rounding", "fit", "is_moderate"]

C_SVC, NU_SVC, EPSILON_SVR, NU_SVR = 0, 1, 3, 4

# Costs, weights, targets and tolerances beyond these sizes might overflow on the way,
# or vanish.
SMALLEST, LARGEST = 1e-30, 1e30


@dataclass(frozen=True, slots=True)
class Rounding:
    """How this machine's libsvm rounds.

    Attributes
    ----------
    pairs : int
        Sums of two products: 0 if both products are rounded, 1 if only the second, 2
        if only the first.
    find_block : callable
        Tells how long sums of products are rounded, which is seldom asked for: in
        blocks of this length, and not at all in what is left over. 0 if none of the
        products is rounded; None if that is not known.
    """

    pairs: int
    find_block: Callable[[], int | None]

    def n_plain(self, n: int) -> int | None:
        """Return how many of n products are rounded before they are added up."""
        block = self.find_block()
        if block is None:
            return None
        return n // block * block if block else 0


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
) -> SvmSolution | None:
    """Fit a machine, with the settings of libsvm.

    Returns
    -------
    SvmSolution or None
        What libsvm finds, to the last bit; None if it has to be asked itself.
    """
    del cache_size  # there is no cache
    by_sign = svm_type in (NU_SVC, NU_SVR)
    if (svm_type != NU_SVC and not SMALLEST < C < LARGEST) or tol < SMALLEST:
        return None
    if epsilon > LARGEST or (len(class_weight) and not is_moderate(class_weight)):
        return None
    solver = _Solver(
        kernel, rounding, by_sign, float(tol), bool(shrinking), int(max_iter)
    )
    share = nu if by_sign else None
    if svm_type in (EPSILON_SVR, NU_SVR):
        return _regression(solver, targets, C * sample_weight, share, epsilon)
    costs = sample_weight
    if svm_type == C_SVC:
        weights = class_weight if len(class_weight) else np.ones(kernel.n_classes)
        # libsvm multiplies C by the weight of the class first.
        costs = sample_weight * (C * weights)[targets.astype(np.intp)]
    return _classification(solver, costs, share)


def is_moderate(values: FloatArray) -> bool:
    """Return whether values are neither so small nor so large that products vanish."""
    sizes = np.abs(values)
    return bool(np.all((sizes > SMALLEST) & (sizes < LARGEST)))


@dataclass(frozen=True, slots=True)
class _Solver:
    kernel: PreparedKernel
    rounding: Rounding
    by_sign: bool
    tol: float
    shrinking: bool
    max_iter: int

    def solve(
        self, pair: Pair, bounds: FloatArray, starts: FloatArray, alpha: FloatArray
    ) -> tuple[int, float, float]:
        """Move ``alpha`` to the solution; return iterations, rho and margin."""
        limits = Limits(
            self.kernel.n_points,
            len(alpha),
            pair.n_first,
            self.by_sign,
            self.tol,
            self.shrinking,
            self.max_iter,
            self.rounding.pairs,
        )
        return _solver.solve(
            limits, pair.points, bounds, starts, alpha, *self.kernel.room
        )

    def solution(
        self, coefficients: FloatArray, rhos: list[float], n_iters: list[int]
    ) -> SvmSolution:
        # Adding zero turns minus zero into zero.
        intercepts = 0.0 - np.array(rhos)
        return SvmSolution(
            coefficients, intercepts, n_iters, int(self.max_iter in n_iters)
        )


def _regression(
    solver: _Solver,
    targets: FloatArray,
    bounds: FloatArray,
    nu: float | None,
    epsilon: float,
) -> SvmSolution | None:
    """Fit two variables per row, which pull the curve up and down."""
    n_train = len(targets)
    alpha = np.zeros(2 * n_train)
    starts = np.concatenate([epsilon - targets, -(epsilon + targets)])
    bounds = np.concatenate([bounds, bounds])
    if nu is not None:
        starts = np.concatenate([-targets, -targets])
        # Mostly all ways of rounding agree, and the block need not be found out.
        is_sure, _ = share_out(alpha, bounds, n_train, n_train, nu, 0)
        if not is_sure:
            n_plain = solver.rounding.n_plain(n_train)
            if n_plain is None:
                return None
            share_out(alpha, bounds, n_train, n_train, nu, n_plain)
    n_iter, rho, _ = solver.solve(solver.kernel.pair(0, 0), bounds, starts, alpha)
    coefficients = alpha[:n_train] - alpha[n_train:]
    return solver.solution(coefficients[None], [rho], [n_iter])


def _classification(
    solver: _Solver, costs: FloatArray, nu: float | None
) -> SvmSolution | None:
    """Fit every pair of classes: rows of the first one, then of the second one."""
    n_classes = solver.kernel.n_classes
    coefficients = np.zeros((n_classes * (n_classes - 1) // 2, len(costs)))
    rhos, n_iters = [], []
    for own, (a, b) in zip(
        coefficients, combinations(range(n_classes), 2), strict=True
    ):
        pair = solver.kernel.pair(a, b)
        found = _between(solver, pair, costs[pair.rows], nu)
        if found is None:
            return None
        own[pair.rows], rho, n_iter = found
        rhos.append(rho)
        n_iters.append(n_iter)
    return solver.solution(coefficients, rhos, n_iters)


def _between(
    solver: _Solver, pair: Pair, bounds: FloatArray, nu: float | None
) -> tuple[FloatArray, float, int] | None:
    """Return signed coefficients of two classes, rho and iterations."""
    n_all = len(bounds)
    alpha = np.zeros(n_all)
    if nu is None:
        n_iter, rho, _ = solver.solve(pair, bounds, -pair.signs, alpha)
        return alpha * pair.signs, rho, n_iter
    is_sure, is_left = share_out(alpha, bounds, pair.n_first, n_all, nu, n_all)
    smaller = min(pair.n_first, n_all - pair.n_first)
    if not is_sure or is_left or nu * n_all / 2 > smaller:
        return None  # libsvm might round, or refuse, differently
    n_iter, rho, margin = solver.solve(pair, bounds, np.zeros(n_all), alpha)
    if not abs(margin) > 0:
        return None  # zero, or nothing at all: libsvm divides by it all the same
    return alpha * (pair.signs / margin), rho / margin, n_iter
