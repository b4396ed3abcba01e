"""Declaring options: names, older spellings, times and numbers of workers.

Nothing heavy is imported here: ``--help`` must not wait for scikit-learn.
"""

from __future__ import annotations

import re
from argparse import SUPPRESS, ArgumentTypeError
from pathlib import Path
from typing import Any

from cvst.exceptions import InvalidInputError

__all__ = [
    "DEFAULT_STRATEGY",
    "STRATEGIES",
    "add_option",
    "parse_duration",
    "place",
    "seconds",
    "spellings",
    "workers",
]

# The names of ``cvst.search.STRATEGIES``, written out because importing them takes
# seconds; a test compares the two.
STRATEGIES = ("track_and_confirm", "cvst", "cross_validation")
DEFAULT_STRATEGY = "track_and_confirm"

# Options were once named otherwise than the parameters of the search. The old
# spellings still work, but no help page shows them.
FORMERLY = {
    "--time-budget": ("--budget",),
    "--max-steps": ("--steps",),
    "--stopping-window": ("--window",),
    "--n-jobs": ("--jobs",),
    "--random-state": ("--seed",),
    "--n-configurations": ("--configurations",),
    "--full-fit-time": ("--fit-time",),
    "--survival-rate": ("--survival",),
    "--n-folds": ("--folds",),
}

# No machine has more cores.
MOST_WORKERS = 10_000

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# Longer times are slips of the pen, and some clocks cannot count them.
LONGEST_TIME = 10_000 * UNITS["d"]
PART = re.compile(r"(\d+\.?\d*|\.\d+)\s*([smhd])")


def add_option(parser: Any, *names: str, **settings: Any) -> None:
    """Declare an option, and its older spellings without a word in the help.

    Parameters
    ----------
    parser : ArgumentParser or argument group
        Where to add it.
    *names : str
        As for ``add_argument``.
    **settings : dict
        As for ``add_argument``.
    """
    action = parser.add_argument(*names, **settings)
    old = [spelling for name in names for spelling in FORMERLY.get(name, ())]
    if old:
        hidden = {"dest": action.dest, "help": SUPPRESS, "default": SUPPRESS}
        parser.add_argument(*old, **{**settings, **hidden})


def spellings(name: str) -> tuple[str, ...]:
    """Return all ways to write an option, the present one first.

    Examples
    --------
    >>> spellings("--time-budget")
    ('--time-budget', '--budget')
    """
    return (name, *FORMERLY.get(name, ()))


def seconds(text: str) -> float:
    """Read a time for argparse."""
    try:
        return parse_duration(text)
    except InvalidInputError as error:
        raise ArgumentTypeError(str(error).rstrip(".")) from error


def place(text: str) -> Path:
    """Read the name of a file or folder for argparse.

    An empty one is that of a variable that nobody has set: it must not mean the current
    folder.
    """
    if not text:
        raise ArgumentTypeError("an empty text is no name of a file or folder")
    return Path(text)


def workers(text: str) -> int:
    """Read a number of workers for argparse."""
    try:
        count = int(text)
    except ValueError:
        count = 0
    if not 0 < abs(count) <= MOST_WORKERS:
        raise ArgumentTypeError(
            f"{text!r} is not a number of workers. Use 1 to "
            f"{MOST_WORKERS:,}, or -1 for all cores"
        )
    return count


def parse_duration(text: str) -> float:
    """Read a time such as ``90s``, ``10m`` or ``1h30m`` into seconds.

    Examples
    --------
    >>> parse_duration("1h30m"), parse_duration("45")
    (5400.0, 45.0)
    """
    compact = text.strip().lower()
    try:
        seconds = float(compact)
    except ValueError:
        parts = PART.findall(compact)
        if not parts or PART.sub("", compact).strip():
            raise InvalidInputError(
                f"{text!r} is not a time. Write it like 90s, 10m, 1h30m or 2d."
            ) from None
        seconds = sum(float(number) * UNITS[unit] for number, unit in parts)
    if not 0 < seconds <= LONGEST_TIME:
        raise InvalidInputError(
            f"{text!r} is not a time to work in. Allow more than 0 s, and "
            f"{LONGEST_TIME / UNITS['d']:,.0f} days at most."
        )
    return seconds
