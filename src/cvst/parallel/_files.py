"""Rows in temporary files, which the workers of a search share."""

from __future__ import annotations

import io
import os
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

import numpy as np

from cvst.parallel._orphans import end_with
from cvst.parallel._pickling import cloudpickle, pickling

if sys.platform != "win32":
    import fcntl

__all__ = ["OnFile", "on_file", "scratch_folder"]

T = TypeVar("T")

# Arrays below this size travel faster inside the task than through a file.
SMALLEST_MAPPED_BYTES = 1_000_000

# Kinds of NumPy arrays that a file of NumPy's own holds as they are.
STORABLE = "biufcmMSU"

PREFIX, LOCK = "cvst-rows-", "in-use"

# A folder without a lock is just being made, unless it is that old.
SECONDS_TO_LOCK = 3600.0


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a temporary folder, and remove those that killed searches left behind."""
    _sweep(Path(tempfile.gettempdir()))
    with (
        tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as at,
        (Path(at) / LOCK).open("wb") as lock,
    ):
        # The system lets go of it when the process ends, however that happens.
        _locked(lock)
        yield Path(at)


def _sweep(parent: Path) -> None:
    """Remove folders whose owner is gone."""
    if sys.platform == "win32":
        return  # files in use cannot be removed there, and others cannot be told
    with suppress(OSError):
        for folder in parent.glob(f"{PREFIX}*"):
            if _abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _abandoned(folder: Path) -> bool:
    try:
        status = folder.lstat()
        if folder.is_symlink() or status.st_uid != os.getuid():
            return False
        try:
            with (folder / LOCK).open("rb+") as lock:
                return _locked(lock)
        except FileNotFoundError:
            return time.time() - status.st_mtime > SECONDS_TO_LOCK
    except OSError:
        return False


def _locked(file: IO[bytes]) -> bool:
    """Lock a file if no other process has; closing it unlocks it."""
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True


class OnFile(Generic[T]):
    """A value that travels to another process as the names of files.

    The receiver finds the value itself, read once per process.
    """

    def __init__(
        self,
        value: T,
        key: str,
        paths: tuple[str, ...],
        change: Callable[[T], T] | None = None,
    ) -> None:
        self.value = value
        self._key = key
        self._paths = paths
        self._change = change
        self._owner = os.getpid()

    def changed(self, change: Callable[[T], T]) -> OnFile[T]:
        """Return what a function makes of the value, there where it is needed."""
        return OnFile(change(self.value), self._key, self._paths, change)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _found, (self._owner, self._key, self._paths, self._change)


@contextmanager
def on_file(value: T) -> Iterator[OnFile[T]]:
    """Write a value to temporary files, from which workers map its arrays."""
    with scratch_folder() as folder, ExitStack() as held:
        content = io.BytesIO()
        writer = _Writer(content, folder)
        with pickling():
            writer.dump(value)
        (folder / "value").write_bytes(content.getbuffer())
        paths = [folder / "value", *writer.paths]
        names = tuple(map(str, paths))
        if _reaches_held_files():
            names = tuple(_held(path, held) for path in paths)
            shutil.rmtree(folder, ignore_errors=True)
        # The folder is part of it, since numbers of open files are used again.
        yield OnFile(value, str(folder), names)


def _reaches_held_files() -> bool:
    """Return whether workers can open what this process holds open.

    Then files need no name, and vanish with the processes that use them, however these
    end. Linux can; a process that may not be looked into belongs to root there.
    """
    try:
        return Path(f"/proc/{os.getpid()}/fd").stat().st_uid == os.geteuid()
    except (OSError, AttributeError):
        return False


def _held(path: Path, held: ExitStack) -> str:
    """Open a file for as long as the others are, and return where workers find it."""
    file = held.enter_context(path.open("rb"))
    return f"/proc/{os.getpid()}/fd/{file.fileno()}"


class _Writer(cloudpickle.Pickler):
    """Pickles a value, and puts its large arrays into files of their own."""

    def __init__(self, file: IO[bytes], folder: Path) -> None:
        super().__init__(file)
        self._folder = folder
        self._written: list[Any] = []
        self.paths: list[Path] = []

    def persistent_id(self, value: Any) -> int | None:
        if type(value) not in (np.ndarray, np.memmap):
            return None
        if value.dtype.kind not in STORABLE or value.nbytes < SMALLEST_MAPPED_BYTES:
            return None
        # By identity: to compare contents would read them all once more.
        for number, known in enumerate(self._written):
            if known is value:
                return number
        number = len(self._written)
        path = self._folder / f"{number}.npy"
        np.save(path, np.asarray(value), allow_pickle=False)
        self._written.append(value)
        self.paths.append(path)
        return number


class _Reader(pickle.Unpickler):
    def __init__(self, file: IO[bytes], paths: Sequence[str]) -> None:
        super().__init__(file)
        self._paths = paths

    def persistent_load(self, number: Any) -> Any:
        return np.load(self._paths[number], mmap_mode="r")


def _found(
    owner: int, key: str, paths: tuple[str, ...], change: Callable[[Any], Any] | None
) -> Any:
    end_with(owner)
    value = _read(key, paths)
    return value if change is None else change(value)


# One only: the rows of an earlier search must not stay in memory.
@lru_cache(maxsize=1)
def _read(key: str, paths: tuple[str, ...]) -> Any:
    del key
    with Path(paths[0]).open("rb") as file:
        return _Reader(file, paths[1:]).load()
