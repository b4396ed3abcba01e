"""The target and its task: classification or regression, recognised and said."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cvst.cli._printing import listed, quoted
from cvst.cli.table._kinds import column_kind
from cvst.exceptions import InvalidInputError

__all__ = ["Target", "read_target", "with_numbered_classes"]

# Whole numbers with no more distinct values than this are taken for classes.
MOST_CLASSES = 20
SHOWN_CLASSES = 6

# Beyond this, different whole numbers can be the same floating-point number.
MOST_EXACT = 2**53

UNFIT = {
    "date": "holds dates",
    "object": "holds neither numbers nor text",
    "identifier": "is different in nearly every row, like an identifier",
}


@dataclass(frozen=True, slots=True)
class Target:
    """What to predict.

    Attributes
    ----------
    name : str
        Its column.
    values : ndarray of shape (n_samples,)
        Classes or numbers.
    task : {"classification", "regression"}
        What it was taken for.
    sentence : str
        Why, for people.
    """

    name: str
    values: Any
    task: str
    sentence: str


def read_target(column: Any, task: str | None, tasks: tuple[str, ...]) -> Target:
    """Recognise the task, unless it is given.

    Parameters
    ----------
    column : pandas.Series
        Without gaps.
    task : {"classification", "regression"} or None
        What the user says.
    tasks : tuple of str
        What the model can do; it decides where the values leave it open.

    Examples
    --------
    >>> import pandas as pd
    >>> both = ("classification", "regression")
    >>> read_target(pd.Series([1.5, 2.0, 3.5], name="price"), None, both).task
    'regression'
    >>> print(read_target(pd.Series(["no", "yes", "no"], name="left"), None, both)
    ...       .sentence)
    Classification: 'left' has 2 classes (no, yes).
    """
    name = str(column.name)
    shown = quoted(name)
    kind = column_kind(column)
    if kind in UNFIT:
        raise InvalidInputError(
            f"The target {shown} {UNFIT[kind]}. Choose a column of numbers or classes."
        )
    is_number = kind == "number"
    values = np.asarray(column.to_numpy())
    if is_number:
        # Nullable numbers come as objects before pandas 2.2.
        values = np.asarray(column.to_numpy(dtype=float))
        if np.isinf(values).any():
            raise InvalidInputError(
                f"The target {shown} holds infinite values, or some beyond the range "
                "of numbers. Correct these rows, or leave them out."
            )
    possible = _possible_tasks(values, is_number)
    if task is not None:
        if task not in possible:
            _refuse_task(name, task, is_number)
        chosen, hint = task, ""
    else:
        chosen, hint = _choose(possible, tasks)
    if chosen not in tasks:
        other = "regression" if chosen == "classification" else "classification"
        raise InvalidInputError(
            f"The model is for {tasks[0]}, but {shown} calls for {chosen}: it holds "
            f"{'numbers' if is_number else 'text'}. Choose another model"
            + (f", or say --task {other}." if other in possible else ".")
        )
    return _target(name, values, chosen, is_number, hint)


def _possible_tasks(values: Any, is_number: bool) -> tuple[str, ...]:
    """Return the tasks that the values allow, the likelier one first."""
    if not is_number:
        return ("classification",)
    if not np.all((values == np.floor(values)) & (np.abs(values) <= MOST_EXACT)):
        return ("regression",)
    # Counts and years are whole, too: few values make classes likelier, not certain.
    if len(np.unique(values)) <= MOST_CLASSES:
        return ("classification", "regression")
    return ("regression", "classification")


def _choose(possible: tuple[str, ...], tasks: tuple[str, ...]) -> tuple[str, str]:
    for task in possible:
        if task in tasks:
            alone = len(possible) == 1 or len(tasks) == 1
            other = possible[-1] if task == possible[0] else possible[0]
            return task, "" if alone else f" (Otherwise, say --task {other}.)"
    return possible[0], ""


def _refuse_task(name: str, task: str, is_number: bool) -> None:
    shown = quoted(name)
    if not is_number:
        raise InvalidInputError(
            f"--task {task} needs numbers, but the target {shown} holds text. Use "
            "--task classification."
        )
    raise InvalidInputError(
        f"--task {task} needs classes, but the target {shown} holds numbers with a "
        f"fraction or beyond {MOST_EXACT:,}. Use --task regression, or name the "
        "classes."
    )


def _target(name: str, values: Any, task: str, is_number: bool, hint: str) -> Target:
    shown = quoted(name)
    if task == "regression":
        values = values.astype(float)
        distinct = len(np.unique(values))
        _check_distinct(name, distinct)
        low, high = values.min(), values.max()
        sentence = (
            f"Regression: {shown} has {distinct:,} distinct values from {low:.6g} to "
            f"{high:.6g}.{hint}"
        )
        return Target(name, values, task, sentence)
    # Classes read as 1.0 because of a gap elsewhere are shown as 1.
    if is_number:
        values = values.astype(np.int64)
    # Labels of several types cannot be sorted, but their texts can.
    elif values.dtype == object and not all(isinstance(v, bool) for v in values):
        values = values.astype(str)
    classes = np.unique(values)
    _check_distinct(name, len(classes))
    first = listed(classes[:SHOWN_CLASSES].tolist())
    more = ", ..." if len(classes) > SHOWN_CLASSES else ""
    sentence = (
        f"Classification: {shown} has {len(classes)} classes ({first}{more}).{hint}"
    )
    return Target(name, values, task, sentence)


def with_numbered_classes(target: Target) -> tuple[Target, str]:
    """Replace classes by numbers from 0, unless they are so, and say which is which.

    Examples
    --------
    >>> target = Target("left", np.array(["no", "yes"]), "classification", "")
    >>> numbered, note = with_numbered_classes(target)
    >>> numbered.values
    array([0, 1])
    >>> note
    'The model wants numbered classes and predicts these numbers: 0 = no, 1 = yes.'
    """
    classes, codes = np.unique(target.values, return_inverse=True)
    if target.task == "regression" or classes.tolist() == list(range(len(classes))):
        return target, ""
    names = ", ".join(
        f"{code} = {listed([label])}" for code, label in enumerate(classes)
    )
    note = f"The model wants numbered classes and predicts these numbers: {names}."
    return replace(target, values=codes), note


def _check_distinct(name: str, n_distinct: int) -> None:
    if n_distinct < 2:
        raise InvalidInputError(
            f"The target {quoted(name)} has the same value in all rows: there is "
            "nothing to learn."
        )
