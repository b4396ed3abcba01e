"""What was run, on disk: one line per search, only ever added.

A line is written whole or, if the machine dies, cut off and removed by the next writer.
Writers in several processes take turns by a lock, and a search that is there already
is not added again.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:
    # There are no such locks on Windows: one run at a time there.
    fcntl = None

__all__ = ["COLUMNS", "Key", "Run", "Store", "as_params"]

Key = tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """One search: a line of ``runs.csv``.

    Attributes
    ----------
    substitute : str
        What stands in for the paper's rows; empty if they are the paper's.
    n_train, n_rows_paper : int
        Rows learned from, here and in the paper.
    error : str
        Share of wrong classes or mean squared error (of the standardised target for
        the benchmark sets) of the refitted winner on the test rows; empty if there
        is no winner.
    seconds, wall_seconds : str
        Processor time and clock time of the search, without the final fit.
    survivors : str
        Configurations left after each step, joined by ";".
    params : str
        JSON of the winner, with the learner's tolerance and iterations for KLR.
    load : str
        Load average of the machine when the search ended.
    machine, device : str
        Where it ran: a name that seconds are compared within, and a card such as
        "cuda"; empty for the usual machine and for no card.
    day : str
        The day it ended (UTC), such as "2026-11-19"; for searches before that one,
        the day on which their lines were committed.
    """

    profile: str
    data: str
    substitute: str
    task: str
    learner: str
    d: str
    noise: str
    n_train: str
    n_rows_paper: str
    n_test: str
    n_configurations: str
    repetition: str
    method: str
    error: str
    seconds: str
    wall_seconds: str
    n_looks: str
    stop_reason: str
    survivors: str
    params: str
    load: str
    version: str
    machine: str = ""
    device: str = ""
    day: str = ""

    @property
    def key(self) -> Key:
        """What is run once only."""
        return tuple(getattr(self, name) for name in KEY)


KEY = ("profile", "data", "learner", "d", "noise", "n_train", "repetition", "method")
KEY += ("machine", "device")
COLUMNS = tuple(field.name for field in fields(Run))


class Store:
    """The lines of one file, which other processes may be adding to.

    Parameters
    ----------
    path : Path
        The file; it need not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def runs(self) -> dict[Key, Run]:
        """Read all whole lines."""
        if not self.path.exists():
            return {}
        return _parsed(_whole(self.path.read_bytes()))

    def add(self, run: Run) -> bool:
        """Add a line, unless that search is there; say whether it was added."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._locked() as handle:
            content = _read(handle)
            whole = _whole(content)
            if len(whole) < len(content):
                os.ftruncate(handle, len(whole))
            if run.key in _parsed(whole):
                return False
            line = _line(asdict(run).values())
            header = "" if whole else _line(COLUMNS)
            os.write(handle, (header + line).encode())
        return True

    @contextmanager
    def _locked(self) -> Iterator[int]:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        handle = os.open(self.path, flags, 0o644)
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield handle
        finally:
            os.close(handle)


def as_params(params: dict[str, Any] | None) -> str:
    """Return parameters as one line of JSON; empty if there are none."""
    return "" if params is None else json.dumps(params, sort_keys=True, default=float)


def _read(handle: int) -> bytes:
    os.lseek(handle, 0, os.SEEK_SET)
    parts = []
    while part := os.read(handle, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _whole(content: bytes) -> bytes:
    """Leave out a last line without an end; it may even stop within a letter."""
    return content[: content.rfind(b"\n") + 1]


def _line(values: Any) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(values)
    return buffer.getvalue()


def _parsed(content: bytes) -> dict[Key, Run]:
    reader = csv.DictReader(io.StringIO(content.decode("utf-8"), newline=""))
    if content and tuple(reader.fieldnames or ()) != COLUMNS:
        raise ValueError(
            f"The file of runs has the columns {reader.fieldnames}, not "
            f"{list(COLUMNS)}. Move it away or use another --output."
        )
    runs: dict[Key, Run] = {}
    for row in reader:
        run = Run(**row)
        runs[run.key] = run
    return runs
