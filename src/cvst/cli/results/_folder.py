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
from cvst.exceptions import InvalidInputError

__all__ = [
    "FILES",
    "RACE_FILE",
    "SUMMARY_FILE",
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


def check_folder(folder: Path, overwrite: bool) -> None:
    """Refuse, before any work is done, a folder that cannot be written or is in use."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(f"--out '{folder}' is a file, not a folder.")
    present = [name for name in FILES if (folder / name).exists()]
    if present and not overwrite:
        raise InvalidInputError(
            f"--out '{folder}' already holds {present[0]}. Choose another folder, or "
            "allow it with --overwrite."
        )
    nearest = folder.absolute()
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise InvalidInputError(
            f"--out '{folder}' cannot be made: '{nearest}' is no folder that may be "
            "written to."
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
                os.fsync(file.fileno())
        for name in set(FILES) - set(contents):
            (folder / name).unlink(missing_ok=True)
        for name in contents:
            (temporary / name).replace(folder / name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return [folder / name for name in contents]


def write_file(path: Path, content: bytes) -> None:
    """Write one file that is complete or not there; its folder must exist."""
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidInputError(
            f"'{path}' cannot be written: it is no file in an existing folder."
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
    return buffer.getvalue().encode()


def _cell(value: Any) -> Any:
    """Write what is missing or not a number as nothing, dictionaries as JSON."""
    if value is np.ma.masked:
        return ""
    value = plain(value)
    if isinstance(value, dict | list):
        return json.dumps(value)
    return "" if value is None else value


def model_bytes(model: Any) -> tuple[bytes, list[str]]:
    """Return a fitted model in skops' format, and the types it does not know.

    Loading a skops file runs no code, but for types that skops does not know the
    reader must name the ones to trust.
    """
    io_module = need("skops.io", "Saving the model")
    content: bytes = io_module.dumps(model)
    unknown = [str(name) for name in io_module.get_untrusted_types(data=content)]
    return content, unknown


def json_bytes(value: Any) -> bytes:
    """Return a value as readable JSON."""
    return (json.dumps(plain(value), indent=2) + "\n").encode()
