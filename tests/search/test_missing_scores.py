"""Scores of NaN: told, whether all configurations have them or only some."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier

from cvst import RaceGridSearchCV
from cvst.exceptions import CVSTWarning


def nothing(estimator, X, y):
    return np.nan


def no_fives(estimator, X, y):
    return np.nan if estimator.n_neighbors == 5 else estimator.score(X, y)


def neighbours(scoring, **options):
    grid = {"n_neighbors": [1, 5, 9]}
    return RaceGridSearchCV(
        KNeighborsClassifier(), grid, scoring=scoring, random_state=0, **options
    )


@pytest.mark.parametrize("strategy", ["track_and_confirm", "cross_validation", "cvst"])
@pytest.mark.parametrize("several", [False, True])
def test_scores_that_are_all_nan_are_warned_of(strategy, several):
    """As in ``GridSearchCV``, which chooses the first one and begins like that."""
    scoring = {"a": nothing, "b": "accuracy"} if several else nothing
    refit = "a" if several else True
    X, y = load_iris(return_X_y=True)
    grid = {"n_neighbors": [1, 5, 9]}
    plain = GridSearchCV(KNeighborsClassifier(), grid, scoring=scoring, refit=refit)
    words = "One or more of the test scores are non-finite: "
    with pytest.warns(UserWarning, match=words):
        plain.fit(X, y)
    search = neighbours(scoring, refit=refit, strategy=strategy)
    with pytest.warns(CVSTWarning, match=f"{words}.*nothing tells") as caught:
        search.fit(X, y)
    assert caught[0].filename == __file__
    assert np.isnan(search.best_score_)
    assert search.best_index_ == plain.best_index_ == 0


def test_scores_that_are_nan_in_some_folds_are_warned_of():
    """The last fold has one class: the others decide, but there is no mean."""
    X, y = load_iris(return_X_y=True)
    y = (np.arange(len(y)) % 50 < 20) & (y < 2)
    search = neighbours("roc_auc", cv=KFold(3), strategy="cross_validation")
    words = r"winner's score is nan in 1 of the 3 looks that decide\. Check"
    with pytest.warns(CVSTWarning, match=words):
        search.fit(X, y)
    assert np.isnan(search.best_score_)


def test_one_configuration_without_a_score_is_told_in_a_sentence():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(FitFailedWarning) as caught:
        search = neighbours(no_fives).fit(X, y)
    [warning] = caught
    assert "failed with InvalidPredictionError: The score is NaN. Later" in str(
        warning.message
    )
    assert np.isfinite(search.best_score_)
