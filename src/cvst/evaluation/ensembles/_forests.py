"""Forests and bagging: the first members of a large ensemble are a small one.

The seeds of the members are drawn one after the other from the ensemble's
``random_state``, so that a member does not depend on how many follow. Predictions are
added up in the order of the members and divided at the end, as ``predict`` does in one
thread: equal to the last bit, so that tied votes fall alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from cvst.evaluation._dispatch import serve_exactly
from cvst.evaluation._protocol import Task
from cvst.evaluation.sharing import PrefixEvaluator, Remembered, truncated

__all__ = ["BaggingPrefixes", "ForestPrefixes"]


class ForestPrefixes(PrefixEvaluator):
    """Reads every ``n_estimators`` from one fit of a random forest or extra trees."""

    prefer: Literal["threads", "processes"] = "threads"

    def are_independent(self, estimator: Any, response: str) -> bool:
        """Promise it where seeds are fixed: the sum of the first trees is the same."""
        del response
        return self.is_prefix(estimator)

    def predictions(
        self, model: Any, task: Task, sizes: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Add up the trees and pause at each size."""
        X = _as_trees_want_it(model, task.X_test)
        response = "predict_proba" if is_classifier(model) else "predict"
        total: Any = 0.0
        n_added = 0
        for size in sizes:
            for tree in model.estimators_[n_added:size]:
                # A list, one array per output, where there are several with classes.
                one = getattr(tree, response)(X, check_input=False)
                total = _plus(total, one)
            n_added = size
            yield size, _answer(model, task.response, _divided(total, size))


def _as_trees_want_it(model: Any, X: Any) -> Any:
    tree = model.estimators_[0]
    missing_allowed = (
        get_tags(tree).input_tags.allow_nan
        and not sparse.issparse(X)
        and getattr(model, "monotonic_cst", None) is None
    )
    return validate_data(
        model,
        X,
        dtype=np.float32,
        accept_sparse="csr",
        reset=False,
        ensure_all_finite="allow-nan" if missing_allowed else True,
    )


def _plus(total: Any, one: Any) -> Any:
    if isinstance(one, list):
        totals = total if isinstance(total, list) else [total] * len(one)
        return [_plus(*pair) for pair in zip(totals, one, strict=True)]
    return total + one


def _divided(total: Any, size: int) -> Any:
    if isinstance(total, list):
        return [part / size for part in total]
    return total / size


def _answer(model: Any, response: str, mean: Any) -> Any:
    if response == "predict_proba" or not is_classifier(model):
        return mean
    if not isinstance(mean, list):
        return model.classes_.take(np.argmax(mean, axis=1), axis=0)
    # As scikit-learn does it: the first output's labels decide on the type.
    labels = np.empty((len(mean[0]), len(mean)), dtype=model.classes_[0].dtype)
    for column, (classes, votes) in enumerate(zip(model.classes_, mean, strict=True)):
        labels[:, column] = classes.take(np.argmax(votes, axis=1), axis=0)
    return labels


class BaggingPrefixes(PrefixEvaluator):
    """Reads every ``n_estimators`` from one fit of ``Bagging*``."""

    def is_prefix(self, model: Any) -> bool:
        """Whether the seeds are fixed; the members' own come from the ensemble."""
        return model.random_state is not None

    def predictions(
        self, model: Any, task: Task, sizes: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Predict once with each member and let scikit-learn average the prefixes."""
        members = list(_remembered(model, task))
        for size in sizes:
            shorter = truncated(
                model,
                n_estimators=size,
                estimators_=members[:size],
                # The features are not used any more, so none need be copied.
                estimators_features_=[slice(0, 0)] * size,
            )
            yield size, getattr(shorter, task.response)(task.X_test)


def _remembered(model: Any, task: Task) -> Iterator[Remembered]:
    # An ensemble of one answers for its member, votes and missing classes included.
    labels_wanted = is_classifier(model) and task.response == "predict"
    response = "predict_proba" if labels_wanted else task.response
    classes = range(model.n_classes_) if is_classifier(model) else None
    pairs = zip(model.estimators_, model.estimators_features_, strict=True)
    for member, features in pairs:
        alone = truncated(
            model,
            n_estimators=1,
            n_jobs=None,
            estimators_=[member],
            estimators_features_=[features],
        )
        yield Remembered(getattr(alone, response)(task.X_test), classes)


serve_exactly(
    ForestPrefixes(),
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
serve_exactly(BaggingPrefixes(), BaggingClassifier, BaggingRegressor)
