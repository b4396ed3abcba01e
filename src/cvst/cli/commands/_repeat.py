"""The command that repeats a search."""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from cvst._searched import FittedSearch
from cvst.cli.commands._options import spellings
from cvst.report.machinery import EARLY_ENDS

__all__ = ["program", "repeat_command"]

# Options that take the next word as their value, if there is one that can be.
OPEN = ("--time-order", "--live")

# Parameters that a time budget chooses: their options, and their kinds.
CHOSEN = {"max_steps": ("--max-steps", int), "loser_level": ("--loser-level", float)}


def program() -> list[str]:
    """Return the words with which this program was started."""
    as_module = Path(sys.argv[0]).parts[-2:] == ("cvst", "__main__.py")
    return ["python", "-m", "cvst"] if as_module else ["cvst"]


def repeat_command(options: Namespace, search: FittedSearch, proposes: bool) -> str:
    """Return the command that repeats a search, whatever the clock or Ctrl-C did to it.

    What a time budget chose, and the look that was the last, are written out. The
    command runs as it stands: the folder of results may be replaced. Where the clock
    chose what no option says (which configurations take part, proposals, the sizes of
    several legs), the command is the one that was given.
    """
    words, rest = _parted(options.arguments)
    # A checkpoint is there to go on with, not to do all again.
    words = _without(words, ("--checkpoint",))
    chosen = _chosen_by_clock(search)
    in_time = proposes and options.time_budget is not None
    if chosen is not None and not in_time:
        words = _as_it_went(words, search, chosen)
    if options.out is not None and "--overwrite" not in words:
        words.append("--overwrite")
    return shlex.join([*program(), *words, *rest])


def _parted(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the words up to ``--``, and the rest, where nothing is an option."""
    # The first word may be another one of them, before the name of the command.
    end = words.index("--", 1) if "--" in words[1:] else len(words)
    return words[:end], words[end:]


def _chosen_by_clock(search: FittedSearch) -> dict[str, str] | None:
    """Return options for what a budget chose, None if there are none for it."""
    settings = dict(getattr(search, "budget_settings_", {}))
    strategy = settings.pop("strategy", None)
    if settings.keys() - {"max_looks"}:  # it has left configurations out
        return None
    if strategy is None:
        return {}
    params = strategy.get_params()
    if not params.keys() >= CHOSEN.keys():
        return None
    # All digits: a rounded level may drop other configurations.
    return {option: repr(kind(params[name])) for name, (option, kind) in CHOSEN.items()}


def _as_it_went(
    words: list[str], search: FittedSearch, chosen: dict[str, str]
) -> list[str]:
    """Replace the clock by what it chose."""
    words = _without(words, spellings("--time-budget"))
    for option, value in chosen.items():
        words = [*_without(words, spellings(option)), option, value]
    if search.stop_reason_ in EARLY_ENDS:
        n_looks = len(search.race_.observations)
        words = _without(words, ("--max-looks",))
        words += ["--max-looks", str(n_looks)]
    return words


def _without(words: Iterable[str], names: tuple[str, ...]) -> list[str]:
    """Leave out an option and its value, whichever way they were written."""
    kept: list[str] = []
    skip = gap = False
    for word in words:
        if skip:
            skip = False
        elif word in names or word.startswith(tuple(f"{name}=" for name in names)):
            skip, gap = word in names, True
        else:
            # The table, which must not become the value of the option before the gap.
            is_caught = gap and kept[-1] in OPEN and not word.startswith("-")
            kept.insert(len(kept) - is_caught, word)
            gap = False
    return kept
