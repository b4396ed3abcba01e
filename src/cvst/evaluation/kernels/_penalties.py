"""Symmetric positive definite systems that differ in a multiple of the identity only.

One reduction to tridiagonal form serves all penalties: it takes as long as six and a
half Cholesky factorisations, a system in tridiagonal form next to nothing. Measured
for 90 to 1,400 rows; an eigendecomposition takes more than twice as long again.
For few penalties a factorisation each is faster, in single precision where that is
enough for conjugate gradients: by a third with 800 rows, two fifths with 1,600.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from scipy.linalg import blas, lapack

from cvst._typing import BoolArray, FloatArray
from cvst.evaluation.kernels._preconditioned import (
    LARGEST_CONDITION,
    SingleFactor,
    Solution,
    conjugate_gradients,
    is_fast_in_single,
)

__all__ = ["solve_for_penalties"]

# Up to this many penalties, a Cholesky factorisation each is faster.
MOST_FACTORISATIONS = 7

# With fewer rows, or more targets, a factorisation in double precision takes no longer.
SMALLEST_SINGLE = 350
MOST_SINGLE_TARGETS = 3

MOST_ROUNDS = 20

EPSILON = float(np.finfo(float).eps)

# Columns that LAPACK applies reflections to at once.
LAPACK_BLOCK = 64


def solve_for_penalties(
    matrix: FloatArray, targets: FloatArray, penalties: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Solve (matrix + penalty · identity) x = target for many penalties.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric matrix in C order, read right of its diagonal only and overwritten.
    targets : ndarray of shape (n, n_targets)
        Right-hand sides.
    penalties : ndarray of shape (n_penalties,)
        What is added to the diagonal.

    Returns
    -------
    solutions : ndarray of shape (n_penalties, n_targets, n)
        One solution per penalty and target.
    solved : ndarray of shape (n_penalties,), bool
        False where the matrix with its penalty is not positive definite.

    Examples
    --------
    >>> matrix = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> x, solved = solve_for_penalties(matrix, np.eye(2)[:, :1], np.array([1.0]))
    >>> x.round(3).tolist(), solved.tolist()
    ([[[0.375, -0.125]]], [True])
    """
    # In Fortran order, which LAPACK wants, the upper triangle is the lower one.
    if len(penalties) <= MOST_FACTORISATIONS or len(matrix) < 3:
        return _by_factorisations(matrix.T, targets, penalties)
    return _by_reduction(matrix.T, targets, penalties)


def _by_factorisations(
    matrix: FloatArray, targets: FloatArray, penalties: FloatArray
) -> tuple[FloatArray, BoolArray]:
    n, n_targets = targets.shape
    solutions = np.empty((len(penalties), n_targets, n))
    solved = np.zeros(len(penalties), dtype=bool)
    factor = np.empty((n, n), order="F")
    fits_single = _fits_single(targets) and is_fast_in_single(matrix)
    iterate = _Iteration(matrix) if fits_single else None
    for index, penalty in enumerate(penalties):
        if iterate is not None and iterate.solve(targets, penalty, solutions[index]):
            solved[index] = True
            continue
        np.copyto(factor, matrix)
        factor.flat[:: n + 1] += penalty
        factor, failure = lapack.dpotrf(factor, lower=1, clean=0, overwrite_a=1)
        if not failure:
            solutions[index] = lapack.dpotrs(factor, targets, lower=1)[0].T
            solved[index] = True
    return solutions, solved


def _fits_single(targets: FloatArray) -> bool:
    n, n_targets = targets.shape
    return bool(n >= SMALLEST_SINGLE and n_targets <= MOST_SINGLE_TARGETS)


class _Iteration:
    """Conjugate gradients with a factorisation in single precision.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric, in Fortran order, read on and below its diagonal only.
    """

    def __init__(self, matrix: FloatArray) -> None:
        self._matrix = matrix
        # No eigenvalue is larger.
        self._trace = float(matrix.trace())
        self._factor = SingleFactor(matrix)

    def solve(self, targets: FloatArray, penalty: float, solutions: FloatArray) -> bool:
        """Fill in the solutions for a penalty; False if they cannot be had this way."""
        if not 0.0 < self._trace <= LARGEST_CONDITION * penalty:
            return False
        if not self._factor.factorise(math.sqrt(1.0 / penalty)):
            return False

        def product(x: FloatArray) -> FloatArray:
            image: FloatArray = blas.dsymv(1.0 / penalty, self._matrix, x, lower=1)
            image += x
            return image

        for column, solution in zip(targets.T / penalty, solutions, strict=True):
            is_exact = partial(_is_exact, self._trace / penalty, column @ column)
            found = conjugate_gradients(
                product, self._factor.solve, column, is_exact, MOST_ROUNDS
            )
            if found is None:
                return False
            solution[:] = found.x
        return True


def _is_exact(trace: float, forces_square: float, found: Solution) -> bool:
    """Tell whether what is left is as small as the rounding errors of a product."""
    size = trace * math.sqrt(found.x @ found.x) + math.sqrt(forces_square)
    return math.sqrt(found.residuals @ found.residuals) <= EPSILON * size


def _by_reduction(
    matrix: FloatArray, targets: FloatArray, penalties: FloatArray
) -> tuple[FloatArray, BoolArray]:
    n, n_targets = targets.shape
    n_penalties = len(penalties)
    lwork = LAPACK_BLOCK * n
    reduced, diagonal, below, tau, _ = lapack.dsytrd(
        matrix, lower=1, lwork=lwork, overwrite_a=1
    )
    # The reflections leave the first coordinate alone: they are those of a QR
    # decomposition of the rows below it.
    reflectors = np.asfortranarray(reduced[1:, :-1])
    rotated = np.array(targets, order="F")
    rotated[1:] = _reflected(reflectors, tau, rotated[1:], "T")
    # All systems are one: a zero below the diagonal keeps two of them apart.
    solutions, failure = _tridiagonal(
        np.add.outer(penalties, diagonal).ravel(),
        np.tile(np.append(below, 0.0), n_penalties)[:-1],
        np.tile(rotated, (n_penalties, 1)),
    )
    solved = np.ones(n_penalties, dtype=bool)
    if failure:
        for index, penalty in enumerate(penalties):
            part = slice(index * n, (index + 1) * n)
            solution, failure = _tridiagonal(diagonal + penalty, below, rotated)
            solutions[part] = solution
            solved[index] = not failure
    # Fortran order with penalties and targets as columns, that is, rows in C order.
    columns = np.ascontiguousarray(
        solutions.reshape(n_penalties, n, n_targets).transpose(0, 2, 1)
    ).reshape(-1, n)
    columns[:, 1:] = _reflected(reflectors, tau, columns.T[1:], "N").T
    return columns.reshape(n_penalties, n_targets, n), solved


def _reflected(
    reflectors: FloatArray, tau: FloatArray, columns: FloatArray, trans: str
) -> FloatArray:
    lwork = LAPACK_BLOCK * max(1, columns.shape[1])
    product: FloatArray = lapack.dormqr("L", trans, reflectors, tau, columns, lwork)[0]
    return product


def _tridiagonal(
    diagonal: FloatArray, below: FloatArray, targets: FloatArray
) -> tuple[FloatArray, int]:
    _, _, solution, failure = lapack.dptsv(diagonal, below, targets)
    return solution, int(failure)
