"""``cvst report``: tell of a search, from its folder of results or its checkpoint."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from cvst.cli.commands._options import place

__all__ = ["EPILOG", "HELP", "add_arguments", "run"]

# What a checkpoint begins with.
FIRST_WORDS = b"cvst checkpoint "

HELP = "show the results of a search, over or under way, and write its report"

EPILOG = """\
examples:
  cvst search houses.csv --target price --model krr --out results
  cvst report results
  cvst report results --html elsewhere.html
  cvst report results --json
  cvst search houses.csv --target price --model krr --checkpoint houses.race
  cvst report houses.race
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "folder",
        type=place,
        metavar="PATH",
        help="a folder that cvst search --out wrote, or the file of --checkpoint",
    )
    parser.add_argument(
        "--html",
        type=place,
        metavar="FILE",
        help="where to write the page (default: report.html in that folder, or "
        "beside that file under its name and .html)",
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace the file named by --html"
    )
    parser.add_argument("--json", action="store_true", help="print JSON for machines")


def run(options: Namespace) -> str:
    """Write the page and return what there is to tell."""
    # Imported late: --help must not wait for scikit-learn.
    if _is_checkpoint(options.folder):
        from cvst.cli.commands._report_checkpoint import report_checkpoint

        return report_checkpoint(options)
    from cvst.cli.commands._report_run import run_report

    return run_report(options)


def _is_checkpoint(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(FIRST_WORDS)) == FIRST_WORDS
