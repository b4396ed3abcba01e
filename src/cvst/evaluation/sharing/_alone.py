"""Fits one by one where work cannot be shared; the log says why."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from cvst.evaluation._one_by_one import OneByOne
from cvst.evaluation._protocol import Outcome, Task
from cvst.evaluation._telling import tell_alone

__all__ = ["NotSharedError", "failure_of", "fit_alone", "in_a_line"]


class NotSharedError(Exception):
    """Configurations have to be fitted one by one; the message says why."""


def failure_of(error: Exception) -> str:
    """Return a reason for the log: sharing failed, and with what error."""
    return f"sharing failed with {in_a_line(error)}"


def in_a_line(error: Exception) -> str:
    """Return the kind of an error and the first line of its message."""
    # Some messages bring a whole traceback along; the log gets a line.
    text = str(error).strip().split("\n", 1)[0]
    return f"{type(error).__name__}{text and ': '}{text}"


def fit_alone(
    task: Task, numbers: Iterable[int], reason: str, level: int = logging.INFO
) -> Iterator[Outcome]:
    """Fit some configurations of a task one by one, and log why.

    Parameters
    ----------
    task : Task
        What to fit.
    numbers : iterable of int
        Which of its configurations.
    reason : str
        Why they do not share; a race logs each reason once per estimator.
    level : int
        Of the log.
    """
    chosen = list(numbers)
    if not chosen:
        return
    tell_alone(task, reason, level, len(chosen))
    for number in chosen:
        yield OneByOne().evaluate_one(task, number)
