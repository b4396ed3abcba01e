"""Newton steps of a kernel logistic regression by conjugate gradients.

The system changes from step to step only in the curvatures of the loss, so that one
factorisation, in single precision, is a preconditioner for several steps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cvst._typing import FloatArray
from cvst.evaluation.kernels._preconditioned import (
    LARGEST_CONDITION,
    SingleFactor,
    descent,
    is_fast_in_single,
)
from cvst.evaluation.klr._bands import BandedSpace, band_of
from cvst.evaluation.klr._spaces import DualSpace, Space, Step

__all__ = ["IterativeDualSpace", "dual_space"]

# With fewer rows, factorisations in double precision take no longer.
SMALLEST_ITERATIVE = 250

# A step may be off by this part of itself: the next one makes up for it.
LARGEST_ERROR = 0.1

# After a step of more rounds than this the next factorisation pays.
MOST_SERVING_ROUNDS = 4
MOST_ROUNDS = 40

# The same is true once curvatures over penalties have changed by this, the mean of
# their logarithms. From 0.05 to 0.5 it hardly matters.
LARGEST_WEAR = 0.3


def dual_space(kernel_matrix: FloatArray, negligible: float = 0.0) -> Space:
    """Return the space of the training rows that takes the shortest time.

    Parameters
    ----------
    kernel_matrix : ndarray of shape (n_train, n_train)
        Symmetric, in C order.
    negligible : float, default=0.0
        Values up to this do not matter; if there are any, none may be negative.

    Examples
    --------
    >>> dual_space(np.eye(250)).is_iterative, dual_space(np.eye(2)).is_iterative
    (True, False)
    """
    band = band_of(kernel_matrix, negligible) if negligible > 0 else None
    if band is not None:
        return BandedSpace(band)
    large = len(kernel_matrix) >= SMALLEST_ITERATIVE
    if large and is_fast_in_single(kernel_matrix):
        return IterativeDualSpace(kernel_matrix)
    return DualSpace(kernel_matrix)


class _Found(NamedTuple):
    """A solution, what it changes in decisions, and how far it is from the exact one.

    The distance is in the norm of the system.
    """

    x: FloatArray
    decisions: FloatArray
    error: float
    n_rounds: int


class IterativeDualSpace(DualSpace):
    """Coefficients of the training rows, with steps by conjugate gradients.

    Where single precision has too few digits it is a :class:`DualSpace`.

    Parameters
    ----------
    kernel_matrix : ndarray of shape (n_train, n_train)
        Symmetric, in C order.
    """

    def __init__(self, kernel_matrix: FloatArray) -> None:
        super().__init__(kernel_matrix)
        self._single = SingleFactor(kernel_matrix.T)
        self._alpha = 0.0
        self._serves = True
        # The root of the curvatures over the penalty, and what it was when the matrix
        # was factorised.
        self._roots = np.empty(0)
        self._factored = np.empty(0)
        self._is_worn_out = True

    @property
    def is_iterative(self) -> bool:
        """Whether single precision serves."""
        return self._serves

    def factorise(self, curvatures: FloatArray, alpha: float) -> bool:
        """Factorise again if the last factorisation is worn out."""
        if alpha != self._alpha:
            self._alpha = alpha
            condition = self.largest_eigenvalue * float(curvatures.max()) / alpha
            self._serves = condition <= LARGEST_CONDITION
        if self._serves:
            self._curvatures = curvatures
            self._roots = np.sqrt(curvatures / alpha)
            if self._is_worn_out or self._wear() > LARGEST_WEAR:
                self._factored = self._roots
                self._serves = self._single.factorise(self._roots)
                self._is_worn_out = not self._serves
        return self._serves or super().factorise(curvatures, alpha)

    def _wear(self) -> float:
        """Return by how much curvatures differ from those that were factorised."""
        return 2 * float(np.abs(np.log(self._roots / self._factored)).mean())

    def step(
        self, theta: FloatArray, residuals: FloatArray, alpha: float, enough: float
    ) -> Step:
        """Solve by conjugate gradients, or directly where they fail."""
        if self._serves:
            forces = residuals - alpha * theta
            found = self._solution(
                self._roots * forces / self._curvatures, enough / math.sqrt(alpha)
            )
            if found is not None:
                self._is_worn_out |= found.n_rounds > MOST_SERVING_ROUNDS
                error = math.sqrt(alpha) * found.error
                # What is left may outweigh the step in the norm of the objective: the
                # next ones would lead nowhere either.
                if found.decisions @ forces > 0 or error <= enough:
                    return Step(self._roots * found.x, found.decisions, error)
            self._serves = False
            if not super().factorise(self._curvatures, alpha):
                nowhere = np.full_like(theta, np.nan)
                return Step(nowhere, nowhere)
        return super().step(theta, residuals, alpha, enough)

    def _solution(self, forces: FloatArray, enough: float) -> _Found | None:
        """Solve (roots · kernel · roots + identity) x = forces."""
        roots, ratio = self._roots, self._factored / self._roots
        # The norm of the system is at most this many times the preconditioner's.
        slack = max(1.0, 1.0 / float(ratio.min()))
        decisions, image = np.zeros_like(forces), np.zeros_like(forces)

        def product(direction: FloatArray) -> FloatArray:
            nonlocal image
            image = self.decisions(roots * direction)
            scaled = roots * image
            scaled += direction
            return scaled

        def precondition(left: FloatArray) -> FloatArray:
            return np.asarray(ratio * self._single.solve(ratio * left))

        most = 0.0
        for found in descent(product, precondition, forces):
            if found.n_rounds:
                decisions += found.length * image
                gain = math.sqrt(max(0.0, float(found.x @ forces)))
                most = max(min(LARGEST_ERROR, gain) * gain, enough)
                # No eigenvalue of the system is smaller than 1.
                error = math.sqrt(float(found.residuals @ found.residuals))
                if error <= most:
                    return _Found(found.x, decisions, error, found.n_rounds)
            if found.n_rounds == MOST_ROUNDS:
                break
            error = slack * math.sqrt(max(found.square(), 0.0))
            if error <= most:
                return _Found(found.x, decisions, error, found.n_rounds)
        return None
