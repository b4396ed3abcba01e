"""Out-of-fold predictions: witnesses are scikit-learn's own, on the same folds."""

from __future__ import annotations

import logging
import pickle
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from cvst import CVST, RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV
from cvst.exceptions import CVSTWarning, InvalidInputError
from cvst.search import OutOfFoldPredictions

CLASSES = make_classification(260, 6, n_informative=4, n_classes=3, random_state=0)
NUMBERS = make_regression(240, 5, noise=20, random_state=0)
FOLDS = list(StratifiedKFold(4, shuffle=True, random_state=1).split(*CLASSES))


def fitted(estimator, grid, rows=CLASSES, *, fit=None, **options):
    options = {"random_state": 0, "return_predictions": True, **options}
    search = RaceGridSearchCV(estimator, grid, **options)
    return search.fit(*rows, **(fit or {}))


@pytest.mark.parametrize(
    ("estimator", "grid", "response"),
    [
        # Each of them but the last shares work between configurations.
        (KNeighborsClassifier(), {"n_neighbors": [3, 5, 9]}, "predict_proba"),
        (
            make_pipeline(StandardScaler(), LogisticRegression(max_iter=99)),
            {"logisticregression__C": [0.1, 1.0, 3.0]},
            "predict_proba",
        ),
        (
            GradientBoostingClassifier(random_state=0, max_depth=2),
            {"n_estimators": [5, 10]},
            "predict_proba",
        ),
        # A loose end of libsvm depends on the order of the rows.
        (SVC(tol=1e-9), {"C": [0.5, 1.0], "gamma": [0.1, 0.2]}, "decision_function"),
        (RidgeClassifier(), {"alpha": [0.1, 1.0]}, "decision_function"),
    ],
    ids=["neighbours", "pipeline", "boosting", "svm", "alone"],
)
def test_predictions_are_those_of_scikit_learn_on_the_same_folds(
    estimator, grid, response
):
    search = fitted(estimator, grid, cv=FOLDS, scoring="accuracy")
    known = search.out_of_fold_predictions_
    assert known.response == response
    assert known.configurations[0] == search.best_index_
    np.testing.assert_array_equal(known.classes, [0, 1, 2])
    for number, params, mine in zip(
        known.configurations, known.params, known.predictions, strict=True
    ):
        assert params == search.cv_results_["params"][number]
        model = clone(estimator).set_params(**params)
        expected = cross_val_predict(model, *CLASSES, cv=FOLDS, method=response)
        np.testing.assert_allclose(mine, expected, rtol=1e-6, atol=1e-8)
    for number, (_, test) in enumerate(FOLDS):
        np.testing.assert_array_equal(known.fold[test], number)
    assert known.covered.all()


def test_numbers_are_predicted_in_the_order_of_the_user():
    """By the folds of the race itself, which the fold of each row gives back."""
    search = fitted(Ridge(), {"alpha": [0.1, 10.0, 1000.0]}, NUMBERS)
    known = search.out_of_fold_predictions_
    X, y = NUMBERS
    for params, mine in zip(known.params, known.predictions, strict=True):
        for fold in np.unique(known.fold):
            test = known.fold == fold
            model = Ridge(**params).fit(X[~test], y[~test])
            np.testing.assert_allclose(mine[test], model.predict(X[test]))
    assert known.features().shape == (240, len(known.configurations))


def test_the_confirmed_are_those_that_ran_all_folds():
    grid = {"C": np.logspace(-4, 3, 40)}
    search = fitted(LogisticRegression(), grid, scoring="neg_log_loss")
    known = search.out_of_fold_predictions_
    n_folds = known.fold.max() + 1
    rows = np.arange(260)
    n_seen = dict.fromkeys(range(40), 0)
    original = search.race_.problem.folds[n_folds]
    for _, test in original:
        looks = [
            one.look.configurations
            for one in search.race_.observations
            if np.array_equal(rows[one.look.test], test)
        ]
        for number in np.unique(np.concatenate(looks)).tolist():
            n_seen[number] += 1
    expected = {number for number, times in n_seen.items() if times == n_folds}
    assert 2 < len(expected) < 40
    assert set(known.configurations.tolist()) == expected
    ranks = search.cv_results_["rank_test_score"][known.configurations]
    assert np.all(np.diff(ranks) > 0)
    assert known.features().shape == (260, 3 * len(expected))


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_predictions_do_not_depend_on_the_number_of_workers(n_jobs):
    grid = {"n_estimators": [4, 8], "max_depth": [1, 2]}
    model = GradientBoostingClassifier(random_state=0)
    one, several = (
        fitted(model, grid, cv=3, n_jobs=n).out_of_fold_predictions_
        for n in (1, n_jobs)
    )
    np.testing.assert_array_equal(one.predictions, several.predictions)
    np.testing.assert_array_equal(one.configurations, several.configurations)


