"""Fits one by one where work cannot be shared; the log says why."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from cvst.evaluation._one_by_one import OneByOne
from cvst.evaluation._protocol import Outcome, Task

__all__ = ["NotSharedError", "failure_of", "fit_alone"]

LOGGER = logging.getLogger("cvst")


class NotSharedError(Exception):
    """Configurations have to be fitted one by one; the message says why."""


def failure_of(error: Exception) -> str:
    """Return a reason for the log: sharing failed, and with what error."""
    # Some messages bring a whole traceback along; the log gets a line.
    text = str(error).strip().split("\n", 1)[0]
    return f"sharing failed with {type(error).__name__}{text and ': '}{text}"


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
    tell_alone(task, len(chosen), reason, level)
    for number in chosen:
        yield OneByOne().evaluate_one(task, number)


def tell_alone(task: Task, count: int, reason: str, level: int = logging.INFO) -> None:
    """Log why some configurations are fitted one by one, once for each race."""
    name = type(task.estimator).__name__
    if not _was_told(task, (name, reason)):
        plural = f"{count} configurations are fitted one by one"
        what = "1 configuration is fitted by itself" if count == 1 else plural
        LOGGER.log(level, "%s: %s: %s", name, what, reason)


def _was_told(task: Task, message: tuple[str, str]) -> bool:
    # Such a task has no memory of what was said before.
    if task.race_rows is None:
        return False
    told: set[tuple[str, str]] = task.race_rows.scratch.get(
        "fits one by one, told", set, for_race=True
    )
    if message in told:
        return True
    told.add(message)
    return False
