"""How large a compressed table is when unpacked, found out without unpacking it.

A small file can hold a table that fills any memory: zeros that a gzip or a Feather file
compresses a thousandfold, or one long text that Parquet repeats by a number and Arrow
by views of it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cvst.cli._extras import need

__all__ = [
    "arrow_bytes",
    "gzip_bytes",
    "is_plain",
    "is_text",
    "listed_messages",
    "parquet_bytes",
    "parquet_table",
    "row_bytes",
    "streamed_messages",
    "text_bytes",
]

BLOCK = 2**20

# Eight bytes hold a number, or the reference to a text.
VALUE = 8

# A decimal number of Python and the reference to it; dates take less.
OBJECT = 112

# Rows of a Parquet file that are read together, and those whose texts are looked at
# together: there the file may be a trap, and its texts of any length. With 1,024 rows
# this took three times as long as with 65,536, with 8,192 half as long again.
ROWS = 2**16
COUNTED_ROWS = 2**13

# Marks of messages in the format of Arrow.
DICTIONARY_BATCH, RECORD_BATCH = 2, 3


def gzip_bytes(source: Any, limit: int) -> int:
    """Return the size of a gzip's content; more than the limit is not counted out.

    Parameters
    ----------
    source : gzip.GzipFile
        Read from its start, and rewound.
    limit : int
        Largest size of interest.
    """
    size = 0
    while size <= limit and (block := source.read(BLOCK)):
        size += len(block)
    source.rewind()
    return int(size)


def is_plain(kind: Any) -> bool:
    """Return whether a value is one number, text, date or the like, not made of parts.

    Lists, structs, maps, unions, runs and types of other programs are not. No model
    reads them, and a few of their bytes can stand for any number of values.

    Parameters
    ----------
    kind : pyarrow.DataType
        Type of a column.
    """
    pyarrow = need("pyarrow", "Reading data")
    types = pyarrow.types
    if isinstance(kind, pyarrow.BaseExtensionType):
        return bool(types.is_primitive(kind.storage_type))
    if types.is_dictionary(kind):
        kind = kind.value_type
    return (
        types.is_primitive(kind)
        or types.is_null(kind)
        or types.is_fixed_size_binary(kind)
        or _is_object(types, kind)
        or is_text(kind)
    )


def is_text(kind: Any) -> bool:
    """Return whether values are texts or bytes of any length."""
    types = need("pyarrow", "Reading data").types
    return (
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or _is_view(types, kind)
    )


def _is_view(types: Any, kind: Any) -> bool:
    return bool(types.is_string_view(kind) or types.is_binary_view(kind))


def _is_object(types: Any, kind: Any) -> bool:
    """Return whether pandas holds a Python object for each value, other than text."""
    return bool(
        types.is_decimal(kind)
        or types.is_date(kind)
        or types.is_time(kind)
        or types.is_interval(kind)
    )


def row_bytes(kinds: Iterable[Any]) -> int:
    """Return the bytes of a row in memory, without its texts."""
    types = need("pyarrow", "Reading data").types
    return sum(_value_bytes(types, kind) for kind in kinds)


def _value_bytes(types: Any, kind: Any) -> int:
    if _is_object(types, kind):
        return OBJECT
    if types.is_fixed_size_binary(kind):
        return VALUE + int(kind.byte_width)
    return VALUE


def parquet_bytes(file: Any, names: Sequence[str], limit: int) -> int:
    """Return about how many bytes columns of a Parquet file take in memory.

    Parameters
    ----------
    file : pyarrow.parquet.ParquetFile
        Opened with its columns of text as dictionaries.
    names : sequence of str
        The columns, of plain values.
    limit : int
        Texts are not looked at if the rest is beyond it.
    """
    types = need("pyarrow", "Reading Parquet files").types
    metadata = file.metadata
    schema = file.schema_arrow  # made anew whenever it is asked for
    kinds = {name: schema.field(name).type for name in names}
    size = row_bytes(kinds.values()) * metadata.num_rows
    texts = [name for name, kind in kinds.items() if types.is_dictionary(kind)]
    if not texts:
        return int(size)
    # What a file says of its size is of all columns: to ask for those of single columns
    # of a damaged file would end the process.
    every = len(names) == len(schema.names)
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    claimed = sum(max(0, group.total_byte_size) for group in groups) if every else 0
    if max(size, claimed) > limit:
        return int(max(size, claimed))
    for batch in file.iter_batches(batch_size=COUNTED_ROWS, columns=texts):
        size += sum(text_bytes(column) for column in batch.columns)
        if size > limit:
            break
    return int(size)


def parquet_table(file: Any, names: Sequence[str]) -> Any:
    """Read columns of a Parquet file, no more rows of them than it says it has."""
    pyarrow = need("pyarrow", "Reading Parquet files")
    batches: list[Any] = []
    n_rows = 0
    for batch in file.iter_batches(batch_size=ROWS, columns=names):
        n_rows += batch.num_rows
        if n_rows > file.metadata.num_rows:
            raise pyarrow.ArrowInvalid("it has more rows than it says")
        batches.append(batch)
    if not batches:
        return file.read(columns=names)
    table = pyarrow.Table.from_batches(batches)
    return table.replace_schema_metadata(file.schema_arrow.metadata)


def text_bytes(column: Any) -> int:
    """Return the size of a column's texts, each as often as it stands for a value.

    A dictionary has a text once for all its values, and so have views.

    Parameters
    ----------
    column : pyarrow.Array or pyarrow.ChunkedArray
        Of plain values.
    """
    pyarrow = need("pyarrow", "Reading data")
    compute = need("pyarrow.compute", "Reading data")
    size = 0
    for chunk in getattr(column, "chunks", [column]):
        is_dictionary = pyarrow.types.is_dictionary(chunk.type)
        texts = chunk.dictionary if is_dictionary else chunk
        if not is_text(texts.type):
            continue
        # Places of texts may be out of order in a file that lies.
        lengths = pyarrow.array(np.maximum(_lengths(pyarrow, texts), 0))
        if is_dictionary:
            lengths = lengths.take(chunk.indices)
        size += compute.sum(lengths).as_py() or 0
    return size


def _lengths(pyarrow: Any, array: Any) -> Any:
    """Return the size of each text."""
    if _is_view(pyarrow.types, array.type):
        # Of the sixteen bytes of a view the first four are the length.
        views = np.frombuffer(array.buffers()[1], dtype=np.int32).reshape(-1, 4)
        lengths = views[array.offset : array.offset + len(array), 0].astype(np.int64)
        return lengths * array.is_valid().to_numpy(zero_copy_only=False)
    compute = need("pyarrow.compute", "Reading data")
    lengths = compute.binary_length(array).cast(pyarrow.int64())
    return lengths.fill_null(0).to_numpy()


def streamed_messages(content: Any) -> Iterator[Any]:
    """Return the messages of an Arrow stream."""
    pyarrow = need("pyarrow", "Reading Arrow files")
    reader = pyarrow.ipc.MessageReader.open_stream(pyarrow.BufferReader(content))
    return iter(reader)


def listed_messages(content: bytes) -> Iterator[Any]:
    """Yield the messages that the end of an Arrow file lists, as often as it does."""
    pyarrow = need("pyarrow", "Reading Arrow files")
    buffer = pyarrow.py_buffer(content)
    # The last ten bytes are the length of the list and the mark of the format.
    end = len(content) - 10
    size = int.from_bytes(content[end : end + 4], "little")
    try:
        notes = _Notes(content[end - size : end])
        root = notes.number("I", 0)
        starts = [at for kind in (2, 3) for at in _starts(notes, root, kind)]
    except (struct.error, TypeError) as error:
        raise pyarrow.ArrowInvalid("it does not list its parts") from error
    for start in starts:
        if not 0 <= start < end:
            raise pyarrow.ArrowInvalid("it lists parts that it does not have")
        yield pyarrow.ipc.read_message(buffer.slice(start))


def _starts(notes: _Notes, root: int, kind: int) -> list[int]:
    """Return where the dictionaries (2) or batches (3) of a file begin."""
    if notes.field(root, kind) is None:
        return []
    blocks = notes.target(root, kind)
    count = notes.number("I", blocks)
    if 24 * count > len(notes.content):
        raise struct.error
    return [notes.number("q", blocks + 4 + 24 * place) for place in range(count)]


def arrow_bytes(messages: Iterable[Any], row: int) -> int:
    """Return how many bytes an Arrow file or stream unpacks to.

    Compressed parts begin with their size, which Arrow takes them at. Columns without
    any parts, of nothing but gaps, still have rows.

    Parameters
    ----------
    messages : iterable of pyarrow.Message
        Those that are going to be read.
    row : int
        Bytes of a row in memory.
    """
    pyarrow = need("pyarrow", "Reading Arrow files")
    size = 0
    dictionaries: dict[int, int] = {}
    for message in messages:
        try:
            batch = _batch(_Notes(message.metadata.to_pybytes()), message.body)
        except (struct.error, TypeError) as error:
            raise pyarrow.ArrowInvalid("it says nothing about its parts") from error
        if batch.dictionary is None:
            size += max(batch.size, row * batch.rows)
            continue
        # What is added to a dictionary makes a new one, and batches before keep theirs.
        before = dictionaries.get(batch.dictionary, 0) if batch.is_delta else 0
        dictionaries[batch.dictionary] = before + batch.size
        size += before + batch.size
    return size


class _Notes:
    """What Arrow writes about a message: a flatbuffer, of tables of offsets.

    pyarrow reads it but does not hand it out.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content

    def number(self, kind: str, place: int) -> int:
        """Return the number at a place."""
        return int(struct.unpack_from(f"<{kind}", self.content, place)[0])

    def field(self, table: int, index: int) -> int | None:
        """Return the place of a field, None if it is left out."""
        offsets = table - self.number("i", table)
        entry = 4 + 2 * index
        if entry >= self.number("H", offsets):
            return None
        offset = self.number("H", offsets + entry)
        return table + offset if offset else None

    def value(self, kind: str, table: int, index: int) -> int:
        """Return the number in a field, 0 if it is left out."""
        place = self.field(table, index)
        return 0 if place is None else self.number(kind, place)

    def target(self, table: int, index: int) -> int:
        """Return the place that a field refers to."""
        place = self.field(table, index)
        if place is None:
            raise struct.error
        return place + self.number("I", place)


