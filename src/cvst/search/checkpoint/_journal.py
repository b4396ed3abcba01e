"""The file of a checkpoint: append, make sure, and stay as it was if that fails."""

from __future__ import annotations

import errno
import os
import stat
import warnings
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple

from cvst._users_line import users_line
from cvst.exceptions import CheckpointError, CheckpointWarning
from cvst.search.checkpoint._records import (
    NAME,
    PREFIX_BYTES,
    Place,
    Reading,
    Writer,
    first_line,
)

__all__ = ["Journal", "create"]

# What finished looks leave behind is removed when it is more than this and more than
# all the rest.
MOST_WASTE = 2**24

# Not every system has all of these.
BINARY = getattr(os, "O_BINARY", 0)
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY
NEW_FILE |= getattr(os, "O_NOFOLLOW", 0)


def _real(path: Path) -> Path:
    """Return where a file is: links followed, wherever the process goes later."""
    return Path(os.path.realpath(path))


def create(path: Path, fields: dict[str, Any]) -> Reading:
    """Write a new checkpoint that holds its header, all at once.

    It reaches the disk with the first records, for which no race has to wait: until
    then there is nothing in it that could be lost.

    Raises
    ------
    CheckpointError
        If the file cannot be written.
    """
    writer = Writer()
    parts = [first_line(), *writer.parts("header", fields)]
    try:
        _replace(_real(path), parts, lasts=False)
    except OSError as error:
        raise CheckpointError(
            f"checkpoint='{path}' cannot be written: {error.strerror or error}. Name a "
            "file in a folder that exists and may be written to."
        ) from error
    size = sum(map(len, parts))
    places = [Place(len(parts[0]), size, lasts=True)]
    return Reading(size, writer.last, places)


