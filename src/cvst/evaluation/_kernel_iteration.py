"""Newton steps of a kernel logistic regression by conjugate gradients.

The system changes from step to step only in the curvatures of the loss, so that one
factorisation, in single precision, is a preconditioner for several steps.
"""

from __future__ import annotations

import math

import numpy as np

from cvst._typing import FloatArray
from cvst.evaluation._kernel_preconditioned import (
    LARGEST_CONDITION,
    SingleFactor,
    Solution,
    conjugate_gradients,
)
from cvst.evaluation._kernel_spaces import DualSpace, Step

__all__ = ["IterativeDualSpace", "dual_space"]

# With fewer rows, factorisations in double precision take no longer.
SMALLEST_ITERATIVE = 250

# A step may be off by this part of itself: the next one makes up for it.
LARGEST_ERROR = 0.1

# After a step of more rounds than this the next factorisation pays.
MOST_SERVING_ROUNDS = 5
MOST_ROUNDS = 40


def dual_space(kernel_matrix: FloatArray) -> DualSpace:
    """Return the space of the training rows that takes the shorter time.

    Parameters
    ----------
    kernel_matrix : ndarray of shape (n_train, n_train)
        Symmetric, in C order.

    Examples
    --------
    >>> dual_space(np.eye(250)).is_iterative, dual_space(np.eye(2)).is_iterative
    (True, False)
    """
    large = len(kernel_matrix) >= SMALLEST_ITERATIVE
    return IterativeDualSpace(kernel_matrix) if large else DualSpace(kernel_matrix)


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
        self._serves = True
        # The root of the curvatures over the penalty, and what it was when the matrix
        # was factorised; None if that has to be done anew.
        self._roots = np.empty(0)
        self._factored: FloatArray | None = None
        self._factored_alpha = 0.0

    @property
    def is_iterative(self) -> bool:
        """Whether single precision serves."""
        return self._serves

    def factorise(self, curvatures: FloatArray, alpha: float) -> bool:
        """Factorise again if the last factorisation is worn out."""
        condition = self.largest_eigenvalue * float(curvatures.max()) / alpha
        if alpha != self._factored_alpha:
            self._factored, self._factored_alpha = None, alpha
            self._serves = condition <= LARGEST_CONDITION
        if self._serves:
            self._curvatures = curvatures
            self._roots = np.sqrt(curvatures / alpha)
            if self._factored is not None:
                return True
            self._factored = self._roots
            self._serves = self._single.factorise(self._roots)
        return self._serves or super().factorise(curvatures, alpha)

    def step(
        self, theta: FloatArray, residuals: FloatArray, alpha: float, enough: float
    ) -> Step:
        """Solve by conjugate gradients, or directly where they fail."""
        if self._serves:
            forces = (residuals - alpha * theta) / self._curvatures
            found = self._solution(self._roots * forces, enough / math.sqrt(alpha))
            if found is not None:
                if found.n_rounds > MOST_SERVING_ROUNDS:
                    self._factored = None
                step = self._roots * found.x
                error = math.sqrt(alpha) * found.error
                change = self.decisions(step)
                # What is left may outweigh the step in the norm of the objective: the
                # next ones would lead nowhere either.
                if change @ (residuals - alpha * theta) > 0 or error <= enough:
                    return Step(step, change, error)
            self._serves = False
            if not super().factorise(self._curvatures, alpha):
                nowhere = np.full_like(theta, np.nan)
                return Step(nowhere, nowhere)
        return super().step(theta, residuals, alpha, enough)

    def _solution(self, forces: FloatArray, enough: float) -> Solution | None:
        """Solve (roots · kernel · roots + identity) x = forces."""
        assert self._factored is not None
        roots, ratio = self._roots, self._factored / self._roots

        def product(x: FloatArray) -> FloatArray:
            return x + roots * self.decisions(roots * x)

        def precondition(x: FloatArray) -> FloatArray:
            return ratio * self._single.solve(ratio * x)

        def is_enough(found: Solution) -> bool:
            length = math.sqrt(max(0.0, float(found.x @ forces)))
            return found.error <= max(min(LARGEST_ERROR, length) * length, enough)

        return conjugate_gradients(
            product, precondition, forces, is_enough, MOST_ROUNDS
        )
