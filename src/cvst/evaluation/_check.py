"""Whether an evaluator keeps its contract, tried out on a task."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cvst.evaluation._dispatch import are_independent, divides
from cvst.evaluation._one_by_one import OneByOne
from cvst.evaluation._protocol import BatchEvaluator, Outcome, Task, outcomes_of
from cvst.evaluation._scratch import Scratch
from cvst.evaluation.sharing import value_key
from cvst.exceptions import InvalidInputError

__all__ = ["check_evaluator"]


def check_evaluator(
    evaluator: BatchEvaluator, task: Task, *, rtol: float = 1e-9, atol: float = 1e-9
) -> None:
    """Check that an evaluator keeps its contract on a task.

    The evaluator must have the names of :class:`BatchEvaluator`, survive pickling,
    partition the numbers of the configurations, return one outcome for each of them,
    turn failures into outcomes, leave its inputs as they are, and agree with
    :class:`OneByOne`: numbers within a tolerance, labels, classes and types of errors
    exactly. If it promises that members of a group answer alike when others are missing
    (``are_independent``, ``divides``), groups of three or more must do so to the last
    bit. Call it in your tests, on many tasks: odd values, weights, other responses.

    Parameters
    ----------
    evaluator : BatchEvaluator
        The one to check.
    task : Task
        What to try it on. The check gives its configurations other numbers.
    rtol, atol : float
        How far predicted numbers may be from those of a fit on its own, relative to
        the largest of them and in absolute terms.

    Raises
    ------
    InvalidInputError
        At the first broken rule, in one sentence.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from cvst.evaluation import batch_evaluator_for
    >>> X, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    >>> task = Task(Ridge(), {0: {"alpha": 1.0}, 1: {"alpha": 2.0}}, X, y, X)
    >>> check_evaluator(batch_evaluator_for(Ridge()), task)
    """
    name = type(evaluator).__name__
    _check_names(evaluator, name)
    # From here on the copy is tried, since it is what a worker gets.
    evaluator = _pickled(evaluator, name)
    # Numbers that differ from positions, so that mixing them up shows.
    numbers = {3 * place + 5: old for place, old in enumerate(task.configurations)}
    renumbered = replace(
        task,
        configurations={new: task.configurations[old] for new, old in numbers.items()},
    )
    before = _contents(renumbered)
    groups = evaluator.groups(renumbered.estimator, renumbered.configurations)
    _check_partition(groups, renumbered, name)
    found = {}
    # Group by group, as workers get them.
    for group in groups:
        for outcome in _outcomes(evaluator, renumbered.only(group), name):
            found[outcome.configuration] = outcome
    changed = [
        part for part, mark in _contents(renumbered).items() if before[part] != mark
    ]
    if changed:
        raise InvalidInputError(
            f"{name} has changed {changed[0]} of the task, which others share. Clone "
            "estimators, and copy arrays before you write into them."
        )
    for expected in OneByOne().evaluate(_limited(evaluator, renumbered)):
        number = expected.configuration
        about = f"configuration {numbers[number]}, {renumbered.configurations[number]}"
        _check_outcome(found[number], expected, f"{name} on {about}", rtol, atol)
    _check_parts(evaluator, groups, renumbered, found, numbers)


def _check_parts(
    evaluator: BatchEvaluator,
    groups: Sequence[Sequence[int]],
    task: Task,
    found: Mapping[int, Outcome],
    numbers: Mapping[int, int],
) -> None:
    """Compare groups without their first member with whole ones, where it matters."""
    name = type(evaluator).__name__
    promises = [
        promise.__name__
        for promise in (are_independent, divides)
        if promise(evaluator, task.estimator, task.response)
    ]
    if not promises:
        return
    # Parts are worked on elsewhere, where nothing of the whole is kept.
    if task.race_rows is not None:
        kept = task.race_rows.scratch
        fresh = Scratch(kept.limit, kept.nests, share=kept.share)
        task = replace(task, race_rows=replace(task.race_rows, scratch=fresh))
    for first, *others in groups:
        # One that is left alone may be fitted alone.
        if len(others) < 2:
            continue
        for outcome in _outcomes(evaluator, task.only(others), name):
            number = outcome.configuration
            if _bits(outcome) != _bits(found[number]):
                raise InvalidInputError(
                    f"{name} promises by {' and '.join(promises)} that a group answers "
                    "alike to the last bit when others are missing, but the answer of "
                    f"configuration {numbers[number]}, {task.configurations[number]}, "
                    f"is another one without configuration {numbers[first]}."
                )


def _bits(outcome: Outcome) -> Hashable:
    """Return something that changes when any bit of an answer does."""
    if outcome.error is not None:
        return type(outcome.error).__name__
    # Lists have an array for each output, not all of the same shape.
    return tuple(
        tuple(map(_content, part)) if isinstance(part, list) else _content(part)
        for part in (outcome.prediction, outcome.classes)
    )


def _check_names(evaluator: Any, name: str) -> None:
    missing = [
        one for one in ("prefer", "groups", "evaluate") if not hasattr(evaluator, one)
    ]
    if missing:
        raise InvalidInputError(
            f"{name} has no {missing[0]}. An evaluator needs prefer, groups(estimator, "
            "configurations) and evaluate(task)."
        )
    if evaluator.prefer not in ("threads", "processes"):
        raise InvalidInputError(
            f"{name}.prefer is {evaluator.prefer!r}. It must be 'threads', where fits "
            "release the GIL, or 'processes'."
        )


def _pickled(evaluator: BatchEvaluator, name: str) -> BatchEvaluator:
    try:
        copy: BatchEvaluator = pickle.loads(pickle.dumps(evaluator))
    except Exception as error:
        raise InvalidInputError(
            f"{name} cannot be pickled ({error}), but it has to travel to worker "
            "processes. Define its class in a module and keep no open resources in it."
        ) from error
    return copy


def _contents(task: Task) -> dict[str, Hashable]:
    return {
        "the estimator": value_key(task.estimator),
        "the configurations": value_key(dict(task.configurations)),
        "X_train": _content(task.X_train),
        "y_train": _content(task.y_train),
        "X_test": _content(task.X_test),
        "fit_params": value_key(dict(task.fit_params)),
    }


def _content(rows: Any) -> Hashable:
    """Return something that changes when values are written into rows."""
    if hasattr(rows, "tocsr"):
        return value_key([rows.tocsr().toarray()])
    if hasattr(rows, "columns"):
        return tuple(_content(np.asarray(rows[name])) for name in rows.columns)
    values = np.asarray(rows)
    return (
        # The bytes of an object array are addresses, which stay when a list in it
        # changes.
        tuple(map(repr, values.ravel()))
        if values.dtype == object
        else value_key(values)
    )


def _check_partition(groups: Any, task: Task, name: str) -> None:
    members = [number for group in groups for number in group]
    if Counter(members) != Counter(list(task.configurations)):
        raise InvalidInputError(
            f"{name}.groups returned {groups!r} for configurations with the numbers "
            f"{list(task.configurations)}. Each number must be in exactly one group."
        )


def _outcomes(evaluator: BatchEvaluator, task: Task, name: str) -> list[Outcome]:
    try:
        outcomes = list(outcomes_of(evaluator, task))
    except InvalidInputError:
        raise
    except Exception as error:
        raise InvalidInputError(
            f"{name}.evaluate raised {type(error).__name__}: {error}. A failed fit is "
            "an outcome, Outcome(number, error=...); what is raised ends the race."
        ) from error
    members = [outcome.configuration for outcome in outcomes]
    if Counter(members) != Counter(list(task.configurations)):
        raise InvalidInputError(
            f"{name}.evaluate yielded outcomes for {members}, but the configurations "
            f"of its task are {list(task.configurations)}. Yield one outcome for each."
        )
    return outcomes


def _limited(evaluator: Any, task: Task) -> Task:
    # A plain fit knows nothing of rounds, so the limit is put into its parameters.
    if task.rounds is None or not hasattr(evaluator, "limited"):
        return task
    limit: Callable[..., Any] = evaluator.limited
    limited = {
        number: limit(task.estimator, one, task.rounds)
        for number, one in task.configurations.items()
    }
    return replace(task, configurations=limited)


def _check_outcome(
    actual: Outcome, expected: Outcome, about: str, rtol: float, atol: float
) -> None:
    # Only types: shared work may put the same failure in other words.
    if type(actual.error) is not type(expected.error):
        raise InvalidInputError(
            f"{about}: the error is {actual.error!r}, that of a fit on its own is "
            f"{expected.error!r}. Pass what you are not sure of on to OneByOne."
        )
    if expected.error is not None:
        return
    _check_same(
        actual.prediction, expected.prediction, f"{about}: the prediction", rtol, atol
    )
    if expected.classes is not None:
        _check_same(actual.classes, expected.classes, f"{about}: classes", 0.0, 0.0)
    seconds = actual.fit_seconds, actual.score_seconds
    if not all(np.isfinite(one) and one >= 0 for one in seconds):
        raise InvalidInputError(
            f"{about}: fit_seconds and score_seconds are {seconds}. They must be "
            "finite and not negative."
        )


def _check_same(
    actual: Any, expected: Any, what: str, rtol: float, atol: float
) -> None:
    """Compare numbers within a tolerance, labels exactly, lists part by part."""
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            raise InvalidInputError(
                f"{what} is not a list of {len(expected)} arrays, one per output."
            )
        for one, other in zip(actual, expected, strict=True):
            _check_same(one, other, what, rtol, atol)
        return
    ours, theirs = np.asarray(actual), np.asarray(expected)
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        raise InvalidInputError(
            f"{what} is of shape {ours.shape} and type {ours.dtype}, that of a fit on "
            f"its own of shape {theirs.shape} and type {theirs.dtype}."
        )
    if theirs.dtype.kind != "f":
        wrong = np.sum(ours != theirs)
        if wrong:
            raise InvalidInputError(
                f"{what} differs from that of a fit on its own in {wrong} of "
                f"{theirs.size} entries. Pass what you are not sure of on to OneByOne."
            )
        return
    # Relative to the largest: a decision near 0 may be the difference of two sums of
    # 1e11, and has the rounding of these.
    largest = np.max(np.abs(theirs[np.isfinite(theirs)]), initial=0.0)
    tolerance = atol + rtol * largest
    if not np.allclose(ours, theirs, rtol=0.0, atol=tolerance, equal_nan=True):
        raise InvalidInputError(
            f"{what} differs from that of a fit on its own by up to "
            f"{np.nanmax(np.abs(ours - theirs)):.3g}; rtol={rtol:g} and atol={atol:g} "
            "are allowed. Pass what you are not sure of on to OneByOne."
        )
