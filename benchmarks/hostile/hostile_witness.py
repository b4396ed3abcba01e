"""Who must win, by brute force: one fit after the other, no search of anybody's."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import _safe_indexing

__all__ = ["SCORES", "mean_scores"]


def _accuracy(truth, predicted):
    return np.mean(truth == predicted)


def _squares(truth, predicted):
    return -np.mean((truth - predicted) ** 2)


def _distances(truth, predicted):
    return -np.mean(np.abs(truth - predicted))


def _explained(truth, predicted):
    left, all_of_it = _squares(truth, predicted), _squares(truth, np.mean(truth))
    if len(truth) < 2:
        return np.nan
    if all_of_it == 0:
        return 1.0 if left == 0 else 0.0
    return 1 - left / all_of_it


# Scores of a fold, by the names that the cases use.
SCORES = {
    "accuracy": _accuracy,
    "mse": _squares,
    "mae": _distances,
    "r2": _explained,
}


def mean_scores(estimator, grid, cv, score, X, y, groups):
    """Return the mean score over the folds of each configuration; NaN if one failed."""
    folds = check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y, groups)
    folds = [
        tuple(_safe_indexing(part, rows) for rows in fold for part in (X, y))
        for fold in folds
    ]
    return np.array(
        [
            np.mean([_score(clone(estimator), one, score, *fold) for fold in folds])
            for one in ParameterGrid(grid)
        ]
    )


def _score(model, configuration, score, X_train, y_train, X_test, y_test):
    try:
        model.set_params(**{k: clone(v, safe=False) for k, v in configuration.items()})
        model.fit(X_train, y_train)
        predicted, truth = np.asarray(model.predict(X_test)), np.asarray(y_test)
        if predicted.shape != truth.shape:
            return np.nan
        if score != "accuracy":
            predicted, truth = predicted.astype(float), truth.astype(float)
        return float(SCORES[score](truth, predicted))
    except Exception:
        return np.nan
