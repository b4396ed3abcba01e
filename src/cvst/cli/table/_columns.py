"""From a table to a learning problem: target, task, kinds of columns, order, groups."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cvst._text import counted
from cvst.cli._printing import listed, quoted
from cvst.cli.table._kinds import Kind, column_kind
from cvst.cli.table._target import Target, read_target
from cvst.exceptions import InvalidInputError

__all__ = ["UNREAD", "ColumnOptions", "Learning", "learning_problem"]

# Among the attributes of a frame: columns of the file that were to be left out.
UNREAD = "unread"

# Plain numbers are looked at in blocks of this many columns, which bounds their copy.
COLUMNS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """What the user said about the columns.

    Attributes
    ----------
    target : str
        Column to predict.
    groups : str or None
        Column of groups that no subset may split.
    time_order : str or bool
        Column to sort by; True if the rows are in order of time already.
    drop : sequence of str
        Columns to leave out.
    task : {"classification", "regression"} or None
        None to recognise it.
    tasks : tuple of str
        Tasks that the model can do.
    raw : bool
        Whether the model gets the columns as they are.
    """

    target: str
    groups: str | None = None
    time_order: str | bool = False
    drop: Sequence[str] = ()
    task: str | None = None
    tasks: tuple[str, ...] = ("classification", "regression")
    raw: bool = False


@dataclass(frozen=True, slots=True)
class Learning:
    """Inputs, target and what was recognised.

    Attributes
    ----------
    X : pandas.DataFrame
        The columns to learn from, as they were read.
    target : Target
        What to predict.
    groups : ndarray or None
        Group of each row.
    in_order : bool
        Whether the order of the rows is that of time.
    numbers, categories : list of str
        Columns by kind.
    notes : list of str
        What was left out, and why.
    """

    X: Any
    target: Target
    groups: Any
    in_order: bool
    numbers: list[str]
    categories: list[str]
    notes: list[str] = field(default_factory=list)


def learning_problem(frame: Any, said: ColumnOptions) -> Learning:
    """Turn a data frame into a learning problem, or say in one sentence why not."""
    unread = set(frame.attrs.get(UNREAD, ()))
    named = [said.target, said.groups, *(one for one in said.drop if one not in unread)]
    if isinstance(said.time_order, str):
        named.append(said.time_order)
    for column in named:
        if column is not None:
            check_column(frame, column)
    notes: list[str] = []
    frame = _sorted(frame, said.time_order)
    frame = _with_target(frame, said.target, notes)
    target = read_target(frame[said.target], said.task, said.tasks)
    X = frame.drop(columns=[column for column in set(named) if column is not None])
    X, numbers, categories = _sort_columns(X, said.raw, notes)
    if not X.shape[1]:
        raise InvalidInputError(
            f"No column is left to predict {quoted(said.target)} from."
        )
    return Learning(
        X=X,
        target=target,
        # From the frame as it is now: sorted, and without rows that lack a target.
        groups=_groups(frame, said.groups),
        in_order=bool(said.time_order),
        numbers=numbers,
        categories=categories,
        notes=notes,
    )


def check_column(frame: Any, name: str) -> None:
    """Refuse a column that does not exist, and name the nearest that does."""
    columns = list(frame.columns)
    if name in columns:
        return
    near = difflib.get_close_matches(name, columns, n=1)
    raise InvalidInputError(
        f"The data have no column {quoted(name)}. "
        + (
            f"Did you mean {quoted(near[0])}?"
            if near
            else f"Their columns are {listed(columns)}."
        )
    )


def _sorted(frame: Any, time_order: str | bool) -> Any:
    if not isinstance(time_order, str):
        return frame
    if frame[time_order].isna().any():
        raise InvalidInputError(
            f"The column {quoted(time_order)} has gaps, so the rows cannot be sorted "
            "by it. Fill them or leave these rows out."
        )
    # Stable: rows of one moment stay in the order of the file.
    return frame.sort_values(time_order, kind="stable", ignore_index=True)


def _with_target(frame: Any, target: str, notes: list[str]) -> Any:
    missing = frame[target].isna()
    n_missing = int(missing.sum())
    if n_missing == len(frame):
        raise InvalidInputError(f"The target {quoted(target)} is empty in all rows.")
    if n_missing:
        has, gone = ("has", "is") if n_missing == 1 else ("have", "are")
        rows = counted(n_missing, "row")
        notes.append(f"{rows} {has} no value of {quoted(target)} and {gone} left out.")
        frame = frame[~missing].reset_index(drop=True)
    return frame


def _groups(frame: Any, name: str | None) -> Any:
    if name is None:
        return None
    if frame[name].isna().any():
        raise InvalidInputError(
            f"The column {quoted(name)} has gaps, so not every row has a group. "
            "Fill them."
        )
    return np.asarray(frame[name].to_numpy())


def _sort_columns(
    X: Any, raw: bool, notes: list[str]
) -> tuple[Any, list[str], list[str]]:
    """Return the usable columns, the numbers among them and the categories."""
    known, doubtful = _plain_numbers(X)
    kinds: dict[str, Kind] = {
        column: known[column] if column in known else column_kind(X[column])
        for column in X.columns
    }
    for column, kind in kinds.items():
        if column not in known or column in doubtful:
            _refuse(X, column, kind, raw)
    if raw:
        return X, list(kinds), []
    for kind, why in (
        ("empty", "empty in all rows"),
        ("identifier", "different in nearly every row, like an identifier"),
    ):
        names = [quoted(column) for column in kinds if kinds[column] == kind]
        if names:
            verb = "Column" if len(names) == 1 else "Columns"
            gone = "is" if len(names) == 1 else "are"
            notes.append(f"{verb} {listed(names)} {gone} {why}, and left out.")
    numbers = [column for column, kind in kinds.items() if kind == "number"]
    categories = [column for column, kind in kinds.items() if kind == "category"]
    usable = set(numbers + categories)
    # A copy puts the columns of a kind side by side in memory: thousands of single
    # ones would be slow in every fit.
    X = X[[column for column in kinds if column in usable]].copy()
    return X, numbers, categories


def _plain_numbers(X: Any) -> tuple[dict[str, Kind], set[str]]:
    """Return the kinds of columns of plain numbers, and those that are infinite.

    Many at once: to look at a hundred thousand columns one by one takes a minute.
    """
    known: dict[str, Kind] = {}
    infinite: set[str] = set()
    plain = [
        place
        for place, dtype in enumerate(X.dtypes)
        if isinstance(dtype, np.dtype) and dtype.kind in "iuf"
    ]
    for start in range(0, len(plain), COLUMNS_AT_ONCE):
        block = X.iloc[:, plain[start : start + COLUMNS_AT_ONCE]]
        values = block.to_numpy(dtype=float)
        empty = np.isnan(values).all(axis=0)
        known |= {
            name: "empty" if void else "number"
            for name, void in zip(block.columns, empty, strict=True)
        }
        infinite |= set(block.columns[np.isinf(values).any(axis=0)])
    return known, infinite


def _refuse(X: Any, column: str, kind: Kind, raw: bool) -> None:
    shown = quoted(column)
    way_out = f"Leave it out with --drop {shown}, or turn it into numbers first."
    if kind == "date":
        raise InvalidInputError(
            f"The column {shown} holds dates, which no model reads. Sort by it with "
            f"--time-order {shown}, leave it out with --drop {shown}, or turn it "
            "into numbers first."
        )
    if kind == "object":
        raise InvalidInputError(
            f"The column {shown} holds neither numbers nor text. {way_out}"
        )
    # Truth values count as categories, but every model takes them for 0 and 1.
    if raw and kind in ("category", "identifier") and X[column].dtype.kind != "b":
        raise InvalidInputError(
            f"The column {shown} holds text, which --raw hands to the model as it "
            f"is. {way_out}"
        )
    if kind == "number":
        infinite = np.isinf(X[column].to_numpy(dtype=float, na_value=np.nan))
        if infinite.any():
            raise InvalidInputError(
                f"The column {shown} is infinite in {int(infinite.sum())} rows, the "
                f"first of them {int(infinite.argmax()) + 1}. {way_out}"
            )
