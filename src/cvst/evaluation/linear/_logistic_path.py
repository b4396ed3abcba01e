"""Minimise the logistic loss for one penalty after the other.

Each penalty starts where the one before ended, the strongest first. The steps are those
of a quasi-Newton method (Nocedal and Wright, Numerical Optimization, algorithm 7.4)
whose first guess of the curvature is a true one: the Hessian at an earlier point, to
which the present penalty is added. It is computed anew only when more steps have been
taken with it than it costs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from cvst._typing import FloatArray, IntArray

__all__ = ["LogisticLoss", "logistic_path"]

# Pairs of a step and the change of the gradient along it.
N_PAIRS = 20

# Halvings of a step before the path gives up.
MOST_HALVINGS = 30

# A step must reach this share of the decrease that the gradient promises.
SUFFICIENT = 1e-4

# Or, where the decrease drowns in rounding, the slope must become this much flatter.
FLATTER = 0.9
ROUNDING = 1e-12

# A Hessian takes as long as this many gradients, for each column and class more.
# Measured on 1,000 to 5,000 rows; only the time depends on it.
GRADIENTS_PER_HESSIAN = 1 / 16


@dataclass(frozen=True, slots=True)
class LogisticLoss:
    """The weighted mean of the logistic loss over rows.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        Inputs, with a last column of ones if there is an intercept.
    labels : ndarray of shape (n_rows,), int
        Classes from 0 on.
    weights : ndarray of shape (n_rows,)
        Non-negative; their sum is 1.
    n_outputs : int
        1 for two classes, else the number of classes.
    has_intercept : bool
        Whether the last column is free of a penalty.
    """

    rows: FloatArray
    labels: IntArray
    weights: FloatArray
    n_outputs: int
    has_intercept: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the coefficients: outputs and columns."""
        return self.n_outputs, self.rows.shape[1]

    def penalised(self) -> FloatArray:
        """Return 1 for each coefficient that has a penalty, else 0."""
        mask = np.ones(self.shape)
        if self.has_intercept:
            mask[:, -1] = 0.0
        return mask

    def value_and_gradient(
        self, coefficients: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the loss, its gradient, and the probabilities of the outputs.

        Coefficients and gradient are flat, one output after the other.
        """
        scores = coefficients.reshape(self.shape) @ self.rows.T
        if self.n_outputs == 1:
            losses, shares = _two_classes(scores[0], self.labels)
            residuals = (shares - self.labels) * self.weights
        else:
            losses, shares = _many_classes(scores, self.labels)
            residuals = shares * self.weights
            residuals[self.labels, np.arange(len(self.labels))] -= self.weights
        return float(self.weights @ losses), (residuals @ self.rows).ravel(), shares

    def hessian(self, shares: FloatArray) -> FloatArray:
        """Return the matrix of second derivatives, from the probabilities."""
        n_outputs, n_columns = self.shape
        if n_outputs == 1:
            curvature = self.weights * shares[0] * (1.0 - shares[0])
            scaled = self.rows * np.sqrt(curvature)[:, None]
            return np.asarray(scaled.T @ scaled)
        # The sum over rows of (diagonal of shares - shares shares') (x) rows rows'.
        products = np.empty((len(self.rows), n_outputs * n_columns))
        places = [slice(i * n_columns, (i + 1) * n_columns) for i in range(n_outputs)]
        for own, root in zip(places, np.sqrt(self.weights) * shares, strict=True):
            np.multiply(self.rows, root[:, None], out=products[:, own])
        hessian: FloatArray = -(products.T @ products)
        for own, root in zip(places, np.sqrt(self.weights * shares), strict=True):
            scaled = self.rows * root[:, None]
            hessian[own, own] += scaled.T @ scaled
        if self.has_intercept:
            # A constant added to all intercepts changes nothing, so there is no
            # curvature. Any will do, since no gradient points that way.
            intercepts = slice(n_columns - 1, None, n_columns)
            hessian[intercepts, intercepts] += 1.0
        return hessian

    @property
    def patience(self) -> int:
        """Number of steps that take as long as a Hessian."""
        n_outputs, n_columns = self.shape
        return max(3, round((n_outputs + 1) * n_columns * GRADIENTS_PER_HESSIAN))


def _two_classes(scores: FloatArray, labels: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the loss of each row, and its probabilities of the second class."""
    small = np.exp(-np.abs(scores))
    losses = np.log1p(small) + np.maximum(scores, 0.0) - labels * scores
    shares = np.where(scores >= 0, 1.0, small) / (1.0 + small)
    return losses, shares[None]


def _many_classes(
    scores: FloatArray, labels: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the loss of each row, and its probabilities: one row per class."""
    scores = scores - scores.max(axis=0)
    own = scores[labels, np.arange(len(labels))]
    shares = np.exp(scores)
    sums = shares.sum(axis=0)
    shares /= sums
    return np.log(sums) - own, shares


def logistic_path(
    loss: LogisticLoss, penalties: Sequence[float], tolerance: float, max_steps: int
) -> Iterator[FloatArray | None]:
    """Yield the minimum for each penalty, in their order.

    Parameters
    ----------
    loss : LogisticLoss
        What is minimised together with ``penalty / 2`` times the squared coefficients.
    penalties : sequence of float
        Positive, best in descending order.
    tolerance : float
        No component of the gradient is larger at the end.
    max_steps : int
        Most steps for each penalty.

    Yields
    ------
    ndarray of shape (n_outputs, n_columns) or None
        Coefficients; None where that many steps did not suffice.
    """
    path = _Path(loss)
    for penalty in penalties:
        path.set_penalty(penalty)
        reached = path.descend(tolerance, max_steps)
        yield path.point.reshape(loss.shape).copy() if reached else None


@dataclass(frozen=True, slots=True)
class _Pair:
    """A step, the change of the gradient along it, and the product of both."""

    step: FloatArray
    change: FloatArray
    product: float

    @classmethod
    def of(cls, step: FloatArray, change: FloatArray) -> _Pair:
        return cls(step, change, float(step @ change))

    def with_more(self, curvature: FloatArray) -> _Pair:
        """Return the pair of a function with some more curvature on the diagonal."""
        return _Pair.of(self.step, self.change + curvature * self.step)


class _Path:
    """A point on its way, and what is known of the curvature around it."""

    def __init__(self, loss: LogisticLoss) -> None:
        self.loss = loss
        self.point = np.zeros(loss.shape).ravel()
        self._here = loss.value_and_gradient(self.point)
        self._mask = loss.penalised().ravel()
        self._penalty = self._mask * 0.0
        self._pairs: deque[_Pair] = deque(maxlen=N_PAIRS)
        self._hessian: FloatArray | None = None
        self._factor: FloatArray | None = None
        self._age = 0

    def set_penalty(self, penalty: float) -> None:
        """Go on with another penalty, whose part of the curvature is known."""
        more = penalty * self._mask - self._penalty
        pairs = [pair.with_more(more) for pair in self._pairs]
        self._pairs = deque(pairs, maxlen=N_PAIRS)
        self._penalty = self._penalty + more
        self._factor = None

    def descend(self, tolerance: float, max_steps: int) -> bool:
        """Move to the minimum; return whether the steps were enough."""
        value, gradient = self._with_penalty(self.point, self._here)
        for _ in range(max_steps + 1):
            if np.abs(gradient).max() <= tolerance:
                return True
            if self._hessian is None or self._age >= self.loss.patience:
                self._renew()
            direction = self._direction(gradient)
            moved = self._search(direction, value, float(direction @ gradient))
            if moved is None:
                return False
            point, value, new_gradient = moved
            self._remember(_Pair.of(point - self.point, new_gradient - gradient))
            self.point, gradient = point, new_gradient
        return False

    def _search(
        self, direction: FloatArray, value: float, slope: float
    ) -> tuple[FloatArray, float, FloatArray] | None:
        """Halve a step until it leads down far enough."""
        size = 1.0
        for _ in range(MOST_HALVINGS):
            point = self.point + size * direction
            here = self.loss.value_and_gradient(point)
            new_value, gradient = self._with_penalty(point, here)
            enough = new_value <= value + SUFFICIENT * size * slope
            # Close to the minimum values differ by rounding only: the slope tells.
            flat = abs(gradient @ direction) <= FLATTER * abs(slope)
            if enough or (flat and new_value <= value + ROUNDING * abs(value)):
                self._here = here
                return point, new_value, gradient
            size /= 2
        return None

    def _with_penalty(
        self, point: FloatArray, here: tuple[float, FloatArray, FloatArray]
    ) -> tuple[float, FloatArray]:
        value, gradient, _ = here
        shrunk = self._penalty * point
        return value + 0.5 * float(shrunk @ point), gradient + shrunk

    def _renew(self) -> None:
        self._hessian, self._factor = self.loss.hessian(self._here[2]), None
        self._age = 0
        self._pairs.clear()

    def _remember(self, pair: _Pair) -> None:
        self._age += 1
        if pair.product > 0:
            self._pairs.append(pair)

    def _direction(self, gradient: FloatArray) -> FloatArray:
        """Return minus the gradient times the inverse of the guessed curvature."""
        left = gradient.copy()
        shares = []
        for pair in reversed(self._pairs):
            share = pair.step @ left / pair.product
            shares.append(share)
            left -= share * pair.change
        found = self._solved(left)
        for pair, share in zip(self._pairs, reversed(shares), strict=True):
            found += (share - pair.change @ found / pair.product) * pair.step
        return -found

    def _solved(self, right_side: FloatArray) -> FloatArray:
        if self._factor is None:
            assert self._hessian is not None
            matrix = self._hessian.copy()
            matrix[np.diag_indices_from(matrix)] += self._penalty
            self._factor = linalg.cholesky(matrix, overwrite_a=True, check_finite=False)
        solution: FloatArray = linalg.lapack.dpotrs(self._factor, right_side)[0]
        return solution
