"""``cvst report``: tell of a search again, from its folder of results."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from cvst.cli._extras import MissingExtraError
from cvst.cli.results import FILES, RACE_FILE, SUMMARY_FILE, result_text, write_file
from cvst.exceptions import InvalidInputError
from cvst.report import read_race

__all__ = ["EPILOG", "HELP", "add_arguments", "run"]

HELP = "show the results of an earlier search, and write its report again"

EPILOG = """\
examples:
  cvst search houses.csv --target price --model krr --out results
  cvst report results
  cvst report results --html elsewhere.html
  cvst report results --json
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "folder", type=Path, metavar="DIR", help="what cvst search --out wrote"
    )
    parser.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="where to write the page (default: report.html in that folder)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON for machines")


def run(options: Namespace) -> str:
    """Write the page and return what the search printed."""
    folder: Path = options.folder
    _check(folder)
    summary = _summary(folder / SUMMARY_FILE)
    target = options.html or folder / "report.html"
    try:
        page = read_race(folder / RACE_FILE).html()
    except ImportError as error:
        raise MissingExtraError(str(error)) from error
    write_file(target, page.encode())
    # The folder may have been moved, or some of its files removed.
    present = [folder / name for name in FILES if (folder / name).exists()]
    summary["files"] = [str(path) for path in dict.fromkeys([*present, target])]
    return json.dumps(summary, indent=2) if options.json else result_text(summary)


def _check(folder: Path) -> None:
    if not folder.is_dir():
        problem = "is a file" if folder.exists() else "does not exist"
        raise InvalidInputError(
            f"'{folder}' {problem}. Name a folder that cvst search --out has written."
        )
    for name in (RACE_FILE, SUMMARY_FILE):
        if not (folder / name).is_file():
            raise InvalidInputError(
                f"'{folder}' holds no {name}, so it is no folder of results. Name one "
                "that cvst search --out has written."
            )


def _summary(path: Path) -> dict[str, Any]:
    """Read the document of a search, or say what is wrong with it."""
    try:
        summary = json.loads(path.read_bytes())
        result_text(summary)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInputError(
            f"'{path}' is damaged, or was written by another version of cvst "
            f"({type(error).__name__}: {error}). Run the search again."
        ) from error
    values: dict[str, Any] = summary
    return values
