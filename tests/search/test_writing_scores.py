"""Scores that write into what they get: it is their own, as in scikit-learn's searches.

The witness is ``GridSearchCV`` on the same folds, and the rows as they were before.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from cvst import PointwiseLoss, RaceGridSearchCV

X, Y = make_classification(160, 5, flip_y=0.1, random_state=0)
NUMBERS = make_regression(160, 5, noise=20.0, random_state=0)
TREE, DEPTHS = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]}


def merging(y_true, y_pred):
    """Return the accuracy after the first class has become the second."""
    y_true[y_true == 0] = 1
    score = accuracy_score(y_true, y_pred)
    y_pred[:] = 0
    return score


def centring(y_true, y_pred):
    """Return the covariance, centred in place."""
    y_true -= y_true.mean()
    y_pred -= y_pred.mean()
    return float((y_true * y_pred).mean())


def spoiling(y_true, y_pred):
    """Return losses of single rows, and leave nothing of the targets."""
    losses = (y_true != y_pred) * 1.0
    y_true[:] = 1
    y_pred[:] = 1
    return losses


def lie(estimator, X, y):
    """Score honestly, then overwrite the targets."""
    score = accuracy_score(y, estimator.predict(X))
    y[:] = 0
    return score


def doubling(estimator, X, y):
    """Change the rows before they are predicted."""
    X *= 2
    return accuracy_score(y, estimator.predict(X))


def doubling_values(estimator, X, y):
    """Change the values of a sparse table before they are predicted."""
    X.data[:] *= 2
    return accuracy_score(y, estimator.predict(X))


def pair(estimator, grid, rows, folds, **options):
    """Return both searches on the same folds, after a look at what they left."""
    X, y = rows
    before = y.copy()
    searches = []
    for kind, extra in (
        (GridSearchCV, {}),
        (RaceGridSearchCV, {"strategy": "cross_validation"}),
    ):
        search = kind(estimator, grid, cv=folds, **options, **extra).fit(X, y)
        np.testing.assert_array_equal(y, before)
        searches.append(search)
    expected, search = searches
    assert search.best_index_ == expected.best_index_
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )
    return expected, search


@pytest.mark.parametrize(
    "scoring",
    [make_scorer(merging), PointwiseLoss(spoiling), lie],
    ids=["metric", "pointwise", "callable"],
)
def test_targets_stay_as_they_are(scoring):
    """The final model is fitted on the targets that were passed."""
    rows = X, Y.copy()
    expected, search = pair(TREE, DEPTHS, rows, StratifiedKFold(3), scoring=scoring)
    np.testing.assert_array_equal(
        search.best_estimator_.classes_, expected.best_estimator_.classes_
    )
    raced = RaceGridSearchCV(TREE, DEPTHS, scoring=scoring).fit(*rows)
    np.testing.assert_array_equal(rows[1], Y)
    assert raced.best_estimator_.classes_.tolist() == [0, 1]


def test_a_metric_may_centre_what_it_gets():
    alphas = {"alpha": [0.1, 10.0, 1000.0]}
    expected, search = pair(
        Ridge(), alphas, NUMBERS, KFold(3), scoring=make_scorer(centring)
    )
    assert search.best_estimator_.intercept_ == pytest.approx(
        expected.best_estimator_.intercept_
    )


def test_what_a_score_requests_is_its_own():
    """Witness: GridSearchCV, which cuts the prices anew for each score."""

    def spent(y_true, y_pred, price):
        price /= price.sum()
        return float(price @ (y_true == y_pred))

    prices = np.arange(1.0, 161.0)
    with sklearn.config_context(enable_metadata_routing=True):
        scoring = make_scorer(spent).set_score_request(price=True)
        found = [
            kind(TREE, DEPTHS, cv=StratifiedKFold(3), scoring=scoring, **extra).fit(
                X, Y, price=prices
            )
            for kind, extra in (
                (GridSearchCV, {}),
                (RaceGridSearchCV, {"strategy": "cross_validation"}),
            )
        ]
    np.testing.assert_array_equal(prices, np.arange(1.0, 161.0))
    expected, search = (one.cv_results_["mean_test_score"] for one in found)
    np.testing.assert_allclose(search, expected)


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (TREE, DEPTHS),
        (LogisticRegression(), {"C": [0.01, 1.0, 100.0]}),
        (KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}),
    ],
    ids=["alone", "path", "shared"],
)
@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, sparse.csr_array])
def test_a_callable_may_write_into_its_rows(estimator, grid, kind):
    """Whether models answer from shared work or not, they predict what it made."""
    scoring = doubling_values if kind is sparse.csr_array else doubling
    inputs = kind(X.copy())
    pair(estimator, grid, (inputs, Y), StratifiedKFold(3), scoring=scoring)
    left = inputs.toarray() if sparse.issparse(inputs) else np.asarray(inputs)
    np.testing.assert_array_equal(left, X)


def test_losses_of_a_callable_that_writes_are_those_of_its_blocks():
    """Witness: the same callable with copies of its own."""

    def careful(estimator, X, y):
        return accuracy_score(y, estimator.predict(2 * X))

    tables = [
        RaceGridSearchCV(
            LogisticRegression(),
            {"C": [0.01, 1.0, 100.0]},
            scoring=scoring,
            return_pointwise=True,
        )
        .fit(X, Y)
        .race_
        for scoring in (doubling, careful)
    ]
    for one, other in zip(*(race.observations for race in tables), strict=True):
        np.testing.assert_array_equal(one.losses, other.losses)
