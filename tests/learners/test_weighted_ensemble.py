"""Weighted means of models keep scikit-learn's contract."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from cvst.exceptions import InvalidInputError
from cvst.learners import WeightedEnsembleClassifier, WeightedEnsembleRegressor

CLASSIFIER = WeightedEnsembleClassifier(
    [LogisticRegression(), DecisionTreeClassifier(random_state=0)], [2, 1]
)
REGRESSOR = WeightedEnsembleRegressor(
    [Ridge(), DecisionTreeRegressor(random_state=0)], [1, 3]
)


@parametrize_with_checks([CLASSIFIER, REGRESSOR])
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def test_probabilities_are_the_weighted_mean_of_the_members():
    X, y = load_iris(return_X_y=True)
    words = np.array(["a", "b", "c"])[y]
    members = [LogisticRegression(max_iter=500, class_weight={"a": 3}), GaussianNB()]
    ours = WeightedEnsembleClassifier(members, weights=[3, 1]).fit(X, words)
    parts = [one.fit(X, words).predict_proba(X) for one in members]
    np.testing.assert_allclose(ours.predict_proba(X), 0.75 * parts[0] + 0.25 * parts[1])
    assert set(ours.predict(X)) == {"a", "b", "c"}


def test_weights_of_rows_reach_every_member():
    X, y = load_iris(return_X_y=True)
    rows = np.arange(len(y)) % 2
    ours = WeightedEnsembleRegressor([Ridge(), Ridge(alpha=5)])
    ours.fit(X, y, sample_weight=rows)
    parts = [Ridge(alpha=a).fit(X, y, rows).predict(X) for a in (1, 5)]
    np.testing.assert_allclose(ours.predict(X), np.mean(parts, axis=0))


@pytest.mark.parametrize(
    ("members", "weights", "message"),
    [
        ([], None, "nothing to average"),
        ([SVC()], None, "SVC has no predict_proba"),
        ([GaussianNB()], [1, 2], "one number for each"),
        ([GaussianNB()], [-1], "none below 0"),
        ([GaussianNB()], [0], "not all 0"),
        ([GaussianNB()], [np.nan], "does not fit 1 members"),
    ],
)
def test_bad_members_and_weights_are_refused(members, weights, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidInputError, match=message):
        WeightedEnsembleClassifier(members, weights).fit(X, y)
