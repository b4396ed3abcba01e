"""``cvst report``: tell of a search again, from its folder of results."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

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
    parser.add_argument(
        "--overwrite", action="store_true", help="replace the file named by --html"
    )
    parser.add_argument("--json", action="store_true", help="print JSON for machines")


def run(options: Namespace) -> str:
    """Write the page and return what the search printed."""
    # Imported late: --help must not wait for scikit-learn.
    from cvst.cli.commands._report_run import run_report

    return run_report(options)
