"""Kernel ridge regression on a device: all widths and penalties of a look together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from cvst._typing import BoolArray, FloatArray, Rows
from cvst.evaluation.device import Arrays, factorised, in_batches
from cvst.evaluation.kernels._functions import Kernel
from cvst.evaluation.kernels._rows import PairedRows, PairKind

__all__ = ["DevicePairs", "RidgeFits", "kernel_stack", "ridge_on_device"]


@dataclass(frozen=True, slots=True)
class DevicePairs:
    """Training and test rows of a look on a device, and the pairs they form.

    Attributes
    ----------
    arrays : Arrays
        The device.
    train, test : array of shape (n_rows, n_features)
        Inputs.
    train_squares, test_squares : array of shape (n_rows,)
        Their sums of squares.
    same : tuple of arrays of int
        Training and test rows that are the same row, as positions.
    """

    arrays: Arrays
    train: Any
    test: Any
    train_squares: Any
    test_squares: Any
    same: tuple[Any, Any]

    @classmethod
    def of(cls, rows: PairedRows, arrays: Arrays) -> DevicePairs:
        """Cut the rows of a look from those of the race, which are sent once."""
        X, squares = rows.scratch.get(
            ("rows on a device", arrays.name),
            lambda: (arrays.put(rows.rows.X), arrays.put(rows.rows.squared_norms)),
        )
        train, test = _places(arrays, rows.train), _places(arrays, rows.test)
        numbers = np.arange(len(rows.rows.X))
        same = _in_common(numbers, rows.train, rows.test)
        return cls(
            arrays,
            X[train],
            X[test],
            squares[train],
            squares[test],
            (arrays.put(same[0]), arrays.put(same[1])),
        )

    def within(self, kind: PairKind) -> Any:
        """Return the pairs of training rows."""
        pairs = _pairs(
            self.arrays,
            kind,
            (self.train, self.train_squares),
            (self.train, self.train_squares),
        )
        if kind == "squared":
            places = self.arrays.put(np.arange(len(self.train)))
            pairs[places, places] = 0.0
        return pairs

    def across(self, kind: PairKind, block: slice) -> Any:
        """Return the pairs of all training rows with some test rows."""
        pairs = _pairs(
            self.arrays,
            kind,
            (self.train, self.train_squares),
            (self.test[block], self.test_squares[block]),
        )
        train, test = self.same
        if kind == "squared" and len(train):
            inside = (test >= block.start) & (test < block.stop)
            pairs[train[inside], test[inside] - block.start] = 0.0
        return pairs


def _places(arrays: Arrays, rows: Rows) -> Any:
    return rows if isinstance(rows, slice) else arrays.put(rows)


def _in_common(numbers: Any, train: Rows, test: Rows) -> tuple[Any, Any]:
    a, b = numbers[train], numbers[test]
    # Nearly always the test rows begin where the training rows end.
    if len(a) == 0 or len(b) == 0 or a[-1] < b[0] or b[-1] < a[0]:
        nested = isinstance(train, slice) and isinstance(test, slice)
        if nested:
            return numbers[:0], numbers[:0]
    _, places_a, places_b = np.intersect1d(a, b, return_indices=True)
    return places_a, places_b


def _pairs(arrays: Arrays, kind: PairKind, a: Any, b: Any) -> Any:
    xp = arrays.xp
    (A, squares_of_a), (B, squares_of_b) = a, b
    if kind == "city block":
        pairs = arrays.zeros(len(A), len(B))
        for column in range(A.shape[1]):
            pairs += xp.abs(A[:, column, None] - B[None, :, column])
        return pairs
    pairs = A @ B.swapaxes(0, 1)
    if kind == "product":
        return pairs
    pairs *= -2.0
    pairs += squares_of_a[:, None]
    pairs += squares_of_b[None, :]
    return xp.clip(pairs, 0.0, None, out=pairs)


def kernel_stack(arrays: Arrays, kernels: Sequence[Kernel], pairs: Any) -> Any:
    """Return the values of kernels of one name, of shape (n_kernels, *pairs.shape)."""
    name = kernels[0].name

    def column(values: list[float]) -> Any:
        return arrays.put(np.array(values))[:, None, None]

    if name == "linear":
        # Each gets its own: what follows writes on it.
        return pairs[None] + arrays.zeros(len(kernels), 1, 1)
    gammas = column([kernel.gamma for kernel in kernels])
    if name in ("rbf", "laplacian"):
        values = pairs[None] * -gammas
        return arrays.xp.exp(values, out=values)
    values = pairs[None] * gammas
    values += column([kernel.coef0 for kernel in kernels])
    values **= column([kernel.degree for kernel in kernels])
    return values


class RidgeFits(NamedTuple):
    """Predictions of many penalties of many kernels.

    Attributes
    ----------
    predictions : array of shape (n_fits, n_targets, n_test)
        On the device.
    solved : ndarray of shape (n_fits,), bool
        False where the matrix with its penalty is not positive definite.
    fit_seconds, score_seconds : float
        For all together.
    """

    predictions: Any
    solved: BoolArray
    fit_seconds: float
    score_seconds: float


class _Look:
    """Everything that the batches of a look have in common."""

    def __init__(
        self,
        pairs: DevicePairs,
        kernels: Sequence[Kernel],
        penalties: Sequence[FloatArray],
        targets: FloatArray,
        roots: FloatArray | None,
    ) -> None:
        self.pairs = pairs
        self.arrays = pairs.arrays
        self.kernels = kernels
        counts = [len(some) for some in penalties]
        # One fit per kernel and penalty, fits of a kernel side by side.
        self.kernel_of = np.repeat(np.arange(len(kernels)), counts)
        self.slot_of = np.concatenate([np.arange(count) for count in counts])
        self.penalties = np.concatenate(penalties)
        self.n_slots = max(counts)
        self.targets = self.arrays.put(targets)
        self.roots = None if roots is None else self.arrays.put(roots)
        n_fits, n_targets = len(self.penalties), targets.shape[1]
        self.predictions = self.arrays.empty(n_fits, n_targets, len(pairs.test))
        self.failed = self.arrays.put(np.zeros(n_fits, dtype=bool))
        self.fit_seconds = 0.0
        self.score_seconds = 0.0
        self.kind = kernels[0].pairs
        self.within = pairs.within(self.kind)

    @property
    def n_train(self) -> int:
        return len(self.pairs.train)

    def bytes_per_fit(self) -> float:
        """Return what a fit takes: its system, and its share of the kernel."""
        n = self.n_train
        share = len(self.kernels) / len(self.penalties)
        return 8.0 * n * n * (1.0 + share) + 16.0 * n * len(self.targets[0])

    def run(self, batch: slice) -> None:
        """Fit and predict for some of the fits."""
        start = perf_counter()
        members = self.kernel_of[batch]
        kernels = self.kernels[members[0] : members[-1] + 1]
        local = members - members[0]
        coefficients = self._solutions(batch, kernels, local)
        self.arrays.wait()
        fitted = perf_counter()
        self._predict(batch, kernels, local, coefficients)
        self.arrays.wait()
        self.fit_seconds += fitted - start
        self.score_seconds += perf_counter() - fitted

    def _solutions(
        self, batch: slice, kernels: Sequence[Kernel], local: Any
    ) -> Any:
        """Return coefficients of shape (n_fits, n_train, n_targets)."""
        arrays = self.arrays
        stack = kernel_stack(arrays, kernels, self.within)
        if self.roots is not None:
            stack *= self.roots[:, None]
            stack *= self.roots
        systems = stack[arrays.put(local)]
        del stack
        places = arrays.put(np.arange(self.n_train))
        systems[:, places, places] += arrays.put(self.penalties[batch])[:, None]
        factor = factorised(arrays, systems)
        right = self.targets[None] + arrays.zeros(len(local), 1, 1)
        coefficients = factor.solve(right)
        self.failed[batch] = factor.failed
        if self.roots is not None:
            coefficients *= self.roots[:, None]
        return coefficients

    def _predict(
        self, batch: slice, kernels: Sequence[Kernel], local: Any, coefficients: Any
    ) -> None:
        """Fill in the predictions, for as many test rows at once as there is room."""
        arrays = self.arrays
        n_targets = coefficients.shape[2]
        slots = self.slot_of[batch]
        first = int(slots.min())
        n_slots = int(slots.max()) + 1 - first
        where = arrays.put(local), arrays.put(slots - first)
        # All fits of a kernel are rows of one matrix; some rows may be missing.
        rows = arrays.zeros(len(kernels), n_slots, n_targets, self.n_train)
        rows[where] = coefficients.swapaxes(1, 2)
        rows = rows.reshape(len(kernels), n_slots * n_targets, self.n_train)
        n_test = self.predictions.shape[2]
        # No more than the systems took.
        width = max(1, len(local) * self.n_train // len(kernels))
        for start in range(0, n_test, width):
            block = slice(start, min(start + width, n_test))
            pairs = self.pairs.across(self.kind, block)
            values = rows @ kernel_stack(arrays, kernels, pairs)
            values = values.reshape(len(kernels), n_slots, n_targets, -1)
            self.predictions[batch, :, block] = values[where]


def ridge_on_device(
    rows: PairedRows,
    arrays: Arrays,
    kernels: Sequence[Kernel],
    penalties: Sequence[FloatArray],
    targets: FloatArray,
    roots: FloatArray | None = None,
) -> RidgeFits:
    """Fit and predict for all penalties of kernels of one name.

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
    targets : ndarray of shape (n_train, n_targets)
        Targets of the training rows, times the roots of their weights.
    roots : ndarray of shape (n_train,) or None
        Roots of the weights.

    Returns
    -------
    RidgeFits
        With a row per kernel and penalty, in order.

    Raises
    ------
    DeviceFullError
        If not even one system fits into the memory of the device.
    """
    look = _Look(DevicePairs.of(rows, arrays), kernels, penalties, targets, roots)
    in_batches(arrays, len(look.penalties), look.bytes_per_fit(), look.run)
    return RidgeFits(
        look.predictions,
        ~arrays.fetch(look.failed),
        look.fit_seconds,
        look.score_seconds,
    )
