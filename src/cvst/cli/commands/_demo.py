"""``cvst demo``: race 610 configurations on the paper's noisy sinc, and judge it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from cvst.cli.commands._options import DEFAULT_STRATEGY, STRATEGIES, add_option

__all__ = ["EPILOG", "HELP", "add_arguments", "run"]

HELP = "race 610 configurations on artificial data and check the winner"

EPILOG = """\
examples:
  cvst demo
  cvst demo --random-state 1
  cvst demo --json
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_option(
        parser,
        "--random-state",
        type=int,
        default=0,
        metavar="N",
        help="seed of the data (default: 0)",
    )
    parser.add_argument(
        "--strategy",
        default=DEFAULT_STRATEGY,
        choices=STRATEGIES,
        metavar="NAME",
        help=f"how the winner is found: {', '.join(STRATEGIES)} (default: "
        f"{DEFAULT_STRATEGY})",
    )
    parser.add_argument("--json", action="store_true", help="print JSON for machines")


def run(options: Namespace) -> str:
    """Race, check, and return what happened."""
    # Imported late: --help must not wait for scikit-learn.
    from cvst.cli.commands._demo_run import run_demo

    return run_demo(options)
