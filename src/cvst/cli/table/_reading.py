"""Reading a table: CSV, TSV, Parquet, Feather and Arrow, gzipped or not."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from pathlib import Path
from typing import Any

from cvst.cli._extras import need
from cvst.exceptions import InvalidInputError

__all__ = ["FORMATS", "read_table"]

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
}
GZIP = b"\x1f\x8b"

# Tables are held in memory. A small gzip that grows beyond this is a trap.
MOST_BYTES = 4_000_000_000

MANY_COLUMNS = 1000

# A header with none of the wanted separator but some of these was saved by a program
# of another habit: a spreadsheet in a country with decimal commas, for one.
SEPARATORS = (",", ";", "\t", "|")
DECIMAL_COMMA = re.compile(r"(?:^|;)[-+]?\d+,\d+(?:;|\r?$)", re.MULTILINE)


def read_table(name: str) -> tuple[Any, list[str]]:
    """Read a file into a data frame.

    Parameters
    ----------
    name : str
        Path of the file. Its ending (before ``.gz``) tells the format; whether it is
        gzipped is seen from its first bytes.

    Returns
    -------
    frame : pandas.DataFrame
        The table.
    notes : list of str
        What the user should know about how it was read.
    """
    need("pandas", "Reading data")
    kind = FORMATS.get(_ending(Path(name)))
    if kind is None:
        raise InvalidInputError(
            f"The data file {name!r} has no known ending. Known are "
            f"{', '.join(FORMATS)}, each also with .gz."
        )
    try:
        frame, notes = _read(name, kind)
    except MemoryError as error:
        raise InvalidInputError(
            f"The data file '{name}' does not fit into the memory of this machine. "
            "Keep fewer rows or columns."
        ) from error
    frame.columns = [str(column) for column in frame.columns]
    _check(name, frame)
    return _without_saved_index(frame, notes)


def _read(name: str, kind: str) -> tuple[Any, list[str]]:
    content = _content(Path(name))
    if kind in ("csv", "tsv"):
        return _read_text(name, content, kind)
    return _read_binary(name, content, kind), []


def _content(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise InvalidInputError(
                f"The data file '{path}' is not a regular file. Save the table first."
            )
        with path.open("rb") as file:
            packed = file.read(len(GZIP)) == GZIP
            file.seek(0)
            source = gzip.GzipFile(fileobj=file) if packed else file
            content = source.read(MOST_BYTES + 1)
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InvalidInputError(
            f"The data file '{path}' is not a valid gzip: {error}."
        ) from error
    except EOFError as error:
        raise InvalidInputError(
            f"The data file '{path}' ends too early: its gzip is cut off."
        ) from error
    except OSError as error:
        raise InvalidInputError(
            f"The data file '{path}' cannot be read: {error.strerror}."
        ) from error
    if len(content) > MOST_BYTES:
        unpacked = " when unpacked" if packed else ""
        raise InvalidInputError(
            f"The data file '{path}' has more than {MOST_BYTES:,} bytes{unpacked}. "
            "Keep fewer rows or columns."
        )
    return content


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] in ([".gz"], [".gzip"]):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _read_text(name: str, content: bytes, kind: str) -> tuple[Any, list[str]]:
    import pandas as pd

    try:
        # Spreadsheets put a byte order mark first, which would be part of a column's
        # name.
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(
            f"The data file {name!r} is not written in UTF-8 (line {line}). Convert "
            "it, for example with iconv."
        ) from error
    header = text.split("\n", 1)[0]
    usual = "," if kind == "csv" else "\t"
    separator = usual
    notes = []
    if usual not in header:
        separator = max(SEPARATORS, key=lambda mark: (header.count(mark), mark))
        if separator not in header:
            separator = usual
        else:
            notes.append(f"Columns are separated by {separator!r}.")
    decimal = "," if separator == ";" and DECIMAL_COMMA.search(text) else "."
    try:
        frame = pd.read_csv(io.StringIO(text), sep=separator, decimal=decimal)
    except pd.errors.EmptyDataError as error:
        raise InvalidInputError(f"The data file {name!r} is empty.") from error
    except pd.errors.ParserError as error:
        why = str(error).strip().removeprefix("Error tokenizing data. C error: ")
        raise InvalidInputError(
            f"The data file {name!r} is not valid {kind.upper()}: {why}."
        ) from error
    # A copy puts the columns of a kind side by side in memory. Each on its own, as they
    # are read, thousands of them make everything slow.
    return (frame.copy() if frame.shape[1] > MANY_COLUMNS else frame), notes


def _read_binary(name: str, content: bytes, kind: str) -> Any:
    pyarrow = need("pyarrow", f"Reading {kind.capitalize()} files")
    source = pyarrow.BufferReader(content)
    try:
        if kind == "parquet":
            parquet = need("pyarrow.parquet", "Reading Parquet files")
            _check_size(name, parquet.ParquetFile(source).metadata)
            table = parquet.read_table(source)
        else:
            table = _read_arrow(pyarrow, source)
        frame = table.to_pandas()
        # pandas stores an index beside the columns; with a name it was one of them.
        named = any(name is not None for name in frame.index.names)
        return frame.reset_index() if named else frame
    except (pyarrow.ArrowException, OSError) as error:
        why = str(error).strip().split("\n", 1)[0].rstrip(".")
        raise InvalidInputError(
            f"The data file {name!r} is not a valid {kind.capitalize()} file: {why}."
        ) from error


def _check_size(name: str, metadata: Any) -> None:
    """Refuse a table that a small file unpacks to beyond measure."""
    # Values that repeat take next to nothing in the file, and eight bytes each here.
    size = 8 * metadata.num_rows * metadata.num_columns
    if size > MOST_BYTES:
        raise InvalidInputError(
            f"The data file {name!r} has {metadata.num_rows:,} rows of "
            f"{metadata.num_columns:,} columns, which is more than {MOST_BYTES:,} "
            "bytes when unpacked. Keep fewer rows or columns."
        )


def _read_arrow(pyarrow: Any, source: Any) -> Any:
    """Read Feather and Arrow: files, streams, and the old Feather of version 1."""
    start = source.read(8)
    source.seek(0)
    if start.startswith(b"FEA1"):
        return need("pyarrow.feather", "Reading Feather files").read_table(source)
    if start.startswith(b"ARROW1"):
        return pyarrow.ipc.open_file(source).read_all()
    return pyarrow.ipc.open_stream(source).read_all()


def _check(name: str, frame: Any) -> None:
    if not len(frame):
        raise InvalidInputError(f"The data file {name!r} has a header but no rows.")
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise InvalidInputError(
            f"The data file {name!r} has more than one column {twice[0]!r}. Rename it."
        )


def _without_saved_index(frame: Any, notes: list[str]) -> tuple[Any, list[str]]:
    """Leave out the row numbers that ``to_csv`` writes as a column without a name."""
    first = frame.columns[0]
    values = frame[first]
    if first.startswith("Unnamed: ") and values.equals(
        values.__class__(range(len(frame)), name=values.name, dtype=values.dtype)
    ):
        frame = frame.drop(columns=first)
        notes = [*notes, "The first column, row numbers without a name, is left out."]
    return frame.reset_index(drop=True), notes
