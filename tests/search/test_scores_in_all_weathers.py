"""Each kind of score with class weights, row weights, groups, several outputs, faults.

The witness is always scikit-learn's ``GridSearchCV`` on the same folds.
"""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn import metrics
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV

X, Y = make_classification(120, 5, weights=[0.7], flip_y=0.1, random_state=0)
RNG = np.random.default_rng(0)
NUMBERS = X[:, 0] + RNG.normal(size=120)
WEIGHTS = RNG.uniform(0.2, 3.0, 120)
GROUPS = RNG.integers(0, 9, 120)
FOLDS = StratifiedKFold(3)


def share_found(y_true, y_pred):
    """Return a metric that no table knows."""
    return np.mean(y_pred[np.asarray(y_true) == 1] == 1) ** 2


def opaque(estimator, X, y):
    """Return a number that nothing is known of."""
    return float(np.mean(estimator.predict(X) == y) ** 2)


# A score of each kind: a mean over rows, influence values by formula, a jackknife of
# the predictions, and one of which only the value is known.
LABELS = {
    "mean": "accuracy",
    "log": "neg_log_loss",
    "area": "roc_auc",
    "counts": "f1_macro",
    "jackknife": make_scorer(share_found),
    "opaque": opaque,
}
REAL = {
    "mean": "neg_mean_absolute_error",
    "root": "neg_root_mean_squared_error",
    "spread": "r2",
    "jackknife": "neg_median_absolute_error",
}


def by_name(scores):
    return pytest.mark.parametrize("scoring", scores.values(), ids=scores.keys())


def compared(estimator, grid, rows, scoring, fit=None, **options):
    """Fit both searches, and hold their tables against each other."""
    options = {"cv": FOLDS, "scoring": scoring, **options}
    expected = GridSearchCV(estimator, grid, **options).fit(*rows, **(fit or {}))
    ours = RaceGridSearchCV(
        estimator, grid, strategy="cross_validation", rescale=None, **options
    ).fit(*rows, **(fit or {}))
    for column in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(
            ours.cv_results_[column], expected.cv_results_[column], atol=1e-7
        )
    return ours, expected


@by_name(LABELS)
def test_class_weights(scoring):
    grid = {"class_weight": [None, "balanced", {0: 1, 1: 9}]}
    ours, expected = compared(
        LogisticRegression(C=0.1, max_iter=99), grid, (X, Y), scoring
    )
    if expected.cv_results_["rank_test_score"].tolist().count(1) == 1:
        assert ours.best_params_ == expected.best_params_


@by_name(LABELS)
def test_groups(scoring):
    grid = {"n_neighbors": [3, 15]}
    model = KNeighborsClassifier()
    fit = {"groups": GROUPS}
    compared(model, grid, (X, Y), scoring, fit=fit, cv=GroupKFold(3))


@by_name(REAL)
def test_groups_of_numbers(scoring):
    fit = {"groups": GROUPS}
    grid = {"alpha": [0.1, 100.0]}
    compared(Ridge(), grid, (X, NUMBERS), scoring, fit=fit, cv=GroupKFold(3))


@pytest.mark.parametrize("scored", [True, False], ids=["weighed", "plain"])
@by_name({**{name: LABELS[name] for name in ("mean", "log", "area", "counts")}})
def test_row_weights_go_where_they_are_asked_for(scoring, scored):
    """``set_score_request`` decides whether the weights reach the score."""
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression(max_iter=99).set_fit_request(sample_weight=True)
        scorer = get_scorer(scoring).set_score_request(sample_weight=scored)
        fit = {"sample_weight": WEIGHTS}
        compared(model, {"C": [0.01, 1.0]}, (X, Y), scorer, fit=fit)


@pytest.mark.parametrize("raced", ["weighed", "plain", "renamed"])
def test_several_scores_get_the_weights_that_each_asks_for(raced):
    """One is weighed, one is not, and one asks for weights of another name."""
    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression(max_iter=99).set_fit_request(sample_weight=True)
        asked = {"weighed": True, "plain": False, "renamed": "other"}
        scoring = {
            name: get_scorer("accuracy").set_score_request(sample_weight=request)
            for name, request in asked.items()
        }
        searches = [
            kind(
                model, {"C": [0.01, 1.0]}, scoring=scoring, cv=FOLDS, refit=raced, **to
            )
            for kind, to in (
                (GridSearchCV, {}),
                (RaceGridSearchCV, {"strategy": "cross_validation"}),
            )
        ]
        for one in searches:
            one.fit(X, Y, sample_weight=WEIGHTS, other=WEIGHTS[::-1].copy())
    theirs, ours = (one.cv_results_ for one in searches)
    means = [theirs[f"mean_test_{name}"] for name in asked]
    assert len({values.tobytes() for values in means}) == 3
    for name in asked:
        key = f"mean_test_{name}"
        np.testing.assert_allclose(ours[key], theirs[key], rtol=1e-12)


