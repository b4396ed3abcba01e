"""One process at a time: a file beside the checkpoint says which one."""

from __future__ import annotations

import json
import os
import platform
import stat
import sys
import time
import warnings
from pathlib import Path
from typing import Any, BinaryIO

from cvst._users_line import users_line
from cvst.exceptions import CheckpointError, CheckpointWarning
from cvst.search._log import LOGGER

if sys.platform != "win32":
    import fcntl

__all__ = ["Lock"]

# More than that was not written by a lock.
MOST_BYTES = 10_000

# A link may lead to a file of somebody's, and a pipe waits for a writer.
CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
CAREFUL |= getattr(os, "O_BINARY", 0)

# A process that has just made the file gets this time to write it, and one that takes
# it over to say so.
WRITING_SECONDS, WRITING_TRIES = 0.5, 10


class Lock:
    """Holds the file ``PATH.lock`` from when it is taken until it is released.

    The file names its process. The kernel is told as well (``flock``): processes of
    another container may have the same host name, and cannot be asked for.

    Parameters
    ----------
    path : Path
        The checkpoint.
    """

    def __init__(self, path: Path) -> None:
        # Beside the file itself: it may be known by several names.
        file = Path(os.path.realpath(path))
        self.path = file.with_name(file.name + ".lock")
        self._checkpoint = path
        self._is_ours = False
        self._held: BinaryIO | None = None

    def take(self) -> None:
        """Make the file, or take over one whose process is gone.

        Raises
        ------
        CheckpointError
            If another process holds it, or may hold it on another machine.
        """
        # Between the first two the owner may have let it go.
        if not (self._taken() or self._taken_over() or self._taken()):
            raise self._in_use(self._owner())

    def release(self) -> None:
        """Let others have it, unless it was never taken or is somebody else's."""
        if not self._is_ours:
            return
        try:
            owner = self._owner()
            # Without a number in it: this process was interrupted while it wrote.
            if owner is not None and owner.get("pid", os.getpid()) == os.getpid():
                self.path.unlink(missing_ok=True)
        except OSError as error:
            # Disks that fail may only be read from then on; the race is over.
            warnings.warn(
                f"'{self.path}' cannot be removed: {error.strerror or error}. Delete "
                "it when that is possible, or let this process end.",
                CheckpointWarning,
                stacklevel=users_line(),
            )
        except CheckpointError:
            pass  # something else has that name by now
        self._is_ours = False
        self.let_go()

    def let_go(self) -> None:
        """Close the file: in a forked process too, or it would hold it for ever."""
        if self._held is not None:
            self._held.close()
        self._held = None
        _HELD.discard(self)

    def _taken(self) -> bool:
        """Make the file, and return whether it was not there yet."""
        try:
            handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except FileExistsError:
            return False
        self._is_ours = True
        self._hold(os.fdopen(handle, "wb"))
        return True

    def _hold(self, file: BinaryIO) -> None:
        """Write our name and stay the one that has the file open for itself."""
        self._held = file
        _HELD.add(self)
        file.write(json.dumps(_identity(os.getpid())).encode())
        file.flush()
        _is_alone(file)

    def _taken_over(self) -> bool:
        """Write our name into the file of a process that is gone.

        Returns
        -------
        bool
            Whether the file was still there.
        """
        try:
            file = os.fdopen(self._opened(os.O_RDWR), "r+b")
        except FileNotFoundError:
            return False
        except PermissionError:
            raise self._in_use(self._owner()) from None
        try:
            # One after the other: the second finds the name of the first. The
            # file stays where it is, so that none can remove a fresh one.
            owner = self._gone(file)
            if owner is None:
                file.close()
                return False
            self._is_ours = True
            file.truncate()
            self._hold(file)
        except BaseException:
            self.let_go()
            file.close()
            raise
        LOGGER.warning(
            "the lock %s was left by process %s, which is gone: it is taken over",
            self.path,
            owner.get("pid"),
        )
        return True

    def _gone(self, file: BinaryIO) -> dict[str, Any] | None:
        """Return the owner that is gone, None if the file is; raise if it is there."""
        for _ in range(WRITING_TRIES):
            alone = _is_alone(file)
            owner = self._owner()
            if owner is None or not self._is_here(file):
                return None
            if owner.get("host") != platform.node():
                raise self._in_use(owner)
            if _is_elsewhere(owner):
                # Whoever has just written its name is about to tell the kernel.
                if alone and _is_alone(file, again=True):
                    return owner
                raise self._in_use(owner)
            if _is_running(owner):
                raise self._in_use(owner)
            if alone is not False:
                return owner
            time.sleep(WRITING_SECONDS / WRITING_TRIES)
        raise self._in_use(owner)

    def _is_here(self, file: BinaryIO) -> bool:
        """Return whether an open file still has the name of the lock."""
        try:
            return os.path.samestat(os.fstat(file.fileno()), self.path.lstat())
        except FileNotFoundError:
            return False

    def _opened(self, flags: int) -> int:
        """Open the file if it is one: no search makes anything else of that name."""
        if not stat.S_ISREG(self.path.lstat().st_mode):
            raise CheckpointError(
                f"'{self._checkpoint}' cannot be used: '{self.path}' is not a regular "
                "file, so no search has made it. Remove it, or name another checkpoint."
            )
        return os.open(self.path, flags | CAREFUL)

    def _owner(self) -> dict[str, Any] | None:
        """Return which process holds the file, None if it is not there."""
        try:
            content = self._content()
            owner = json.loads(content) if content else {"host": platform.node()}
        except FileNotFoundError:
            return None
        except CheckpointError:
            raise
        except ValueError:
            owner = {}
        return owner if isinstance(owner, dict) else {}

    def _content(self) -> bytes:
        """Return what is written there; nothing if it was left before that."""
        for _ in range(WRITING_TRIES):
            with os.fdopen(self._opened(os.O_RDONLY), "rb") as file:
                content = file.read(MOST_BYTES)
            if content:
                return content
            time.sleep(WRITING_SECONDS / WRITING_TRIES)
        return b""

    def _in_use(self, owner: dict[str, Any] | None) -> CheckpointError:
        owner = owner or {}
        host, pid = owner.get("host"), owner.get("pid")
        if host is None:
            return CheckpointError(
                f"'{self._checkpoint}' is in use: there is '{self.path}', which does "
                "not say by whom. If no search uses it, delete that file."
            )
        if host != platform.node() or _is_elsewhere(owner):
            where = f"on the machine {str(host)!r}"
            if host == platform.node():
                where = "in another container"
            return CheckpointError(
                f"'{self._checkpoint}' is in use by process {pid} {where}, which "
                "cannot be seen from here. If that search is gone, delete "
                f"'{self.path}'."
            )
        who = "this process" if pid == os.getpid() else f"process {pid}"
        return CheckpointError(
            f"'{self._checkpoint}' is in use by {who}, which is still running. Wait "
            "until it is done, or name another checkpoint."
        )


