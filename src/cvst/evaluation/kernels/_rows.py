"""Pairs of rows that all kernels of a race have in common: distances and products.

Subsets nest, so the table of a look is the leading block of the table of the race:
it is filled row by row as the race advances, and looks get views of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.spatial.distance import cdist

from cvst._typing import FloatArray, IntArray, Rows, count_rows
from cvst.evaluation._protocol import Scratch, Task
from cvst.evaluation.kernels._tables import Budget, RowTable
from cvst.evaluation.sharing import PerLook

__all__ = ["DenseRows", "PairKind", "PairedRows", "paired_rows"]

# Both kinds of squared distances are |a|² + |b|² - 2 ab; they differ in the order of
# the sums, and so in the last bit. Estimators that use
# scikit-learn's kernels need them as scikit-learn forms them, machines of libsvm as
# libsvm does.
PairKind: TypeAlias = Literal["squared", "squared libsvm", "city block", "product"]

# A race keeps at most this much of its tables of pairs. One of them, as many kernels
# have in common, may so hold all pairs of 5,700 rows.
LARGEST_TABLE_BYTES = 2**28

# Pairs of training and test rows are worked on in blocks of at most this size.
LARGEST_BLOCK_BYTES = 2**25


@dataclass(frozen=True, slots=True)
class DenseRows:
    """Rows as finite floating-point numbers.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows in double precision.
    squared_norms : ndarray of shape (n_rows,)
        Sums of squares.
    single : bool
        Whether the rows came in another precision, most likely single.
    """

    X: FloatArray
    squared_norms: FloatArray
    single: bool


def dense_rows(X: Any) -> DenseRows | None:
    """Return rows as numbers; None if scikit-learn would refuse or convert them."""
    if hasattr(X, "tocsr") or (hasattr(X, "dtypes") and not hasattr(X, "iloc")):
        return None
    values = np.asarray(X)
    if values.ndim != 2 or 0 in values.shape or values.dtype.kind not in "fiu":
        return None
    single = values.dtype.kind == "f" and values.dtype != np.float64
    X = np.ascontiguousarray(values, dtype=np.float64)
    squared_norms = np.einsum("ij,ij->i", X, X)
    finite = np.isfinite(squared_norms).all()
    return DenseRows(X, squared_norms, single) if finite else None


@dataclass(frozen=True, slots=True)
class PairedRows:
    """Training and test rows of a look and the pairs they form.

    Attributes
    ----------
    rows : DenseRows
        All rows of the race.
    train, test : slice or ndarray of int
        The rows of the look.
    scratch : Scratch
        Where tables of pairs live.
    """

    rows: DenseRows
    train: Rows
    test: Rows
    scratch: Scratch

    @property
    def train_inputs(self) -> FloatArray:
        """Training rows in double precision."""
        return self.rows.X[self.train]

    @property
    def test_inputs(self) -> FloatArray:
        """Test rows in double precision."""
        return self.rows.X[self.test]

    @property
    def n_train(self) -> int:
        """Number of training rows."""
        return count_rows(self.train, len(self.rows.X))

    @property
    def n_test(self) -> int:
        """Number of test rows."""
        return count_rows(self.test, len(self.rows.X))

    @property
    def largest_square(self) -> float:
        """Largest sum of squares of a row: the scale of rounding errors."""
        return float(self.rows.squared_norms.max())

    @property
    def is_nested(self) -> bool:
        """Whether training and test rows are adjacent rows of the race."""
        return isinstance(self.train, slice) and isinstance(self.test, slice)

    @property
    def n_leading(self) -> int:
        """Number of leading rows of the race that hold what a look needs of a table."""
        n_rows = len(self.rows.X)
        if isinstance(self.train, slice) and self.is_nested:
            return self.train.indices(n_rows)[1]
        return n_rows

    def within(self, table: FloatArray, columns: Rows) -> FloatArray:
        """Return the training rows and some columns of a symmetric table of the race.

        A view of it, not to be written to, where rows are adjacent.
        """
        if isinstance(self.train, slice) and isinstance(columns, slice):
            return table[self.train, columns]
        # Rows are copied fast, columns are not: take the shorter side first. Without
        # its check of the numbers, which are known to be right, it is faster again.
        first, second = np.arange(len(table))[columns], self.train_numbers
        if len(first) < len(second):
            return _block(table, first, second).T
        return _block(table, second, first)

    def train_pairs(self, kind: PairKind) -> FloatArray:
        """Return all pairs of training rows; not to be written to."""
        table = self.first_pairs(kind, self.n_leading)
        if table is None:
            fill = partial(_pairs_of, self.rows, kind, self.train, self.train)
        elif self.is_nested:
            return self.within(table, self.train)
        else:
            fill = partial(self.within, table, self.train)
        return self._of_the_look((kind, "train"), fill, self.n_train)

    def cross_pairs(self, kind: PairKind) -> Iterator[tuple[slice, FloatArray]]:
        """Yield blocks of test rows with their pairs, of shape (n_train, n_block)."""
        table = self.first_pairs(kind, self.n_leading)
        for block in self.test_blocks():
            if table is not None and self.is_nested:
                yield block, self.within(table, self.test)[:, block]
                continue
            columns = np.arange(block.start, block.stop)
            if table is None:
                fill = partial(self.train_test_pairs, kind, columns)
            else:
                fill = partial(self.within, table, self._test_numbers(columns))
            yield block, self._of_the_look((kind, block.start), fill, len(columns))

    def _of_the_look(
        self,
        key: tuple[PairKind, str | int],
        fill: Callable[[], FloatArray],
        width: int,
    ) -> FloatArray:
        """Keep pairs for the other kernels of a look, if there is memory."""
        if 8 * self.n_train * width > self.scratch.room(LARGEST_TABLE_BYTES) // 4:
            return fill()
        kept: PerLook[FloatArray] = self.scratch.get("pairs of the look", PerLook)
        return kept.get(self.train, self.test, key, fill)

    def train_test_pairs(self, kind: PairKind, columns: IntArray) -> FloatArray:
        """Return the pairs of all training rows with some of the test rows."""
        return _pairs_of(self.rows, kind, self.train, self._test_numbers(columns))

    @property
    def train_numbers(self) -> IntArray:
        """Return which rows of the race the training rows are."""
        return np.arange(len(self.rows.X))[self.train]

    def _test_numbers(self, columns: IntArray) -> IntArray:
        """Return which rows of the race some of the test rows are."""
        return np.arange(len(self.rows.X))[self.test][columns]

    def test_blocks(self) -> Iterator[slice]:
        """Cut the test rows into blocks that fit into memory."""
        n_bytes = self.scratch.room(LARGEST_BLOCK_BYTES)
        size = max(1, n_bytes // (8 * self.n_train))
        for start in range(0, self.n_test, size):
            yield slice(start, min(start + size, self.n_test))

    def pairs(self, kind: PairKind, a: slice, b: slice) -> FloatArray:
        """Return pairs of any rows of the race; not to be written to."""
        table = self.first_pairs(kind, a.stop)
        return _pairs_of(self.rows, kind, a, b) if table is None else table[a, b]

    def first_pairs(self, kind: PairKind, stop: int) -> FloatArray | None:
        """Return the pairs of the first rows with all others, if there is memory."""
        fill = partial(_pairs_of, self.rows, kind)
        budget = self.scratch.get(
            "pairs of all kinds",
            lambda: Budget(self.scratch.room_for_pairs(LARGEST_TABLE_BYTES)),
            for_race=True,
        )
        table = self.scratch.get(
            ("pairs of rows", kind),
            lambda: RowTable(len(self.rows.X), fill, budget),
            for_race=True,
        )
        return table.first(stop)


def _block(table: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
    picked = table.take(rows, axis=0, mode="clip")
    return picked.take(columns, axis=1, mode="clip")


def _pairs_of(rows: DenseRows, kind: PairKind, a: Rows, b: Rows) -> FloatArray:
    A, B = rows.X[a], rows.X[b]
    if kind == "city block":
        return np.asarray(cdist(A, B, "cityblock"))
    pairs: FloatArray = A @ B.T
    if kind == "product":
        return pairs
    squares_of_a = rows.squared_norms[a][:, None]
    squares_of_b = rows.squared_norms[b][None, :]
    if kind == "squared libsvm":
        pairs *= 2.0
        np.subtract(squares_of_a + squares_of_b, pairs, out=pairs)
    else:
        pairs *= -2.0
        pairs += squares_of_a
        pairs += squares_of_b
        np.maximum(pairs, 0.0, out=pairs)
    # No row is at a distance from itself.
    numbers = np.arange(len(rows.X))
    _, same_a, same_b = np.intersect1d(numbers[a], numbers[b], return_indices=True)
    pairs[same_a, same_b] = 0.0
    return pairs


def paired_rows(task: Task) -> PairedRows | None:
    """Return the rows of a task, or None unless they are dense, finite and numeric."""
    race = task.race_rows
    if race is not None:
        rows = race.scratch.get("dense rows", lambda: dense_rows(race.X), for_race=True)
        if rows is None:
            return None
        return PairedRows(rows, race.train, race.test, race.scratch)
    train, test = dense_rows(task.X_train), dense_rows(task.X_test)
    if train is None or test is None or train.X.shape[1] != test.X.shape[1]:
        return None
    n_train, n_rows = len(train.X), len(train.X) + len(test.X)
    rows = DenseRows(
        np.concatenate([train.X, test.X]),
        np.concatenate([train.squared_norms, test.squared_norms]),
        train.single or test.single,
    )
    return PairedRows(rows, slice(0, n_train), slice(n_train, n_rows), Scratch())
