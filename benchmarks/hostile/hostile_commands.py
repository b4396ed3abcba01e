"""One hostile command: files and options drawn by a seed, and whether all is explained.

A command ends with 0, or with 2 and one sentence on standard error; never with a
traceback, never without an end. What it was not asked to write is as before: files,
folders, and the process it runs in.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from hostile_command_lines import Command, files_of

__all__ = ["CommandResult", "run_command"]

# Processor seconds: a command takes a tenth of one, those with a budget less than two.
SECONDS = 60

CODES, INTERRUPTED = (0, 2), 130

# Variables that workers and OpenMP read; they stay.
SET_ONCE = {"PYTHONWARNINGS", "GOMP_SPINCOUNT"}

# What ``--out`` writes.
RESULTS = {
    *("winner.json", "model.skops", "cv_results.csv", "report.html", "race.json.gz"),
    *("summary.json", "command.txt"),
}

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x9b\u202e]")
# What only an error of ours, or one that nobody put into words, would say.
UNWORDED = re.compile(
    r"(?<!' )object is not callable|object has no attribute|not subscriptable|NoneType"
    r"|unexpected keyword|<class '|unsupported operand|Traceback"
    r"|(Key|Index|Attribute|Unbound\w+)Error"
)


@dataclass(frozen=True)
class CommandResult:
    """What came of a command."""

    case: Command
    outcome: str
    trouble: list[str]


class HangError(BaseException):
    """A command takes far longer than any should."""


def run_command(command: Command) -> CommandResult:
    """Run a command in a folder of its own, and say what is not explained."""
    from cvst.cli import main

    here, trouble, outcome = Path.cwd(), [], ""
    with tempfile.TemporaryDirectory() as outside:
        folder = Path(outside) / "here"
        _furnish(folder, files_of(command))
        before = _contents(folder)
        process, n_modules = _process(), len(sys.modules)
        os.chdir(folder)
        old_temp, tempfile.tempdir = tempfile.tempdir, str(Path(outside) / "temp")
        Path(tempfile.tempdir).mkdir()
        try:
            for _ in range(1 + command.twice):
                outcome, found = _watched(main, list(command.arguments))
                trouble += found
        finally:
            os.chdir(here)
            left, tempfile.tempdir = _names(tempfile.tempdir), old_temp
        trouble += _left_behind(before, _contents(folder), list(command.arguments))
        if left:
            trouble.append(f"left in the temporary folder: {left}")
        if _names(outside) != ["here", "temp"]:
            trouble.append(f"left outside: {_names(outside)}")
        # Packages that are imported late may add filters and variables of their own.
        now = _process() if len(sys.modules) == n_modules else process
        trouble += [
            f"{name} is {now[name]!r} and was {then!r}"
            for name, then in process.items()
            if then != now[name]
        ]
    return CommandResult(command, outcome, trouble)


def _names(folder: str) -> list[str]:
    return sorted(one.name for one in Path(folder).iterdir())


def _furnish(folder: Path, files: dict[str, bytes]) -> None:
    """Make a folder with the files of a command, and with others that lie about."""
    (folder / "folder").mkdir(parents=True)
    (folder / "full").mkdir()
    (folder / "full" / "dear.txt").write_bytes(b"dear")
    (folder / "full" / "winner.json").write_bytes(b"old")
    (folder / "file").write_bytes(b"dear")
    (folder / "empty").write_bytes(b"")
    (folder / "garbage").write_bytes(b"cvst checkpoint 3\n\x00\xff")
    (folder / "link").symlink_to("file")
    (folder / "dangling").symlink_to("nowhere")
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)


def _contents(folder: Path) -> dict[str, bytes | None]:
    """Return all files below a folder; None for folders and links to nowhere."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def _process() -> dict[str, object]:
    """Return what a command must leave as it was."""
    return {
        "the current folder": Path.cwd(),
        "the path": list(sys.path),
        "the environment": sorted(set(os.environ) - SET_ONCE),
        "the number of threads": threading.active_count(),
        "the filters of warnings": len(warnings.filters),
        "the errors of NumPy": np.geterr(),
        "the handler of SIGTERM": signal.getsignal(signal.SIGTERM),
        "standard output": sys.stdout,
    }


