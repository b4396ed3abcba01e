"""Incremental learners: each look continues the model of the look before.

A model is fed the new rows only, by ``partial_fit``. That is another estimator of the
same thing than a ``fit`` on all rows: stochastic gradients see every row once instead
of up to ``max_iter`` times, and the order of the looks leaves its mark. Hence it is off
unless asked for. Naive Bayes, which counts and adds up, comes out the same.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from inspect import signature
from time import perf_counter
from typing import Any, Literal

import numpy as np

from cvst._typing import Configuration, Rows
from cvst.evaluation._one_by_one import OneByOne, configured, respond
from cvst.evaluation._protocol import BatchEvaluator, Outcome, Task
from cvst.evaluation._rows import guarded, take
from cvst.evaluation.sharing import fit_alone

__all__ = ["IncrementalEvaluator", "incremental_evaluator_for"]


def incremental_evaluator_for(estimator: Any) -> BatchEvaluator | None:
    """Return an evaluator that continues models from look to look.

    Parameters
    ----------
    estimator : estimator
        Unfitted template.

    Returns
    -------
    IncrementalEvaluator or None
        None if the estimator has no ``partial_fit``.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge, SGDClassifier
    >>> type(incremental_evaluator_for(SGDClassifier())).__name__
    'IncrementalEvaluator'
    >>> incremental_evaluator_for(Ridge()) is None
    True
    """
    return IncrementalEvaluator() if hasattr(estimator, "partial_fit") else None


class IncrementalEvaluator(BatchEvaluator):
    """Feeds each configuration's model with the rows that it has not seen.

    Models live in the scratch of the race, so in this process only: it prefers threads,
    and in worker processes every look starts from scratch. So it does where the rows of
    a look do not begin with those of the look before, as in cross-validation.
    """

    prefer: Literal["threads", "processes"] = "threads"

    # A race that goes on after a break has to train the models of earlier looks again.
    carries = True

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Put each configuration alone: what is saved is work of earlier looks."""
        return OneByOne().groups(estimator, configurations)

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Continue or begin a model for each configuration, and predict."""
        for number in task.configurations:
            yield _evaluate_one(task, number)


def _evaluate_one(task: Task, number: int) -> Outcome:
    start = perf_counter()
    fitted = start
    try:
        model = configured(task.estimator, task.configurations[number])
        if not hasattr(model, "partial_fit"):
            # MLPs with the solver "lbfgs" learn from all rows at once.
            (outcome,) = fit_alone(task, [number], "it has no partial_fit")
            return outcome
        model = _kept(task, number).continued(task, model)
        fitted = perf_counter()
        prediction = respond(model, task.response, guarded(task.X_test))
    except Exception as error:
        return Outcome(number, fit_seconds=perf_counter() - start, error=error)
    return Outcome(
        number,
        prediction,
        getattr(model, "classes_", None),
        fit_seconds=fitted - start,
        score_seconds=perf_counter() - fitted,
    )


class _Kept:
    """The model of one configuration and the rows that it has seen."""

    def __init__(self) -> None:
        self._model: Any = None
        self._rows: Rows | None = None
        self._lock = threading.Lock()

    def continued(self, task: Task, fresh: Any) -> Any:
        """Return a model that has seen the task's training rows.

        ``fresh`` is an unfitted one with the parameters of today.
        """
        rows = None if task.race_rows is None else task.race_rows.train
        with self._lock:
            n_seen = None if self._model is None else _n_leading(self._rows, rows)
            if n_seen is None:
                # Rows of another kind do not end what goes on: the next look may.
                model = _learn(fresh, task, 0)
                if self._model is None:
                    self._model, self._rows = model, rows
                return model
            model, self._model = self._model, None
            _learn(model.set_params(**fresh.get_params(deep=False)), task, n_seen)
            # Kept only now: after a failure the next look starts again.
            self._model, self._rows = model, rows
            return model


def _kept(task: Task, number: int) -> _Kept:
    if task.race_rows is None:
        return _Kept()
    # By number, since rescaled values change from look to look.
    return task.race_rows.scratch.get(("incremental", number), _Kept)


def _n_leading(seen: Rows | None, rows: Rows | None) -> int | None:
    """Return how many rows were seen if they come first now, else None."""
    if isinstance(seen, slice) and isinstance(rows, slice):
        # A race counts its rows from somewhere, one by one.
        nested = seen.start == rows.start and seen.stop <= rows.stop
        return int(seen.stop - seen.start) if nested else None
    if isinstance(seen, np.ndarray) and isinstance(rows, np.ndarray):
        n_seen = len(seen)
        return n_seen if np.array_equal(rows[:n_seen], seen) else None
    return None


def _learn(model: Any, task: Task, n_seen: int) -> Any:
    """Show a model the training rows behind those that it has seen."""
    n_train = _n_rows(task.X_train)
    if n_seen == n_train:
        return model
    new = slice(n_seen, n_train)
    params = {
        name: take(values, new) if _n_rows(values) == n_train else values
        for name, values in task.fit_params.items()
    }
    if n_seen == 0 and "classes" in signature(model.partial_fit).parameters:
        params["classes"] = _classes(task)
    X = guarded(take(task.X_train, new))
    if task.y_train is None:
        return model.partial_fit(X, **params)
    return model.partial_fit(X, take(task.y_train, new), **params)


def _n_rows(values: Any) -> int | None:
    shape = np.shape(values)
    return shape[0] if shape else None


def _classes(task: Task) -> Any:
    """Return the labels of the race, of which the first rows may lack some."""
    if np.ndim(task.y_train) == 2:
        return [np.unique(labels) for labels in np.asarray(task.y_train).T]
    return np.unique(task.y_train) if task.classes is None else task.classes
