"""What ``cvst report`` does: read a folder of results and write its page again."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

from cvst.cli._extras import MissingExtraError
from cvst.cli.results import FILES, RACE_FILE, SUMMARY_FILE, result_text, write_file
from cvst.exceptions import CVSTError, InvalidInputError
from cvst.report import read_race

__all__ = ["run_report"]

# The document of a search with thousands of looks has less.
MOST_BYTES = 100_000_000


def run_report(options: Namespace) -> str:
    """Write the page and return what the search printed."""
    folder: Path = options.folder
    _check(folder)
    summary = _summary(folder / SUMMARY_FILE)
    target = options.html or folder / "report.html"
    if options.html is not None and target.exists() and not options.overwrite:
        raise InvalidInputError(
            f"--html '{target}' exists already. Choose another name, or allow it with "
            "--overwrite."
        )
    # The page would take its place: of /dev/null, too, if root asks.
    if target.exists() and not target.is_file():
        raise InvalidInputError(
            f"--html '{target}' is not a regular file. Choose another name."
        )
    try:
        page = read_race(folder / RACE_FILE).html()
    except CVSTError:
        raise
    except ImportError as error:
        raise MissingExtraError(str(error)) from error
    except Exception as error:
        # Parts may be there, but not as the page takes them.
        raise _damaged(folder / RACE_FILE, error) from error
    write_file(target, page.encode(errors="backslashreplace"))
    # The folder may have been moved, or some of its files removed.
    present = [folder / name for name in FILES if (folder / name).exists()]
    summary["files"] = [str(path) for path in dict.fromkeys([*present, target])]
    if options.json:
        return json.dumps(summary, indent=2)
    return result_text(summary, is_ours=False)


def _check(folder: Path) -> None:
    if not folder.is_dir():
        problem = "is a file" if folder.exists() else "does not exist"
        raise InvalidInputError(
            f"'{folder}' {problem}. Name a folder that cvst search --out has written, "
            "or the file of --checkpoint."
        )
    for name in (RACE_FILE, SUMMARY_FILE):
        if not (folder / name).is_file():
            raise InvalidInputError(
                f"'{folder}' holds no {name}, so it is not a folder of results. Name "
                "one that cvst search --out has written."
            )


def _summary(path: Path) -> dict[str, Any]:
    """Read the document of a search, or say what is wrong with it."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES:,} bytes")
        summary = json.loads(content)
        # Tried here, since damage shows when the text is made.
        result_text(summary | {"files": ["model.skops"]}, is_ours=False)
    except OSError:
        raise
    except Exception as error:
        # Whoever wrote it may have written anything.
        raise _damaged(path, error) from error
    values: dict[str, Any] = summary
    return values


def _damaged(path: Path, error: Exception) -> InvalidInputError:
    why = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return InvalidInputError(
        f"'{path}' is damaged, or was written by another version of cvst ({why}). Run "
        "the search again."
    )
