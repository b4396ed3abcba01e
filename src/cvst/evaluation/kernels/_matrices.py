"""Kernel matrices of a look, cut from those of the race where they fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cvst._typing import FloatArray
from cvst.evaluation.kernels._functions import LOWEST_EXPONENT, Kernel
from cvst.evaluation.kernels._rows import PairedRows, PairKind
from cvst.evaluation.kernels._tables import Budget, RowTable

__all__ = ["KernelMatrices"]

# All kernel matrices that a race keeps. They hold 61 widths and 800 training rows of
# 1,000; the looks that follow compute what is missing again.
LARGEST_CACHE_BYTES = 3 * 2**27


@dataclass(frozen=True, slots=True)
class KernelMatrices:
    """Kernel between training rows, and between training and test rows.

    Attributes
    ----------
    rows : PairedRows
        The rows of the look.
    kernel : Kernel
        The kernel.
    kind : PairKind
        What it is a function of.
    lowest_exponent : float
        Which values are as good as zero.
    """

    rows: PairedRows
    kernel: Kernel
    kind: PairKind
    lowest_exponent: float = LOWEST_EXPONENT

    @property
    def is_kept(self) -> bool:
        """Whether there is memory to keep the kernel for other looks."""
        return self._table() is not None

    def train(self, *, triangle: bool = False) -> FloatArray:
        """Return a new matrix of the training rows in C order.

        Parameters
        ----------
        triangle : bool, default=False
            Whether what is left of the diagonal may be missing.
        """
        table = self._table()
        if table is not None:
            values = self.rows.within(table, self.rows.train)
            # Of adjacent rows it is a view of the table.
            adjacent = isinstance(self.rows.train, slice)
            return np.array(values, order="C") if adjacent else values
        pairs = self.rows.train_pairs(self.kind)
        if triangle:
            return self.kernel.upper_triangle(pairs)
        return self.kernel.of(pairs, self.lowest_exponent)

    def leading_rows(self) -> FloatArray:
        """Return the matrix of the training rows, not to be written to.

        Columns of further rows may follow.
        """
        table, train = self._table(), self.rows.train
        if table is not None and isinstance(train, slice) and train.start == 0:
            return table[train]
        return self.train()

    def cross(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield blocks of test rows with their kernel, of shape (n_train, n_block)."""
        table = self._table()
        if table is None:
            for block, pairs in self.rows.cross_pairs(self.kind):
                yield block, self.kernel.of(pairs)
        else:
            values = self.rows.within(table, self.rows.test)
            for block in self.rows.test_blocks():
                yield block, values[:, block]

    def _table(self) -> FloatArray | None:
        budget = self.rows.scratch.get(
            "kernel matrices",
            lambda: Budget(self.rows.scratch.room_for_pairs(LARGEST_CACHE_BYTES)),
            for_race=True,
        )
        table = self.rows.scratch.get(
            ("kernel matrix", self.kernel, self.kind, self.lowest_exponent),
            lambda: RowTable(len(self.rows.rows.X), self._fill, budget),
            for_race=True,
        )
        return table.first(self.rows.n_leading)

    def _fill(self, a: slice, b: slice) -> FloatArray:
        return self.kernel.of(self.rows.pairs(self.kind, a, b), self.lowest_exponent)