@by_name(REAL)
def test_row_weights_of_numbers(scoring):
    with sklearn.config_context(enable_metadata_routing=True):
        model = Ridge().set_fit_request(sample_weight=True)
        scorer = get_scorer(scoring).set_score_request(sample_weight=True)
        fit = {"sample_weight": WEIGHTS}
        rows = (X, NUMBERS)
        compared(model, {"alpha": [0.1, 50.0]}, rows, scorer, fit=fit, cv=KFold(3))


def test_row_weights_reach_a_function_that_takes_them():
    """Witness: the same function, called by hand."""

    def weighed(estimator, X, y, sample_weight=None):
        hits = estimator.predict(X) == y
        return float(np.average(hits, weights=sample_weight))

    search = RaceGridSearchCV(
        LogisticRegression(),
        {"C": [0.01, 1.0]},
        scoring=weighed,
        cv=FOLDS,
        strategy="cross_validation",
        rescale=None,
    ).fit(X, Y, sample_weight=WEIGHTS)
    for place, C in enumerate((0.01, 1.0)):
        scores = []
        for train, test in FOLDS.split(X, Y):
            model = LogisticRegression(C=C).fit(X[train], Y[train], WEIGHTS[train])
            scores.append(weighed(model, X[test], Y[test], WEIGHTS[test]))
        found = search.cv_results_["mean_test_score"][place]
        assert found == pytest.approx(np.mean(scores))


@by_name(
    {
        "mean": "accuracy",
        "counts": "f1_macro",
        "hamming": make_scorer(metrics.hamming_loss, greater_is_better=False),
        "area": "roc_auc",
        "opaque": lambda model, X, y: float(np.mean(model.predict(X) == y)),
    }
)
def test_several_labels(scoring):
    labels = np.column_stack([Y, X[:, 1] > 0, X[:, 2] + X[:, 3] > 0]).astype(int)
    model = DecisionTreeClassifier(random_state=0)
    if scoring == "roc_auc":
        model = KNeighborsClassifier()
        grid = {"n_neighbors": [5, 15]}
        scoring = make_scorer(area_of_labels, response_method="predict")
    else:
        grid = {"max_depth": [2, 5]}
    compared(model, grid, (X, labels), scoring, cv=KFold(3))


def area_of_labels(y_true, y_pred):
    """Return the area under the curve of each label, averaged."""
    return metrics.roc_auc_score(y_true, y_pred, average="macro")


@by_name(REAL | {"opaque": lambda model, X, y: -float(np.ptp(model.predict(X) - y))})
def test_several_outputs(scoring):
    targets = np.column_stack([NUMBERS, 10 * X[:, 1]])
    compared(Ridge(), {"alpha": [0.1, 50.0]}, (X, targets), scoring, cv=KFold(3))


class Fails(LogisticRegression):
    """Cannot be fitted with a negative penalty."""

    def fit(self, X, y, sample_weight=None):
        if self.C < 0:
            raise ValueError("C is negative")
        return super().fit(X, y, sample_weight)


@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
@pytest.mark.parametrize("error_score", [-7.0, np.nan])
@by_name(LABELS)
def test_failed_fits(scoring, error_score):
    with pytest.warns(FitFailedWarning):
        ours, _ = compared(
            Fails(), {"C": [-1.0, 1.0]}, (X, Y), scoring, error_score=error_score
        )
    assert ours.best_params_ == {"C": 1.0}


@by_name(LABELS)
def test_failed_fits_end_the_search_if_asked_to(scoring):
    search = RaceGridSearchCV(
        Fails(), {"C": [-1.0, 1.0]}, scoring=scoring, error_score="raise"
    )
    with pytest.raises(ValueError, match="C is negative"):
        search.fit(X, Y)