class _Batch(NamedTuple):
    """Rows and bytes of a message, and the dictionary it belongs to, if any."""

    rows: int = 0
    size: int = 0
    dictionary: int | None = None
    is_delta: bool = False


def _batch(notes: _Notes, body: Any) -> _Batch:
    """Return what is said about a batch; of a schema, nothing."""
    message = notes.number("I", 0)
    kind = notes.value("B", message, 1)
    if kind == RECORD_BATCH:
        return _Batch(*_sizes(notes, notes.target(message, 2), body))
    if kind == DICTIONARY_BATCH:
        batch = notes.target(message, 2)
        rows, size = _sizes(notes, notes.target(batch, 1), body)
        is_delta = bool(notes.value("B", batch, 2))
        return _Batch(rows, size, notes.value("q", batch, 0), is_delta)
    return _Batch()


def _sizes(notes: _Notes, batch: int, body: Any) -> tuple[int, int]:
    rows = max(0, notes.value("q", batch, 0))
    if notes.field(batch, 3) is None:  # not compressed
        return rows, 0 if body is None else body.size
    parts = notes.target(batch, 2)
    unpacked = 0
    for part in range(notes.number("I", parts)):
        start = notes.number("q", parts + 4 + 16 * part)
        size = notes.number("q", parts + 12 + 16 * part)
        if size:
            # -1 marks a part that is not compressed.
            unpacked += max(0, size, int(struct.unpack_from("<q", body, start)[0]))
    return rows, unpacked
