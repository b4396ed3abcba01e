"""``cvst plan``: plan a race before any data is touched."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from cvst.cli.commands._options import add_option, seconds

__all__ = ["EPILOG", "HELP", "add_arguments", "run"]

HELP = "see what a race can do before any data is touched"

EPILOG = """\
examples:
  cvst plan
  cvst plan --max-steps 20 --loser-level 0.05
  cvst plan --n-configurations 610 --full-fit-time 1s --complexity 3
  cvst plan --n-configurations 610 --full-fit-time 1s --complexity 3 --time-budget 5m
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_option(
        parser,
        # Steps and levels are those of ``CVST``, which --help must not wait for.
        "--max-steps",
        type=int,
        default=10,
        metavar="S",
        help="most steps of the race (default: 10)",
    )
    parser.add_argument(
        "--loser-level",
        type=float,
        default=0.1,
        metavar="BETA",
        help="how readily losers are dropped (default: 0.1)",
    )
    parser.add_argument(
        "--winner-level",
        type=float,
        default=0.01,
        metavar="ALPHA",
        help="how hard it is to be called a winner (default: 0.01)",
    )
    add_option(
        parser,
        "--n-folds",
        type=int,
        default=10,
        metavar="K",
        help="folds of the cross-validation to compare with (default: 10)",
    )
    _add_time_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON for machines")


def _add_time_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("for the time of a race")
    add_option(
        group, "--n-configurations", type=int, metavar="N", help="size of the grid"
    )
    add_option(
        group,
        "--full-fit-time",
        type=seconds,
        metavar="TIME",
        help="time of one fit on all rows, such as 0.5s or 2m",
    )
    group.add_argument(
        "--complexity",
        type=float,
        default=2.0,
        metavar="M",
        help="a fit on n rows takes time n^M (default: 2)",
    )
    add_option(
        group,
        "--survival-rate",
        type=float,
        default=0.2,
        metavar="SHARE",
        help="share of the configurations that outlives the first drops (default: 0.2)",
    )
    add_option(
        group,
        "--time-budget",
        type=seconds,
        metavar="TIME",
        help="choose the number of steps that fills this time, such as 10m, as a "
        "search does",
    )


def run(options: Namespace) -> str:
    """Return the plan."""
    # Imported late: --help must not wait for SciPy.
    from cvst.cli.commands._plan_run import run_plan

    return run_plan(options)
