"""Kernel ridge regression on several folds at once, on a device.

A fold with a few configurations keeps a card waiting: its factorisation is a chain of
short steps, whatever their width. So the folds that come next are solved with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.evaluation.device import Arrays
from cvst.evaluation.kernels._device import FoldedPairs, kernel_stack
from cvst.evaluation.kernels._device_batches import WholeKernels
from cvst.evaluation.kernels._device_low_rank import low_rank_on_device
from cvst.evaluation.kernels._device_ridge import RidgeFits
from cvst.evaluation.kernels._functions import Kernel
from cvst.evaluation.kernels._rows import PairedRows

__all__ = ["pays_ahead", "ridge_on_folds"]

# What a card could multiply while it waits in a fold that is done by itself: for a
# start, and for each training row. (Measured on an H200: 3 ms and 7 µs a row, at 15
# TFLOP/s.)
WAITING_OPERATIONS, WAITING_OPERATIONS_PER_ROW = 5e10, 1e8


def pays_ahead(n_fits: int, n_train: int) -> bool:
    """Return whether a fold is solved with an earlier one though none may need it.

    Examples
    --------
    >>> pays_ahead(30, 800), pays_ahead(30, 4_000)
    (True, False)
    """
    waiting = WAITING_OPERATIONS + WAITING_OPERATIONS_PER_ROW * n_train
    return n_fits * n_train**3 / 3 <= waiting


class _Folds(WholeKernels):
    """A factorisation for each fold, kernel and penalty; the folds one by one."""

    def __init__(
        self,
        pairs: FoldedPairs,
        kernels: Sequence[Kernel],
        penalties: Sequence[Sequence[FloatArray]],
        targets: FloatArray,
        roots: FloatArray | None,
    ) -> None:
        self._fold_of = np.repeat(np.arange(len(penalties)), len(kernels))
        every = [some for own in penalties for some in own]
        super().__init__(pairs, [*kernels] * len(penalties), every, targets, roots)

    def fit(self, batch: slice, members: IntArray) -> Any:
        """Factorise the kernel of each fold with each penalty."""
        arrays = self.arrays
        fold = arrays.put(self._fold_of[members])
        first, last = int(members[0]), int(members[-1]) + 1
        folds = arrays.put(self._fold_of[first:last])
        stack = kernel_stack(arrays, self.kernels[first:last], self.within[folds])
        if self.roots is not None:
            stack *= self.roots[folds][:, :, None]
            stack *= self.roots[folds][:, None, :]
        systems = stack[arrays.put(members - members[0])]
        del stack
        coefficients = self.solved(batch, systems, self.targets[fold])
        if self.roots is not None:
            coefficients *= self.roots[fold][:, :, None]
        return coefficients

    def values(self, members: IntArray, rows: Any, block: slice) -> Any:
        """Multiply with the kernels between training and test rows of their folds."""
        folds = self.arrays.put(self._fold_of[members])
        pairs = self.pairs.across(self.kind, block)[folds]
        kernels = self.kernels[members[0] : members[-1] + 1]
        return rows @ kernel_stack(self.arrays, kernels, pairs)


def ridge_on_folds(
    folds: Sequence[PairedRows],
    arrays: Arrays,
    kernels: Sequence[Kernel],
    penalties: Sequence[Sequence[FloatArray]],
    targets: Sequence[FloatArray],
    roots: Sequence[FloatArray | None],
) -> list[RidgeFits] | None:
    """Fit and predict for all penalties of kernels of one name, on several folds.

    Parameters
    ----------
    folds : sequence of PairedRows
        Rows of the folds.
    arrays : Arrays
        The device.
    kernels : sequence of Kernel
        All of the same name, and the same for all folds.
    penalties : sequence of (sequence of ndarray of shape (n_penalties,))
        Those of each kernel, fold by fold.
    targets : sequence of ndarray of shape (n_train, n_targets)
        Targets of the training rows of each fold, times the roots of their weights.
    roots : sequence of (ndarray of shape (n_train,) or None)
        Roots of the weights.

    Returns
    -------
    list of RidgeFits or None
        Fold by fold; None where they are to be done one by one: kernels of low rank,
        rows that were transformed on the way, and folds that test rows they train on.

    Raises
    ------
    DeviceFullError
        If not even one system fits into the memory of the device.
    """
    n_fits = sum(map(len, penalties[0]))
    if any(fold.rows is not folds[0].rows for fold in folds):
        return None
    if low_rank_on_device(folds[0], arrays, kernels, n_fits):
        return None
    pairs = FoldedPairs.of(folds, arrays)
    if pairs is None:
        return None
    solver = _Folds(
        pairs, kernels, penalties, _columns(pairs, targets), _roots(pairs, roots)
    )
    solver.all()
    solved = ~arrays.fetch(solver.failed)
    seconds = solver.fit_seconds / len(folds), solver.score_seconds / len(folds)
    parts = []
    for place, (_, n_test) in enumerate(pairs.counts.tolist()):
        own = slice(place * n_fits, (place + 1) * n_fits)
        predictions = solver.predictions[own, :, :n_test]
        parts.append(RidgeFits(predictions, solved[own], *seconds))
    return parts


def _columns(pairs: FoldedPairs, targets: Sequence[FloatArray]) -> FloatArray:
    """Return the targets of all folds, with zeros where one ends."""
    table = np.zeros((len(targets), pairs.n_train, targets[0].shape[1]))
    for place, columns in enumerate(targets):
        table[place, : len(columns)] = columns
    return table


def _roots(pairs: FoldedPairs, roots: Sequence[FloatArray | None]) -> FloatArray | None:
    """Return the roots of all weights, 0 for rows that only fill a fold up.

    Exact: such a row has a system of its own, a penalty with a target of zero.
    """
    table = pairs.counted
    if all(some is None for some in roots):
        return table
    table = np.zeros((len(roots), pairs.n_train))
    for place, some in enumerate(roots):
        n_own = int(pairs.counts[place, 0])
        table[place, :n_own] = 1.0 if some is None else some
    return table
