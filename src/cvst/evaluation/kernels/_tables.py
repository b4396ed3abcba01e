"""Square tables of a race, of which a look sees the leading rows."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from cvst._typing import FloatArray
from cvst.evaluation._scratch import Scratch

__all__ = ["Budget", "RowTable"]

# A table of this size is small.
SMALL_BYTES = 2**24


class Budget:
    """Memory that the tables of a race may take together.

    Parameters
    ----------
    limit : int
        Number of bytes.
    """

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._lock = threading.Lock()

    def take(self, n_bytes: int) -> bool:
        """Take memory, if there is enough left."""
        with self._lock:
            if n_bytes > self._left:
                return False
            self._left -= n_bytes
            return True


class RowTable:
    """The first rows of a symmetric matrix, filled on demand.

    Parameters
    ----------
    n_columns : int
        Rows and columns of the whole matrix.
    fill : callable
        ``fill(rows, columns)`` returns a block of the matrix.
    budget : Budget
        Where memory is taken from.

    Examples
    --------
    >>> x = np.arange(4.0)
    >>> table = RowTable(4, lambda a, b: np.outer(x[a], x[b]), Budget(1000))
    >>> table.first(2)
    array([[0., 0., 0., 0.],
           [0., 1., 2., 3.]])
    """

    def __init__(
        self,
        n_columns: int,
        fill: Callable[[slice, slice], FloatArray],
        budget: Budget,
    ) -> None:
        self._values = np.empty((0, n_columns))
        self._n_filled = 0
        self._fill = fill
        self._budget = budget
        self._lock = threading.Lock()

    def first(self, stop: int) -> FloatArray | None:
        """Return the first rows, not to be written to; None if memory is short."""
        with self._lock:
            if self._n_filled < stop and not self._extend(stop):
                return None
            return self._values[:stop]

    def _extend(self, stop: int) -> bool:
        capacity, n_columns = self._values.shape
        start = self._n_filled
        block = Scratch.table_block
        stop = min(n_columns, block * -(-stop // block))
        if not self._budget.take(8 * n_columns * (stop - start)):
            return False
        if capacity < stop:
            # A small table has room for all rows from the start: memory that is never
            # written to is never taken from the system.
            room = n_columns if 8 * n_columns**2 <= SMALL_BYTES else stop
            values = np.empty((room, n_columns))
            values[:start] = self._values[:start]
            self._values = values
        for first in range(start, stop, block):
            new = slice(first, min(first + block, stop))
            self._values[new, :first] = self._values[:first, new].T
            self._values[new, first:] = self._fill(new, slice(first, n_columns))
        self._n_filled = stop
        return True
