"""Losses of 0 and 1, kept as bits: a sixty-fourth of the memory, nothing lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cvst._typing import FloatArray

__all__ = ["BitTable", "compact"]


class BitTable:
    """A table of losses of 0 and 1 that can be read like an array.

    Rows come out as floats, as they went in; a row of NaN is a failed fit.

    Parameters
    ----------
    losses : ndarray of shape (n_configurations, n_points)
        Rows of 0 and 1, or of NaN only.

    Examples
    --------
    >>> table = BitTable(np.array([[0.0, 1.0], [np.nan, np.nan]]))
    >>> table.shape, table[0], table[1]
    ((2, 2), array([0., 1.]), array([nan, nan]))
    """

    def __init__(self, losses: FloatArray) -> None:
        self.shape = losses.shape
        self._failed = np.asarray(np.isnan(losses).any(axis=1))
        # NaN becomes 0 here; the mask above brings it back.
        self._bits = np.packbits(losses == 1, axis=1)

    def __len__(self) -> int:
        return int(self.shape[0])

    def __iter__(self) -> Iterator[FloatArray]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, rows: Any) -> FloatArray:
        bits = np.unpackbits(self._bits[rows], axis=-1, count=self.shape[1])
        losses: FloatArray = bits.astype(float)
        losses[self._failed[rows]] = np.nan
        return losses

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        # How NumPy 2 asks for a view, which bits cannot give.
        if copy is False:
            raise ValueError("A table of bits becomes an array by copying only.")
        return self[:] if dtype is None else self[:].astype(dtype)

    @property
    def nbytes(self) -> int:
        """Memory that the losses take."""
        return int(self._bits.nbytes + self._failed.nbytes)


def compact(losses: FloatArray) -> FloatArray | BitTable:
    """Return a table as bits where its losses are 0 and 1, else as it is."""
    # Most tables show in their first row that they do not qualify.
    if not _is_binary(losses[:1]) or not all(
        _is_binary(losses[row : row + 1]) for row in range(1, len(losses))
    ):
        return losses
    return BitTable(losses)


def _is_binary(row: FloatArray) -> bool:
    return bool(np.all((row == 0) | (row == 1)) or np.isnan(row).all())
