r"""Kernel logistic regression for large penalties, all of them at once.

A solution is a fixed point: its coefficients are the residuals of its own decisions
over the penalty. Where the penalty is large, that map hardly depends on where one is,
and following it needs no factorisation, only one product with the kernel per round for
all penalties together. Its slopes lie between :math:`-\rho` and 0, where :math:`\rho`
is the kernel's largest eigenvalue times the loss's largest curvature over the penalty,
so that steps with momentum converge at the rate of conjugate gradients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from cvst._typing import FloatArray
from cvst.evaluation._kernel_spaces import Space

__all__ = ["contracted"]

# Up to this slope products take less time than Newton steps; from 4 to 16 it hardly
# matters.
LARGEST_SLOPE = 8.0

# The second derivative of the logistic loss is at most this.
LARGEST_CURVATURE = 0.25

# Decisions of a kernel whose values are at most 1 change by no more than this.
DECISION_ERROR = 1e-9
MOST_ROUNDS = 60

SMALLEST_VALUE = float(np.finfo(float).tiny)


@dataclass(frozen=True, slots=True)
class _Momentum:
    """The best step and momentum for slopes between minus rho and 0, per penalty."""

    step: FloatArray
    memory: FloatArray

    @classmethod
    def of(cls, slopes: FloatArray) -> _Momentum:
        """Take the largest slope of each penalty; the smallest is 0."""
        root = np.sqrt(1.0 + slopes)
        return cls(4.0 / (root + 1.0) ** 2, ((root - 1.0) / (root + 1.0)) ** 2)


def contracted(
    space: Space,
    signs: FloatArray,
    weights: FloatArray,
    largest_value: float,
    penalties: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Solve for the largest penalties.

    Parameters
    ----------
    space : Space
        Where to look for solutions.
    signs, weights : ndarray of shape (n_train,)
        Classes as 1 and -1, and weights of the losses.
    largest_value : float
        Largest entry of the kernel's diagonal.
    penalties : ndarray of shape (n_penalties,)
        In descending order.

    Returns
    -------
    thetas : ndarray of shape (n_solved, size of the space)
        Solutions of the first penalties; none where all are too small.
    decisions : ndarray of shape (n_solved, n_train)
        Their decisions.

    Examples
    --------
    >>> from cvst.evaluation._kernel_spaces import DualSpace
    >>> space = DualSpace(np.array([[1.0, 0.1], [0.1, 1.0]]))
    >>> signs, penalties = np.array([1.0, -1.0]), np.array([10.0, 1.0, 0.01])
    >>> thetas, _ = contracted(space, signs, np.ones(2), 1.0, penalties)
    >>> thetas.round(3)
    array([[ 0.049, -0.049],
           [ 0.409, -0.409]])
    """
    largest = LARGEST_CURVATURE * weights.max() * space.largest_eigenvalue
    slopes = largest / penalties
    n_solved = int(np.searchsorted(slopes, LARGEST_SLOPE, side="right"))
    momentum = _Momentum.of(slopes[:n_solved, None])
    alphas = penalties[:n_solved, None]
    # All values of a kernel may be 0.
    enough = DECISION_ERROR / np.sqrt(np.clip(largest_value, SMALLEST_VALUE, 1.0))
    pulls = weights * signs
    thetas = np.zeros((n_solved, space.size))
    before = thetas
    decisions = np.zeros((n_solved, len(signs)))
    # The objective is at least as curved as its penalty. So a solution is at most this
    # far away, and a decision changes by at most that times the kernel's largest root.
    for _ in range(MOST_ROUNDS if n_solved else 0):
        targets = space.of_residuals(pulls * expit(-signs * decisions)) / alphas
        changes = targets - thetas
        if (space.largest_norm(changes) <= enough).all():
            return thetas, decisions
        thetas, before = (
            thetas + momentum.step * changes + momentum.memory * (thetas - before),
            thetas,
        )
        decisions = space.decisions(thetas)
    return thetas[:0], decisions[:0]
