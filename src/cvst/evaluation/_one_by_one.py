"""Clone, fit, predict: what works for every estimator."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any, Literal

from sklearn.base import clone

from cvst._sklearn_compat import plain_parameters, plain_pipeline
from cvst._typing import Configuration
from cvst.evaluation._protocol import (
    MODEL,
    BatchEvaluator,
    FittedModel,
    Outcome,
    Task,
)
from cvst.evaluation._rows import guarded, writable
from cvst.evaluation._telling import tell_alone

__all__ = ["OneByOne", "configured", "respond"]


# Values that clones can share.
PLAIN = (bool, int, float, str, type(None))


def configured(estimator: Any, configuration: Configuration) -> Any:
    """Return a clone of the estimator with the configuration's parameters."""
    known = plain_parameters(estimator)
    if known is not None and known.keys() >= configuration.keys():
        # A clone inspects the signature three times, which takes longer than many a
        # fit. What it makes of plain values is this.
        values = known | configuration
        if all(isinstance(value, PLAIN) for value in values.values()):
            return type(estimator)(**values)
    if not configuration:
        return clone(estimator)  # what a frozen one sets returns nothing
    by_step = _by_step(estimator, configuration)
    if by_step is not None:
        return by_step
    # Values may be estimators: they are cloned too, so that no fit leaks into another.
    values = {name: clone(value, safe=False) for name, value in configuration.items()}
    return clone(estimator).set_params(**values)


def _by_step(estimator: Any, configuration: Configuration) -> Any:
    """Return a pipeline of configured steps; None for anything but a plain pipeline.

    To set parameters through a pipeline takes many times as long as to set them.
    """
    own = plain_pipeline(estimator)
    if own is None:
        return None
    steps = own.pop("steps")
    changes: dict[str, dict[str, Any]] = {name: {} for name, _ in steps}
    for name, value in configuration.items():
        step, _, inner = name.partition("__")
        if step not in changes or not inner:
            return None
        changes[step][inner] = value
    if len(changes) < len(steps) or not all(
        isinstance(value, PLAIN) for value in own.values()
    ):
        return None
    configured_steps = [(name, configured(one, changes[name])) for name, one in steps]
    return type(estimator)(configured_steps, **own)


def respond(model: Any, response: str, X: Any) -> Any:
    """Return what a fitted model says about some rows, or itself where that counts."""
    return FittedModel(model, X) if response == MODEL else getattr(model, response)(X)


class OneByOne(BatchEvaluator):
    """Fits each configuration on its own.

    Parameters
    ----------
    reason : str
        Why nothing is shared, for the log of a race; nothing is logged without one.
    level : int
        Of the log.
    """

    prefer: Literal["threads", "processes"] = "processes"

    # For subclasses whose own ``__init__`` does not call this one.
    reason: str = ""
    level: int = logging.INFO

    def __init__(self, reason: str = "", level: int = logging.INFO) -> None:
        self.reason = reason
        self.level = level

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Put each configuration into a group of its own."""
        del estimator
        return [[number] for number in configurations]

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Fit and predict, one configuration after the other."""
        self.say_why(task)
        for number in task.configurations:
            yield self.evaluate_one(task, number)

    def say_why(self, task: Task) -> None:
        """Log why the configurations of a task are fitted one by one."""
        if self.reason:
            tell_alone(task, self.reason, self.level)

    def evaluate_one(self, task: Task, number: int) -> Outcome:
        """Fit and predict one configuration; a failure is an outcome too."""
        outcome = self._evaluate(_with_rows(task, guarded), number)
        # Arrays are read-only, since all configurations look at the same ones. A fit
        # that writes into them gets a copy.
        error = outcome.error
        if isinstance(error, ValueError | TypeError) and "read-only" in str(error):
            return self._evaluate(_with_rows(task, writable), number)
        return outcome

    def _evaluate(self, task: Task, number: int) -> Outcome:
        start = perf_counter()
        fitted = start
        try:
            model = configured(task.estimator, task.configurations[number])
            model = self._fitted(model, task)
            fitted = perf_counter()
            prediction = respond(model, task.response, task.X_test)
        except Exception as error:
            seconds = perf_counter() - start
            return Outcome(number, fit_seconds=seconds, error=error)
        return Outcome(
            number,
            prediction,
            getattr(model, "classes_", None),
            fit_seconds=fitted - start,
            score_seconds=perf_counter() - fitted,
        )

    def _fitted(self, model: Any, task: Task) -> Any:
        """Fit a model on the rows of a task, and return what answers for it."""
        targets = () if task.y_train is None else (task.y_train,)
        # What fit returns should be the model itself, and is not with everyone's.
        model.fit(task.X_train, *targets, **task.fit_params)
        return model


def _with_rows(task: Task, made: Callable[[Any], Any]) -> Task:
    return replace(
        task,
        X_train=made(task.X_train),
        y_train=made(task.y_train),
        X_test=made(task.X_test),
        fit_params={name: made(value) for name, value in task.fit_params.items()},
    )
