"""Logistic regression: one path through all penalties of a group.

This is the one evaluator whose sharing is not exact. A solver stops as soon as no
component of the gradient is larger than ``tol``, and where that is depends on its
start. The path starts each penalty where the one before ended, and stops at a hundredth
of ``tol``. So its models fulfil what a plain fit promises, and their predictions are as
far from those of a plain fit as these are from the true minimum. A plain fit that runs
out of ``max_iter`` stops earlier, with a warning; the path does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import perf_counter
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from cvst._sklearn_compat import has_valid_parameters
from cvst._typing import Configuration, FloatArray, IntArray
from cvst.evaluation._dispatch import serve_exactly
from cvst.evaluation._one_by_one import configured
from cvst.evaluation._protocol import BatchEvaluator, Outcome, Task
from cvst.evaluation.linear._centred_rows import checked_weights
from cvst.evaluation.linear._logistic_path import LogisticLoss, logistic_path
from cvst.evaluation.sharing import NotSharedError, groups_by, share_or_fit_alone

__all__ = ["LogisticPath"]

# They minimise the same function; the others penalise the intercept or measure their
# progress in another way.
SMOOTH_SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky")

# Whoever asks for fewer iterations than scikit-learn's default wants early stopping.
FEWEST_ITERATIONS = 100

# The path is this much more accurate than asked for, and at most so accurate: below,
# rounding would keep it from the end.
SHARE_OF_TOLERANCE = 0.01
SMALLEST_TOLERANCE = 1e-10

# Matrices of more coefficients cost more than they save.
MOST_COEFFICIENTS = 600


class LogisticPath(BatchEvaluator):
    """Follows the minimum of ``LogisticRegression`` through all ``C``."""

    prefer: Literal["threads", "processes"] = "threads"

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Put those together that differ in the penalty only."""
        return groups_by(estimator, configurations, {"C"})

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Follow one path per group."""
        for members in self.groups(task.estimator, task.configurations):
            # One alone goes the same way, so that all that are compared have.
            yield from share_or_fit_alone(task, members, _share, fewest=1)


def _share(task: Task, members: list[int]) -> list[Outcome]:
    start = perf_counter()
    models = {i: configured(task.estimator, task.configurations[i]) for i in members}
    models = {i: model for i, model in models.items() if has_valid_parameters(model)}
    models = {i: model for i, model in models.items() if np.isfinite(model.C)}
    if not models:
        raise NotSharedError("none has valid parameters and a finite C")
    _check_can_follow(next(iter(models.values())), task)
    loss, classes, sum_of_weights = _loss(next(iter(models.values())), task)
    fit_seconds = (perf_counter() - start) / len(models)
    # The strongest penalty first: its minimum is closest to the start.
    order = sorted(models, key=lambda number: float(models[number].C))
    penalties = [1.0 / (float(models[i].C) * sum_of_weights) for i in order]
    tolerance = max(models[order[0]].tol * SHARE_OF_TOLERANCE, SMALLEST_TOLERANCE)
    path = logistic_path(loss, penalties, tolerance, FEWEST_ITERATIONS)
    outcomes = []
    before = perf_counter()
    for number, found in zip(order, path, strict=True):
        after = perf_counter()
        if found is not None:
            model = _fitted(models[number], loss, classes, *found)
            prediction = getattr(model, task.response)(task.X_test)
            seconds = fit_seconds + after - before
            before = perf_counter()
            outcomes.append(
                Outcome(number, prediction, classes, seconds, before - after)
            )
    return outcomes


def _check_can_follow(model: Any, task: Task) -> None:
    """Raise unless the path minimises what a plain fit does, and as far at least."""
    penalty, l1_ratio = model.penalty, model.l1_ratio
    is_quadratic = penalty == "l2" and l1_ratio in (None, 0)
    # The word that says that the parameter is not set, in newer versions.
    is_quadratic |= penalty == "deprecated" and l1_ratio == 0
    # Only older versions have that parameter.
    is_plain = getattr(model, "multi_class", "deprecated") == "deprecated"
    if not (is_quadratic and is_plain and model.solver in SMOOTH_SOLVERS):
        raise NotSharedError(
            f"the penalty is not quadratic or the solver is none of "
            f"{', '.join(SMOOTH_SOLVERS)}"
        )
    if model.max_iter < FEWEST_ITERATIONS or model.tol <= 0 or model.dual:
        raise NotSharedError(
            f"max_iter is below {FEWEST_ITERATIONS}, or tol is zero: where a fit stops "
            f"matters"
        )
    if model.verbose or not hasattr(model, task.response):
        raise NotSharedError(f"verbose is set, or there is no {task.response}")
    if not set(task.fit_params) <= {"sample_weight"}:
        raise NotSharedError("fit gets more than sample_weight")


def _loss(model: Any, task: Task) -> tuple[LogisticLoss, Any, float]:
    """Return the loss without a penalty, the classes, and the sum of the weights."""
    if sparse.issparse(task.X_train):
        raise NotSharedError("the rows are sparse")
    X, y = validate_data(
        model, task.X_train, task.y_train, dtype=[np.float64, np.float32], order="C"
    )
    check_classification_targets(y)
    classes, labels = np.unique(y, return_inverse=True)
    n_outputs = 1 if len(classes) == 2 else len(classes)
    n_coefficients = n_outputs * (X.shape[1] + bool(model.fit_intercept))
    if X.dtype != np.float64 or len(classes) < 2:
        raise NotSharedError("the rows are in single precision, or of one class")
    if n_coefficients > MOST_COEFFICIENTS:
        raise NotSharedError(f"there are more than {MOST_COEFFICIENTS} coefficients")
    weights = _weights(model, task, X, y, classes, labels)
    total = float(weights.sum())
    if total <= 0 or weights.min() < 0:
        raise NotSharedError("weights are negative, or all zero")
    if model.fit_intercept:
        X = np.column_stack([X, np.ones(len(X))])
    loss = LogisticLoss(X, labels, weights / total, n_outputs, model.fit_intercept)
    return loss, classes, total


def _weights(
    model: Any, task: Task, X: FloatArray, y: Any, classes: Any, labels: IntArray
) -> FloatArray:
    given = task.fit_params.get("sample_weight")
    if given is not None and isinstance(model.class_weight, str):
        # Whether balanced classes are balanced by weight depends on the version.
        raise NotSharedError("classes are balanced, and rows have weights")
    weights: FloatArray = checked_weights(
        np.ones(len(X)) if given is None else given, X
    )
    if model.class_weight is not None:
        of_classes = compute_class_weight(model.class_weight, classes=classes, y=y)
        weights = weights * of_classes[labels]
    return weights


def _fitted(
    model: Any, loss: LogisticLoss, classes: Any, found: FloatArray, n_steps: int
) -> Any:
    """Return the model with these coefficients, as after a fit."""
    model.classes_ = classes
    model.n_iter_ = np.array([n_steps], dtype=np.int32)
    model.n_features_in_ = loss.rows.shape[1] - bool(loss.has_intercept)
    if loss.has_intercept:
        model.coef_, model.intercept_ = found[:, :-1].copy(), found[:, -1].copy()
    else:
        model.coef_, model.intercept_ = found, np.zeros(len(found))
    return model


serve_exactly(LogisticPath(), LogisticRegression)
