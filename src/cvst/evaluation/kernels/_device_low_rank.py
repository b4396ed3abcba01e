"""Low-rank features of Gaussian kernels on a device, for all widths at once."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvst.evaluation.device import Arrays, Pivoted
from cvst.evaluation.kernels._device import DeviceRows, rows_on_device
from cvst.evaluation.kernels._functions import Kernel
from cvst.evaluation.kernels._low_rank import LARGEST_RESIDUAL
from cvst.evaluation.kernels._rows import PairedRows

__all__ = ["low_rank_on_device"]

LOGGER = logging.getLogger("cvst")

# The decompositions of a race take as long as factorisations with this many
# operations. (Measured on an H200; a card that is slow in double precision would gain
# from fewer.)
FEWEST_OPERATIONS = 1e12

# A rank above this share of the training rows does not pay.
LARGEST_RANK_SHARE = 1 / 3
SMALLEST_LIMIT = 64

# What the features of a race may take of the memory that is free at its start.
LARGEST_MEMORY_SHARE = 0.4


class _Decompositions:
    """Decompositions of the kernels of a race."""

    def __init__(self, rows: DeviceRows, arrays: Arrays) -> None:
        self._rows = rows
        self._arrays = arrays
        self._room = LARGEST_MEMORY_SHARE * arrays.free_bytes()
        self._begun: list[tuple[list[float], Pivoted]] = []

    def features(
        self, gammas: list[float], limit: int, may_begin: bool
    ) -> dict[float, Any]:
        """Return the features of those that have few, of shape (rank, n_rows)."""
        if may_begin:
            self._begin(gammas)
        found: dict[float, Any] = {}
        for widths, pivoted in self._begun:
            if limit >= SMALLEST_LIMIT and may_begin:
                self._extend(pivoted, limit)
            found |= {widths[i]: part for i, part in pivoted.done.items()}
        return {
            gamma: found[gamma]
            for gamma in gammas
            if gamma in found and len(found[gamma]) <= limit
        }

    def _extend(self, pivoted: Pivoted, limit: int) -> None:
        try:
            pivoted.extend(limit)
        except self._arrays.out_of_memory:
            pivoted.give_up()
            self._arrays.release()
            LOGGER.info(
                "No memory for features on %s: some kernels are whole",
                self._arrays.name,
            )

    def _begin(self, gammas: list[float]) -> None:
        known = {gamma for widths, _ in self._begun for gamma in widths}
        new = sorted(set(gammas) - known)
        if not new:
            return
        arrays, (X, squares) = self._arrays, self._rows
        slopes = arrays.put(-np.array(new))

        def columns(members: Any, pivots: Any) -> Any:
            values = X[pivots] @ X.swapaxes(0, 1)
            values *= -2.0
            values += squares[pivots][:, :, None]
            values += squares
            arrays.xp.clip(values, 0.0, None, out=values)
            values *= slopes[members][:, None, None]
            return arrays.xp.exp(values, out=values)

        pivoted = Pivoted(
            arrays, len(new), len(X), columns, LARGEST_RESIDUAL, self._room
        )
        self._begun.append((new, pivoted))


def low_rank_on_device(
    rows: PairedRows, arrays: Arrays, kernels: Sequence[Kernel], n_fits: int
) -> dict[int, Any]:
    """Return features of all rows of a race, for those kernels that have few.

    Parameters
    ----------
    rows : PairedRows
        Rows of a look.
    arrays : Arrays
        The device.
    kernels : sequence of Kernel
        All of the same name; only Gaussian ones have features here.
    n_fits : int
        Number of kernels times penalties.

    Returns
    -------
    dict of int to array of shape (n_features, n_rows)
        By the place of the kernel.
    """
    if kernels[0].name != "rbf":
        return {}
    key = ("low-rank kernels on a device", arrays.name)
    may_begin = n_fits * rows.n_train**3 / 3 >= FEWEST_OPERATIONS
    decompositions = rows.scratch.get(
        key, lambda: _Decompositions(rows_on_device(rows, arrays), arrays)
    )
    found = decompositions.features(
        [kernel.gamma for kernel in kernels],
        int(LARGEST_RANK_SHARE * rows.n_train),
        may_begin,
    )
    return {
        place: found[kernel.gamma]
        for place, kernel in enumerate(kernels)
        if kernel.gamma in found
    }
