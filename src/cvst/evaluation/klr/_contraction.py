r"""Kernel logistic regression for large penalties, all of them at once.

A solution is a fixed point: its coefficients are the residuals of its own decisions
over the penalty. Where the penalty is large, that map hardly depends on where one is,
and following it needs no factorisation, only one product with the kernel per round for
each penalty that is not there yet. Its slopes lie between :math:`-\rho` and 0, where
:math:`\rho` is the kernel's largest eigenvalue times the loss's largest curvature over
the penalty, so that steps with momentum converge at the rate of conjugate gradients.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from cvst._typing import FloatArray
from cvst.evaluation.klr._spaces import Space

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


def _momentum(slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the best step and memory for slopes between minus these and 0."""
    root = np.sqrt(1.0 + slopes)
    return 4.0 / (root + 1.0) ** 2, ((root - 1.0) / (root + 1.0)) ** 2


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
    >>> from cvst.evaluation.klr._spaces import DualSpace
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
    steps, memories = _momentum(slopes[:n_solved, None])
    pulls = weights * signs / penalties[:n_solved, None]
    # All values of a kernel may be 0.
    enough = DECISION_ERROR / np.sqrt(np.clip(largest_value, SMALLEST_VALUE, 1.0))
    solved = np.zeros((n_solved, space.size)), np.zeros((n_solved, len(signs)))
    # Those that are not there yet, and where they are.
    left = np.arange(n_solved)
    thetas, decisions = solved
    before = thetas
    # The objective is at least as curved as its penalty. So a solution is at most this
    # far away, and a decision changes by at most that times the kernel's largest root.
    for _ in range(MOST_ROUNDS):
        if len(left) == 0:
            break
        changes = space.of_residuals(pulls * expit(-signs * decisions)) - thetas
        far = ~(space.largest_norm(changes) <= enough)
        if not far.all():
            solved[0][left[~far]], solved[1][left[~far]] = thetas[~far], decisions[~far]
            left, pulls, changes = left[far], pulls[far], changes[far]
            thetas, before = thetas[far], before[far]
        changes *= steps[left]
        changes += memories[left] * (thetas - before)
        thetas, before = thetas + changes, thetas
        decisions = space.decisions(thetas)
    n_solved = int(left[0]) if len(left) else n_solved
    return solved[0][:n_solved], solved[1][:n_solved]