def test_nothing_is_predicted_unless_asked_for():
    search = fitted(
        Ridge(), {"alpha": [1.0, 2.0]}, NUMBERS, cv=3, return_predictions=False
    )
    assert not hasattr(search, "out_of_fold_predictions_")


def test_the_race_is_the_same_with_and_without_predictions():
    grid = {"alpha": np.logspace(-3, 3, 35)}
    without, asked = (
        fitted(Ridge(), grid, NUMBERS, return_predictions=flag)
        for flag in (False, True)
    )
    np.testing.assert_array_equal(
        without.cv_results_["mean_test_score"], asked.cv_results_["mean_test_score"]
    )


def test_rows_that_no_fold_tests_are_nan():
    cv = TimeSeriesSplit(4)
    known = fitted(
        Ridge(), {"alpha": [0.1, 1]}, NUMBERS, cv=cv
    ).out_of_fold_predictions_
    tested = np.zeros(240, dtype=bool)
    for _, test in cv.split(NUMBERS[0]):
        tested[test] = True
    np.testing.assert_array_equal(known.covered, tested)
    np.testing.assert_array_equal(np.isnan(known.predictions[0]), ~tested)


def test_rows_that_several_folds_test_have_the_mean():
    X, y = NUMBERS
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    known = fitted(
        Ridge(), {"alpha": [0.1, 1]}, NUMBERS, cv=cv
    ).out_of_fold_predictions_
    model = Ridge(**known.params[0])
    total = np.zeros(240)
    for train, test in cv.split(X):
        total[test] += model.fit(X[train], y[train]).predict(X[test])
    np.testing.assert_allclose(known.predictions[0], total / 2)


def test_a_separate_test_set_comes_after_the_rows():
    X, y = NUMBERS
    search = fitted(
        Ridge(),
        {"alpha": [0.1, 1.0]},
        (X[:200], y[:200]),
        fit={"X_val": X[200:], "y_val": y[200:]},
    )
    known = search.out_of_fold_predictions_
    np.testing.assert_array_equal(np.flatnonzero(known.covered), np.arange(200, 240))
    expected = Ridge(**known.params[0]).fit(X[:200], y[:200]).predict(X[200:])
    np.testing.assert_allclose(known.predictions[0, 200:], expected)


def test_survivors_of_a_race_without_folds_are_predicted_by_folds():
    grid = {"alpha": [0.1, 1.0, 1e5]}
    strategy = CVST(max_steps=5, loser_level=0.3, winner_level=0.3)
    search = fitted(Ridge(), grid, NUMBERS, strategy=strategy, rescale=None)
    known = search.out_of_fold_predictions_
    assert known.covered.all()
    assert known.fold.max() == 4
    left = set(np.flatnonzero(search.race_.active).tolist())
    assert set(known.configurations.tolist()) == left


def test_weights_reach_the_fits():
    X, y = NUMBERS
    weights = np.random.default_rng(0).uniform(0.1, 5, 240)
    cv = KFold(3)
    known = fitted(
        Ridge(), {"alpha": [1.0, 5.0]}, NUMBERS, cv=cv, fit={"sample_weight": weights}
    ).out_of_fold_predictions_
    for train, test in cv.split(X):
        model = Ridge(**known.params[0]).fit(X[train], y[train], weights[train])
        np.testing.assert_allclose(known.predictions[0, test], model.predict(X[test]))


