"""The first rounds of a LightGBM model are a shorter one."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from cvst.evaluation import OneByOne, batch_evaluator_for
from cvst.evaluation.ensembles._lightgbm import _linked

lightgbm = pytest.importorskip("lightgbm")
LGBMClassifier, LGBMRegressor = lightgbm.LGBMClassifier, lightgbm.LGBMRegressor

N_TRAIN = 60
# Older versions of LightGBM have no margins.
RESPONSES = [
    name
    for name in ("predict", "predict_proba", "decision_function")
    if hasattr(LGBMClassifier, name)
]

QUIET = {"verbose": -1, "n_jobs": 1, "min_child_samples": 3, "num_leaves": 5}


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 1000),
    sizes=st.lists(st.integers(1, 12), min_size=2, max_size=4),
    n_classes=st.sampled_from([2, 3]),
    response=st.sampled_from(RESPONSES),
    bagging=st.sampled_from([{}, {"subsample": 0.5, "subsample_freq": 1}]),
    random_state=st.sampled_from([None, 0, 7]),
    class_weight=st.sampled_from([None, "balanced"]),
    weighted=st.booleans(),
    further=st.sampled_from([{}, {"sigmoid": 2.0}, {"data_sample_strategy": "goss"}]),
)
def test_first_rounds_classify_as_shorter_runs(
    draw_rows,
    make_weighted_task,
    assert_same_as_one_by_one,
    seed,
    sizes,
    n_classes,
    response,
    bagging,
    random_state,
    class_weight,
    weighted,
    further,
):
    """Labels are equal, shares to 1e-9; without a seed LightGBM's own are fixed."""
    X, signal, weights = draw_rows(seed)
    edges = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
    y = np.array(["p", "q", "r"])[np.digitize(signal, edges)]
    estimator = LGBMClassifier(
        random_state=random_state, class_weight=class_weight, **bagging, **QUIET
    )
    if not bagging:
        estimator.set_params(**further)
    grid = [{"n_estimators": s, "learning_rate": r} for s in sizes for r in (0.1, 0.6)]

    task = make_weighted_task(
        estimator, grid, X, y, weights if weighted else None, response
    )

    assert_same_as_one_by_one(task)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 1000),
    sizes=st.lists(st.integers(1, 12), min_size=2, max_size=4),
    objective=st.sampled_from(
        # Not "mape": with weights and leaves of one row LightGBM fails its own checks.
        [None, "regression_l1", "huber", "fair", "poisson", "quantile"]
    ),
    boosting_type=st.sampled_from(["gbdt", "gbdt", "dart", "rf"]),
    min_child_samples=st.sampled_from([1, 3, 15, 22, 30]),
    weighted=st.booleans(),
)
@example(183, [5, 9], "quantile", "gbdt", 3, False)
def test_first_rounds_predict_as_shorter_runs(
    draw_rows,
    make_weighted_task,
    assert_same_as_one_by_one,
    seed,
    sizes,
    objective,
    boosting_type,
    min_child_samples,
    weighted,
):
    """To 1e-9, whatever the link; DART and forests go one by one.

    The larger the leaves have to be, the more rounds find nothing to split.
    """
    X, signal, weights = draw_rows(seed)
    estimator = LGBMRegressor(
        objective=objective,
        boosting_type=boosting_type,
        subsample=0.7,
        subsample_freq=1,
        random_state=seed,
        **{**QUIET, "min_child_samples": min_child_samples},
    )
    grid = [{"n_estimators": s} for s in sizes]

    assert_same_as_one_by_one(
        make_weighted_task(
            estimator, grid, X, np.exp(signal), weights if weighted else None
        )
    )


def test_rows_that_cannot_be_split(make_weighted_task, assert_same_as_one_by_one):
    """Boosting ends by itself, and two classes stay exactly tied."""
    X = np.ones((90, 2))
    grid = [{"n_estimators": s} for s in (1, 4, 9)]
    for y, estimator in [
        (np.arange(90) % 2, LGBMClassifier(**QUIET)),
        (np.arange(90) % 3, LGBMClassifier(**QUIET)),
        (np.arange(90.0), LGBMRegressor(**QUIET)),
    ]:
        assert_same_as_one_by_one(make_weighted_task(estimator, grid, X, y))


@pytest.mark.parametrize("objective", ["regression", "quantile"])
@pytest.mark.parametrize("min_child_samples", [20, 22])
def test_rounds_without_a_split(
    draw_rows,
    make_weighted_task,
    objective,
    min_child_samples,
    assert_same_as_one_by_one,
):
    """They leave no trees, and later rounds may split again: both must occur here."""
    X, y, _ = draw_rows(0)
    estimator = LGBMRegressor(
        objective=objective,
        subsample=0.7,
        subsample_freq=1,
        **{**QUIET, "min_child_samples": min_child_samples},
    )
    grid = [{"n_estimators": s} for s in range(1, 25)]
    task = make_weighted_task(estimator, grid, X, y)
    alone = [clone(estimator).set_params(**one).fit(X[:60], y[:60]) for one in grid]
    n_trees = [model.booster_.num_trees() for model in alone]

    assert n_trees[0] == 1
    assert 1 < n_trees[-1] < len(grid)
    assert_same_as_one_by_one(task)


