"""Positive definite systems: factorised in single precision, solved in double.

A factorisation in single precision takes half the time. Its digits are too few for a
solution, but with it as a preconditioner conjugate gradients in double precision are
as exact as a factorisation in double precision after three or four rounds.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import blas, lapack

from cvst._typing import FloatArray

__all__ = [
    "LARGEST_CONDITION",
    "SingleFactor",
    "Solution",
    "conjugate_gradients",
    "descent",
    "is_fast_in_single",
]

# Up to this ratio between the largest and the smallest eigenvalue a factorisation in
# single precision is a good preconditioner.
LARGEST_CONDITION = 1e6

# Below the range of single precision these processors take up to thirty times as long.
SLOW_MACHINES = frozenset({"x86_64", "amd64", "i386", "i686"})

# A factorisation multiplies small values until they get there, if more than a few are
# that small.
SMALL_VALUE = 1e-18
LARGEST_SMALL_SHARE = 0.01


def is_fast_in_single(matrix: FloatArray) -> bool:
    """Return whether a kernel's values are large enough for single precision.

    Examples
    --------
    >>> is_fast_in_single(np.ones((3, 3)))
    True
    """
    if platform.machine().lower() not in SLOW_MACHINES:
        return True
    small = (matrix != 0) & (np.abs(matrix) < SMALL_VALUE)
    return bool(np.count_nonzero(small) <= LARGEST_SMALL_SHARE * matrix.size)


class SingleFactor:
    """Cholesky factor in single precision of a scaled matrix plus the identity.

    Parameters
    ----------
    matrix : ndarray of shape (size, size)
        Symmetric, in Fortran order, read on and below its diagonal only.

    Examples
    --------
    >>> factor = SingleFactor(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> factor.factorise(1.0)
    True
    >>> factor.solve(np.array([8.0, 0.0])).round(5).tolist()
    [3.0, -1.0]
    """

    def __init__(self, matrix: FloatArray) -> None:
        self._matrix = matrix
        self._factor = np.empty(matrix.shape, dtype=np.float32, order="F")

    def factorise(self, roots: FloatArray | float) -> bool:
        """Factorise roots · matrix · roots + identity; False if it fails.

        Parameters
        ----------
        roots : float or ndarray of shape (size,)
            Factors of rows and columns.
        """
        factor = self._factor
        # Above the diagonal may be anything.
        with np.errstate(all="ignore"):
            if isinstance(roots, float):
                np.multiply(self._matrix, roots**2, out=factor, casting="same_kind")
            else:
                np.copyto(factor, self._matrix, casting="same_kind")
                single = roots.astype(np.float32)
                factor *= single
                factor *= single[:, None]
        factor.flat[:: len(factor) + 1] += np.float32(1.0)
        self._factor, failure = lapack.spotrf(factor, lower=1, clean=0, overwrite_a=1)
        return not failure and bool(np.isfinite(self._factor.diagonal()).all())

    def solve(self, forces: FloatArray) -> FloatArray:
        """Solve the system in single precision."""
        length = math.sqrt(forces @ forces)
        if length == 0.0:
            return np.zeros_like(forces)
        # Of length 1, so that nothing leaves the range of single precision.
        single = (forces / length).astype(np.float32)
        half = blas.strsv(self._factor, single, lower=1, overwrite_x=1)
        whole = blas.strsv(self._factor, half, lower=1, trans=1, overwrite_x=1)
        solution: FloatArray = whole.astype(np.float64)
        solution *= length
        return solution


class Descent:
    """Where conjugate gradients are.

    Attributes
    ----------
    x : ndarray of shape (size,)
        The solution so far.
    residuals : ndarray of shape (size,)
        What is left of the right-hand side.
    length : float
        How far the last round went along its direction.
    n_rounds : int
        Products so far.
    """

    def __init__(
        self, precondition: Callable[[FloatArray], FloatArray], forces: FloatArray
    ) -> None:
        self.x = np.zeros_like(forces)
        self.residuals = forces.copy()
        self.length = 0.0
        self.n_rounds = 0
        self._precondition = precondition
        self._pull: FloatArray | None = None

    def pull(self) -> FloatArray:
        """Return the residuals behind the preconditioner, solved for once a round."""
        if self._pull is None:
            self._pull = self._precondition(self.residuals)
        return self._pull

    def square(self) -> float:
        """Return the squared norm of the residuals, as the preconditioner sees it."""
        return float(self.residuals @ self.pull())

    def move(self, direction: FloatArray, image: FloatArray, length: float) -> None:
        """Go along a direction, whose product with the system is its image."""
        self.x += length * direction
        self.residuals -= length * image
        self.length = length
        self.n_rounds += 1
        self._pull = None


def descent(
    product: Callable[[FloatArray], FloatArray],
    precondition: Callable[[FloatArray], FloatArray],
    forces: FloatArray,
) -> Iterator[Descent]:
    """Yield where preconditioned conjugate gradients are, before and after each round.

    The same object comes back each time. The preconditioner is asked as late as
    possible, so that a caller that has enough saves the last solve. It ends where the
    system does not look positive definite.

    Parameters
    ----------
    product : callable
        Multiplies a vector with the system.
    precondition : callable
        Solves the system approximately.
    forces : ndarray of shape (size,)
        Right-hand side.
    """
    where = Descent(precondition, forces)
    # A square over infinity is zero: the first direction is the pull alone.
    direction, before = np.zeros_like(forces), math.inf
    while True:
        yield where
        square = where.square()
        direction = where.pull() + (square / before) * direction
        image = product(direction)
        curvature = float(direction @ image)
        if not (square > 0 and curvature > 0):
            return
        where.move(direction, image, square / curvature)
        before = square


class Solution(NamedTuple):
    """What conjugate gradients have reached.

    Attributes
    ----------
    x : ndarray of shape (size,)
        The solution.
    residuals : ndarray of shape (size,)
        What is left of the right-hand side.
    error : float
        Distance from the solution in the norm of the system, if the preconditioner
        were the system itself.
    n_rounds : int
        Products it took.
    """

    x: FloatArray
    residuals: FloatArray
    error: float
    n_rounds: int


def conjugate_gradients(
    product: Callable[[FloatArray], FloatArray],
    precondition: Callable[[FloatArray], FloatArray],
    forces: FloatArray,
    is_enough: Callable[[Solution], bool],
    most_rounds: int,
) -> Solution | None:
    """Solve a system by preconditioned conjugate gradients.

    Parameters
    ----------
    product : callable
        Multiplies a vector with the system.
    precondition : callable
        Solves the system approximately.
    forces : ndarray of shape (size,)
        Right-hand side.
    is_enough : callable
        Called after each round: whether it may be the last.
    most_rounds : int
        After this many it gives up.

    Returns
    -------
    Solution or None
        None if the rounds were not enough.

    Examples
    --------
    >>> system = np.array([[3.0, 1.0], [1.0, 3.0]])
    >>> found = conjugate_gradients(
    ...     system.__matmul__,
    ...     lambda forces: forces / 3,
    ...     np.array([8.0, 0.0]),
    ...     lambda found: found.error < 1e-12,
    ...     5,
    ... )
    >>> found.x.round(12).tolist(), found.n_rounds
    ([3.0, -1.0], 2)
    """
    if not forces.any():
        return Solution(np.zeros_like(forces), forces.copy(), 0.0, 0)
    for found in descent(product, precondition, forces):
        if found.n_rounds == 0:
            continue
        error = math.sqrt(max(found.square(), 0.0))
        solution = Solution(found.x, found.residuals, error, found.n_rounds)
        if is_enough(solution):
            return solution
        if found.n_rounds == most_rounds:
            break
    return None
