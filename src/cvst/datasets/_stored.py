"""Rows that stay on disk, or in a Dask collection, until they are asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np

from cvst._typing import IntArray
from cvst._values import is_dask
from cvst.exceptions import InvalidInputError

__all__ = [
    "BLOCK_ROWS",
    "LARGEST_BYTES",
    "StoredRows",
    "by_piece",
    "stored_rows",
]

# Most bytes of rows that are in memory together, unless the user says otherwise.
LARGEST_BYTES = 2**30

# Rows that are read at a time.
BLOCK_ROWS = 65_536


class StoredRows(ABC):
    """Rows that are read when they are needed; to a search they are an ``X``.

    A race draws the rows it needs and reads them in ascending order, block by block.
    So every subset is an honest sample, whatever the order of the rows on disk.

    Parameters
    ----------
    shape : tuple of int
        Numbers of rows and columns.
    row_bytes : float
        What a row takes in memory.
    dtype : dtype or None
        Type of all columns; None if they differ, and then blocks are frames.
    names : list of str or None
        Names of the columns; with names, rows come as a ``pandas.DataFrame``.
    max_rows : int or None
        Most rows that may be in memory together; None for one gibibyte of them.

    Examples
    --------
    >>> rows = stored_rows(np.arange(12.0).reshape(6, 2), max_rows=4)
    >>> rows.shape, rows.max_rows
    ((6, 2), 4)
    >>> rows[[4, 1]]
    array([[8., 9.],
           [2., 3.]])
    """

    def __init__(
        self,
        shape: tuple[int, int],
        row_bytes: float,
        dtype: Any,
        names: list[str] | None,
        max_rows: int | None,
    ) -> None:
        self.shape = shape
        self.row_bytes = row_bytes
        self.dtype = None if dtype is None else np.dtype(dtype)
        self.names = names
        self.max_rows = _checked(max_rows, int(LARGEST_BYTES / max(1.0, row_bytes)))

    @abstractmethod
    def blocks(self, rows: IntArray) -> Iterator[Any]:
        """Yield some rows in ascending order, a block at a time.

        Parameters
        ----------
        rows : ndarray of int
            Numbers of the rows, ascending.
        """

    @abstractmethod
    def identity(self) -> Any:
        """Return plain values that tell these rows from others."""

    def only(self, rows: IntArray) -> StoredRows:
        """Return some of the rows, still unread."""
        return _Some(self, rows)

    def shown(self, values: Any) -> Any:
        """Return a table of rows as the estimator gets it: with names if there are."""
        if self.names is None or self.dtype is None:
            return values
        import pandas as pd

        # The rows may fill what the user allows; a copy would take as much again.
        return pd.DataFrame(values, columns=self.names, copy=False)

    def fill(self, table: Any, places: IntArray, rows: IntArray) -> None:
        """Read rows, and put each at its place in an array.

        Parameters
        ----------
        table : ndarray of shape (n_places, n_columns)
            Where to.
        places, rows : ndarray of int
            Place of each row; rows in any order.
        """
        # Blocks come in ascending order, wherever the rows are wanted.
        order = np.argsort(rows, kind="stable")
        start = 0
        for block in self.blocks(rows[order]):
            stop = start + len(block)
            table[places[order[start:stop]]] = block
            start = stop

    def read(self, rows: IntArray | None = None) -> Any:
        """Return rows in the given order, all of them by default."""
        wanted = np.arange(len(self)) if rows is None else np.asarray(rows)
        if self.dtype is not None:
            table = np.empty((len(wanted), self.shape[1]), dtype=self.dtype)
            self.fill(table, np.arange(len(wanted)), wanted)
            return self.shown(table)
        order = np.argsort(wanted, kind="stable")
        found = self.joined(list(self.blocks(wanted[order])))
        # The inverse of the order, since frames are put back by position.
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return found.iloc[place].reset_index(drop=True)

    def joined(self, blocks: list[Any]) -> Any:
        """Return blocks of rows as one frame."""
        import pandas as pd

        return pd.concat(blocks, ignore_index=True)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Any:
        """Read rows by their numbers."""
        # So NumPy makes row numbers of slices, masks and negative numbers.
        wanted = np.arange(len(self))[rows]
        # A single row would let NumPy read all of them, one by one, without a word.
        if wanted.ndim != 1:
            raise InvalidInputError(
                "Stored rows are read several at a time, by a list of numbers, a "
                f"slice or a mask, and not by {rows!r}. Use rows[[0]] for a single "
                "one, and rows.read() for all of them."
            )
        return self.read(wanted)


class _Some(StoredRows):
    """Some of other stored rows, in ascending order."""

    def __init__(self, source: StoredRows, rows: IntArray) -> None:
        shape = len(rows), source.shape[1]
        super().__init__(
            shape, source.row_bytes, source.dtype, source.names, source.max_rows
        )
        self._source = source
        self._rows = rows

    def blocks(self, rows: IntArray) -> Iterator[Any]:
        return self._source.blocks(self._rows[rows])

    def identity(self) -> Any:
        return self._source.identity(), self._rows


class _ArrayRows(StoredRows):
    """Rows of a memory-mapped array."""

    def __init__(self, array: Any, max_rows: int | None) -> None:
        _check_table(array.shape)
        row_bytes = array.nbytes / max(1, array.shape[0])
        super().__init__(array.shape, row_bytes, array.dtype, None, max_rows)
        self._array = array

    def blocks(self, rows: IntArray) -> Iterator[Any]:
        for start in range(0, len(rows), BLOCK_ROWS):
            yield self._array[rows[start : start + BLOCK_ROWS]]

    def identity(self) -> Any:
        return self._array


class _DaskArrayRows(StoredRows):
    """Rows of a Dask array, computed chunk by chunk."""

    def __init__(self, array: Any, max_rows: int | None) -> None:
        _check_table(array.shape)
        if np.isnan(array.shape[0]):
            raise InvalidInputError(
                f"The Dask array has shape {array.shape}: its number of rows is not "
                "known. Call X.compute_chunk_sizes() first."
            )
        row_bytes = array.dtype.itemsize * array.shape[1]
        super().__init__(array.shape, row_bytes, array.dtype, None, max_rows)
        self.collection = array
        self.parts = array.chunks[0]

    def blocks(self, rows: IntArray) -> Iterator[Any]:
        for piece, wanted in by_piece(rows, self.parts):
            yield self.collection.blocks[piece][wanted].compute()

    def identity(self) -> Any:
        # Dask's names are hashes of how a collection is made.
        return self.collection.name


class _DaskFrameRows(StoredRows):
    """Rows of a Dask DataFrame, computed partition by partition."""

    def __init__(self, frame: Any, max_rows: int | None) -> None:
        # Dask does not know how many rows it has; this is one pass over all of them.
        self.parts = tuple(frame.map_partitions(len).compute())
        shape = sum(self.parts), len(frame.columns)
        # What a string takes is a guess.
        widths = [
            64 if one.kind not in "biuf" else one.itemsize for one in _types(frame)
        ]
        super().__init__(shape, sum(widths), None, list(frame.columns), max_rows)
        self.collection = frame

    def blocks(self, rows: IntArray) -> Iterator[Any]:
        for piece, wanted in by_piece(rows, self.parts):
            # A Dask DataFrame has no rows by position until it is computed.
            yield self.collection.partitions[piece].compute().iloc[wanted]

    def identity(self) -> Any:
        return self.collection._name


def stored_rows(source: Any, max_rows: int | None = None) -> StoredRows:
    """Return rows that a search reads as far as it needs them.

    Memory-mapped arrays of more than a gibibyte and Dask collections may be handed to
    ``fit`` as they are; this is for another limit.

    Parameters
    ----------
    source : ndarray, Dask array or Dask DataFrame
        A table of rows; an array that is memory-mapped, as by
        ``np.load(path, mmap_mode="r")``.
    max_rows : int or None, default=None
        Most rows that may be in memory together; None for one gibibyte of them.

    Returns
    -------
    StoredRows
        The rows.
    """
    if isinstance(source, StoredRows):
        return source if max_rows is None else _limited(source, max_rows)
    if isinstance(source, np.ndarray):
        return _ArrayRows(source, max_rows)
    if is_dask(source):
        kind = _DaskFrameRows if hasattr(source, "columns") else _DaskArrayRows
        return kind(source, max_rows)
    raise InvalidInputError(
        f"{type(source).__name__} is neither an array nor a Dask collection. For files "
        "of Parquet or Arrow use cvst.datasets.open_dataset."
    )


def _limited(source: StoredRows, max_rows: int) -> StoredRows:
    # One of its own: that which was handed in keeps its limit.
    limited = copy(source)
    limited.max_rows = _checked(max_rows, 0)
    return limited


def _checked(max_rows: int | None, default: int) -> int:
    if max_rows is None:
        return max(1, default)
    if isinstance(max_rows, bool) or not isinstance(max_rows, int | np.integer):
        raise InvalidInputError(f"max_rows={max_rows!r} must be a whole number.")
    if max_rows < 1:
        raise InvalidInputError(f"max_rows={max_rows} must be at least 1.")
    return int(max_rows)


def _check_table(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise InvalidInputError(
            f"X has shape {shape}. Give a table: one line per row, one column per "
            "feature."
        )


def _types(frame: Any) -> list[Any]:
    """Return the types of the columns, those of NumPy where they have one."""
    return [getattr(one, "numpy_dtype", one) for one in frame.dtypes]


def by_piece(rows: IntArray, lengths: Any) -> Iterator[tuple[int, IntArray]]:
    """Cut ascending rows into those of each piece, counted from its first.

    Examples
    --------
    >>> list(by_piece(np.array([0, 3, 7]), (2, 4, 2)))
    [(0, array([0])), (1, array([1])), (2, array([1]))]
    """
    ends = np.cumsum(np.asarray(lengths))
    cuts = np.searchsorted(rows, ends)
    start = 0
    for piece, (stop, end) in enumerate(zip(cuts, ends, strict=True)):
        if stop > start:
            yield piece, rows[start:stop] - (end - lengths[piece])
        start = stop
