"""``cvst search``: race the configurations of a model on a table."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace

from cvst.cli.commands._options import (
    DEFAULT_STRATEGY,
    STRATEGIES,
    add_option,
    place,
    seconds,
    workers,
)
from cvst.cli.models import MODELS

__all__ = ["EPILOG", "HELP", "add_arguments", "run"]

HELP = "find the best configuration of a model for a table"

_NAMES = "\n".join(f"  {model.name:<11} {model.about}" for model in MODELS.values())
_PROPOSING = [model.name for model in MODELS.values() if model.proposes]

EPILOG = f"""\
models:
{_NAMES}
  or an import path such as package.module:Class, together with --grid

grids, in the text or in a YAML, JSON or TOML file:
  alpha=logspace(-5, 5, 11)     11 values from 10^-5 to 10^5
  gamma=geomspace(0.01, 10, 4)  0.01, 0.1, 1, 10
  nu=linspace(0.1, 0.9, 9)      0.1, 0.2, ..., 0.9
  max_depth=range(2, 10, 2)     2, 4, 6, 8
  kernel=[rbf, linear]          these two
  C=loguniform(0.1, 100)        drawn at random, like uniform(low, high) and
                                randint(low, high); --n-iter says how often

examples:
  cvst search houses.csv --target price --model boosting --time-budget 2m
  cvst search iris.parquet -t species -m svm --n-jobs 2 --out results
  cvst search wine.csv -t quality -m krr -g 'alpha=logspace(-3, 3, 7) gamma=[0.1, 1]'
  cvst search visits.csv.gz -t ill -m forest --groups patient --scoring neg_log_loss
  cvst search load.feather -t power -m ridge --time-order hour --time-budget 10m
  cvst search sales.parquet -t sum -m boosting --checkpoint sales.race
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "data",
        metavar="DATA",
        help="a table: CSV, TSV, Parquet, Feather or Arrow, gzipped or not",
    )
    parser.add_argument(
        "-t", "--target", required=True, metavar="COL", help="column to predict"
    )
    # No choices: an import path will do as well.
    parser.add_argument(
        "-m", "--model", required=True, metavar="MODEL", help="one of those below"
    )
    parser.add_argument(
        "-g",
        "--grid",
        metavar="GRID",
        help="what to try: text, a file (see below), or auto for a suggested space",
    )
    parser.add_argument(
        "--propose",
        # Yes, no, or None, which leaves it to the model.
        action=BooleanOptionalAction,
        help="propose configurations while racing, instead of all at the start; the "
        f"default of {', '.join(_PROPOSING)} without --grid",
    )
    parser.add_argument(
        "--n-iter", type=int, metavar="N", help="draw or propose N configurations"
    )
    _add_data_arguments(parser)
    _add_race_arguments(parser)
    _add_output_arguments(parser)


def _add_data_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("about the data")
    group.add_argument(
        "--task",
        choices=("classification", "regression"),
        help="recognised from the target unless given",
    )
    group.add_argument(
        "--groups", metavar="COL", help="rows with the same value here stay together"
    )
    group.add_argument(
        "--time-order",
        nargs="?",
        const=True,
        default=False,
        metavar="COL",
        help="rows are in order of time, or are to be sorted by this column",
    )
    group.add_argument(
        "--drop",
        action="append",
        default=[],
        metavar="COL",
        help="column to leave out; may be repeated",
    )
    group.add_argument(
        "--raw",
        action="store_true",
        help="give the columns to the model as they are: no filling of gaps, no "
        "scaling, no encoding",
    )


def _add_race_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("about the race")
    group.add_argument(
        "-s",
        "--scoring",
        metavar="SCORE",
        help="one of scikit-learn's scores (default: accuracy or r2)",
    )
    group.add_argument(
        "--strategy",
        choices=STRATEGIES,
        metavar="NAME",
        help=f"how the winner is found: {', '.join(STRATEGIES)} (default: "
        f"{DEFAULT_STRATEGY}, or cvst if one of the next three options is given)",
    )
    add_option(
        group,
        # No default in these three: one that is given chooses the paper's race.
        "--max-steps",
        type=int,
        metavar="S",
        help="most steps of the paper's race",
    )
    add_option(
        group,
        "--stopping-window",
        type=int,
        metavar="W",
        help="steps that early stopping compares",
    )
    group.add_argument(
        "--loser-level",
        type=float,
        metavar="BETA",
        help="how readily losers are dropped",
    )
    add_option(
        group,
        "--time-budget",
        type=seconds,
        metavar="TIME",
        help="be done after this time, such as 90s, 10m or 1h30m",
    )
    group.add_argument(
        "--max-looks", type=int, metavar="N", help="end the race after N looks"
    )
    group.add_argument(
        "--fit-timeout",
        type=seconds,
        metavar="TIME",
        help="end fits that take longer, such as 30s, and go on without them",
    )
    group.add_argument(
        "--device",
        default="cpu",
        metavar="NAME",
        help="cuda, or cuda:1, works on kernel machines, ridge and nearest neighbours "
        "on a card (default: cpu)",
    )
    group.add_argument(
        "--max-memory",
        metavar="SIZE",
        help="what the race may hold besides rows and models, such as 500MB",
    )
    group.add_argument(
        "--checkpoint",
        type=place,
        metavar="FILE",
        help="keep the race in this file; the same command, run again, goes on with it",
    )
    group.add_argument(
        "--plan",
        action="store_true",
        help="time a few small fits, print what the race would be, and stop",
    )
    add_option(
        group,
        "-j",
        "--n-jobs",
        type=workers,
        metavar="N",
        help="number of workers; -1 for all cores",
    )
    add_option(
        group,
        "--random-state",
        type=int,
        # Not None, so that the same command finds the same winner.
        default=0,
        metavar="N",
        help="seed of everything random (default: 0)",
    )


def _add_output_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("about the results")
    group.add_argument(
        "-o",
        "--out",
        type=place,
        metavar="DIR",
        help="folder for winner.json, model.skops, cv_results.csv, report.html, "
        "race.json.gz, summary.json and command.txt",
    )
    group.add_argument(
        "--overwrite", action="store_true", help="replace results in that folder"
    )
    group.add_argument("--json", action="store_true", help="print JSON for machines")
    group.add_argument(
        "--live",
        nargs="?",
        type=int,
        # Any port that is free.
        const=0,
        metavar="PORT",
        help="show the race in a browser on this machine as it goes",
    )
    group.add_argument(
        "--quiet", action="store_true", help="show nothing while the race runs"
    )


def run(options: Namespace) -> str:
    """Race, write the results and return what to print."""
    # Imported late: --help must not wait for scikit-learn.
    from cvst.cli.commands._search_run import run_search

    return run_search(options)
