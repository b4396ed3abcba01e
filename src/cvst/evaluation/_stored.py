"""Rows on disk, read as far as a race has come."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from cvst._typing import IntArray, Rows

__all__ = ["ReadRows", "is_stored"]


def is_stored(values: Any) -> bool:
    """Return whether values are rows that stay where they are until they are read.

    Examples
    --------
    >>> is_stored(np.zeros((3, 2)))
    False
    """
    # Those of ``cvst.datasets``, which a race without them need not import.
    return hasattr(values, "blocks") and hasattr(values, "max_rows")


class ReadRows:
    """Stored rows in race order: the first ones are in memory, the others not yet.

    A look asks for its own rows, and only what lies between the last row read so far
    and its last row is read then. Looks at subsets begin with the first rows, so a race
    that stops early never reads the rest.

    Parameters
    ----------
    stored : StoredRows
        Where the rows are.
    order : ndarray of int
        Number of the row at each place of the race.
    """

    def __init__(self, stored: Any, order: IntArray) -> None:
        self.shape = len(order), stored.shape[1]
        self.n_read = 0
        self._stored = stored
        self._order = order
        self._held: Any = None
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Rows) -> Any:
        """Return the rows of a look, as a view where they are contiguous."""
        with self._lock:
            self._read_to(_end(rows, len(self)))
            held = self._held
        if hasattr(held, "iloc"):
            return held.iloc[rows]
        return self._stored.shown(held[rows])

    def _read_to(self, end: int) -> None:
        if end <= self.n_read:
            return
        rows = self._order[self.n_read : end]
        if self._stored.dtype is None:
            self._append(self._stored.read(rows))
        else:
            if self._held is None:
                # Pages that were never written to take no memory.
                self._held = np.empty(self.shape, dtype=self._stored.dtype)
            self._held.flags.writeable = True
            self._stored.fill(self._held, np.arange(self.n_read, end), rows)
            # All configurations look at these rows, so they are read-only.
            self._held.flags.writeable = False
        self.n_read = end

    def _append(self, frame: Any) -> None:
        if self._held is None:
            self._held = frame
            return
        # pandas is there, since it made the frame.
        import pandas as pd

        self._held = pd.concat([self._held, frame], ignore_index=True)


def _end(rows: Rows, n_rows: int) -> int:
    """Return the number of first rows that hold some rows."""
    if isinstance(rows, slice):
        return rows.indices(n_rows)[1]
    return int(np.max(rows, initial=-1)) + 1
