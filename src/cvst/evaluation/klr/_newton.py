r"""Kernel logistic regression for many penalties: Newton steps along a path.

The minimum is unique, so every way to it is right. This one starts from the largest
penalties, which need no Newton steps, follows the tangent of the path to smaller ones,
keeps a factorisation while it is good enough, and stops once no decision value anywhere
can change by more than :data:`DECISION_ERROR`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from cvst._typing import FloatArray
from cvst.evaluation.klr._contraction import contracted
from cvst.evaluation.klr._spaces import Space

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

# The path is followed in the direction of two solutions for at most this many times
# the logarithm of the ratio of their penalties, which must not be smaller.
LONGEST_LEAP = 2.0
SHORTEST_SECANT = 1e-3

# The objective cannot grow in a step that changes no decision by more, counted from
# where its factorisation was made: there curvatures change by less than a factor of 2.
SURE_DISTANCE = 0.5

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
    >>> from cvst.evaluation.klr._spaces import DualSpace
    >>> space = DualSpace(np.array([[1.0, 0.1], [0.1, 1.0]]))
    >>> problem = LogisticProblem(space, np.array([1.0, -1.0]), np.ones(2), 1.0)
    >>> [theta.round(3) for theta in logistic_path(problem, np.array([1.0, 0.1]))]
    [array([ 0.409, -0.409]), array([ 1.735, -1.735])]
    """
    thetas, decisions = contracted(
        problem.space, problem.signs, problem.weights, problem.largest_value, penalties
    )
    yield from thetas
    follow: Callable[[], _Known | None] = partial(_secant, penalties, thetas, decisions)
    for alpha in penalties[len(thetas) :].tolist():
        descent = _Descent(problem, alpha)
        point = descent.minimum(_start(problem, alpha, follow()))
        yield None if point is None else point.theta
        follow = partial(descent.tangent, point)


class _Known(NamedTuple):
    """A solution, and where it moves as the logarithm of the penalty grows."""

    log_alpha: float
    theta: FloatArray
    decisions: FloatArray
    theta_slope: FloatArray
    decisions_slope: FloatArray
    # How far ahead the slopes may be trusted.
    longest_leap: float


def _secant(
    penalties: FloatArray, thetas: FloatArray, decisions: FloatArray
) -> _Known | None:
    """Take the slopes from the last two solutions."""
    if len(thetas) == 0:
        return None
    logs = np.log(penalties[: len(thetas)])
    leap = float(logs[-2] - logs[-1]) if len(thetas) > 1 else 0.0
    # Close neighbours point nowhere.
    if leap <= SHORTEST_SECANT:
        zeros = np.zeros_like(thetas[-1]), np.zeros_like(decisions[-1])
        return _Known(float(logs[-1]), thetas[-1], decisions[-1], *zeros, 0.0)
    return _Known(
        float(logs[-1]),
        thetas[-1],
        decisions[-1],
        (thetas[-2] - thetas[-1]) / leap,
        (decisions[-2] - decisions[-1]) / leap,
        LONGEST_LEAP * leap,
    )


def _start(problem: LogisticProblem, alpha: float, known: _Known | None) -> _Point:
    """Return the better of the last solution and where its slopes lead to."""
    if known is None:
        n_train = len(problem.signs)
        return problem.at(np.zeros(problem.space.size), np.zeros(n_train), alpha)
    stay = problem.at(known.theta, known.decisions, alpha)
    leap = known.log_alpha - math.log(alpha)
    if not 0 < leap <= known.longest_leap:
        return stay
    ahead = problem.at(
        known.theta - leap * known.theta_slope,
        known.decisions - leap * known.decisions_slope,
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
            # Twice what the quadratic model of the objective promises.
            gain = float(change @ residuals)
            gain -= alpha * space.inner(point.theta, step, change)
            moved = float(np.abs(change).max())
            target = self._target(point, step, change, moved)
            if not math.isfinite(gain + target.objective):
                return None
            negligible = gain <= NEGLIGIBLE_GAIN * point.objective
            distance = self._distance_of(target) if self._distance > 0 else moved
            if self._is_last(distance, gain, error, negligible):
                return self._checked(target)
            length = math.sqrt(max(gain, 0.0))
            # Rounding errors do not shrink: then only a new factorisation tells.
            self._ratio = math.inf if negligible else length / self._length
            self._length = length
            point = self._shortened(point, target)
            self._distance = distance if point is target else self._distance_of(point)
        return None

    def tangent(self, point: _Point | None) -> _Known | None:
        """Return the minimum with its slopes.

        They solve the system of the last step for the penalty's part of the forces.
        """
        if point is None:
            return None
        nothing = np.zeros_like(point.decisions)
        slope = self.problem.space.step(point.theta, nothing, self.alpha, 0.0)
        return _Known(
            math.log(self.alpha),
            point.theta,
            point.decisions,
            slope.theta,
            slope.decisions,
            math.inf,
        )

    def _target(
        self, point: _Point, step: FloatArray, change: FloatArray, moved: float
    ) -> _Point:
        """Return where a step leads to, with a bound on the objective if that does."""
        theta, decisions = point.theta + step, point.decisions + change
        if self._distance + moved <= SURE_DISTANCE:
            return _Point(theta, decisions, point.objective)
        return self.problem.at(theta, decisions, self.alpha)

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
        self, distance: float, gain: float, error: float, negligible: bool
    ) -> bool:
        if negligible and self._distance == 0.0 and error * self._scale <= self._enough:
            return True
        # The loss's third derivative is at most its second, so over a distance its
        # curvature changes by at most the exponential of it. This bounds the next
        # step in the norm of the problem, and that bounds all decision values.
        distance = min(max(self._distance, distance), 100.0)
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
