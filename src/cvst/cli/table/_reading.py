"""Reading a table: CSV, TSV, Parquet, Feather and Arrow, gzipped or not."""

from __future__ import annotations

import gzip
import io
import re
import warnings
import zlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from cvst._text import shortened
from cvst.cli._extras import need
from cvst.cli._printing import quoted
from cvst.cli.table._columns import UNREAD
from cvst.cli.table._unpacked import (
    arrow_bytes,
    gzip_bytes,
    is_plain,
    is_text,
    listed_messages,
    parquet_bytes,
    parquet_table,
    row_bytes,
    streamed_messages,
    text_bytes,
)
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
ARROW_FILE = b"ARROW1\0\0"

# Tables are held in memory. A small gzip that grows beyond this is a trap.
MOST_BYTES = 4_000_000_000

# A gzip has at least a byte for this many: smaller ones need not be unpacked to know
# that they are harmless.
MOST_PACKED = 1032

MANY_COLUMNS = 1000

LONGEST_WHY = 200

# A header with none of the wanted separator but some of these was saved by a program
# of another habit: a spreadsheet in a country with decimal commas, for one.
SEPARATORS = (",", ";", "\t", "|")
DECIMAL_COMMA = re.compile(r"(?:^|;)[-+]?\d+,\d+(?:;|\r?$)", re.MULTILINE)


