r"""Kernel logistic regression for many penalties: Newton steps along a path.

The minimum is unique, so every way to it is right. This one starts from the largest
penalties, which need no Newton steps, follows the path to smaller ones, keeps a
factorisation while it is good enough, and stops once no decision value anywhere can
change by more than :data:`DECISION_ERROR`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from cvst._typing import FloatArray
from cvst.evaluation._kernel_contraction import contracted
from cvst.evaluation._kernel_spaces import Space

__all__ = ["LogisticProblem", "logistic_path"]

# Bound on the change of a decision value in all steps that were not made, for a kernel
# whose values are at most 1.
DECISION_ERROR = 1e-8

# A step that promises less than this share of the objective is rounding error.
NEGLIGIBLE_GAIN = 1e-13

# The objective itself is known up to about this share where the penalty is small.
OBJECTIVE_SLACK = 1e-10

MOST_STEPS = 100
MOST_HALVINGS = 20

# Slopes of the loss are lifted to this, and products with a weight of 0 to the other.
SMALLEST_SLOPE = 1e-16
SMALLEST_CURVATURE = 1e-100

# A factorisation serves again while decisions are at most this far from where it was
# made, and while a step with it is at most this part of the step before.
FARTHEST_REUSE = 2.0
SLOWEST_REUSE = 0.2

# The path is followed in the direction of the last two penalties for at most this many
# times the ratio between them.
LONGEST_LEAP = 2.0

# Sums of steps may be off by this share of the largest decision.
LARGEST_DRIFT = 1e-8

# Factorisations of smaller systems take no longer than a step with an old one.
SMALLEST_REUSED = 150


@dataclass(frozen=True, slots=True)
class LogisticProblem:
    """Two classes, one space.

    Attributes
    ----------
    space : Space
        Where to look for a solution.
    signs : ndarray of shape (n_train,)
        1 for the class with positive decision values, else -1.
    weights : ndarray of shape (n_train,)
        Weights of the losses.
    largest_value : float
        Largest entry of the kernel's diagonal.
    """

    space: Space
    signs: FloatArray
    weights: FloatArray
    largest_value: float

    def at(self, theta: FloatArray, decisions: FloatArray, alpha: float) -> _Point:
        """Evaluate the objective."""
        losses = self.weights @ np.logaddexp(0.0, -self.signs * decisions)
        penalty = alpha / 2 * self.space.inner(theta, theta, decisions)
        return _Point(theta, decisions, float(losses + penalty))


@dataclass(frozen=True, slots=True)
class _Point:
    """A point of the iteration: unknowns, decisions of the training rows, objective."""

    theta: FloatArray
    decisions: FloatArray
    objective: float


def logistic_path(
    problem: LogisticProblem, penalties: FloatArray
) -> Iterator[FloatArray | None]:
    """Yield the solution of each penalty, from the largest to the smallest.

    Parameters
    ----------
    problem : LogisticProblem
        What to minimise.
    penalties : ndarray of shape (n_penalties,)
        In descending order.

    Yields
    ------
    ndarray of shape (size of the space,) or None
        None if the iteration failed; the next one starts afresh.

    Examples
    --------
    >>> from cvst.evaluation._kernel_spaces import DualSpace
    >>> space = DualSpace(np.array([[1.0, 0.1], [0.1, 1.0]]))
    >>> problem = LogisticProblem(space, np.array([1.0, -1.0]), np.ones(2), 1.0)
    >>> [theta.round(3) for theta in logistic_path(problem, np.array([1.0, 0.1]))]
    [array([ 0.409, -0.409]), array([ 1.735, -1.735])]
    """
    known: list[tuple[float, _Point]] = []
    thetas, decisions = contracted(
        problem.space, problem.signs, problem.weights, problem.largest_value, penalties
    )
    for alpha, theta, own in zip(penalties.tolist(), thetas, decisions, strict=False):
        known = [*known[-1:], (math.log(alpha), problem.at(theta, own, alpha))]
        yield theta
    for alpha in penalties[len(thetas) :].tolist():
        start = _start(problem, alpha, known)
        point = _Descent(problem, alpha).minimum(start)
        known = [] if point is None else [*known[-1:], (math.log(alpha), point)]
        yield None if point is None else point.theta


def _start(
    problem: LogisticProblem, alpha: float, known: list[tuple[float, _Point]]
) -> _Point:
    """Return the better of the last solution and what the last two lead to."""
    if not known:
        n_train = len(problem.signs)
        return problem.at(np.zeros(problem.space.size), np.zeros(n_train), alpha)
    log_alpha, last = known[-1]
    stay = problem.at(last.theta, last.decisions, alpha)
    if len(known) == 1:
        return stay
    log_before, before = known[0]
    leap, leap_before = log_alpha - math.log(alpha), log_before - log_alpha
    # Close neighbours point nowhere.
    if not 0 < leap <= LONGEST_LEAP * leap_before:
        return stay
    length = leap / leap_before
    ahead = problem.at(
        last.theta + length * (last.theta - before.theta),
        last.decisions + length * (last.decisions - before.decisions),
        alpha,
    )
    return ahead if ahead.objective < stay.objective else stay


class _Descent:
    """Steps to the minimum for one penalty."""

    def __init__(self, problem: LogisticProblem, alpha: float) -> None:
        self.problem = problem
        self.alpha = alpha
        self._scale = math.sqrt(problem.largest_value / alpha)
        self._enough = DECISION_ERROR * max(1.0, math.sqrt(problem.largest_value))
        # Where the last factorisation was made, how far from there the decisions are,
        # and how well it serves: the last step as a part of the one before.
        self._anchor = np.zeros(0)
        self._distance = math.inf
        self._ratio = 0.0
        self._length = math.inf

    def minimum(self, point: _Point) -> _Point | None:
        """Return the minimum, or None if numbers run out of digits."""
        space, alpha = self.problem.space, self.alpha
        for _ in range(MOST_STEPS):
            shares = expit(-self.problem.signs * point.decisions)
            if not self._reuses() and not self._factorise(point, shares):
                return None
            residuals = self.problem.weights * self.problem.signs * shares
            step, change, error = space.step(
                point.theta, residuals, alpha, self._enough / self._scale / 4
            )
            target = self.problem.at(
                point.theta + step, point.decisions + change, alpha
            )
            # Twice what the quadratic model of the objective promises.
            gain = float(change @ residuals)
            gain -= alpha * space.inner(point.theta, step, change)
            if not math.isfinite(gain + target.objective):
                return None
            negligible = gain <= NEGLIGIBLE_GAIN * point.objective
            if self._is_last(target, gain, error, negligible):
                return self._checked(target)
            length = math.sqrt(max(gain, 0.0))
            # Rounding errors do not shrink: then only a new factorisation tells.
            self._ratio = math.inf if negligible else length / self._length
            self._length = length
            point = self._shortened(point, target)
            self._distance = self._distance_of(point)
        return None

    def _reuses(self) -> bool:
        return (
            not self.problem.space.is_iterative
            and self._distance <= FARTHEST_REUSE
            and self._ratio <= SLOWEST_REUSE
            and self.problem.space.size >= SMALLEST_REUSED
        )

    def _factorise(self, point: _Point, shares: FloatArray) -> bool:
        slopes = np.maximum(shares * (1 - shares), SMALLEST_SLOPE)
        curvatures = np.maximum(self.problem.weights * slopes, SMALLEST_CURVATURE)
        self._anchor = point.decisions
        self._distance = 0.0
        # The first step with it always serves.
        self._length = math.inf
        return self.problem.space.factorise(curvatures, self.alpha)

    def _distance_of(self, point: _Point) -> float:
        return float(np.abs(point.decisions - self._anchor).max())

    def _is_last(
        self, target: _Point, gain: float, error: float, negligible: bool
    ) -> bool:
        if negligible and self._distance == 0.0 and error * self._scale <= self._enough:
            return True
        # The loss's third derivative is at most its second, so over a distance its
        # curvature changes by at most the exponential of it. This bounds the next
        # step in the norm of the problem, and that bounds all decision values.
        distance = min(max(self._distance, self._distance_of(target)), 100.0)
        change = math.expm1(distance) * math.exp(distance / 2)
        length = change * math.sqrt(abs(gain)) + error
        return length * self._scale <= self._enough

    def _checked(self, point: _Point) -> _Point | None:
        # Decisions were summed up step by step: they must not have drifted away.
        decisions = self.problem.space.decisions(point.theta)
        drift = float(np.abs(decisions - point.decisions).max())
        scale = max(1.0, float(np.abs(decisions).max()))
        return point if drift <= LARGEST_DRIFT * scale else None

    def _shortened(self, point: _Point, target: _Point) -> _Point:
        """Halve the step until the objective does not grow."""
        bound = point.objective * (1 + OBJECTIVE_SLACK)
        length, reached = 1.0, target
        for _ in range(MOST_HALVINGS):
            if reached.objective <= bound:
                break
            length /= 2
            reached = self.problem.at(
                (1 - length) * point.theta + length * target.theta,
                (1 - length) * point.decisions + length * target.decisions,
                self.alpha,
            )
        return reached