def _replace(
    path: Path,
    parts: list[bytes | memoryview],
    *,
    lasts: bool = True,
    check: Callable[[], object] = lambda: None,
) -> os.stat_result:
    """Write a file so that it is there whole or not at all.

    Parameters
    ----------
    path, parts
        The file and its bytes.
    lasts : bool
        Whether it has to be so after a failure of the power, too.
    check : callable
        Is asked last, and raises if what has the name by now must stay.

    Returns
    -------
    os.stat_result
        What tells the new file from others.
    """
    fresh = _fresh(path)
    _remove_left(fresh)
    handle = os.open(fresh, NEW_FILE, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
            if lasts:
                file.flush()
                os.fsync(file.fileno())
            ours = os.fstat(file.fileno())
        check()
        fresh.replace(path)
        return ours
    finally:
        fresh.unlink(missing_ok=True)


def _fresh(path: Path) -> Path:
    return path.with_name(path.name + ".new")


def _remove_left(fresh: Path) -> None:
    """Remove what a crash left where a new file is written, or a link or a pipe.

    A link must not lead to a file of somebody's, and a pipe waits for a reader.

    Raises
    ------
    OSError
        If it is a file of somebody's.
    """
    try:
        is_file = stat.S_ISREG(fresh.lstat().st_mode)
    except FileNotFoundError:
        return
    if is_file:
        # A machine that crashed may leave zeros in place of what was written.
        with fresh.open("rb") as file:
            begins = file.read(len(NAME)).rstrip(b"\0")
        if not NAME.startswith(begins):
            said = f"'{fresh.name}' is in its way, and is no checkpoint"
            raise FileExistsError(errno.EEXIST, said)
    fresh.unlink(missing_ok=True)


def _sync_name(path: Path) -> None:
    """Let the name of a file reach the disk; not every system has folders to open."""
    with suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class _Written(NamedTuple):
    """What the file holds by now; in one piece, so that Ctrl-C cannot cut it in two."""

    n_records: int
    end: int
    last: bytes
    passing_bytes: int


class Journal:
    """Appends records to a file.

    A record that was appended outlives the process, and after :meth:`sync` the machine.

    Parameters
    ----------
    path : Path
        The file.
    reading : Reading
        What is there already; a torn tail is cut off.
    """

    def __init__(self, path: Path, reading: Reading) -> None:
        self.path = path
        self._file = _real(path)
        self._places = list(reading.places)
        self._written = _Written(
            len(self._places), reading.good_bytes, reading.last, _passing(self._places)
        )
        self._n_synced = reading.n_synced
        self._sync_failed = False
        self._is_name_synced = False
        # How often all was written anew.
        self._n_times = 0
        self._handle = _open(self._file)
        # What tells the file that has the name, and is ours, from those of others.
        self._ours = os.fstat(self._handle)
        os.ftruncate(self._handle, self._written.end)
        with suppress(OSError):
            # Left by a process that was killed while it wrote all anew.
            _remove_left(_fresh(self._file))

    def append(self, kind: str, fields: dict[str, Any], *, lasts: bool) -> None:
        """Write a record.

        Parameters
        ----------
        kind, fields
            The record.
        lasts : bool
            Whether it is needed when the look under way is finished.

        Raises
        ------
        OSError
            If it cannot be written; then the file is as before.
        """
        before = self._written
        # Ctrl-C may have come before the last one counted.
        del self._places[before.n_records :]
        writer = Writer(before.n_records, before.last, self._n_synced)
        parts = writer.parts(kind, fields)
        end = before.end + sum(map(len, parts))
        self._places.append(Place(before.end, end, lasts, fields.get("ticket")))
        passing = before.passing_bytes + _passing(self._places[-1:])
        after = _Written(before.n_records + 1, end, writer.last, passing)
        try:
            self._write(parts)
            # At once: Ctrl-C comes before the record counts, or when it does.
            self._written = after
        except BaseException:
            with suppress(OSError):
                os.ftruncate(self._handle, self._written.end)
            raise

    def _write(self, parts: list[bytes | memoryview]) -> None:
        os.lseek(self._handle, self._written.end, os.SEEK_SET)
        for part in parts:
            view = memoryview(part)
            while len(view):
                view = view[os.write(self._handle, view) :]

    @property
    def is_synced(self) -> bool:
        """Whether all records have reached the disk."""
        return self._n_synced == self._written.n_records

    def sync(self, busy: AbstractContextManager[Any] | None = None) -> None:
        """Return when all records have reached the disk.

        Parameters
        ----------
        busy : context manager, optional
            Keeps others from the file. It is not held while the disk is waited for;
            then records that come meanwhile count as not there yet.

        Raises
        ------
        OSError
            If they cannot, or another file has the name of this one by now.
        """
        busy = nullcontext() if busy is None else busy
        with busy:
            self._check_name()
            # A number of its own: the other may be closed meanwhile.
            handle, n_records, began = (
                os.dup(self._handle),
                self._written.n_records,
                self._n_times,
            )
        try:
            os.fsync(handle)
        except OSError:
            # What a disk could not take once it may have lost: a later sync that
            # succeeds says nothing about these records.
            self._sync_failed = True
            raise
        finally:
            os.close(handle)
        if not self._is_name_synced:
            _sync_name(self._file)
            self._is_name_synced = True
        with busy:
            if began == self._n_times and not self._sync_failed:
                self._n_synced = max(self._n_synced, n_records)

    def _check_name(self) -> None:
        """Write all anew if the file was removed: nobody would find what is in it."""
        if not self._is_there():
            del self._places[self._written.n_records :]
            self._write_anew([True] * len(self._places))
            warnings.warn(
                f"checkpoint='{self.path}' was removed while the race runs, and is "
                "written anew.",
                CheckpointWarning,
                stacklevel=users_line(),
            )

    def _is_there(self) -> bool:
        """Return whether the file has its name; what took it may be dear to somebody.

        Raises
        ------
        OSError
            If another file has it.
        """
        try:
            is_ours = os.path.samestat(self._ours, self._file.stat())
        except FileNotFoundError:
            return False
        if not is_ours:
            raise OSError("another file has its name by now")
        return True

    def tidy(self, tickets: Collection[int | None] = ()) -> None:
        """Leave out what finished looks no longer need, once that is worth it.

        Parameters
        ----------
        tickets : collection of int
            Looks that are not finished: their groups stay.
        """
        # Asked after every look: a long race must not go through all its records then.
        if not self._is_worth_it(self._written.passing_bytes):
            return
        del self._places[self._written.n_records :]
        needed = [one.lasts or one.ticket in tickets for one in self._places]
        pairs = zip(self._places, needed, strict=True)
        if not self._is_worth_it(_passing([one for one, stays in pairs if not stays])):
            return
        # A disk without room for both has room for the longer one. Of a file that took
        # the name the next sync tells.
        with suppress(OSError):
            self._is_there()
            self._write_anew(needed)

    def _is_worth_it(self, waste: int) -> bool:
        return waste > max(MOST_WASTE, self._written.end - waste)

    def _write_anew(self, needed: Sequence[bool]) -> None:
        writer, places = Writer(), []
        parts: list[bytes | memoryview] = [first_line()]
        end = len(parts[0])
        for one, stays in zip(self._places, needed, strict=True):
            if stays:
                parts += writer.framed([self._read(one.start + PREFIX_BYTES, one.stop)])
                stop = end + one.stop - one.start
                places.append(one._replace(start=end, stop=stop))
                end = stop
        written = _Written(len(places), end, writer.last, _passing(places))
        # It may have lost its name while the other was written.
        self._ours = _replace(self._file, parts, check=self._is_there)
        _sync_name(self._file)
        # First the new one: without it the number of the old one must stay ours.
        handle, before = _open(self._file), self._handle
        self._handle, self._places, self._written = handle, places, written
        self._n_synced, self._sync_failed = written.n_records, False
        self._n_times += 1
        os.close(before)

    def _read(self, start: int, stop: int) -> bytes:
        """Return bytes of the file that we write, whatever has its name by now."""
        os.lseek(self._handle, start, os.SEEK_SET)
        content = b""
        while len(content) < stop - start:
            more = os.read(self._handle, stop - start - len(content))
            if not more:
                raise OSError(f"bytes {start:,} to {stop:,} are gone")
            content += more
        return content

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)


def _passing(places: Sequence[Place]) -> int:
    """Return the bytes of records that are of no use once their look is over."""
    return sum(one.stop - one.start for one in places if not one.lasts)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | BINARY)
