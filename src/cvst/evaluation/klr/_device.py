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


class _Left(NamedTuple):
    """Fits that are not done, and where their kernels are.

    Attributes
    ----------
    numbers : ndarray of shape (n_left,)
        Which fits.
    places, kernels : array of shape (n_left,)
        The same, and their kernels, on the device.
    used : array of shape (n_kernels,)
        All kernels that are left.
    where : tuple of arrays of shape (n_left,)
        Kernel among those, and place among its fits.
    n_kernels, n_slots : int
        Number of kernels, and most fits of one.
    """

    numbers: IntArray
    places: Any
    kernels: Any
    used: Any
    where: tuple[Any, Any]
    n_kernels: int
    n_slots: int

    @classmethod
    def of(cls, arrays: Arrays, numbers: IntArray, kernel_of: IntArray) -> _Left:
        # Fits of a kernel stand side by side.
        kernels = kernel_of[numbers]
        used, starts, rows = np.unique(kernels, return_index=True, return_inverse=True)
        slots = np.arange(len(numbers)) - starts[rows]
        return cls(
            numbers,
            arrays.put(numbers),
            arrays.put(kernels),
            arrays.put(used),
            (arrays.put(rows), arrays.put(slots)),
            len(used),
            int(slots.max()) + 1,
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
        arrays = self.arrays
        n_fits, n_train = self._signs.shape
        nothing = arrays.zeros(n_fits, n_train)
        thetas = arrays.zeros(n_fits, n_train)
        found = np.zeros(n_fits, dtype=bool)
        left = _Left.of(arrays, np.arange(n_fits), self._kernel_of)
        # One array for both will do: steps are added to new arrays.
        point = self._at(left, nothing, nothing)
        for _ in range(MOST_STEPS):
            target, facts = self._step(left, point)
            is_last = facts.is_last(self._scales[left.numbers], self._enough)
            lost = ~np.isfinite(facts.gains + facts.objectives) | facts.failed
            done = np.flatnonzero(is_last & ~lost)
            if len(done):
                found[left.numbers[done]] = True
                places = arrays.put(left.numbers[done])
                thetas[places] = target.theta[arrays.put(done)]
            goes_on = np.flatnonzero(~(is_last | lost))
            if len(goes_on) == 0:
                break
            if len(goes_on) < len(is_last):
                kept = arrays.put(goes_on)
                point, target = point.of(kept), target.of(kept)
                left = _Left.of(arrays, left.numbers[goes_on], self._kernel_of)
            point = self._shortened(left, point, target)
        return thetas, found

    def _at(self, left: _Left, theta: Any, decisions: Any) -> _Point:
        margins = -self._signs[left.places] * decisions
        # log(1 + exp(m)) that cannot overflow; torch takes no plain 0 here.
        losses = self.xp.logaddexp(margins, margins * 0.0) @ self._weights
        penalties = self._alphas[left.places] / 2 * (theta * decisions).sum(axis=1)
        return _Point(theta, decisions, losses + penalties)

    def _step(self, left: _Left, point: _Point) -> tuple[_Point, _Facts]:
        """Take a full Newton step from everywhere."""
        xp = self.xp
        signs, alphas = self._signs[left.places], self._alphas[left.places][:, None]
        # exp overflows beyond 709.
        shares = 1.0 / (1.0 + xp.exp(xp.clip(signs * point.decisions, -700.0, 700.0)))
        slopes = xp.clip(shares * (1.0 - shares), SMALLEST_SLOPE, None)
        roots = (self._weights * slopes) ** 0.5
        # A row of weight 0 has no say.
        roots = xp.clip(roots, SMALLEST_SLOPE, None)
        residuals = self._weights * signs * shares
        # Newton's system, the kernel plus alpha over the curvatures, with roots of
        # these on both sides: no eigenvalue is below alpha.
        systems = self._kernels[left.kernels]
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
        target = self._at(left, point.theta + step, point.decisions + change)
        # In one transfer, since each of them would wait for the device.
        gained, went, before, after, failed = self.arrays.together(
            gains, moved, point.objective, target.objective, factor.failed
        ).T
        return target, _Facts(gained, went, before, after, failed != 0)

    def _decisions(self, left: _Left, theta: Any) -> Any:
        """Multiply the coefficients of each fit with its kernel."""
        n_slots = left.n_slots
        rows = self.arrays.zeros(left.n_kernels, n_slots, theta.shape[1])
        rows[left.where] = theta
        kernels = self._kernels
        if left.n_kernels < len(kernels):
            kernels = kernels[left.used]
        return (rows @ kernels)[left.where]

    def _shortened(self, left: _Left, point: _Point, target: _Point) -> _Point:
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
            # Decisions are linear in theta, so a shorter step needs no product.
            share = length[:, None]
            reached = self._at(
                left,
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
