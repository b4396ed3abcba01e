"""The bytes of a checkpoint: a line that says what it is, then records.

A record is its number, how many records are known to have reached the disk, a length,
the checksum of these three, and a checksum of the content and of the record before;
then the content, which is JSON and the arrays it names. A crash can damage only records
that had not reached the disk: bytes that make no sense are a torn tail, unless a later
record says that they were there. Then somebody else has changed the file.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from cvst.exceptions import CheckpointError
from cvst.search.checkpoint._values import packed

__all__ = [
    "FORMAT",
    "NAME",
    "PASSING",
    "PREFIX_BYTES",
    "Place",
    "Reading",
    "Record",
    "Writer",
    "first_line",
    "read_records",
]

FORMAT = 3

NAME = b"cvst checkpoint "
TAG = b"\nREC"

# Tag, number, records on disk for sure, length of the content; their checksum and that
# of the content follow.
PREFIX = struct.Struct("<4sIIQ")
SUMS = struct.Struct("<I16s")
PREFIX_BYTES = PREFIX.size + SUMS.size

# The kind of record that is not needed once the look is finished.
PASSING = "groups"

# How much of a damaged file is looked at at once.
BLOCK_BYTES = 2**24

# To join fewer bytes than these takes less time than to write them piece by piece.
FEW_BYTES = 2**20

# The JSON of a record: that of a thousand configurations has less than a megabyte.
MOST_JSON = 2**28


@dataclass(frozen=True, slots=True)
class Record:
    """One record, as it was read.

    Attributes
    ----------
    kind : str
        What it tells of.
    fields : dict
        JSON values; :func:`~cvst.search.checkpoint._values.unpacked` makes the real
        ones of them.
    arrays : tuple of bytes
        Content of its arrays.
    """

    kind: str
    fields: dict[str, Any]
    arrays: tuple[bytes, ...]


def first_line() -> bytes:
    """Return the line that every checkpoint begins with."""
    return NAME + str(FORMAT).encode() + b"\n"


class Writer:
    """Turns records into bytes; each knows the one before.

    Parameters
    ----------
    n_records : int
        Records that are there already.
    last : bytes
        Checksum of the last of them.
    n_synced : int
        How many of them have reached the disk for sure.
    """

    def __init__(
        self, n_records: int = 0, last: bytes = b"", n_synced: int = 0
    ) -> None:
        self.n_records = n_records
        self.last = last
        self.n_synced = n_synced

    def parts(self, kind: str, fields: dict[str, Any]) -> list[bytes | memoryview]:
        """Return the bytes of the next record, in pieces where they are many."""
        arrays: list[np.ndarray] = []
        values = packed(fields, arrays)
        document: dict[str, Any] = {
            "kind": kind,
            "fields": values,
            "bytes": [array.nbytes for array in arrays],
        }
        text = json.dumps(document, allow_nan=False, separators=(",", ":")).encode()
        body: list[bytes | memoryview] = [struct.pack("<I", len(text)), text]
        if sum(document["bytes"]) < FEW_BYTES:
            body = [b"".join([*body, *(array.tobytes() for array in arrays)])]
        else:
            body += [array.reshape(-1).view(np.uint8).data for array in arrays]
        return self.framed(body)

    def framed(self, body: list[bytes | memoryview]) -> list[bytes | memoryview]:
        """Return a content with its number, length and checksums."""
        n_bytes = sum(map(len, body))
        prefix = PREFIX.pack(TAG, self.n_records, self.n_synced, n_bytes)
        # Begins with the last one: a record that is moved or left out breaks the chain.
        checksum = blake2b(self.last, digest_size=16)
        for part in body:
            checksum.update(part)
        sums = SUMS.pack(crc32(prefix), checksum.digest())
        self.n_records += 1
        self.last = checksum.digest()
        if n_bytes < FEW_BYTES:
            return [b"".join([prefix, sums, *body])]
        return [prefix, sums, *body]


class Place(NamedTuple):
    """Where a record is, and whether it is needed after the look under way.

    Of looks that overlap, each has a ticket, and is over in its own time.
    """

    start: int
    stop: int
    lasts: bool
    ticket: int | None = None


@dataclass(slots=True)
class Reading:
    """How far a file is good.

    Attributes
    ----------
    good_bytes : int
        Where the last good record ends.
    last : bytes
        Its checksum.
    places : list of Place
        Where all of them are.
    torn : int
        Bytes behind them that make no sense.
    n_synced : int
        How many of them have reached the disk for sure.
    is_cut : bool
        Whether those bytes are the beginning of a record, as far as can be seen.
    """

    good_bytes: int = 0
    last: bytes = b""
    places: list[Place] = field(default_factory=list)
    torn: int = 0
    n_synced: int = 0
    is_cut: bool = True

    @property
    def n_records(self) -> int:
        """Number of good records."""
        return len(self.places)

    def begin(self, start: int) -> None:
        """Note where the first record begins."""
        self.good_bytes = start

    def note(self, stop: int, head: bytes, record: Record) -> None:
        """Note a good record, which ends here and begins with these bytes."""
        lasts, ticket = record.kind != PASSING, record.fields.get("ticket")
        self.places.append(Place(self.good_bytes, stop, lasts, ticket))
        self.good_bytes, self.last = stop, SUMS.unpack(head[PREFIX.size :])[1]
        self.n_synced = max(self.n_synced, PREFIX.unpack(head[: PREFIX.size])[2])

    def tear(self, size: int, *, is_cut: bool) -> None:
        """Note that what follows is not good, and whether it only ends too early."""
        self.torn, self.is_cut = size - self.good_bytes, is_cut


def read_records(path: Path, reading: Reading) -> Iterator[Record]:
    """Yield the records of a file, and note how far it is good.

    Raises
    ------
    CheckpointError
        If it is not a checkpoint, one of another format, or was changed.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(0)
        line = file.readline(len(NAME) + 20)
        if len(line) == size < len(first_line()) and first_line().startswith(line):
            # Cut within the first line: there is no record.
            reading.tear(size, is_cut=True)
            return
        _check_first_line(path, line)
        reading.begin(file.tell())
        while reading.good_bytes < size:
            head = file.read(PREFIX_BYTES)
            body = _body(head, file, size, reading)
            if body is None:
                reading.tear(size, is_cut=_is_beginning(head, size, reading))
                _refuse_changed(path, file, reading)
                return
            record = _record(path, reading.n_records + 1, body)
            reading.note(file.tell(), head, record)
            yield record


