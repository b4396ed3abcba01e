"""Fits of kernel machines on a device, in batches that fit into its memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.evaluation.device import add_to_diagonal, factorised, in_batches
from cvst.evaluation.kernels._device import DevicePairs, FoldedPairs, kernel_stack
from cvst.evaluation.kernels._functions import Kernel

__all__ = ["Batches", "Layout", "WholeKernels"]


class Layout:
    """One fit per kernel and penalty, those of a kernel side by side."""

    def __init__(self, penalties: Sequence[FloatArray]) -> None:
        counts = [len(some) for some in penalties]
        self._starts = np.concatenate([[0], np.cumsum(counts)])
        self.kernel_of = np.repeat(np.arange(len(counts)), counts)
        self.slot_of = np.concatenate([np.arange(count) for count in counts])
        self.penalties = np.concatenate(penalties)

    def __len__(self) -> int:
        return len(self.penalties)

    @property
    def n_kernels(self) -> int:
        """Return how many kernels there are."""
        return len(self._starts) - 1

    def fits_of(self, kernels: list[int]) -> IntArray:
        """Return the places of the fits of some kernels, in their order."""
        return np.concatenate(
            [np.arange(self._starts[one], self._starts[one + 1]) for one in kernels]
        )


class Batches(ABC):
    """Fits and predictions of a look, in batches that fit into memory."""

    def __init__(
        self,
        pairs: DevicePairs | FoldedPairs,
        penalties: Sequence[FloatArray],
        targets: FloatArray,
        roots: FloatArray | None,
    ) -> None:
        self.pairs = pairs
        self.arrays = pairs.arrays
        self.layout = Layout(penalties)
        self.targets = self.arrays.put(targets)
        self.roots = None if roots is None else self.arrays.put(roots)
        n_fits, n_targets = len(self.layout), targets.shape[-1]
        self.predictions = self.arrays.empty(n_fits, n_targets, pairs.n_test)
        self.failed = self.arrays.put(np.zeros(n_fits, dtype=bool))
        self.fit_seconds = 0.0
        self.score_seconds = 0.0

    @property
    def n_train(self) -> int:
        return self.pairs.n_train

    @abstractmethod
    def fit(self, batch: slice, members: IntArray) -> Any:
        """Return coefficients of some fits, of shape (n_fits, size, n_targets)."""

    @abstractmethod
    def values(self, members: IntArray, rows: Any, block: slice) -> Any:
        """Return products of coefficients, by kernel, with some test rows."""

    def width(self, n_fits: int, n_kernels: int) -> int:
        """Return how many test rows there is room for at once."""
        # So wide, a kernel takes as much memory as the systems that were just solved.
        return max(1, n_fits * self.n_train // n_kernels)

    def run(self, batch: slice) -> None:
        """Fit and predict for some of the fits."""
        start = perf_counter()
        members = self.layout.kernel_of[batch]
        # A device works behind our back: without waiting, the seconds of the fit would
        # be counted as those of the prediction.
        coefficients = self.fit(batch, members)
        self.arrays.wait()
        fitted = perf_counter()
        self._predict(batch, members, coefficients)
        self.arrays.wait()
        self.fit_seconds += fitted - start
        self.score_seconds += perf_counter() - fitted

    def solved(self, batch: slice, systems: Any, right: Any) -> Any:
        """Solve with the penalties on the diagonal; the systems are overwritten."""
        arrays = self.arrays
        penalties = arrays.put(self.layout.penalties[batch])
        add_to_diagonal(systems, penalties[:, None])
        factor = factorised(arrays, systems)
        self.failed[batch] = factor.failed
        return factor.solve(right)

    def _predict(self, batch: slice, members: IntArray, coefficients: Any) -> None:
        arrays = self.arrays
        n_fits, size, n_targets = coefficients.shape
        kernels = np.arange(members[0], members[-1] + 1)
        slots = self.layout.slot_of[batch]
        first, n_slots = int(slots.min()), int(np.ptp(slots)) + 1
        where = arrays.put(members - members[0]), arrays.put(slots - first)
        # All fits of a kernel are rows of one matrix; some rows may be missing.
        rows = arrays.zeros(len(kernels), n_slots, n_targets, size)
        rows[where] = coefficients.swapaxes(1, 2)
        rows = rows.reshape(len(kernels), n_slots * n_targets, size)
        n_test = self.predictions.shape[2]
        width = self.width(n_fits, len(kernels))
        for start in range(0, n_test, width):
            block = slice(start, min(start + width, n_test))
            values = self.values(kernels, rows, block)
            values = values.reshape(len(kernels), n_slots, n_targets, -1)
            self.predictions[batch, :, block] = values[where]


class WholeKernels(Batches):
    """Fits whose coefficients belong to training rows."""

    def __init__(
        self,
        pairs: DevicePairs | FoldedPairs,
        kernels: Sequence[Kernel],
        penalties: Sequence[FloatArray],
        targets: FloatArray,
        roots: FloatArray | None,
    ) -> None:
        super().__init__(pairs, penalties, targets, roots)
        self.kernels = kernels
        self.kind = kernels[0].pairs
        self.within = pairs.within(self.kind)

    def all(self) -> None:
        """Work through everything."""
        share = len(self.kernels) / len(self.layout)
        n, n_targets = self.n_train, self.targets.shape[-1]
        # A system and its share of the kernels; right-hand sides and coefficients.
        bytes_per_fit = 8.0 * n * n * (1.0 + share) + 16.0 * n * n_targets
        in_batches(self.arrays, len(self.layout), bytes_per_fit, self.run)

    def stack(self, members: IntArray) -> Any:
        """Return the kernels of some fits between training rows."""
        kernels = self.kernels[members[0] : members[-1] + 1]
        return kernel_stack(self.arrays, kernels, self.within)

    def values(self, members: IntArray, rows: Any, block: slice) -> Any:
        """Multiply with the kernel between training and test rows."""
        pairs = self.pairs.across(self.kind, block)
        kernels = self.kernels[members[0] : members[-1] + 1]
        return rows @ kernel_stack(self.arrays, kernels, pairs)
