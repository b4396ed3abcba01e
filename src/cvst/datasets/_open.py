"""Files of Parquet and Arrow, as rows that a search reads when it needs them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cvst._typing import IntArray
from cvst.datasets._stored import BLOCK_ROWS, StoredRows, by_piece
from cvst.exceptions import CVSTError, InvalidInputError

__all__ = ["open_dataset"]


def open_dataset(
    source: str | PathLike[str] | Sequence[str] | Any,
    target: str,
    *,
    columns: Sequence[str] | None = None,
    file_format: str = "parquet",
    as_frame: bool = True,
    max_rows: int | None = None,
) -> tuple[StoredRows, Any]:
    """Open a data set on disk; only the targets are read.

    Parameters
    ----------
    source : path, list of paths, or pyarrow.dataset.Dataset
        A file, a folder of files, or a data set of pyarrow's.
    target : str
        Column of the targets.
    columns : sequence of str or None, default=None
        Columns of the inputs; None for all but the target.
    file_format : str, default="parquet"
        Format of the files: ``"parquet"``, or ``"arrow"`` for those of Arrow.
    as_frame : bool, default=True
        Whether estimators get a ``pandas.DataFrame``; if not, a NumPy array of numbers.
    max_rows : int or None, default=None
        Most rows that may be in memory together; None for one gibibyte of them.

    Returns
    -------
    X : StoredRows
        The inputs, for ``fit`` of a search.
    y : ndarray
        The targets.

    Examples
    --------
    >>> import pandas as pd, tempfile
    >>> table = pd.DataFrame({"a": [1.0, 2, 3], "b": [0.5, 0.6, 0.7], "y": [0, 1, 0]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table.to_parquet(f"{folder}/part-0.parquet")
    ...     X, y = open_dataset(folder, target="y")
    ...     print(X[[2, 0]])
         a    b
    0  3.0  0.7
    1  1.0  0.5
    >>> y
    array([0, 1, 0])
    """
    dataset = _opened(source, file_format)
    known = dataset.schema.names
    names = [name for name in known if name != target]
    if columns is not None:
        names = list(columns)
    for name in (target, *names):
        if name not in known:
            raise InvalidInputError(
                f"The data set has no column {name!r}. Its columns are "
                f"{', '.join(known)}."
            )
    if target in names:
        raise InvalidInputError(
            f"columns holds the target {target!r}. Leave it out: it would tell the "
            "models the answer."
        )
    y = _targets(dataset, target)
    return _TableRows(dataset, names, as_frame, max_rows), y


class _TableRows(StoredRows):
    """Rows of a data set of pyarrow's, read by row groups."""

    def __init__(
        self, dataset: Any, names: list[str], as_frame: bool, max_rows: int | None
    ) -> None:
        types = [dataset.schema.field(name).type for name in names]
        self._dataset = dataset
        self._columns = names
        fragments = list(dataset.get_fragments())
        paths = [_path(one) for one in fragments]
        # As they are now: a file that changes later is another one.
        self._files = [(path, *_stamp(path)) for path in paths if path is not None]
        self._unfiled = None in paths
        self._pieces = [piece for one in fragments for piece in _cut(one)]
        self._lengths = [_n_rows(piece) for piece in self._pieces]
        shape = sum(self._lengths), len(names)
        widths = [_width(one) for one in types]
        dtype = _common_dtype(names, types, as_frame)
        shown = names if as_frame else None
        super().__init__(shape, sum(widths), dtype, shown, max_rows)

    def blocks(self, rows: IntArray) -> Iterator[Any]:
        for piece, wanted in by_piece(rows, self._lengths):
            yield from self._read(self._pieces[piece], wanted)

    def _read(self, piece: Any, wanted: IntArray) -> Iterator[Any]:
        """Yield rows of a row group, decoded a few at a time."""
        batches = piece.to_batches(
            # Of the whole set: a single file may lack a column, or have another type.
            schema=self._dataset.schema,
            columns=self._columns,
            batch_size=BLOCK_ROWS,
            # Arrow would read 16 batches ahead, all of them in memory.
            batch_readahead=1,
            use_threads=False,
        )
        n_read = start = 0
        for batch in batches:
            stop = int(np.searchsorted(wanted, n_read + batch.num_rows))
            if stop > start:
                yield self._made(batch.take(_indices(wanted[start:stop] - n_read)))
            n_read, start = n_read + batch.num_rows, stop
            # The rest of the row group need not be decoded.
            if start == len(wanted):
                return

    def joined(self, blocks: list[Any]) -> Any:
        import pyarrow as pa

        # Row groups may know different categories.
        return pa.Table.from_batches(blocks).unify_dictionaries().to_pandas()

    def _made(self, batch: Any) -> Any:
        if self.dtype is None:
            return batch
        table = np.empty((batch.num_rows, batch.num_columns), dtype=self.dtype)
        for number, column in enumerate(batch.columns):
            table[:, number] = column.to_numpy(zero_copy_only=False)
        return table

    def identity(self) -> Any:
        known = self._files, self._columns, self.shape
        # Only their values tell rows in memory from others.
        return (*known, self._digest()) if self._unfiled else known

    def _digest(self) -> str:
        digest = blake2b(digest_size=16)
        for block in self.blocks(np.arange(len(self))):
            digest.update((block if self.dtype else _row_hashes(block)).tobytes())
        return digest.hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = self._columns, self.names is not None, self.max_rows
        if self._unfiled:
            # pyarrow has no way to send a set in memory, but its table can travel.
            table = self._dataset.to_table(columns=self._columns)
            return _in_memory, (table, *arguments)
        return _TableRows, (self._dataset, *arguments)


def _opened(source: Any, file_format: str) -> Any:
    try:
        import pyarrow.dataset as datasets
    except ModuleNotFoundError as error:
        raise CVSTError(
            "Data sets on disk need the package 'pyarrow', which is not installed. "
            "Run: pip install 'cvst[parquet]'"
        ) from error
    # Opened by the user, for instance with a schema or a file system of its own.
    if isinstance(source, datasets.Dataset):
        return _with_fragments(source)
    try:
        return datasets.dataset(source, format=file_format)
    except (OSError, ValueError) as error:
        text = " ".join(str(error).split())
        raise InvalidInputError(
            f"{source!r} cannot be opened as {file_format}: {text}"
        ) from error


def _with_fragments(dataset: Any) -> Any:
    """Return a data set whose pieces can be read one by one."""
    try:
        dataset.get_fragments()
    except ValueError as error:
        raise InvalidInputError(
            "The data set is filtered or has computed columns, so that pyarrow cannot "
            "read parts of it. Open the set without them, or its rows in memory by "
            "pyarrow.dataset.dataset(source.to_table())."
        ) from error
    return dataset


def _in_memory(table: Any, *arguments: Any) -> _TableRows:
    import pyarrow.dataset as datasets

    return _TableRows(datasets.dataset(table), *arguments)


def _targets(dataset: Any, target: str) -> Any:
    column = dataset.to_table(columns=[target]).column(0)
    # A missing class would become one of its own, and a missing number NaN.
    if column.null_count:
        raise InvalidInputError(
            f"The target {target!r} is missing in {column.null_count:,} of "
            f"{len(column):,} rows. Drop these rows, or fill it in."
        )
    return column.to_numpy()


def _path(fragment: Any) -> str | None:
    """Return where the rows of a fragment are stored, None if in memory."""
    # A file that was read into memory has a path too: "<Buffer>".
    if getattr(fragment, "buffer", None) is not None:
        return None
    return getattr(fragment, "path", None)


def _row_hashes(batch: Any) -> Any:
    """Return a number for each row, whatever the batches a table is cut into."""
    import pandas as pd

    frame = batch.to_pandas()
    for name, one in zip(batch.schema.names, batch.columns, strict=True):
        # Lists have no hash, and are printed in full in Python only.
        if one.type.num_fields:
            frame[name] = [repr(value) for value in one.to_pylist()]
    return pd.util.hash_pandas_object(frame, index=False).to_numpy()


def _cut(fragment: Any) -> list[Any]:
    """Return the row groups of a file of Parquet; of others the file as a whole."""
    if hasattr(fragment, "split_by_row_group"):
        return list(fragment.split_by_row_group())
    return [fragment]


def _n_rows(piece: Any) -> int:
    groups = getattr(piece, "row_groups", None)
    # To count the rows of a piece by pyarrow is to count those of the whole file.
    return piece.count_rows() if groups is None else sum(one.num_rows for one in groups)


def _indices(rows: IntArray) -> Any:
    import pyarrow as pa

    return pa.array(rows)


def _holds_numbers(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(
        types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind)
    )


def _width(kind: Any) -> float:
    """Return the bytes that a value takes in memory; of a text that is a guess."""
    return max(1.0, kind.bit_width / 8) if _holds_numbers(kind) else 64.0


def _common_dtype(names: list[str], types: list[Any], as_frame: bool) -> Any:
    """Return the type of an array that holds all columns, None if there is none."""
    import pyarrow.types as arrow

    floating = {str(one) for one in types if arrow.is_floating(one)}
    # One type for all can be read into an array, which becomes a frame without a copy.
    alike = len(floating) == 1 and all(map(arrow.is_floating, types))
    if alike:
        return types[0].to_pandas_dtype()
    if as_frame:
        return None
    texts = [
        name for name, one in zip(names, types, strict=True) if not _holds_numbers(one)
    ]
    if texts:
        raise InvalidInputError(
            f"The column {texts[0]!r} holds no numbers, so it fits into no array. Use "
            "as_frame=True, or name the columns to use."
        )
    # Whole numbers too: missing ones among them are NaN.
    return float


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = Path(path).stat()
    except OSError:  # in a store elsewhere
        return 0, 0
    return status.st_size, status.st_mtime_ns
