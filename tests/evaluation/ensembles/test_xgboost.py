"""The first rounds of an XGBoost model are a shorter one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvst.evaluation import OneByOne, Task, batch_evaluator_for

xgboost = pytest.importorskip("xgboost")
XGBClassifier, XGBRegressor = xgboost.XGBClassifier, xgboost.XGBRegressor

N_TRAIN = 60
SMALL = {"n_jobs": 1, "max_depth": 2, "verbosity": 0}


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 1000),
    sizes=st.lists(st.integers(1, 10), min_size=2, max_size=4),
    objective=st.sampled_from(
        [
            "reg:squarederror",
            "reg:absoluteerror",
            "reg:pseudohubererror",
            "reg:quantileerror",
            "count:poisson",
        ]
    ),
    further=st.sampled_from(
        [
            {},
            {"tree_method": "exact", "base_score": 0.3},
            {"tree_method": "approx", "grow_policy": "lossguide", "max_leaves": 3},
            {"subsample": 0.3, "colsample_bytree": 0.5, "num_parallel_tree": 2},
        ]
    ),
    # The larger, the fewer rounds find something to split.
    min_child_weight=st.sampled_from([1, 20, 100]),
    n_train=st.sampled_from([2, 5, 60]),
    constant=st.booleans(),
)
def test_first_rounds_regress_as_shorter_runs(
    draw_rows,
    assert_same_as_one_by_one,
    seed,
    sizes,
    objective,
    further,
    min_child_weight,
    n_train,
    constant,
):
    """Bitwise, with few rows, constant targets and rounds without a split too."""
    X, signal, _ = draw_rows(seed)
    y = np.exp(np.clip(0 * signal if constant else signal, -3, 3))
    estimator = XGBRegressor(
        objective=objective,
        min_child_weight=min_child_weight,
        quantile_alpha=0.3 if objective == "reg:quantileerror" else None,
        random_state=0,
        **SMALL,
        **further,
    )
    grid = [{"n_estimators": s} for s in sizes]

    assert_same_as_one_by_one(
        Task(estimator, dict(enumerate(grid)), X[:n_train], y[:n_train], X[60:]),
        rtol=0,
        atol=0,
    )


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 1000),
    sizes=st.lists(st.integers(1, 10), min_size=2, max_size=4),
    n_classes=st.sampled_from([2, 3]),
    response=st.sampled_from(["predict", "predict_proba"]),
    sampling=st.sampled_from([{}, {"subsample": 0.5, "colsample_bynode": 0.5}]),
    n_parallel=st.sampled_from([1, 3]),
    booster=st.sampled_from([None, "gbtree", "dart", "gblinear"]),
    random_state=st.sampled_from([None, 0, 7]),
    weighted=st.booleans(),
)
def test_first_rounds_classify_as_shorter_runs(
    draw_rows,
    make_weighted_task,
    assert_same_as_one_by_one,
    seed,
    sizes,
    n_classes,
    response,
    sampling,
    n_parallel,
    booster,
    random_state,
    weighted,
):
    """Bitwise; without a seed XGBoost's own is fixed; DART goes one by one."""
    X, signal, weights = draw_rows(seed)
    edges = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
    trees = (
        {} if booster == "gblinear" else {**sampling, "num_parallel_tree": n_parallel}
    )
    estimator = XGBClassifier(
        booster=booster, random_state=random_state, **trees, **SMALL
    )
    grid = [{"n_estimators": s, "learning_rate": r} for s in sizes for r in (0.1, 0.6)]
    y = np.digitize(signal, edges)

    task = make_weighted_task(
        estimator, grid, X, y, weights if weighted else None, response
    )

    assert_same_as_one_by_one(task, rtol=0, atol=0)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 1000),
    sizes=st.lists(st.integers(1, 12), min_size=2, max_size=4),
    params=st.fixed_dictionaries(
        {
            "learning_rate": st.floats(0.001, 2.0),
            "subsample": st.floats(0.3, 1.0),
            "colsample_bytree": st.floats(0.3, 1.0),
            "colsample_bylevel": st.floats(0.3, 1.0),
            "reg_alpha": st.floats(0.0, 1.0),
            "reg_lambda": st.floats(0.0, 10.0),
            "gamma": st.sampled_from([None, 0.5]),
            "max_bin": st.sampled_from([None, 4]),
            "scale_pos_weight": st.sampled_from([None, 5.0]),
            "n_jobs": st.sampled_from([None, 1, 2]),
            "booster": st.sampled_from([None, None, None, "dart"]),
        }
    ),
    response=st.sampled_from(["predict", "predict_proba"]),
)
def test_any_hyper_parameters(
    draw_rows,
    make_weighted_task,
    assert_same_as_one_by_one,
    seed,
    sizes,
    params,
    response,
):
    """Bitwise, whatever a search may draw."""
    X, signal, _ = draw_rows(seed)
    estimator = XGBClassifier(**{**SMALL, **params})
    grid = [{"n_estimators": s} for s in sizes]

    assert_same_as_one_by_one(
        make_weighted_task(
            estimator, grid, X, (signal > 0).astype(int), response=response
        ),
        rtol=0,
        atol=0,
    )


@pytest.mark.parametrize("objective", ["reg:squarederror", "reg:absoluteerror"])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_first_rounds_predict_as_shorter_runs(
    draw_rows, make_weighted_task, objective, n_outputs, assert_same_as_one_by_one
):
    """Bitwise, for one output and for two."""
    X, signal, weights = draw_rows(1)
    y = signal if n_outputs == 1 else np.column_stack([signal, X[:, 2]])
    estimator = XGBRegressor(objective=objective, random_state=0, **SMALL)
    grid = [*({"n_estimators": s} for s in (1, 3, 8)), {"n_estimators": None}]

    assert_same_as_one_by_one(
        make_weighted_task(estimator, grid, X, y, weights), rtol=0, atol=0
    )


@pytest.mark.parametrize(
    ("further", "n_expected"),
    [
        ({}, 1),
        ({"booster": "dart"}, 3),
        ({"early_stopping_rounds": 2}, 3),
        ({"process_type": "default"}, 3),
    ],
)
def test_one_fit_serves_all_sizes(
    draw_rows, make_weighted_task, further, n_expected, count_fits
):
    """Unless rounds are rescaled or may stop early."""
    X, y, _ = draw_rows(4)
    fits = count_fits(XGBRegressor)
    estimator = XGBRegressor(**SMALL, **further)
    grid = [{"n_estimators": s} for s in (1, 2, 4)]

    list(
        batch_evaluator_for(estimator).evaluate(
            make_weighted_task(estimator, grid, X, y)
        )
    )

    assert len(fits) == n_expected


def test_a_subclass_is_not_served():
    """A subclass may fit differently."""

    class Mine(XGBRegressor):
        pass

    assert isinstance(batch_evaluator_for(Mine()), OneByOne)
