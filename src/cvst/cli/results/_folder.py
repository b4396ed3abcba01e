"""The folder of results: every file is complete, or it is not there."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cvst.cli._extras import need
from cvst.cli.results._looks import plain
from cvst.exceptions import CVSTError, InvalidInputError

__all__ = [
    "FILES",
    "RACE_FILE",
    "SUMMARY_FILE",
    "ModelNotSavedError",
    "check_folder",
    "json_bytes",
    "model_bytes",
    "results_csv",
    "write_file",
    "write_folder",
]

RACE_FILE = "race.json.gz"
SUMMARY_FILE = "summary.json"
FILES = (
    "winner.json",
    "model.skops",
    "cv_results.csv",
    "report.html",
    RACE_FILE,
    SUMMARY_FILE,
    "command.txt",
)


# Spreadsheets run text that begins so.
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")


class ModelNotSavedError(CVSTError):
    """The model cannot be written to a file, or not be read from it again."""


def check_folder(folder: Path, overwrite: bool) -> None:
    """Refuse, before any work is done, a folder that cannot be written or is in use."""
    if "\0" in str(folder):
        raise InvalidInputError(
            f"--out {str(folder)!r} cannot be the name of a folder."
        )
    try:
        folder.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        # A name that is too long: since Python 3.14, exists() only says that it is not.
        raise InvalidInputError(
            f"--out '{folder}' cannot be the name of a folder: {error.strerror}."
        ) from None
    _check_ways_back(folder)
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(f"--out '{folder}' is a file, not a folder.")
    present = [name for name in FILES if (folder / name).exists()]
    if present and not overwrite:
        raise InvalidInputError(
            f"--out '{folder}' already holds {present[0]}. Choose another folder, or "
            "allow it with --overwrite."
        )
    # The first folder that is there tells whether the missing ones can be made;
    # else hours of work would end in an error.
    nearest = folder.absolute()
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise InvalidInputError(
            f"--out '{folder}' cannot be made: '{nearest}' is not a folder that you "
            "may write to."
        )


def _check_ways_back(folder: Path) -> None:
    """Refuse ``..`` after a folder that is not there.

    To make it would leave a folder that nobody asked for, and what is at the end of the
    way would not be seen before it is replaced.
    """
    for place, part in enumerate(folder.parts):
        before = Path(*folder.parts[:place])
        if part == ".." and not before.exists():
            raise InvalidInputError(
                f"--out '{folder}' goes back from '{before}', which is not there. Name "
                "the folder without '..'."
            )


def write_folder(folder: Path, contents: Mapping[str, bytes]) -> list[Path]:
    """Write all files under temporary names first, then give them theirs.

    Parameters
    ----------
    folder : Path
        Made if need be.
    contents : mapping of str to bytes
        Files by name. Files of an earlier run that are not among them are removed, so
        that no model stays beside the results of another race.
    """
    folder.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".cvst-", dir=folder))
    try:
        for name, content in contents.items():
            with (temporary / name).open("wb") as file:
                file.write(content)
                file.flush()
                # Else a crash after the renaming may leave empty files.
                os.fsync(file.fileno())
        _exchange(folder, temporary, list(contents))
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return [folder / name for name in contents]


def _exchange(folder: Path, temporary: Path, names: list[str]) -> None:
    """Replace old files by new ones, or leave the old ones as they were."""
    kept = temporary / "old"
    kept.mkdir()
    try:
        # Also files that this search does not write: an old report beside new results
        # would be read as theirs.
        for name in FILES:
            if (folder / name).exists():
                (folder / name).replace(kept / name)
        for name in names:
            (temporary / name).replace(folder / name)
    except BaseException:
        # Ctrl-C may come right after a file got its name.
        for name in names:
            if not (temporary / name).exists():
                (folder / name).unlink()
        for old in kept.iterdir():
            old.replace(folder / old.name)
        raise


def write_file(path: Path, content: bytes) -> None:
    """Write one file that is complete or not there; its folder must exist."""
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidInputError(
            f"'{path}' cannot be written: it is not a file in an existing folder."
        )
    temporary = Path(tempfile.mkdtemp(prefix=".cvst-", dir=path.parent))
    try:
        (temporary / "file").write_bytes(content)
        (temporary / "file").replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def results_csv(results: Mapping[str, Any]) -> bytes:
    """Return ``cv_results_`` as CSV, the best first; parameters are in JSON too."""
    names = [name for name in results if name != "params"] + ["params"]
    order = sorted(
        range(len(results["params"])), key=lambda row: results["rank_test_score"][row]
    )
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(names)
    for row in order:
        writer.writerow([_cell(results[name][row]) for name in names])
    return buffer.getvalue().encode(errors="backslashreplace")


def _cell(value: Any) -> Any:
    """Write what is missing or not a number as nothing, dictionaries as JSON.

    Text that a spreadsheet would take for a formula gets a quote before it.
    """
    if value is np.ma.masked:
        return ""
    value = plain(value)
    if isinstance(value, dict | list):
        return json.dumps(value)
    if isinstance(value, str) and value.startswith(FORMULAS):
        return f"'{value}"
    return "" if value is None else value


def model_bytes(model: Any) -> tuple[bytes, list[str]]:
    """Return a fitted model in skops' format, and the types it does not know.

    Loading a skops file runs no code, but for types that skops does not know the
    reader must name the ones to trust.

    Raises
    ------
    ModelNotSavedError
        If skops cannot write the model, or not read it back: it writes lambdas, for
        example, but cannot find them again.
    """
    io_module = need("skops.io", "Saving the model")
    try:
        content: bytes = io_module.dumps(model)
        unknown = [str(name) for name in io_module.get_untrusted_types(data=content)]
    except Exception as error:  # skops raises whatever the parts of a model raise
        raise ModelNotSavedError(_not_saved("write", error)) from error
    try:
        # Some models are written without complaint and cannot be read.
        io_module.loads(content, trusted=unknown)
    except Exception as error:
        raise ModelNotSavedError(_not_saved("read back", error)) from error
    return content, unknown


def _not_saved(verb: str, error: Exception) -> str:
    why = " ".join(str(error).split()).rstrip(".")
    return (
        f"There is no model.skops: skops cannot {verb} this model "
        f"({type(error).__name__}: {why}). Its parameters are in winner.json."
    )


def json_bytes(value: Any) -> bytes:
    """Return a value as readable JSON."""
    return (json.dumps(plain(value), indent=2) + "\n").encode()
