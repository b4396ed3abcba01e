r"""Where the solution of a kernel logistic regression lives.

The decision function is :math:`f = A \theta` with a quadratic penalty: either :math:`A`
is the kernel matrix and :math:`\theta` the dual coefficients, or :math:`A` holds
features, one row per data point, and :math:`\theta` their weights.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import blas, lapack

from cvst._typing import FloatArray

__all__ = ["Coefficients", "DualSpace", "PrimalSpace", "Space", "Step"]


# Up to this many products with a symmetric matrix, one by one is faster.
MOST_PRODUCTS = 4

# Features that add less than this share of the penalty to the curvature, all together,
# are left out of factorisations. From 1e-5 to 1e-1 it hardly matters.
LARGEST_TAIL = 1e-3


class Step(NamedTuple):
    """A Newton step.

    Attributes
    ----------
    theta : ndarray
        Change of the unknowns.
    decisions : ndarray
        Change of the decisions of the training rows.
    error : float
        Distance from the exact step in the norm of the problem, about.
    """

    theta: FloatArray
    decisions: FloatArray
    error: float = 0.0


class Space(Protocol):
    """Unknowns, and Newton steps in them."""

    @property
    def size(self) -> int:
        """Number of unknowns."""
        ...

    def factorise(self, curvatures: FloatArray, alpha: float) -> bool:
        """Prepare steps for these second derivatives of the loss; False if it fails."""
        ...

    @property
    def is_iterative(self) -> bool:
        """Whether steps for new second derivatives need no new factorisation.

        Then preparing them costs nothing as long as the last one serves.
        """
        ...

    def step(
        self, theta: FloatArray, residuals: FloatArray, alpha: float, enough: float
    ) -> Step:
        """Return the step from a point.

        ``residuals`` are the negative first derivatives of the loss there. An error
        of ``enough``, or of a part of the step, does not matter.
        """
        ...

    def decisions(self, theta: FloatArray) -> FloatArray:
        """Return the decisions of the training rows, for one or many theta."""
        ...

    @property
    def largest_eigenvalue(self) -> float:
        """Bound on the eigenvalues of the kernel."""
        ...

    def of_residuals(self, residuals: FloatArray) -> FloatArray:
        """Return the unknowns of the function with these dual coefficients, by row."""
        ...

    def largest_norm(self, thetas: FloatArray) -> FloatArray:
        """Bound the norms of functions, one per row."""
        ...

    def inner(
        self, theta: FloatArray, other: FloatArray, decisions: FloatArray
    ) -> float:
        """Return the inner product with a second function, given its decisions."""
        ...


def _solved(factor: FloatArray, forces: FloatArray) -> FloatArray:
    # Twice as fast as LAPACK's own routine, which is made for many right-hand sides.
    half = blas.dtrsv(factor, forces, lower=1, overwrite_x=1)
    solution: FloatArray = blas.dtrsv(factor, half, lower=1, trans=1, overwrite_x=1)
    return solution


class Coefficients:
    """What spaces of coefficients of the training rows have in common.

    Parameters
    ----------
    sums : ndarray of shape (n_train,)
        Sums of the kernel's absolute values, one per training row.
    """

    def __init__(self, sums: FloatArray) -> None:
        # Of a symmetric matrix it is at most the largest sum of a row.
        self._largest_eigenvalue = float(sums.max())
        self._size = len(sums)
        self._factor = np.empty((0, 0))
        self._curvatures = np.empty(0)

    @property
    def is_iterative(self) -> bool:
        """Each factorisation is for its own second derivatives."""
        return False

    @property
    def size(self) -> int:
        """Number of training rows."""
        return self._size

    def inner(
        self, theta: FloatArray, other: FloatArray, decisions: FloatArray
    ) -> float:
        """Return the inner product of two functions."""
        del other
        return float(theta @ decisions)

    @property
    def largest_eigenvalue(self) -> float:
        """Largest sum of a row."""
        return self._largest_eigenvalue

    def of_residuals(self, residuals: FloatArray) -> FloatArray:
        """Return the coefficients themselves."""
        return residuals

    def largest_norm(self, thetas: FloatArray) -> FloatArray:
        """Bound the norms by the largest eigenvalue."""
        squares = np.einsum("ij,ij->i", thetas, thetas)
        return np.asarray(np.sqrt(self._largest_eigenvalue * squares))


class DualSpace(Coefficients):
    """Coefficients of the training rows.

    Parameters
    ----------
    kernel_matrix : ndarray of shape (n_train, n_train)
        Symmetric, in C order.
    """

    def __init__(self, kernel_matrix: FloatArray) -> None:
        super().__init__(np.abs(kernel_matrix).sum(axis=0))
        self._kernel_matrix = kernel_matrix

    def factorise(self, curvatures: FloatArray, alpha: float) -> bool:
        """Factorise the kernel plus alpha over the curvatures."""
        if len(self._factor) == 0:
            self._factor = np.empty(self._kernel_matrix.shape, order="F")
        np.copyto(self._factor, self._kernel_matrix.T)
        self._factor.flat[:: self.size + 1] += alpha / curvatures
        self._factor, failure = lapack.dpotrf(
            self._factor, lower=1, clean=0, overwrite_a=1
        )
        self._curvatures = curvatures
        return not failure

    def step(
        self,
        theta: FloatArray,
        residuals: FloatArray,
        alpha: float,
        enough: float,  # noqa: ARG002 - the step is exact
    ) -> Step:
        """Solve with the factor."""
        forces = (residuals - alpha * theta) / self._curvatures
        step = _solved(self._factor, forces)
        return Step(step, self.decisions(step))

    def decisions(self, theta: FloatArray) -> FloatArray:
        """Multiply with the kernel."""
        if theta.ndim == 2 and len(theta) > MOST_PRODUCTS:
            return np.asarray(theta @ self._kernel_matrix)
        if theta.ndim == 2:
            products = np.empty_like(theta)
            for row, one in zip(products, theta, strict=True):
                row[:] = self.decisions(one)
            return products
        # Reads half of the matrix; its transpose is the column-major one.
        product: FloatArray = blas.dsymv(1.0, self._kernel_matrix.T, theta, lower=1)
        return product


class PrimalSpace:
    """Weights of features.

    The last features of a low-rank kernel hardly matter where the penalty is large.
    Factorisations are of the leading ones; the others follow from them, with an error
    that is known.

    Parameters
    ----------
    features : ndarray of shape (n_features, n_train)
        Features of the training rows in its columns.
    """

    def __init__(self, features: FloatArray) -> None:
        self._features = features
        self._factor = np.empty((0, 0))
        self._curvatures = np.empty(0)
        squares = np.einsum("ij,ij->i", features, features)
        # What the features from each one on add up to.
        self._tails = np.cumsum(squares[::-1])[::-1]

    @property
    def is_iterative(self) -> bool:
        """Each factorisation is for its own second derivatives."""
        return False

    @property
    def size(self) -> int:
        """Number of features."""
        return len(self._features)

    def factorise(self, curvatures: FloatArray, alpha: float) -> bool:
        """Factorise the curvature of loss and penalty."""
        smallest = LARGEST_TAIL * alpha / float(curvatures.max())
        n_leading = max(1, int(np.count_nonzero(self._tails > smallest)))
        scaled = self._features[:n_leading] * np.sqrt(curvatures)
        system = scaled @ scaled.T
        system.flat[:: n_leading + 1] += alpha
        self._factor, failure = lapack.dpotrf(system.T, lower=1, clean=0, overwrite_a=1)
        self._curvatures = curvatures
        return not failure

    def step(
        self,
        theta: FloatArray,
        residuals: FloatArray,
        alpha: float,
        enough: float,  # noqa: ARG002 - as exact as it gets
    ) -> Step:
        """Solve with the factor."""
        n_leading = len(self._factor)
        leading, rest = self._features[:n_leading], self._features[n_leading:]
        step = -alpha * theta
        step[:n_leading] += leading @ residuals
        step[:n_leading] = _solved(self._factor, step[:n_leading])
        change = step[:n_leading] @ leading
        if len(rest) == 0:
            return Step(step, change)
        step[n_leading:] += rest @ (residuals - self._curvatures * change)
        step[n_leading:] /= alpha
        # What is missing in the system is its product with these.
        change_of_rest = step[n_leading:] @ rest
        error = math.sqrt(float(change_of_rest @ (self._curvatures * change_of_rest)))
        return Step(step, change + change_of_rest, error)

    def decisions(self, theta: FloatArray) -> FloatArray:
        """Multiply with the features."""
        product: FloatArray = theta @ self._features
        return product

    def inner(
        self, theta: FloatArray, other: FloatArray, decisions: FloatArray
    ) -> float:
        """Return the inner product of two sets of weights."""
        del decisions
        return float(theta @ other)

    @property
    def largest_eigenvalue(self) -> float:
        """Sum of all eigenvalues."""
        return float(self._tails[0])

    def of_residuals(self, residuals: FloatArray) -> FloatArray:
        """Return the weights of the features."""
        return np.asarray(residuals @ self._features.T)

    def largest_norm(self, thetas: FloatArray) -> FloatArray:
        """Return the norms themselves."""
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", thetas, thetas)))
