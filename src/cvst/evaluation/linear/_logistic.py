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
from scipy import sparse, special
from sklearn.linear_model import LogisticRegression
from sklearn.utils.extmath import softmax
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from cvst._sklearn_compat import has_valid_parameters
from cvst._typing import Configuration, FloatArray, IntArray
from cvst.evaluation._dispatch import serve_exactly
from cvst.evaluation._one_by_one import configured
from cvst.evaluation._protocol import BatchEvaluator, Outcome, Task
from cvst.evaluation.linear._centred_rows import checked_weights
from cvst.evaluation.linear._logistic_path import LogisticLoss, logistic_path
from cvst.evaluation.sharing import (
    NotSharedError,
    class_weights,
    groups_by,
    share_or_fit_alone,
    truncated,
)

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

RESPONSES = ("predict", "predict_proba", "decision_function")

# Matrices of more coefficients cost more than they save.
MOST_COEFFICIENTS = 600


class LogisticPath(BatchEvaluator):
    """Follows the minimum of ``LogisticRegression`` through all ``C``."""

    prefer: Literal["threads", "processes"] = "threads"
    is_exact: bool = False

    def groups(
        self, estimator: Any, configurations: Mapping[int, Configuration]
    ) -> list[list[int]]:
        """Put those together that differ in the penalty only."""
        return groups_by(estimator, configurations, {"C"})

    def serves_one(self, estimator: Any) -> bool:
        """Say so: one alone goes the same way, so that all that are compared have."""
        del estimator
        return True

    def evaluate(self, task: Task) -> Iterator[Outcome]:
        """Follow one path per group."""
        for members in self.groups(task.estimator, task.configurations):
            yield from share_or_fit_alone(task, members, _share, fewest=1)


def _share(task: Task, members: list[int]) -> list[Outcome]:
    start = perf_counter()
    model = configured(task.estimator, task.configurations[members[0]])
    Cs = {i: task.configurations[i].get("C", model.C) for i in members}
    Cs = {i: C for i, C in Cs.items() if has_valid_parameters(truncated(model, C=C))}
    Cs = {i: float(C) for i, C in Cs.items() if np.isfinite(C)}
    if not Cs:
        raise NotSharedError("none has valid parameters and a finite C")
    _check_can_follow(model, task)
    loss, classes, sum_of_weights = _loss(model, task)
    # The strongest penalty first: its minimum is closest to the start.
    order = sorted(Cs, key=Cs.__getitem__)
    penalties = [1.0 / (Cs[number] * sum_of_weights) for number in order]
    tolerance = max(model.tol * SHARE_OF_TOLERANCE, SMALLEST_TOLERANCE)
    path = logistic_path(loss, penalties, tolerance, FEWEST_ITERATIONS)
    found = dict(zip(order, path, strict=True))
    solved = {i: point for i, point in found.items() if point is not None}
    fit_end = perf_counter()
    X_test = validate_data(model, task.X_test, reset=False)
    fit_seconds = (fit_end - start) / len(order)
    outcomes = []
    for number, coefficients in solved.items():
        before = perf_counter()
        scores = X_test @ coefficients[:, : X_test.shape[1]].T
        if loss.has_intercept:
            scores += coefficients[:, -1]
        prediction = _answer(scores, classes, task.response)
        seconds = perf_counter() - before
        outcomes.append(Outcome(number, prediction, classes, fit_seconds, seconds))
    return outcomes


def _answer(scores: FloatArray, classes: Any, response: str) -> Any:
    """Return what a model with these scores answers, as scikit-learn does it."""
    is_binary = scores.shape[1] == 1
    if response == "predict":
        chosen = (scores[:, 0] > 0).astype(int) if is_binary else scores.argmax(axis=1)
        return classes[chosen]
    if response == "decision_function":
        return scores[:, 0] if is_binary else scores
    if is_binary:
        shares = special.expit(scores[:, 0])
        return np.column_stack([1 - shares, shares])
    return softmax(scores)


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
    if model.verbose or task.response not in RESPONSES:
        raise NotSharedError(f"verbose is set, or {task.response} is asked for")
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
        of_classes = class_weights(model.class_weight, classes, labels, y)
        weights = weights * of_classes[labels]
    return weights


serve_exactly(LogisticPath(), LogisticRegression)
