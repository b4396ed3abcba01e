"""A control group of the kernel that kills what takes more memory than a limit."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

# Names of files by version of control groups: the limit, that of memory and swap
# together (1) or of swap alone (2), and what counts the processes killed.
LIMIT = {1: "memory.limit_in_bytes", 2: "memory.max"}
SWAP = {1: "memory.memsw.limit_in_bytes", 2: "memory.swap.max"}
COUNTS = {1: "memory.oom_control", 2: "memory.events"}


class NoGroupError(Exception):
    """No group can be made here; the text says why."""


@dataclass(frozen=True)
class MemoryGroup:
    """A folder that stands for a group."""

    folder: Path
    version: int

    @property
    def entrance(self) -> Path:
        """A process that writes its number there belongs to the group."""
        return self.folder / "cgroup.procs"

    @property
    def n_killed(self) -> int:
        """How many processes the kernel has killed for memory."""
        lines = (self.folder / COUNTS[self.version]).read_text().splitlines()
        return int(dict(line.split() for line in lines)["oom_kill"])

    def limit(self, n_bytes: int) -> None:
        """Let its processes have that much together, and no swap."""
        (self.folder / LIMIT[self.version]).write_text(str(n_bytes))
        with suppress(FileNotFoundError):
            swap = n_bytes if self.version == 1 else 0
            (self.folder / SWAP[self.version]).write_text(str(swap))


@contextmanager
def memory_group(n_bytes: int) -> Iterator[MemoryGroup]:
    """Make a group with a limit, and remove it.

    Raises
    ------
    NoGroupError
        Where this process may not make one.
    """
    group = _made(n_bytes)
    try:
        yield group
    finally:
        _remove(group)


def _made(n_bytes: int) -> MemoryGroup:
    reasons = []
    for parent, version in _parents():
        group = MemoryGroup(parent / f"cvst-test-{os.getpid()}", version)
        try:
            group.folder.mkdir()
        except OSError as error:
            reasons.append(str(error))
            continue
        try:
            group.limit(n_bytes)
            _ = group.n_killed
            _try(group)
        except (OSError, KeyError, subprocess.SubprocessError) as error:
            reasons.append(str(error))
            _remove(group)
        else:
            return group
    why = "; ".join(reasons) or "no control groups for memory are mounted"
    raise NoGroupError(f"cannot make a control group with a limit on memory: {why}")


def _parents() -> Iterator[tuple[Path, int]]:
    """Yield folders in which a group might be made, and their version."""
    with suppress(OSError):
        for line in Path("/proc/self/mounts").read_text().splitlines():
            _, place, kind, options, *_ = line.split()
            if kind == "cgroup" and "memory" in options.split(","):
                yield from _from(Path(place), "memory", 1)
            elif kind == "cgroup2":
                yield from _from(Path(place), "", 2)


def _from(mount: Path, controller: str, version: int) -> Iterator[tuple[Path, int]]:
    """Yield where this process is, its parents, and at last the root."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, own = line.split(":", 2)
        if controller in controllers.split(","):
            place = mount / own.lstrip("/")
            while place != mount and mount in place.parents:
                yield place, version
                place = place.parent
    yield mount, version


def _try(group: MemoryGroup) -> None:
    """Put a process into the group, as the tests will."""
    enter = "import os, sys; open(sys.argv[1], 'w').write(str(os.getpid()))"
    subprocess.run(
        [sys.executable, "-c", enter, str(group.entrance)],
        check=True,
        capture_output=True,
        timeout=300,
    )


def _remove(group: MemoryGroup) -> None:
    for _ in range(100):
        # Processes that have just ended still count for a moment.
        with suppress(OSError):
            group.folder.rmdir()
        if not group.folder.exists():
            return
        time.sleep(0.1)
