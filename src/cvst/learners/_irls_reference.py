"""The iteration of the authors' R package to the letter, for comparisons with it.

It differs from :func:`solve_irls` where that is sounder: it takes full steps even if
they lead away from the minimum, ends when one of them overflows, and returns the
coefficients *before* the last step.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from cvst._typing import BoolArray, FloatArray
from cvst.learners._irls import IRLSResult

__all__ = ["solve_irls_reference"]


def solve_irls_reference(
    kernel_matrix: FloatArray,
    y: BoolArray,
    alpha: float,
    tol: float = 1e-5,
    max_iter: int = 100,
) -> IRLSResult:
    """Fit a two-class kernel logistic regression exactly as the R package does.

    Only for repeating its numbers; slower than :func:`solve_irls` and less reliable.

    Parameters
    ----------
    kernel_matrix : ndarray of shape (n_samples, n_samples)
    y : ndarray of shape (n_samples,), bool
        True for the class with positive decision values.
    alpha : float
        Weight of the penalty, n times the package's lambda.
    tol : float, default=1e-5
        The iteration ends when no coefficient changes by more.
    max_iter : int, default=100

    Returns
    -------
    IRLSResult

    Examples
    --------
    >>> kernel = np.array([[1.0, 0.1], [0.1, 1.0]])
    >>> result = solve_irls_reference(kernel, np.array([True, False]), alpha=0.1)
    >>> result.converged, result.coefficients.round(3)
    (True, array([ 1.735, -1.735]))
    """
    coefficients = np.full(len(y), 1 / len(y))
    for n_iter in range(1, max_iter + 1):
        try:
            proposed = _full_step(kernel_matrix, y, alpha, coefficients)
        except np.linalg.LinAlgError:
            break
        if np.isnan(proposed).any():
            break
        if np.max(np.abs(proposed - coefficients)) <= tol:
            return IRLSResult(coefficients, n_iter, converged=True)
        # At the limit, too, the package keeps what it had before the step.
        if n_iter < max_iter:
            coefficients = proposed
    return IRLSResult(coefficients, n_iter, converged=False)


def _full_step(
    kernel_matrix: FloatArray, y: BoolArray, alpha: float, coefficients: FloatArray
) -> FloatArray:
    decision = kernel_matrix @ coefficients
    probability = expit(decision)
    slopes = probability * (1 - probability)
    with np.errstate(all="ignore"):
        response = decision + (y - probability) / slopes
        system = kernel_matrix + np.diag(alpha / slopes)
        return np.asarray(np.linalg.solve(system, response))