def test_a_class_that_a_fold_lacks_has_probability_zero():
    X, y = CLASSES
    rare = np.where(y == 2, 1, y)
    rare[[3, 7]] = 2
    folds = [(np.arange(20, 260), np.arange(20)), (np.arange(130), np.arange(130, 260))]
    with pytest.warns(CVSTWarning, match="too rare"):
        known = fitted(
            KNeighborsClassifier(), {"n_neighbors": [1, 3]}, (X, rare), cv=folds
        ).out_of_fold_predictions_
    assert known.predictions.shape == (2, 260, 3)
    assert np.all(known.predictions[:, :20, 2] == 0)
    assert not known.covered[20:130].any()


def test_labels_of_untested_rows_are_none():
    X, y = CLASSES
    words = np.array(["a", "b", "c"])[y]
    model = KNeighborsLabels()
    known = fitted(
        model,
        {"n_neighbors": [3, 5]},
        (X, words),
        cv=[(np.arange(130, 260), np.arange(130))],
    ).out_of_fold_predictions_
    assert known.response == "predict"
    assert known.classes is None
    assert all(one is None for one in known.predictions[0, 130:])
    assert set(known.predictions[0, :130]) <= {"a", "b", "c"}


class KNeighborsLabels(KNeighborsClassifier):
    """Has labels alone."""

    def __getattribute__(self, name):
        if name in ("predict_proba", "decision_function"):
            raise AttributeError(name)
        return super().__getattribute__(name)


def test_several_outputs_have_a_column_each():
    X, y = NUMBERS
    known = fitted(
        Ridge(), {"alpha": [1.0, 2.0]}, (X, np.column_stack([y, -y])), cv=3
    ).out_of_fold_predictions_
    assert known.predictions.shape == (2, 240, 2)
    np.testing.assert_allclose(known.predictions[..., 0], -known.predictions[..., 1])


@pytest.mark.parametrize(
    "search",
    [
        RaceRandomSearchCV(Ridge(), {"alpha": np.logspace(-2, 2, 9)}, n_iter=5),
        RaceSearchCV(Ridge(), {"alpha": np.logspace(-2, 2, 50).tolist()}, n_iter=6),
    ],
    ids=["random", "proposing"],
)
def test_other_searches_keep_predictions_too(search):
    search.set_params(random_state=0, return_predictions=True).fit(*NUMBERS)
    known = search.out_of_fold_predictions_
    assert isinstance(known, OutOfFoldPredictions)
    assert known.configurations[0] == search.best_index_
    assert known.covered.all()


def test_a_pickle_holds_them_and_the_log_tells_of_them(caplog):
    with caplog.at_level(logging.INFO, logger="cvst"):
        search = fitted(Ridge(), {"alpha": [0.1, 1.0]}, NUMBERS, cv=3)
    (event,) = [
        record.cvst
        for record in caplog.records
        if getattr(record, "cvst", {}).get("event") == "predictions"
    ]
    known = search.out_of_fold_predictions_
    assert event["n_configurations"] == len(known.configurations)
    assert event["n_folds"] == 3
    assert event["seconds"] == known.seconds
    again = pickle.loads(pickle.dumps(search)).out_of_fold_predictions_
    np.testing.assert_array_equal(again.predictions, known.predictions)
    assert repr(again) == repr(known)
    assert "predict of 2 configurations for 240 of 240 rows" in repr(known)


class Moody(Ridge):
    """Fails at its third fit on these rows: the one after the race."""

    fits: ClassVar[list[float]] = []

    def fit(self, X, y, sample_weight=None):
        Moody.fits.append(self.alpha)
        if self.alpha == 2.0 and Moody.fits.count(2.0) > 3:
            raise ValueError("not again")
        return super().fit(X, y, sample_weight)


def test_what_fails_after_the_race_is_left_out_and_told():
    Moody.fits.clear()
    with pytest.warns(CVSTWarning, match=r"Configuration 1 has no.*not again"):
        search = fitted(Moody(), {"alpha": [1.0, 2.0]}, NUMBERS, cv=3)
    assert search.out_of_fold_predictions_.configurations.tolist() == [0]


@pytest.mark.parametrize("name", ["return_predictions", "ensemble"])
def test_a_time_budget_is_refused(name):
    search = RaceGridSearchCV(Ridge(), {"alpha": [1.0]}, time_budget=5, **{name: True})
    with pytest.raises(InvalidInputError, match=f"^{name}=True.*time_budget=5"):
        search.fit(*NUMBERS)