def _watched(main, arguments) -> tuple[str, list[str]]:
    """Run a command; return how it ended, and what of it is not explained."""
    out, err = io.BytesIO(), io.BytesIO()
    # As in a terminal: what cannot be encoded is an error in
    # the first and is escaped in the second.
    wrapped = (
        io.TextIOWrapper(out, "utf-8", write_through=True),
        io.TextIOWrapper(err, "utf-8", "backslashreplace", write_through=True),
    )
    hung = []

    def hang(number, frame):
        hung.append("".join(traceback.format_stack(frame)[-6:]))
        raise HangError

    handler = signal.signal(signal.SIGPROF, hang)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    code: object = None
    trouble = []
    try:
        with (
            contextlib.redirect_stdout(wrapped[0]),
            contextlib.redirect_stderr(wrapped[1]),
        ):
            code = main(arguments)
    except SystemExit as stop:
        code = stop.code or 0
    except BaseException as error:
        raised = "".join(traceback.format_exception(error)[-3:])[-1500:]
        trouble.append(f"raised {type(error).__name__}: {error}"[:200] + f"\n{raised}")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
    if code == INTERRUPTED:
        # It was this run that somebody ended: no case does that to itself.
        raise KeyboardInterrupt
    trouble += [f"hangs: {one}" for one in hung]
    said = out.getvalue().decode(errors="replace"), err.getvalue().decode()
    if not trouble:
        trouble = [f"{one}: {said[1][-600:]!r}" for one in _odd(code, *said, arguments)]
    return f"code {code}", trouble


def _odd(code, out: str, err: str, arguments: list[str]) -> list[str]:
    """Say what is wrong with how a command ended and with what it said."""
    checks = {
        f"ended with {code!r}": code not in CODES,
        "speaks to the terminal": CONTROL.search(out) or CONTROL.search(err),
        "a warning as Python prints it": re.search(r"\.py:\d+: \w*Warning", err),
    }
    if code == 0:
        asked = "--json" in arguments and "--help" not in arguments
        checks |= {
            "says nothing": not out.strip(),
            f"no JSON: {out[:100]!r}": asked and not _is_json(out),
        }
    else:
        lines = _complaint(err, arguments)
        is_grid = "^" in lines[-1]  # shown with a caret below the place
        checks |= {
            "not one sentence": len(lines) != (3 if is_grid else 1),
            "not said by cvst": not lines[0].startswith("cvst"),
            "says nearly nothing": len(lines[0].partition(": ")[2]) < 12,
            "not in words": UNWORDED.search(err),
            "says too much": len(err) > 2000,
        }
    return [text for text, is_wrong in checks.items() if is_wrong]


def _complaint(err: str, arguments: list[str]) -> list[str]:
    """Return the lines of an error, without what was shown of a race before it."""
    # Taken for a model, this function prints, with --json to standard error.
    speaks = "--quiet" not in arguments or "sklearn:show_versions" in arguments
    start = err.rfind("\ncvst ") + 1 if speaks else 0
    if "--live" in arguments and err.startswith("The race is shown"):
        start = max(start, err.find("\n") + 1)
    return err[start:].strip("\n").split("\n")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _left_behind(before, after, arguments) -> list[str]:
    """Say which files changed that a command was not asked to write."""
    asked = {
        option: value
        for option, value in pairwise(arguments)
        if option in ("--out", "-o", "--checkpoint", "--html")
    }
    real = {name: os.path.normpath(value) for name, value in asked.items() if value}
    out = real.get("--out", "\0")
    allowed = {value for value in real.values() if value != "."}
    allowed |= {os.path.normpath(f"{out}/{name}") for name in RESULTS}
    if arguments[:1] == ["report"] and len(arguments) > 1:
        place = os.path.normpath(arguments[1] or ".")
        allowed |= {f"{place}.html", os.path.normpath(f"{place}/report.html")}
    if "dangling" in allowed:
        allowed.add("nowhere")
    # Folders above what was asked for are made.
    above = {str(one) for path in allowed for one in Path(path).parents}
    dear = {"file", "garbage", "full/dear.txt", "link"}
    dear |= {name for name in before if name.startswith(("table", "g."))}
    if "--overwrite" in arguments:
        dear -= {real.get("--html", "")}
    if "--overwrite" not in arguments and arguments[:1] == ["search"]:
        dear |= {"full/winner.json"}
    found = [
        f"{name!r} is left behind"
        for name in after
        if name not in before and name not in allowed | above
    ]
    found += [f"{name!r} is gone" for name in before if name not in after]
    found += [
        f"{name!r} was changed"
        for name in before
        if name in after and before[name] != after[name] and name in dear
    ]
    return found