def test_scores_near_a_tie_are_left_to_lightgbm(draw_rows):
    """Sums in another order may elect another class there, and only there."""
    X, signal, _ = draw_rows(5)
    two = LGBMClassifier(**QUIET).fit(X, signal > 0)
    three = LGBMClassifier(**QUIET).fit(X, np.digitize(signal, [-1.0, 1.0]))
    tied = np.array([[0.3, 0.1 + 0.2, 0.0], [1.0, 2.0, 3.0]])

    assert _linked(two, "predict", np.array([1e-12, -1.0])) is None
    assert _linked(two, "predict", np.array([1e-3, -1.0])).tolist() == [True, False]
    assert _linked(three, "predict", tied) is None
    assert _linked(three, "predict", tied[1:]).tolist() == [2]
    assert _linked(three, "predict_proba", tied).shape == (2, 3)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 1000),
    sizes=st.lists(st.integers(1, 12), min_size=2, max_size=4),
    learning_rate=st.floats(0.001, 2.0),
    params=st.fixed_dictionaries(
        {
            "colsample_bytree": st.floats(0.3, 1.0),
            "min_split_gain": st.sampled_from([0.0, 0.5]),
            "reg_alpha": st.floats(0.0, 1.0),
            "reg_lambda": st.floats(0.0, 10.0),
            "max_depth": st.sampled_from([-1, 1, 3]),
            "n_jobs": st.sampled_from([None, 1, 2]),
            "class_weight": st.sampled_from([None, "balanced", {0: 1.0, 1: 5.0}]),
            "boosting_type": st.sampled_from(["gbdt", "gbdt", "gbdt", "dart"]),
        }
    ),
    bagging=st.sampled_from(
        [
            {},
            {"subsample": 0.6, "subsample_freq": 1},
            {"subsample": 0.8, "subsample_freq": 3},
            {"pos_bagging_fraction": 0.5, "subsample_freq": 1},
        ]
    ),
    response=st.sampled_from(RESPONSES),
)
def test_any_hyper_parameters(
    draw_rows,
    make_weighted_task,
    assert_same_as_one_by_one,
    seed,
    sizes,
    learning_rate,
    params,
    bagging,
    response,
):
    """Whatever a search may draw, labels are equal and shares to 1e-9."""
    X, signal, _ = draw_rows(seed)
    estimator = LGBMClassifier(
        learning_rate=learning_rate, **{**QUIET, **params}, **bagging
    )
    grid = [{"n_estimators": s} for s in sizes]

    assert_same_as_one_by_one(
        make_weighted_task(
            estimator, grid, X, (signal > 0).astype(int), response=response
        )
    )


def test_an_evaluation_set_keeps_all_fits_alone(
    draw_rows, make_task, assert_same_as_one_by_one, count_fits
):
    """A run that stops early predicts with its best round."""
    X, y, _ = draw_rows(6)
    fits = count_fits(LGBMRegressor)
    stop = lightgbm.early_stopping(2, verbose=False)
    fit_params = {"eval_set": [(X[60:], y[60:])], "callbacks": [stop]}
    grid = [{"n_estimators": s} for s in (5, 20, 40)]
    task = make_task(LGBMRegressor(**QUIET), grid, X, y, fit_params=fit_params)

    list(batch_evaluator_for(task.estimator).evaluate(task))

    assert len(fits) == 3
    assert_same_as_one_by_one(task)


@pytest.mark.parametrize("response", ["predict", "predict_proba"])
def test_sure_scores_bring_no_warning(
    draw_rows, make_weighted_task, assert_same_as_one_by_one, response, capfd, caplog
):
    """Scores far below -700, whose exponential overflows, are shares of zero.

    Warnings are errors here; an error would end the sharing, with a line in the log.
    """
    X, _, _ = draw_rows(1)
    y = (X[:, 0] > 1).astype(int)
    estimator = LGBMClassifier(
        learning_rate=500.0, min_child_weight=0.0, **{**QUIET, "num_leaves": 2}
    )
    grid = [{"n_estimators": s} for s in (1, 2, 3)]
    task = make_weighted_task(estimator, grid, X, y, response=response)
    scores = clone(estimator).set_params(n_estimators=3).fit(X[:60], y[:60])

    assert scores.predict(X[60:], raw_score=True).min() < -710
    assert_same_as_one_by_one(task)
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


def test_categories_and_names(draw_rows, make_weighted_task, assert_same_as_one_by_one):
    """Data frames pass through untouched."""
    X, y, _ = draw_rows(3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["a"] = frame["a"].astype(int).astype("category")
    grid = [{"n_estimators": s} for s in (2, 5)]

    assert_same_as_one_by_one(
        make_weighted_task(LGBMRegressor(**QUIET), grid, frame, y)
    )


@pytest.mark.parametrize(
    ("further", "n_expected"),
    [
        ({}, 1),
        ({"deterministic": True}, 1),
        ({"extra_trees": True}, 1),
        ({"boosting_type": "dart"}, 4),
        ({"boosting": "dart"}, 4),
        ({"boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1}, 4),
        ({"early_stopping_round": 2}, 4),
        ({"pred_early_stop": True}, 4),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_one_fit_serves_all_sizes(
    draw_rows, make_weighted_task, further, n_expected, count_fits
):
    """Unless rounds are rescaled or averaged, or may stop early."""
    X, y, _ = draw_rows(4)
    fits = count_fits(LGBMRegressor)
    estimator = LGBMRegressor(**QUIET, **further)
    grid = [{"n_estimators": s} for s in (1, 2, 4, 8)]

    list(
        batch_evaluator_for(estimator).evaluate(
            make_weighted_task(estimator, grid, X, y)
        )
    )

    assert len(fits) == n_expected


def test_a_subclass_is_not_served():
    """A subclass may fit differently."""

    class Mine(LGBMRegressor):
        pass

    assert isinstance(batch_evaluator_for(Mine()), OneByOne)


def test_importing_this_library_does_not_import_lightgbm():
    """Classes are served by name."""
    program = "import sys, cvst.evaluation; print('lightgbm' in sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert found.stdout.strip() == "False"
