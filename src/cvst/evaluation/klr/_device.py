"""Kernel logistic regression on a device: Newton steps for all fits at once.

Every fit starts from zero and leaves the batch when it is done. The minimum is unique,
so that what it finds is what the path over penalties finds on the host.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.evaluation.device import Arrays, add_to_diagonal, factorised
from cvst.evaluation.kernels._device import DevicePairs
from cvst.evaluation.kernels._device_batches import WholeKernels
from cvst.evaluation.kernels._functions import Kernel
from cvst.evaluation.kernels._rows import PairedRows
from cvst.evaluation.klr._newton import (
    DECISION_ERROR,
    MOST_HALVINGS,
    MOST_STEPS,
    NEGLIGIBLE_GAIN,
    OBJECTIVE_SLACK,
    SMALLEST_SLOPE,
)

__all__ = ["LogisticFits", "logistic_on_device"]

# Beyond this distance a step tells nothing about the next one.
LARGEST_DISTANCE = 100.0


class LogisticFits(NamedTuple):
    """Solutions for many penalties of many kernels, back on the host.

    Attributes
    ----------
    coefficients : ndarray of shape (n_fits, n_problems, n_train)
        Dual coefficients.
    decisions : ndarray of shape (n_fits, n_problems, n_test)
        Decisions of the test rows.
    solved : ndarray of shape (n_fits,), bool
        False where the iteration failed.
    fit_seconds, score_seconds : float
        For all together.
    """

    coefficients: FloatArray
    decisions: FloatArray
    solved: BoolArray
    fit_seconds: float
    score_seconds: float


class _Point(NamedTuple):
    """Coefficients of some fits, their decisions and objectives; a row per fit."""

    theta: Any
    decisions: Any
    objective: Any

    def of(self, places: Any) -> _Point:
        return _Point(
            self.theta[places], self.decisions[places], self.objective[places]
        )


class _Problems:
    """Two classes each, that share kernels.

    Parameters
    ----------
    arrays : Arrays
        The device.
    kernels : array of shape (n_kernels, n_train, n_train)
        The kernels.
    kernel_of : ndarray of shape (n_fits,)
        Which kernel each fit has.
    signs : array of shape (n_fits, n_train)
        Classes as 1 and -1.
    weights : array of shape (n_train,)
        Weights of the losses.
    alphas : ndarray of shape (n_fits,)
        Penalties.
    largest_value : float
        Largest entry of the kernels' diagonals.
    """

    def __init__(
        self,
        arrays: Arrays,
        kernels: Any,
        kernel_of: IntArray,
        signs: Any,
        weights: Any,
        alphas: FloatArray,
        largest_value: float,
    ) -> None:
        self.arrays = arrays
        self.xp = arrays.xp
        self._kernels = kernels
        self._kernel_of = kernel_of
        self._signs = signs
        self._weights = weights
        self._alphas = arrays.put(alphas)
        self._scales = np.sqrt(largest_value / alphas)
        self._enough = DECISION_ERROR * max(1.0, float(np.sqrt(largest_value)))

    def solve(self) -> tuple[Any, BoolArray]:
        """Return the solutions, a row per fit, and which of them were found."""
        n_fits, n_train = self._signs.shape
        nothing = self.arrays.zeros(n_fits, n_train)
        thetas = self.arrays.zeros(n_fits, n_train)
        left = np.arange(n_fits)
        everyone = self.arrays.put(left)
        point = self._at(everyone, nothing, nothing)
        found = np.zeros(n_fits, dtype=bool)
        for _ in range(MOST_STEPS):
            places = self.arrays.put(left)
            target, facts = self._step(left, places, point)
            is_last = facts.is_last(self._scales[left], self._enough)
            lost = ~np.isfinite(facts.gains + facts.objectives) | facts.failed
            ended = is_last | lost
            if ended.any():
                done = np.flatnonzero(is_last & ~lost)
                found[left[done]] = True
                thetas[self.arrays.put(left[done])] = target.theta[
                    self.arrays.put(done)
                ]
            goes_on = np.flatnonzero(~ended)
            if len(goes_on) == 0:
                break
            kept = self.arrays.put(goes_on)
            left = left[goes_on]
            places = self.arrays.put(left)
            point = self._shortened(places, point.of(kept), target.of(kept))
        return thetas, found

    def _at(self, places: Any, theta: Any, decisions: Any) -> _Point:
        margins = -self._signs[places] * decisions
        losses = self.xp.logaddexp(margins, margins * 0.0) @ self._weights
        penalties = self._alphas[places] / 2 * (theta * decisions).sum(axis=1)
        return _Point(theta, decisions, losses + penalties)

    def _step(
        self, left: IntArray, places: Any, point: _Point
    ) -> tuple[_Point, _Facts]:
        """Take a full Newton step from everywhere."""
        xp = self.xp
        signs, alphas = self._signs[places], self._alphas[places][:, None]
        shares = 1.0 / (1.0 + xp.exp(xp.clip(signs * point.decisions, -700.0, 700.0)))
        slopes = xp.clip(shares * (1.0 - shares), SMALLEST_SLOPE, None)
        roots = (self._weights * slopes) ** 0.5
        # A row of weight 0 has no say.
        roots = xp.clip(roots, SMALLEST_SLOPE, None)
        residuals = self._weights * signs * shares
        systems = self._kernels[self.arrays.put(self._kernel_of[left])]
        systems *= roots[:, :, None]
        systems *= roots[:, None, :]
        add_to_diagonal(systems, alphas)
        factor = factorised(self.arrays, systems)
        forces = (residuals - alphas * point.theta) / roots
        step = roots * factor.solve(forces[:, :, None])[:, :, 0]
        change = self._decisions(left, step)
        gains = (change * residuals).sum(axis=1)
        gains = gains - alphas[:, 0] * (point.theta * change).sum(axis=1)
        moved = xp.amax(xp.abs(change), axis=1)
        target = self._at(places, point.theta + step, point.decisions + change)
        fetch = self.arrays.fetch
        facts = _Facts(
            fetch(gains),
            fetch(moved),
            fetch(point.objective),
            fetch(target.objective),
            fetch(factor.failed),
        )
        return target, facts

    def _decisions(self, left: IntArray, theta: Any) -> Any:
        """Multiply the coefficients of each fit with its kernel."""
        members = self._kernel_of[left]
        decisions = self.arrays.empty(*theta.shape)
        # Fits of a kernel stand side by side.
        starts = np.flatnonzero(np.diff(members, prepend=-1))
        ends = [*starts[1:].tolist(), len(members)]
        for start, end in zip(starts.tolist(), ends, strict=True):
            kernel = self._kernels[int(members[start])]
            decisions[start:end] = theta[start:end] @ kernel
        return decisions

    def _shortened(self, places: Any, point: _Point, target: _Point) -> _Point:
        """Halve steps until no objective grows."""
        xp = self.xp
        bound = point.objective * (1 + OBJECTIVE_SLACK)
        length = point.objective * 0.0 + 1.0
        reached = target
        for _ in range(MOST_HALVINGS):
            too_far = reached.objective > bound
            if not bool(too_far.any()):
                break
            length = xp.where(too_far, length / 2, length)
            share = length[:, None]
            reached = self._at(
                places,
                (1 - share) * point.theta + share * target.theta,
                (1 - share) * point.decisions + share * target.decisions,
            )
        return reached


class _Facts(NamedTuple):
    """Numbers about a step of each fit, on the host."""

    gains: FloatArray
    moved: FloatArray
    before: FloatArray
    objectives: FloatArray
    failed: BoolArray

    def is_last(self, scales: FloatArray, enough: float) -> BoolArray:
        """Return where no further step can change a decision by more than enough."""
        negligible = self.gains <= NEGLIGIBLE_GAIN * self.before
        # As on the host: this bounds the next step, and that all decision values.
        distance = np.minimum(self.moved, LARGEST_DISTANCE)
        change = np.expm1(distance) * np.exp(distance / 2)
        length = change * np.sqrt(np.abs(self.gains))
        small: BoolArray = negligible | (length * scales <= enough)
        return small


class _Logistic(WholeKernels):
    """Newton steps with whole kernels; the targets are signs."""

    def __init__(
        self,
        pairs: DevicePairs,
        kernels: Sequence[Kernel],
        penalties: Sequence[FloatArray],
        signs: FloatArray,
        weights: FloatArray,
        largest_value: float,
    ) -> None:
        super().__init__(pairs, kernels, penalties, signs, None)
        self.weights = self.arrays.put(weights)
        self.largest_value = largest_value
        n_fits, n_train = len(self.layout), self.n_train
        n_problems = self.targets.shape[1]
        self.coefficients = np.empty((n_fits, n_problems, n_train))

    def fit(self, batch: slice, members: IntArray) -> Any:
        """Solve all problems of some fits."""
        stack = self.stack(members)
        local = members - members[0]
        n_problems = self.targets.shape[1]
        kernel_of = np.repeat(local, n_problems)
        signs = self.targets.swapaxes(0, 1)
        signs = signs[self.arrays.put(np.tile(np.arange(n_problems), len(local)))]
        alphas = np.repeat(self.layout.penalties[batch], n_problems)
        problems = _Problems(
            self.arrays,
            stack,
            kernel_of,
            signs,
            self.weights,
            alphas,
            self.largest_value,
        )
        thetas, found = problems.solve()
        per_fit = found.reshape(len(local), n_problems).all(axis=1)
        self.failed[batch] = self.arrays.put(~per_fit)
        coefficients = thetas.reshape(len(local), n_problems, self.n_train)
        self.coefficients[batch] = self.arrays.fetch(coefficients)
        return coefficients.swapaxes(1, 2)


def logistic_on_device(
    rows: PairedRows,
    arrays: Arrays,
    kernels: Sequence[Kernel],
    penalties: Sequence[FloatArray],
    signs: FloatArray,
    weights: FloatArray,
) -> LogisticFits:
    """Fit and decide for all penalties of kernels of one name.

    Parameters
    ----------
    rows : PairedRows
        Rows of a look.
    arrays : Arrays
        The device.
    kernels : sequence of Kernel
        All of the same name.
    penalties : sequence of ndarray of shape (n_penalties,)
        Those of each kernel.
    signs : ndarray of shape (n_problems, n_train)
        1 for the class that a problem tells from the rest, else -1.
    weights : ndarray of shape (n_train,)
        Weights of the losses.

    Raises
    ------
    DeviceFullError
        If not even one system fits into the memory of the device.
    """
    largest = max(kernel.largest_value(rows.largest_square) for kernel in kernels)
    fits = _Logistic(
        DevicePairs.of(rows, arrays),
        kernels,
        penalties,
        np.ascontiguousarray(signs.T),
        weights,
        largest,
    )
    fits.all()
    return LogisticFits(
        fits.coefficients,
        arrays.fetch(fits.predictions),
        ~arrays.fetch(fits.failed),
        fits.fit_seconds,
        fits.score_seconds,
    )