def _check_first_line(path: Path, line: bytes) -> None:
    version = line[len(NAME) :].strip()
    if not line.startswith(NAME) or not version.isdigit():
        raise CheckpointError(
            f"'{path}' is not a checkpoint of cvst. Name another, or one that does "
            "not exist yet."
        )
    if int(version[:9]) != FORMAT:
        raise CheckpointError(
            f"'{path}' has format {int(version[:9])}, and this version of cvst reads "
            f"format {FORMAT}. Go on with the version that wrote it, or name another "
            "file to begin anew."
        )


def _body(head: bytes, file: Any, size: int, reading: Reading) -> bytes | None:
    """Return the content of the next record, None if it is not as it was written."""
    length = _length(head, reading.n_records)
    # Before anything is read: a damaged length must not fill the memory.
    if length is None or file.tell() + length > size:
        return None
    body: bytes = file.read(length)
    checksum = blake2b(reading.last + body, digest_size=16).digest()
    return body if checksum == SUMS.unpack(head[PREFIX.size :])[1] else None


def _is_beginning(head: bytes, size: int, reading: Reading) -> bool:
    """Return whether a record begins here that the file is too short for."""
    if len(head) < PREFIX_BYTES:
        return head[: len(TAG)] == TAG[: len(head)]
    length = _length(head, reading.n_records)
    return length is not None and reading.good_bytes + PREFIX_BYTES + length > size


def _length(head: bytes, number: int) -> int | None:
    """Return the length of a content, None if the bytes before it are not good."""
    prefix = _prefix(head)
    return prefix[2] if prefix is not None and prefix[0] == number else None


def _prefix(head: bytes) -> tuple[int, int, int] | None:
    """Return number, records on disk and length, None if they are not good."""
    if len(head) < PREFIX_BYTES:
        return None
    tag, number, n_synced, length = PREFIX.unpack(head[: PREFIX.size])
    checksum, _ = SUMS.unpack(head[PREFIX.size : PREFIX_BYTES])
    good = tag == TAG and checksum == crc32(head[: PREFIX.size])
    return (number, n_synced, length) if good else None


def _refuse_changed(path: Path, file: Any, reading: Reading) -> None:
    """Raise an error if a record that is not good had reached the disk.

    Records that had not may be lost in any order when the power fails.
    """
    start = reading.good_bytes
    while True:
        file.seek(start)
        # Blocks overlap by a prefix, so that none is cut in two.
        block = file.read(BLOCK_BYTES + PREFIX_BYTES)
        if _says_it_was_there(block, reading.n_records):
            raise CheckpointError(
                f"'{path}' was changed: its record {reading.n_records + 1}, at byte "
                f"{reading.good_bytes:,}, does not have the checksum it was written "
                "with. Copy the file again, or name another file to begin anew."
            )
        if len(block) <= BLOCK_BYTES:
            return
        start += BLOCK_BYTES


def _says_it_was_there(block: bytes, number: int) -> bool:
    place = block.find(TAG)
    while place >= 0:
        later = _prefix(block[place : place + PREFIX_BYTES])
        if later is not None and later[0] > number and later[1] > number:
            return True
        place = block.find(TAG, place + 1)
    return False


def _record(path: Path, number: int, body: bytes) -> Record:
    try:
        (length,) = struct.unpack_from("<I", body)
        if length > MOST_JSON:
            raise ValueError(f"its JSON has {length:,} bytes")
        document = json.loads(body[4 : 4 + length])
        start, arrays = 4 + length, []
        for n_bytes in document["bytes"]:
            arrays.append(body[start : start + n_bytes])
            start += n_bytes
        return Record(str(document["kind"]), dict(document["fields"]), tuple(arrays))
    except (ValueError, KeyError, TypeError, struct.error, RecursionError) as error:
        raise CheckpointError(
            f"'{path}' is damaged: its record {number} holds nothing that cvst has "
            f"written ({type(error).__name__}: {error}). Name another file to begin "
            "anew."
        ) from error
