"""Options that stand for numbers, and the command that repeats a search."""

from __future__ import annotations

import shlex
from argparse import ArgumentTypeError, Namespace
from typing import Any

from cvst.cli.terminal import parse_duration
from cvst.exceptions import InvalidInputError

__all__ = ["repeat_command", "seconds", "workers"]


def seconds(text: str) -> float:
    """Read a time for argparse."""
    try:
        return parse_duration(text)
    except InvalidInputError as error:
        raise ArgumentTypeError(str(error).rstrip(".")) from error


def workers(text: str) -> int:
    """Read a number of workers for argparse."""
    try:
        count = int(text)
    except ValueError:
        count = 0
    if not count:
        raise ArgumentTypeError(
            f"{text!r} is no number of workers. Use 1 or more, or -1 for all cores"
        )
    return count


def repeat_command(options: Namespace, search: Any) -> str:
    """Return the command that repeats a search, whatever the clock or Ctrl-C did to it.

    What a time budget chose, and the look that was the last, are written out.
    """
    words = ["cvst", *_without(list(options.arguments), "--budget")]
    settings = getattr(search, "budget_settings_", {})
    strategy = settings.get("strategy")
    if strategy is not None:
        for name in ("--steps", "--loser-level"):
            words = _without(words, name)
        words += ["--steps", str(strategy.max_steps)]
        words += ["--loser-level", repr(float(strategy.loser_level))]
    if search.stop_reason_ in ("time_budget", "interrupted"):
        words = [*_without(words, "--max-looks"), "--max-looks", str(search.n_steps_)]
    return shlex.join(words)


def _without(words: list[str], option: str) -> list[str]:
    """Leave out an option and its value, whichever way they were written."""
    kept = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word == option:
            skip = True
        elif not word.startswith(f"{option}="):
            kept.append(word)
    return kept