def _is_alone(file: BinaryIO, *, again: bool = False) -> bool | None:
    """Become the only one that has a file open for itself, until it is closed.

    Parameters
    ----------
    file : file object
        The file.
    again : bool
        Whether to give it up for a moment, so that another one may be faster.

    Returns
    -------
    bool or None
        Whether that went well; None where nobody can tell.
    """
    # On Windows a lock is never taken over: see _is_running.
    if sys.platform == "win32":
        return None
    try:
        if again:
            fcntl.flock(file, fcntl.LOCK_UN)
            time.sleep(WRITING_SECONDS / WRITING_TRIES)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some disks that are shared cannot
        return None
    return True


# Locks that this process holds, whether or not anybody else remembers them.
_HELD: set[Lock] = set()


def _let_all_go() -> None:
    for lock in list(_HELD):
        lock.let_go()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_all_go)


def _identity(pid: int) -> dict[str, Any]:
    host, began = platform.node(), _began(pid)
    return {"pid": pid, "host": host, "began": began, "space": _space()}


def _space() -> int | None:
    """Return what tells containers of one machine apart, if known."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return None


def _is_elsewhere(owner: dict[str, Any]) -> bool:
    """Return whether the number of a process means nothing here."""
    return owner.get("space") not in (None, _space())


# States of a process that is over, and whose parent has not asked how it ended.
ENDED = ("Z", "X")


def _began(pid: int) -> str | None:
    """Return what tells a process from a later one of the same number, if known."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        # The name of the program may hold blanks and brackets; fields follow it.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        if fields[0] in ENDED:
            return "ended"
        return f"{boot} {fields[19]}"
    except (OSError, IndexError):
        return None


def _is_running(owner: dict[str, Any]) -> bool:
    if set(owner) == {"host"}:
        return False  # it ended before it wrote its number
    pid, began = owner.get("pid"), owner.get("began")
    if type(pid) is not int or pid <= 0:
        return True  # not written by us, so it may be in use
    if os.name == "nt":
        return True  # a signal that only asks would end it there
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return began is None or _began(pid) in (None, began)
