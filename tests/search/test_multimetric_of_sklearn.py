"""scikit-learn's own tests of multi-metric searches, adapted to ours.

They come from ``sklearn/model_selection/tests/test_search.py`` and keep their names.
What differs: a race has looks instead of splits, needs ``race_by`` where ``refit``
names no score, gives every configuration a rank of its own in the score raced on, and
says what is wrong in its own words.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import expon
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_blobs, make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import accuracy_score, confusion_matrix, make_scorer, recall_score
from sklearn.svm import SVC, LinearSVC

from cvst import RaceGridSearchCV, RaceRandomSearchCV
from cvst.exceptions import AllFitsFailedError, UnsupportedScoreError

PLAIN = {"strategy": "cross_validation", "cv": 3, "random_state": 0}


class FailingClassifier(ClassifierMixin, BaseEstimator):
    """Cannot be fitted with one value of its parameter."""

    FAILING = 2

    def __init__(self, parameter=None):
        self.parameter = parameter

    def fit(self, X, y=None):
        if self.parameter == FailingClassifier.FAILING:
            raise ValueError("Failing classifier failed as required")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def compare_multimetric_with_single(several, singles):
    """Check that a score beside others is the score by itself."""
    assert several.multimetric_
    assert set(several.scorer_) == set(singles)
    for name, single in singles.items():
        assert not single.multimetric_
        for column in ("mean_test", "std_test", "look1_test", "look3_test"):
            np.testing.assert_allclose(
                several.cv_results_[f"{column}_{name}"],
                single.cv_results_[f"{column}_score"],
                rtol=1e-12,
            )


@pytest.mark.parametrize("refit", ["recall", False])
@pytest.mark.parametrize(
    "scoring",
    [
        ("accuracy", "recall"),
        {"accuracy": make_scorer(accuracy_score), "recall": "recall"},
    ],
    ids=["names", "scorers"],
)
def test_grid_search_cv_results_multimetric(scoring, refit):
    X, y = make_classification(n_samples=50, n_features=4, random_state=42)
    grid = [
        {"kernel": ["rbf"], "C": [1, 10], "gamma": [0.1, 1]},
        {"kernel": ["poly"], "degree": [1, 2]},
    ]
    several = RaceGridSearchCV(
        SVC(), grid, scoring=scoring, refit=refit, race_by="recall", **PLAIN
    ).fit(X, y)
    singles = {
        name: RaceGridSearchCV(SVC(), grid, scoring=name, **PLAIN).fit(X, y)
        for name in ("accuracy", "recall")
    }
    compare_multimetric_with_single(several, singles)
    assert several.best_index_ == singles["recall"].best_index_
    assert hasattr(several, "best_estimator_") == bool(refit)
    if refit:
        by_recall = singles["recall"]
        np.testing.assert_array_equal(several.predict(X), by_recall.predict(X))
        assert several.score(X, y) == by_recall.score(X, y)


@pytest.mark.parametrize("refit", ["accuracy", "recall"])
def test_random_search_cv_results_multimetric(refit):
    X, y = make_classification(n_samples=50, n_features=4, random_state=42)
    space = {"C": expon(scale=10), "gamma": expon(scale=0.1)}
    several = RaceRandomSearchCV(
        SVC(), space, n_iter=8, scoring=("accuracy", "recall"), refit=refit, **PLAIN
    ).fit(X, y)
    singles = {
        name: RaceRandomSearchCV(SVC(), space, n_iter=8, scoring=name, **PLAIN)
        for name in ("accuracy", "recall")
    }
    for single in singles.values():
        single.fit(X, y)
        assert single.cv_results_["params"] == several.cv_results_["params"]
    compare_multimetric_with_single(several, singles)
    assert several.best_params_ == singles[refit].best_params_


def accuracy_and_recall(est, X, y):
    """Return both scores."""
    predicted = est.predict(X)
    return {
        "recall": recall_score(y, predicted),
        "accuracy": accuracy_score(y, predicted),
    }


def test_callable_multimetric_same_as_list_of_strings():
    X, y = make_classification(n_samples=40, n_features=4, random_state=42)
    by_function, by_names = (
        RaceGridSearchCV(
            LinearSVC(random_state=42),
            {"C": [0.1, 1]},
            scoring=scoring,
            refit="recall",
            **PLAIN,
        ).fit(X, y)
        for scoring in (accuracy_and_recall, ["recall", "accuracy"])
    )
    assert by_function.best_index_ == by_names.best_index_
    assert by_function.best_score_ == pytest.approx(by_names.best_score_)
    for name in ("recall", "accuracy"):
        for column in ("mean_test", "std_test", "rank_test"):
            np.testing.assert_allclose(
                by_function.cv_results_[f"{column}_{name}"],
                by_names.cv_results_[f"{column}_{name}"],
            )


def test_callable_multimetric_confusion_matrix():
    def counts(est, X, y):
        table = confusion_matrix(y, est.predict(X))
        return {"tn": table[0, 0], "fp": table[0, 1], "tp": table[1, 1]}

    X, y = make_classification(n_samples=40, n_features=4, random_state=42)
    search = RaceGridSearchCV(
        LinearSVC(random_state=42), {"C": [0.1, 1]}, scoring=counts, refit="fp", **PLAIN
    ).fit(X, y)
    for name in ("tn", "fp", "tp"):
        assert f"mean_test_{name}" in search.cv_results_
    best = search.cv_results_["mean_test_fp"][search.best_index_]
    assert search.best_score_ == best == search.cv_results_["mean_test_fp"].max()


def test_callable_multimetric_error_on_invalid_key():
    search = RaceGridSearchCV(
        LinearSVC(random_state=42),
        {"C": [0.1, 1]},
        scoring=lambda est, X, y: {"bad_name": 1},
        refit="good_name",
        **PLAIN,
    )
    X, y = make_classification(n_samples=40, n_features=4, random_state=42)
    with pytest.raises(UnsupportedScoreError, match="none of them is 'good_name'"):
        search.fit(X, y)


def test_callable_multimetric_error_failing_clf():
    X, y = make_classification(n_samples=20, n_features=10, random_state=0)
    search = RaceGridSearchCV(
        FailingClassifier(),
        [{"parameter": [0, 1, 2]}],
        scoring=lambda est, X, y: {"acc": accuracy_score(y, est.predict(X))},
        refit=False,
        race_by="acc",
        error_score=0.1,
        **PLAIN,
    )
    with pytest.warns(FitFailedWarning, match="failed as required"):
        search.fit(X, y)
    means = search.cv_results_["mean_test_acc"]
    assert means[2] == pytest.approx(0.1)
    assert np.all(means[:2] != 0.1)


def test_callable_multimetric_clf_all_fits_fail():
    X, y = make_classification(n_samples=20, n_features=10, random_state=0)
    search = RaceGridSearchCV(
        FailingClassifier(),
        [{"parameter": [FailingClassifier.FAILING] * 3}],
        scoring=lambda est, X, y: {"acc": 1},
        refit="acc",
        **PLAIN,
    )
    with pytest.raises(AllFitsFailedError, match="failed as required"):
        search.fit(X, y)


def test_refit_callable_multi_metric():
    """A function may choose by a score that the race was not about."""

    def worst_precision(cv_results):
        assert "mean_test_prec" in cv_results
        return int(cv_results["mean_test_prec"].argmin())

    X, y = make_classification(n_samples=100, n_features=4, random_state=42)
    search = RaceGridSearchCV(
        LinearSVC(random_state=42),
        {"C": [0.001, 0.1, 1]},
        scoring={"Accuracy": make_scorer(accuracy_score), "prec": "precision"},
        refit=worst_precision,
        race_by="Accuracy",
        **PLAIN,
    ).fit(X, y)
    assert search.best_index_ == search.cv_results_["mean_test_prec"].argmin()
    assert search.best_params_["C"] == search.best_estimator_.C


def test_search_cv_results_rank_tie_breaking():
    """Equal scores share a rank, but for the one raced on: the first of them wins."""
    X, y = make_blobs(n_samples=50, random_state=42, centers=2)
    search = RaceGridSearchCV(
        SVC(),
        {"C": [1, 1.001, 0.001]},
        scoring=["accuracy", "recall"],
        refit="accuracy",
        **PLAIN,
    ).fit(X, y)
    results = search.cv_results_
    np.testing.assert_array_equal(results["mean_test_recall"][:2], 1.0)
    assert results["rank_test_recall"][0] == results["rank_test_recall"][1] == 1
    assert sorted(results["rank_test_accuracy"]) == [1, 2, 3]
    assert search.best_index_ == 0
