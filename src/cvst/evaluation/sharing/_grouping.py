"""What evaluators that share work have in common: which share, which fit alone."""

from __future__ import annotations

import copy
import logging
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterator,
    Mapping,
    Sequence,
)
from numbers import Integral
from typing import Any

import numpy as np

from cvst._typing import Configuration
from cvst.evaluation._one_by_one import OneByOne
from cvst.evaluation._protocol import Outcome, Task
from cvst.evaluation.sharing._alone import NotSharedError, failure_of, fit_alone
from cvst.evaluation.sharing._value_keys import value_key

__all__ = [
    "Remembered",
    "fitted",
    "groups_by",
    "is_count",
    "share_or_fit_alone",
    "truncated",
]

_ABSENT = object()


def groups_by(
    estimator: Any, configurations: Mapping[int, Configuration], free: Collection[str]
) -> list[list[int]]:
    """Partition configurations by the values of all but the free parameters.

    A parameter that a configuration does not set has the template's value.
    """
    names = sorted({name for one in configurations.values() for name in one})
    fixed = [name for name in names if name not in free]
    # In most grids all set the same parameters: then the template is not asked.
    alike = all(name in one for one in configurations.values() for name in fixed)
    template = {} if alike else estimator.get_params(deep=True)
    groups: dict[Hashable, list[int]] = {}
    for number, configuration in configurations.items():
        values = [
            configuration.get(name, template.get(name, _ABSENT)) for name in fixed
        ]
        groups.setdefault(value_key(values), []).append(number)
    return list(groups.values())


def is_count(value: Any, at_most: float = np.inf) -> bool:
    """Whether a value is a whole number from 1 on, and not a truth value."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return 1 <= int(value) <= at_most


def share_or_fit_alone(
    task: Task,
    members: Sequence[int],
    share: Callable[[Task, list[int]], list[Outcome]],
    fewest: int = 2,
) -> Iterator[Outcome]:
    """Yield the outcomes that were shared, then fit the others one by one.

    An error while sharing may be due to one member only, such as the one with the
    largest ensemble: then each is fitted alone, and fails or succeeds on its own.
    Groups of fewer than ``fewest`` members do not share.
    """
    if len(members) < fewest:
        # There is nothing to share.
        for number in members:
            yield OneByOne().evaluate_one(task, number)
        return
    outcomes: list[Outcome] = []
    reason, level = "the parameters do not allow sharing", logging.INFO
    try:
        outcomes = share(task, list(members))
    except NotSharedError as error:
        reason = str(error)
    except Exception as error:
        reason = failure_of(error)
        # A ValueError is about the input, and the fits alone will raise it again.
        # Anything else may be a mistake of ours.
        level = logging.INFO if isinstance(error, ValueError) else logging.WARNING
    yield from outcomes
    done = {outcome.configuration for outcome in outcomes}
    left = [number for number in members if number not in done]
    yield from fit_alone(task, left, reason, level)


def fitted(task: Task, model: Any, **further: Any) -> Any:
    """Fit a model on the task's training rows."""
    if task.y_train is None:
        return model.fit(task.X_train, **task.fit_params, **further)
    return model.fit(task.X_train, task.y_train, **task.fit_params, **further)


def truncated(model: Any, **attributes: Any) -> Any:
    """Return a shallow copy of a fitted model with some attributes replaced."""
    shorter = copy.copy(model)
    for name, value in attributes.items():
        setattr(shorter, name, value)
    return shorter


class Remembered:
    """Stands for a fitted member of an ensemble: its predictions are known already."""

    def __init__(self, prediction: Any, classes: Any = None) -> None:
        self.prediction = prediction
        self.classes_ = classes

    def predict(self, X: Any) -> Any:
        """Return what the member predicted."""
        del X
        return self.prediction

    predict_proba = predict
    decision_function = predict