def read_table(name: str, drop: Collection[str] = ()) -> tuple[Any, list[str]]:
    """Read a file into a data frame.

    Parameters
    ----------
    name : str
        Path of the file. Its ending (before ``.gz``) tells the format; whether it is
        gzipped is seen from its first bytes.
    drop : collection of str
        Columns that will be left out. Nested ones must be among them. Of Parquet and
        Arrow they are not read, of text they are.

    Returns
    -------
    frame : pandas.DataFrame
        The table. Its ``attrs`` name the columns that were not read.
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
        frame, notes = _read(name, kind, drop)
    except MemoryError as error:
        raise InvalidInputError(
            f"The data file '{name}' does not fit into the memory of this machine. "
            "Keep fewer rows or columns."
        ) from error
    frame.columns = [str(column) for column in frame.columns]
    _check(name, frame)
    return _without_saved_index(frame, notes)


def _read(name: str, kind: str, drop: Collection[str]) -> tuple[Any, list[str]]:
    content = _content(Path(name))
    if kind in ("csv", "tsv"):
        return _read_text(name, content, kind)
    return _read_binary(name, content, kind, drop), []


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
            if _file_bytes(path, source) > MOST_BYTES:
                raise _too_large(path, " when unpacked" if packed else "")
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
    if len(content) > MOST_BYTES:  # it has grown meanwhile
        raise _too_large(path)
    return content


def _file_bytes(path: Path, source: Any) -> int:
    size = path.stat().st_size
    if not isinstance(source, gzip.GzipFile) or size * MOST_PACKED <= MOST_BYTES:
        return size
    return gzip_bytes(source, MOST_BYTES)


def _too_large(path: Path | str, when: str = "") -> InvalidInputError:
    is_text = FORMATS.get(_ending(Path(path))) in ("csv", "tsv")
    hint = " Of a Parquet file, what --drop names is not read." if is_text else ""
    return InvalidInputError(
        f"The data file '{path}' has more than {MOST_BYTES:,} bytes{when}. Keep fewer "
        f"rows or columns.{hint}"
    )


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
    # Piece by piece a table of many columns would be put together from pieces of a row
    # or two, which takes longer than to read it.
    has_many_columns = header.count(separator) >= MANY_COLUMNS
    try:
        with warnings.catch_warnings():
            # Of rows with more fields than the header; but for empty ones at the end,
            # where each line ends with a separator.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                io.StringIO(text),
                sep=separator,
                decimal=decimal,
                low_memory=not has_many_columns,
                # Else the first column of such a table would name its rows.
                index_col=False,
            )
    except pd.errors.ParserWarning as error:
        raise InvalidInputError(
            f"The data file {name!r} has rows with more fields than its header has "
            "names. Name all of its columns."
        ) from error
    except pd.errors.EmptyDataError as error:
        raise InvalidInputError(f"The data file {name!r} is empty.") from error
    except pd.errors.ParserError as error:
        why = _why(str(error).strip().removeprefix("Error tokenizing data. C error: "))
        raise InvalidInputError(
            f"The data file {name!r} is not valid {kind.upper()}: {why}."
        ) from error
    # A copy puts the columns of a kind side by side in memory. Each on its own, as they
    # are read, thousands of them make everything slow.
    return (frame.copy() if has_many_columns else frame), notes


def _why(text: str) -> str:
    """Return what a library says as a part of a sentence: it may quote the file."""
    return shortened(" ".join(text.split()), LONGEST_WHY).rstrip(".")


def _read_binary(name: str, content: bytes, kind: str, drop: Collection[str]) -> Any:
    pyarrow = need("pyarrow", f"Reading {kind.capitalize()} files")
    read = _read_parquet if kind == "parquet" else _read_arrow
    try:
        table, left_out = read(name, pyarrow, content, drop)
        table.validate()
        size = row_bytes(table.schema.types) * table.num_rows
        if size + sum(text_bytes(column) for column in table.columns) > MOST_BYTES:
            raise _too_large(name, " when unpacked")
        # Nothing in a file of others says that its parts fit together. To look at each
        # text takes long if there are very many.
        table.validate(full=True)
        frame = _frame(pyarrow, table)
    except (MemoryError, InvalidInputError):  # the first is one of Arrow's, too
        raise
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"The data file {name!r} is not a valid {kind.capitalize()} file: a name "
            "in it is not written in UTF-8."
        ) from error
    except (pyarrow.ArrowException, OSError) as error:
        why = _why(str(error).strip().split("\n", 1)[0])
        raise InvalidInputError(
            f"The data file {name!r} is not a valid {kind.capitalize()} file: {why}."
        ) from error
    except Exception as error:  # of types that other programs have registered
        why = _why(f"{type(error).__name__}: {error}")
        raise InvalidInputError(
            f"The data file {name!r} cannot be read: {why}. Save it again without "
            "columns of unusual types."
        ) from error
    # Not as empty columns: many of them would take more memory than all that is read.
    frame.attrs = {UNREAD: tuple(left_out)}
    return frame


def _frame(pyarrow: Any, table: Any) -> Any:
    try:
        frame = table.to_pandas()
        # pandas stores an index beside the columns; with a name it was one of them.
        named = any(level is not None for level in frame.index.names)
        return frame.reset_index() if named else frame
    except (pyarrow.ArrowException, MemoryError):
        raise
    except Exception as error:  # whatever comes of notes that pandas did not write
        raise pyarrow.ArrowInvalid("its notes for pandas make no sense") from error


def _columns(
    name: str, schema: Any, drop: Collection[str]
) -> tuple[list[str], list[str]]:
    """Return the columns to read and the others; nested ones must be dropped."""
    _check_names(name, schema.names)
    for field in schema:
        if field.name not in drop and not is_plain(field.type):
            raise _not_plain(field)
    wanted = [column for column in schema.names if column not in drop]
    if not wanted:
        raise InvalidInputError(f"No column of the data file {name!r} is left.")
    return wanted, [column for column in schema.names if column in drop]


def _not_plain(field: Any) -> InvalidInputError:
    kind = str(field.type).split("<", 1)[0]  # without its parts, of any length
    shown = quoted(field.name)
    return InvalidInputError(
        f"The column {shown} holds neither numbers nor text ({kind}). Leave "
        f"it out with --drop {shown}, or turn it into numbers first."
    )


def _read_parquet(
    name: str, pyarrow: Any, content: bytes, drop: Collection[str]
) -> tuple[Any, list[str]]:
    """Read a Parquet file, unless it unpacks to a table beyond measure."""
    parquet = need("pyarrow.parquet", "Reading Parquet files")
    source = pyarrow.BufferReader(content)
    file = parquet.ParquetFile(source)
    # Made anew whenever it is asked for: once for each of many columns takes long.
    metadata, schema = file.metadata, file.schema_arrow
    wanted, left_out = _columns(name, schema, drop)
    nested = {one.name for one in schema if not is_plain(one.type)}
    plain = set(schema.names) - nested
    _check_paths(pyarrow, file.schema, metadata.num_columns, plain, nested)
    # Values that repeat take next to nothing in the file, and eight bytes each here.
    kinds = [schema.field(column).type for column in wanted]
    if row_bytes(kinds) * metadata.num_rows > MOST_BYTES:
        raise InvalidInputError(
            f"The data file {name!r} has {metadata.num_rows:,} rows of "
            f"{len(wanted):,} columns, which is more than {MOST_BYTES:,} "
            "bytes when unpacked. Keep fewer rows or columns."
        )
    # As dictionaries, texts that repeat are not repeated in memory.
    texts = [
        column for column, kind in zip(wanted, kinds, strict=True) if is_text(kind)
    ]
    counted = parquet.ParquetFile(source, metadata=metadata, read_dictionary=texts)
    if parquet_bytes(counted, wanted, MOST_BYTES) > MOST_BYTES:
        raise _too_large(name, " when unpacked")
    return parquet_table(file, wanted), left_out


def _check_paths(
    pyarrow: Any, schema: Any, n_leaves: int, plain: set[str], nested: set[str]
) -> None:
    """Refuse parts of nested columns that would be read by the name of a plain one.

    Columns are found by their path: ``a.b`` is a column with a dot in its name, and
    the part ``b`` of a nested column ``a``.
    """
    seen = set()
    for leaf in range(n_leaves):
        path = schema.column(leaf).path
        starts = [path[:at] for at, letter in enumerate(path) if letter == "."]
        own = next((at for at, start in enumerate(starts) if start in nested), 0)
        inner = [] if path in plain else starts[own + 1 :]
        if path in seen or not plain.isdisjoint(inner):
            raise pyarrow.ArrowInvalid(
                f"two of its columns have the path {quoted(path)}"
            )
        seen.add(path)


def _read_arrow(
    name: str, pyarrow: Any, content: bytes, drop: Collection[str]
) -> tuple[Any, list[str]]:
    """Read Feather and Arrow: files, streams, and the old Feather of version 1."""
    source = pyarrow.BufferReader(content)
    if content.startswith(b"FEA1"):
        # It knows no compression and no nested columns.
        feather = need("pyarrow.feather", "Reading Feather files")
        return feather.read_table(source), []
    # What is counted must be what is read: of a file, what its end lists.
    if content.startswith(ARROW_FILE):
        opened, messages = pyarrow.ipc.open_file, listed_messages(content)
    else:
        opened, messages = pyarrow.ipc.open_stream, streamed_messages(content)
    schema = opened(source).schema
    wanted, left_out = _columns(name, schema, drop)
    kinds = [schema.field(column).type for column in wanted]
    if arrow_bytes(messages, row_bytes(kinds)) > MOST_BYTES:
        raise _too_large(name, " when unpacked")
    places = [schema.get_field_index(column) for column in wanted]
    options = pyarrow.ipc.IpcReadOptions(included_fields=places)
    return opened(pyarrow.BufferReader(content), options=options).read_all(), left_out


def _check(name: str, frame: Any) -> None:
    if not len(frame):
        raise InvalidInputError(f"The data file {name!r} has a header but no rows.")
    _check_names(name, frame.columns)


def _check_names(name: str, columns: Iterable[str]) -> None:
    known = set()
    for column in columns:
        if column in known:
            raise InvalidInputError(
                f"The data file {name!r} has more than one column {quoted(column)}. "
                "Rename it."
            )
        known.add(column)


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
