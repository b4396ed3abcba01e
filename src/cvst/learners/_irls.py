r"""Kernel logistic regression by iteratively reweighted least squares, on bare arrays.

Minimises :math:`\sum_i v_i \log(1 + e^{-s_i f_i}) + \frac{\alpha}{2} c^T K c` over the
coefficients :math:`c`, where :math:`f = K c` and :math:`s_i = \pm 1` are the classes.
With the slopes :math:`w_i = v_i p_i (1 - p_i)` a Newton step solves
:math:`(K + \alpha W^{-1}) c = f + (y - p) / w`, as in the authors' R package. Here the
system is scaled to the symmetric :math:`(W^{1/2} K W^{1/2} + \alpha I)`, which one
Cholesky factorisation solves and which stays regular where a slope vanishes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dposv
from scipy.special import expit

from cvst._typing import BoolArray, FloatArray

__all__ = ["IRLSResult", "solve_irls"]

# Slopes below the square of this are lifted to it. It keeps the division by them
# finite far on the wrong side; the solution stays the same, only the step changes.
SMALLEST_ROOT_SLOPE = 1e-8

# A step that promises to improve the objective by less than this share of it is
# rounding error, even if it is longer than ``tol`` (coefficients grow as 1 / alpha).
NEGLIGIBLE_GAIN = 1e-13

# The objective itself is known up to about this share where the penalty is small.
OBJECTIVE_SLACK = 1e-10
MOST_HALVINGS = 20

LARGEST_STARTING_DECISION = 2.0


@dataclass(frozen=True, slots=True)
class IRLSResult:
    """What the iteration ended with.

    Attributes
    ----------
    coefficients : ndarray of shape (n_samples,)
        The decision function is the kernel times these.
    n_iter : int
        Number of linear systems solved.
    converged : bool
    """

    coefficients: FloatArray
    n_iter: int
    converged: bool


@dataclass(frozen=True, slots=True)
class _Iterate:
    """A point of the iteration and what has been computed there."""

    coefficients: FloatArray
    decision: FloatArray
    residuals: FloatArray
    objective: float


@dataclass(frozen=True, slots=True)
class _Problem:
    """The objective as a function of the coefficients."""

    kernel_matrix: FloatArray
    signs: FloatArray
    alpha: float
    root_weights: FloatArray

    def iterate(self, coefficients: FloatArray, decision: FloatArray) -> _Iterate:
        margins = self.signs * decision
        # Not log(1 + exp(-m)), which overflows far on the wrong side.
        losses = self.root_weights**2 @ np.logaddexp(0.0, -margins)
        penalty = self.alpha / 2 * (coefficients @ decision)
        residuals = self.signs * expit(-margins)
        return _Iterate(coefficients, decision, residuals, float(losses + penalty))

    def newton_coefficients(self, current: _Iterate, work: FloatArray) -> FloatArray:
        """Return the coefficients that a full Newton step leads to.

        ``work`` has the shape of the kernel and is overwritten.
        """
        # The root of p (1 - p), without the cancellation in 1 - p.
        tail = np.exp(-np.abs(current.decision) / 2)
        root_slopes = np.maximum(tail / (1 + tail**2), SMALLEST_ROOT_SLOPE)
        scale = self.root_weights * root_slopes
        np.multiply(self.kernel_matrix, scale[:, np.newaxis], out=work)
        work *= scale
        work.flat[:: len(work) + 1] += self.alpha
        pull = self.root_weights * current.residuals / root_slopes
        # The matrix is symmetric: its transpose is the column-major one of LAPACK.
        _, solution, failure = dposv(
            work.T, scale * current.decision + pull, lower=True, overwrite_a=True
        )
        if failure:
            raise np.linalg.LinAlgError(
                f"The kernel matrix plus alpha={self.alpha} is not positive definite."
            )
        return np.asarray(scale * solution)

    def promised_gain(self, current: _Iterate, target: _Iterate) -> float:
        """Return twice the gain that the quadratic model promises for a full step."""
        force = self.root_weights**2 * current.residuals
        force -= self.alpha * current.coefficients
        return float((target.decision - current.decision) @ force)

    def shortened(self, current: _Iterate, target: _Iterate) -> _Iterate:
        """Halve the step until the objective does not grow."""
        bound = current.objective * (1 + OBJECTIVE_SLACK)
        length = 1.0
        point = target
        for _ in range(MOST_HALVINGS):
            if point.objective <= bound:
                break
            length /= 2
            # The decision function is linear in the coefficients: no product needed.
            point = self.iterate(
                (1 - length) * current.coefficients + length * target.coefficients,
                (1 - length) * current.decision + length * target.decision,
            )
        return point


def _default_start(kernel_matrix: FloatArray) -> FloatArray:
    n_samples = len(kernel_matrix)
    start = np.full(n_samples, 1 / n_samples)
    # Kernels that are bounded by 1, like the Gaussian, stay below this bound.
    if np.max(np.abs(kernel_matrix @ start)) > LARGEST_STARTING_DECISION:
        return np.zeros(n_samples)
    return start


def solve_irls(
    kernel_matrix: FloatArray,
    y: BoolArray,
    alpha: float,
    tol: float = 1e-6,
    max_iter: int = 100,
    start: FloatArray | None = None,
    *,
    sample_weight: FloatArray | None = None,
) -> IRLSResult:
    r"""Fit the coefficients of a two-class kernel logistic regression.

    Nothing is validated. The result is that of the R package up to its tolerance, or
    better where the package's full steps overshoot.

    Parameters
    ----------
    kernel_matrix : ndarray of shape (n_samples, n_samples)
        Symmetric, C-contiguous and positive semi-definite up to rounding.
    y : ndarray of shape (n_samples,), bool
        True for the class with positive decision values.
    alpha : float
        Weight of the penalty; the paper's :math:`n \lambda`.
    tol : float, default=1e-6
        The iteration ends when no coefficient changes by more.
    max_iter : int, default=100
        Largest number of linear systems to solve.
    start : ndarray of shape (n_samples,), default=None
        Coefficients to start from. If None, 1 / n_samples each, as in the R package,
        or 0 where that is a bad start because the kernel has large values.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the losses, all 1 if None.

    Returns
    -------
    IRLSResult

    Raises
    ------
    numpy.linalg.LinAlgError
        If the kernel is not positive semi-definite.

    Examples
    --------
    >>> kernel = np.array([[1.0, 0.1], [0.1, 1.0]])
    >>> result = solve_irls(kernel, np.array([True, False]), alpha=0.1)
    >>> result.converged, result.coefficients.round(3)
    (True, array([ 1.735, -1.735]))
    """
    n_samples = len(y)
    if start is None:
        start = _default_start(kernel_matrix)
    weights = np.ones(n_samples) if sample_weight is None else sample_weight
    # Signs make both classes one formula.
    signs = np.where(y, 1.0, -1.0)
    problem = _Problem(kernel_matrix, signs, alpha, np.sqrt(weights))
    work = np.empty((n_samples, n_samples))
    current = problem.iterate(start, kernel_matrix @ start)
    for n_iter in range(1, max_iter + 1):
        coefficients = problem.newton_coefficients(current, work)
        if np.max(np.abs(coefficients - current.coefficients)) <= tol:
            return IRLSResult(coefficients, n_iter, converged=True)
        target = problem.iterate(coefficients, kernel_matrix @ coefficients)
        gain = problem.promised_gain(current, target)
        if gain <= NEGLIGIBLE_GAIN * current.objective:
            return IRLSResult(coefficients, n_iter, converged=True)
        current = problem.shortened(current, target)
    return IRLSResult(current.coefficients, max_iter, converged=False)
