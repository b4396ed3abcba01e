"""Kernel ridge regression on a device: all widths and penalties of a look together.

Wide kernels of many rows have low rank and are solved as linear models; a Cholesky
factorisation for each penalty of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.evaluation.device import Arrays, in_batches
from cvst.evaluation.kernels._device import DevicePairs
from cvst.evaluation.kernels._device_batches import Batches, Layout, WholeKernels
from cvst.evaluation.kernels._device_low_rank import low_rank_on_device
from cvst.evaluation.kernels._functions import Kernel
from cvst.evaluation.kernels._rows import PairedRows

__all__ = ["RidgeFits", "ridge_on_device"]

# Kernels are solved together unless one has this many times the features of another.
MOST_PADDING = 1.5


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


class _Factorised(WholeKernels):
    """A factorisation for each kernel and penalty."""

    def fit(self, batch: slice, members: IntArray) -> Any:
        """Factorise the kernel with each penalty."""
        arrays = self.arrays
        stack = self.stack(members)
        if self.roots is not None:
            # With weights, the roots on both sides keep the system symmetric, and the
            # penalty as it is on its diagonal.
            stack *= self.roots[:, None]
            stack *= self.roots
        # A copy for each penalty, since factorising overwrites it.
        systems = stack[arrays.put(members - members[0])]
        del stack
        right = self.targets[None] + arrays.zeros(len(members), 1, 1)
        coefficients = self.solved(batch, systems, right)
        if self.roots is not None:
            coefficients *= self.roots[:, None]
        return coefficients


class _LowRank(Batches):
    """Features whose inner products are the kernels."""

    def __init__(
        self,
        pairs: DevicePairs,
        features: Sequence[Any],
        penalties: Sequence[FloatArray],
        targets: FloatArray,
        roots: FloatArray | None,
    ) -> None:
        super().__init__(pairs, penalties, targets, roots)
        self.rows = pairs
        self.features = features

    def all(self) -> None:
        """Work through all kernels, those with as many features together."""
        ranks = np.array([len(part) for part in self.features])
        n_slots = len(self.layout) / len(ranks)
        n_rows = self.n_train + len(self.pairs.test)
        # The kernels come sorted by their ranks.
        ends = np.searchsorted(ranks, MOST_PADDING * ranks, side="right")
        start = 0
        while start < len(ranks):
            stop = int(ends[start])
            rank = int(ranks[stop - 1])
            fits = self.layout.fits_of(list(range(start, stop)))
            first = int(fits[0])
            per_fit = 8.0 * rank * (rank + 2.0 * n_rows / n_slots)

            def run(batch: slice, first: int = first) -> None:
                self.run(slice(batch.start + first, batch.stop + first))

            in_batches(self.arrays, len(fits), per_fit, run)
            start = stop

    def width(self, n_fits: int, n_kernels: int) -> int:
        """Return the number of test rows: the features are there already."""
        del n_fits, n_kernels
        return len(self.pairs.test)

    def fit(self, batch: slice, members: IntArray) -> Any:
        """Solve the normal equations of the features."""
        kernels = np.arange(members[0], members[-1] + 1)
        stack = self._stack(kernels, self.rows.train_places)
        if self.roots is not None:
            stack = stack * self.roots
        products = stack @ stack.swapaxes(1, 2)
        right = stack @ self.targets
        local = self.arrays.put(members - members[0])
        return self.solved(batch, products[local], right[local])

    def values(self, members: IntArray, rows: Any, block: slice) -> Any:
        """Multiply with the features of the test rows."""
        del block
        return rows @ self._stack(members, self.rows.test_places)

    def _stack(self, members: IntArray, places: Any) -> Any:
        """Return features of some rows, filled up with zeros."""
        parts = [self.features[number] for number in members]
        n_rows = len(parts[0][0, places])
        # Exact: a feature of zeros gets a coefficient of zero, and the penalty keeps
        # its row of the system from being singular.
        stack = self.arrays.zeros(len(parts), max(map(len, parts)), n_rows)
        for place, part in enumerate(parts):
            stack[place, : len(part)] = part[:, places]
        return stack


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
    start = perf_counter()
    n_fits = sum(map(len, penalties))
    features = low_rank_on_device(rows, arrays, kernels, n_fits)
    arrays.wait()
    seconds = perf_counter() - start
    pairs = DevicePairs.of(rows, arrays)
    low = sorted(features, key=lambda place: len(features[place]))
    whole = [place for place in range(len(kernels)) if place not in features]
    parts: list[tuple[list[int], _Factorised | _LowRank]] = []
    if whole:
        some = [penalties[place] for place in whole]
        chosen = [kernels[place] for place in whole]
        parts.append((whole, _Factorised(pairs, chosen, some, targets, roots)))
    if low:
        some = [penalties[place] for place in low]
        found = [features[place] for place in low]
        parts.append((low, _LowRank(pairs, found, some, targets, roots)))
    for _, part in parts:
        part.all()
    fits = _together(arrays, Layout(penalties), parts)
    return fits._replace(fit_seconds=fits.fit_seconds + seconds)


def _together(
    arrays: Arrays,
    layout: Layout,
    parts: list[tuple[list[int], _Factorised | _LowRank]],
) -> RidgeFits:
    """Put the fits of both kinds into the order of the kernels."""
    solved = np.zeros(len(layout), dtype=bool)
    predictions = parts[0][1].predictions
    in_order = parts[0][0] == list(range(layout.n_kernels))
    if not in_order:
        predictions = arrays.empty(len(layout), *predictions.shape[1:])
    for members, part in parts:
        places = layout.fits_of(members)
        solved[places] = ~arrays.fetch(part.failed)
        if not in_order:
            predictions[arrays.put(places)] = part.predictions
    return RidgeFits(
        predictions,
        solved,
        sum(part.fit_seconds for _, part in parts),
        sum(part.score_seconds for _, part in parts),
    )
