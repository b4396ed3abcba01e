"""Kernel matrices for support vector machines, and products with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.evaluation.kernels._functions import Kernel
from cvst.evaluation.kernels._matrices import KernelMatrices
from cvst.evaluation.kernels._rows import PairedRows, PairKind
from cvst.evaluation.sharing import InUse, PerLook

__all__ = ["SvmMatrices"]

# The solver starts from gradients of zero, where the smallest value counts. This one is
# zero in single precision.
LOWEST_EXPONENT = -105.0

# Rows that are computed at once, before they are copied to the columns: few enough for
# the processor's cache, and for a short way to the diagonal.
BLOCK_ROWS = 64


@dataclass(frozen=True, slots=True)
class SvmMatrices:
    """Kernel of a look, as libsvm would compute it.

    Attributes
    ----------
    rows : PairedRows
        The rows of the look.
    kernel : Kernel
        The kernel.
    nests : bool
        Whether later looks see these rows again, so that kernel values are worth
        keeping. Where they are not, or memory is short, only those are computed that a
        machine needs: one triangle of the training rows, and test rows with support
        vectors.
    """

    rows: PairedRows
    kernel: Kernel
    nests: bool

    def train(self) -> FloatArray:
        """Return a new matrix of the training rows in C order."""
        if self._kept is not None:
            return self._kept.train()
        pairs = self.rows.train_pairs(self._kind)
        values = np.empty(pairs.shape)
        for start in range(0, len(pairs), BLOCK_ROWS):
            stop = start + BLOCK_ROWS
            block = self.kernel.of(pairs[start:stop, start:], LOWEST_EXPONENT)
            values[start:stop, start:] = block
            values[stop:, start:stop] = block[:, BLOCK_ROWS:].T
        return values

    def leading_rows(self) -> FloatArray:
        """Return the matrix of the training rows, not to be written to.

        Columns of further rows may follow.
        """
        if self._kept is not None:
            return self._kept.leading_rows()
        # Workers in threads may have other machines of the same kernel.
        kept: PerLook[InUse] = self.rows.scratch.get("kernels of the look", PerLook)
        shared = kept.get(self.rows.train, self.rows.test, "train", InUse)
        return shared.get(self.kernel, self.train)

    def decisions(self, coefficients: FloatArray) -> FloatArray:
        """Multiply coefficients with the kernel between training and test rows.

        Parameters
        ----------
        coefficients : ndarray of shape (n_functions, n_train)
            Dual coefficients.

        Returns
        -------
        ndarray of shape (n_functions, n_test)
        """
        decisions = np.empty((len(coefficients), self.rows.n_test))
        if self._kept is not None:
            blocks = self._kept.cross()
        else:
            support = np.flatnonzero(coefficients.any(axis=0))
            coefficients = coefficients[:, support]
            blocks = self._cross(support)
        for block, values in blocks:
            np.matmul(coefficients, values, out=decisions[:, block])
        return decisions

    def _cross(self, support: IntArray) -> Iterator[tuple[slice, FloatArray]]:
        for block, pairs in self.rows.cross_pairs(self._kind):
            yield block, self.kernel.of(pairs[support])

    @property
    def _kind(self) -> PairKind:
        return "squared libsvm" if self.kernel.name == "rbf" else self.kernel.pairs

    @property
    def _kept(self) -> KernelMatrices | None:
        if not self.nests:
            return None
        kept = KernelMatrices(self.rows, self.kernel, self._kind, LOWEST_EXPONENT)
        return kept if kept.is_kept else None
