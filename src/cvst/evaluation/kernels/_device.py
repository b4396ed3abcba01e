"""Pairs of rows and kernels of a look on a device, for all widths at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cvst._typing import FloatArray, IntArray, Rows
from cvst.evaluation.device import Arrays
from cvst.evaluation.kernels._functions import Kernel
from cvst.evaluation.kernels._rows import PairedRows, PairKind

__all__ = ["DevicePairs", "DeviceRows", "FoldedPairs", "kernel_stack", "rows_on_device"]


class DeviceRows(NamedTuple):
    """All rows of a race and their sums of squares, on a device."""

    X: Any
    squared_norms: Any


def rows_on_device(rows: PairedRows, arrays: Arrays) -> DeviceRows:
    """Return the rows of the race, which are sent once."""
    return rows.scratch.get(
        ("rows on a device", arrays.name),
        lambda: DeviceRows(
            arrays.put(rows.rows.X), arrays.put(rows.rows.squared_norms)
        ),
    )


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
    train_places, test_places : slice or array of int
        Which rows of the race they are.
    same : tuple of arrays of int
        Training and test rows that are the same row, as positions.
    """

    arrays: Arrays
    train: Any
    test: Any
    train_squares: Any
    test_squares: Any
    train_places: Any
    test_places: Any
    same: tuple[Any, Any]

    @property
    def n_train(self) -> int:
        """Number of training rows."""
        return len(self.train)

    @property
    def n_test(self) -> int:
        """Number of test rows."""
        return len(self.test)

    @classmethod
    def of(cls, rows: PairedRows, arrays: Arrays) -> DevicePairs:
        """Cut the rows of a look from those of the race, which are sent once."""
        X, squares = rows_on_device(rows, arrays)
        train, test = _places(arrays, rows.train), _places(arrays, rows.test)
        numbers = np.arange(len(rows.rows.X))
        same = _in_common(numbers, rows.train, rows.test)
        return cls(
            arrays,
            X[train],
            X[test],
            squares[train],
            squares[test],
            train,
            test,
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
            # No row is at a distance from itself.
            pairs.reshape(-1)[:: len(pairs) + 1] = 0.0
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


@dataclass(frozen=True, slots=True)
class FoldedPairs:
    """Training and test rows of several folds on a device, and the pairs of each.

    Shorter folds are filled up with rows that count for nothing.

    Attributes
    ----------
    arrays : Arrays
        The device.
    train, test : array of shape (n_folds, n_rows, n_features)
        Inputs.
    train_squares, test_squares : array of shape (n_folds, n_rows)
        Their sums of squares.
    counts : ndarray of shape (n_folds, 2)
        Training and test rows of each fold, without those that fill it up.
    """

    arrays: Arrays
    train: Any
    test: Any
    train_squares: Any
    test_squares: Any
    counts: IntArray

    @property
    def n_train(self) -> int:
        """Number of training rows of the largest fold."""
        return int(self.train.shape[1])

    @property
    def n_test(self) -> int:
        """Number of test rows of the largest fold."""
        return int(self.test.shape[1])

    @classmethod
    def of(cls, folds: Sequence[PairedRows], arrays: Arrays) -> FoldedPairs | None:
        """Cut the rows of folds from those of the race; None if a fold tests its own.

        A row that is trained and tested on is at no distance from itself, which only
        :class:`DevicePairs` takes care of.
        """
        numbers = np.arange(len(folds[0].rows.X))
        parts = [(numbers[fold.train], numbers[fold.test]) for fold in folds]
        for train, test in parts:
            is_trained_on = np.zeros(len(numbers), dtype=bool)
            is_trained_on[train] = True
            if is_trained_on[test].any():
                return None
        X, squares = rows_on_device(folds[0], arrays)
        train, test = (
            arrays.put(_filled_up(list(some))) for some in zip(*parts, strict=True)
        )
        return cls(
            *(arrays, X[train], X[test], squares[train], squares[test]),
            np.array([(len(a), len(b)) for a, b in parts]),
        )

    @property
    def counted(self) -> FloatArray | None:
        """1 for training rows of a fold and 0 for others; None if there are none."""
        lengths = self.counts[:, :1]
        if (lengths == self.n_train).all():
            return None
        return (np.arange(self.n_train) < lengths).astype(float)

    def within(self, kind: PairKind) -> Any:
        """Return the pairs of training rows, fold by fold."""
        same = self.train, self.train_squares
        pairs = _pairs(self.arrays, kind, same, same)
        if kind == "squared":
            n = self.n_train
            pairs.reshape(len(pairs), n * n)[:, :: n + 1] = 0.0
        return pairs

    def across(self, kind: PairKind, block: slice) -> Any:
        """Return the pairs of all training rows with some test rows, fold by fold."""
        return _pairs(
            self.arrays,
            kind,
            (self.train, self.train_squares),
            (self.test[:, block], self.test_squares[:, block]),
        )


def _filled_up(rows: list[IntArray]) -> IntArray:
    """Return rows of several folds as one table, with the first row where one ends."""
    table = np.repeat([[some[0]] for some in rows], max(map(len, rows)), axis=1)
    for place, some in enumerate(rows):
        table[place, : len(some)] = some
    return table


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
        pairs = arrays.zeros(*A.shape[:-1], B.shape[-2])
        # All differences at once would take the memory of as many matrices as features.
        for column in range(A.shape[-1]):
            pairs += xp.abs(A[..., :, column, None] - B[..., None, :, column])
        return pairs
    pairs = A @ B.swapaxes(-1, -2)
    if kind == "product":
        return pairs
    pairs *= -2.0
    pairs += squares_of_a[..., :, None]
    pairs += squares_of_b[..., None, :]
    # Rounding leaves squares below zero for rows that nearly coincide.
    return xp.clip(pairs, 0.0, None, out=pairs)


def kernel_stack(arrays: Arrays, kernels: Sequence[Kernel], pairs: Any) -> Any:
    """Return the values of kernels of one name, of shape (n_kernels, n_rows, n_others).

    Parameters
    ----------
    arrays : Arrays
        The device.
    kernels : sequence of Kernel
        All of the same name.
    pairs : array of shape (n_rows, n_others) or (n_kernels, n_rows, n_others)
        Those of all kernels, or of each.
    """
    name = kernels[0].name
    if pairs.ndim == 2:
        pairs = pairs[None]

    def column(values: list[float]) -> Any:
        return arrays.put(np.array(values))[:, None, None]

    if name == "linear":
        # Each gets its own: what follows writes on it.
        return pairs + arrays.zeros(len(kernels), 1, 1)
    gammas = column([kernel.gamma for kernel in kernels])
    if name in ("rbf", "laplacian"):
        values = pairs * -gammas
        return arrays.xp.exp(values, out=values)
    values = pairs * gammas
    values += column([kernel.coef0 for kernel in kernels])
    values **= column([kernel.degree for kernel in kernels])
    return values
