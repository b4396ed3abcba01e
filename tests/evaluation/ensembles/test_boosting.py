"""Every stage of one boosting run equals a run of that length."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)

from cvst.evaluation import OneByOne, Task, batch_evaluator_for

SIZE = {
    GradientBoostingClassifier: "n_estimators",
    GradientBoostingRegressor: "n_estimators",
    HistGradientBoostingClassifier: "max_iter",
    HistGradientBoostingRegressor: "max_iter",
}
FEW_LEAVES = {
    "n_estimators": {"max_depth": 2},
    "max_iter": {"max_leaf_nodes": 4, "min_samples_leaf": 5},
}


def draw_data(seed, n_classes=None, n_train=60, n_test=25):
    """Rows on a coarse grid: ties and duplicates everywhere."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n_train + n_test, 3)).astype(float)
    signal = X[:, 0] - X[:, 1] + rng.normal(size=len(X))
    y = signal if n_classes is None else np.digitize(signal, np.linspace(-1, 1, 9))
    if n_classes is not None:
        y = np.array(["zero", "one", "two", "three"])[y % n_classes]
    return X[:n_train], y[:n_train], X[n_train:]


def draw_task(estimator, configurations, seed, n_classes, response, **fit_params):
    X, y, X_test = draw_data(seed, n_classes)
    return Task(
        estimator, dict(enumerate(configurations)), X, y, X_test, fit_params, response
    )


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 1000),
    sizes=st.lists(st.integers(1, 9), min_size=2, max_size=4),
    rates=st.lists(st.sampled_from([0.1, 1.0]), min_size=1, max_size=2, unique=True),
    subsample=st.sampled_from([1.0, 0.5]),
    n_classes=st.sampled_from([2, 3]),
    response=st.sampled_from(["predict", "predict_proba", "decision_function"]),
    patience=st.sampled_from([None, 1, 3]),
    warm_start=st.booleans(),
    weighted=st.booleans(),
)
def test_classifier_stages_are_shorter_runs(
    assert_same_as_one_by_one,
    seed,
    sizes,
    rates,
    subsample,
    n_classes,
    response,
    patience,
    warm_start,
    weighted,
):
    """Bitwise: staged sums are formed in the order of ``predict``."""
    weights = np.random.default_rng(seed).random(60) + 0.1
    for estimator in [
        GradientBoostingClassifier(
            max_depth=2,
            subsample=subsample,
            n_iter_no_change=patience,
            validation_fraction=0.3,
            random_state=seed,
            warm_start=warm_start,
        ),
        HistGradientBoostingClassifier(
            max_leaf_nodes=4,
            min_samples_leaf=5,
            max_features=subsample,
            early_stopping=patience is not None,
            n_iter_no_change=patience or 10,
            validation_fraction=0.3,
            random_state=np.random.RandomState(seed),
            warm_start=warm_start,
            class_weight="balanced" if weighted else None,
        ),
    ]:
        size = SIZE[type(estimator)]
        grid = [{size: s, "learning_rate": r} for s in sizes for r in rates]
        fit_params = {"sample_weight": weights} if weighted else {}
        task = draw_task(estimator, grid, seed, n_classes, response, **fit_params)

        assert_same_as_one_by_one(task, rtol=0, atol=0)


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 1000),
    sizes=st.lists(st.integers(1, 9), min_size=2, max_size=4),
    loss=st.sampled_from(["squared_error", "absolute_error", "quantile"]),
    weighted=st.booleans(),
)
def test_regressor_stages_are_shorter_runs(
    assert_same_as_one_by_one, seed, sizes, loss, weighted
):
    """Bitwise, for losses that update the leaves too."""
    weights = np.random.default_rng(seed).random(60) + 0.1
    for estimator in [
        GradientBoostingRegressor(loss=loss, alpha=0.3, max_depth=2, random_state=0),
        HistGradientBoostingRegressor(
            loss=loss,
            quantile=0.3,
            max_leaf_nodes=4,
            min_samples_leaf=5,
            random_state=0,
        ),
    ]:
        size = SIZE[type(estimator)]
        # The template's own size is one of the grid: a configuration may be silent.
        grid = [*({size: s} for s in sizes), {"random_state": 5}, {size: 0}, {}]
        template = estimator.set_params(**{size: 4})
        fit_params = {"sample_weight": weights} if weighted else {}
        task = draw_task(template, grid, seed, None, "predict", **fit_params)

        assert_same_as_one_by_one(task, rtol=0, atol=0)


@pytest.mark.parametrize("estimator_class", SIZE)
def test_one_fit_serves_all_sizes(estimator_class, count_fits):
    """Two learning rates, five sizes each: two fits, and time is split evenly."""
    size = SIZE[estimator_class]
    estimator = estimator_class(random_state=0, **FEW_LEAVES[size])
    grid = [{size: s, "learning_rate": r} for s in range(1, 6) for r in (0.1, 0.5)]
    fits = count_fits(estimator_class)
    task = draw_task(estimator, grid, 0, 2, "predict")
    if "Regressor" in estimator_class.__name__:
        task = draw_task(estimator, grid, 0, None, "predict")

    outcomes = sorted(
        batch_evaluator_for(estimator).evaluate(task), key=lambda o: o.configuration
    )

    assert len(fits) == 2
    assert [o.error for o in outcomes] == [None] * 10
    assert len({o.fit_seconds for o in outcomes}) == 2


@pytest.mark.parametrize(
    "estimator",
    [
        GradientBoostingRegressor(random_state=None, subsample=0.5),
        GradientBoostingRegressor(
            random_state=0, init=RandomForestRegressor(n_estimators=2)
        ),
    ],
)
def test_without_a_seed_all_are_fitted_alone(estimator, count_fits):
    """A fit that cannot be repeated is not shared: its luck would be, too."""
    fits = count_fits(GradientBoostingRegressor)
    task = draw_task(
        estimator, [{"n_estimators": s} for s in (1, 2, 3)], 0, None, "predict"
    )

    list(batch_evaluator_for(estimator).evaluate(task))

    assert len(fits) == 3


def test_a_monitor_keeps_all_fits_alone(assert_same_as_one_by_one, count_fits):
    """A monitor may stop a run by its length, so runs are not shared."""

    def stop_at_half(stage, model, _):
        return stage + 1 >= model.n_estimators / 2

    estimator = GradientBoostingRegressor(random_state=0)
    grid = [{"n_estimators": s} for s in (2, 4, 8)]
    task = draw_task(estimator, grid, 0, None, "predict", monitor=stop_at_half)

    assert_same_as_one_by_one(task, rtol=0, atol=0)


def test_early_stopping_switches_on_with_the_rows(assert_same_as_one_by_one):
    """``early_stopping="auto"`` stops above 10,000 rows, and prefixes still agree."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_200, 2))
    y = rng.normal(size=len(X))
    estimator = HistGradientBoostingRegressor(
        max_leaf_nodes=3, n_iter_no_change=2, learning_rate=1.0, random_state=0
    )
    grid = [{"max_iter": m} for m in (1, 2, 30)]
    for n_train in (9_900, 10_100):
        task = Task(
            estimator, dict(enumerate(grid)), X[:n_train], y[:n_train], X[n_train:]
        )

        assert_same_as_one_by_one(task, rtol=0, atol=0)


def test_categories_and_missing_values(assert_same_as_one_by_one):
    """Data frames with categorical columns pass through untouched."""
    X, y, _ = draw_data(3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["a"] = frame["a"].astype(int).astype("category")
    frame.loc[::7, "b"] = np.nan
    estimator = HistGradientBoostingRegressor(
        categorical_features="from_dtype",
        monotonic_cst={"c": 1},
        min_samples_leaf=5,
        random_state=0,
    )
    grid = [{"max_iter": m} for m in (2, 5)]
    task = Task(estimator, dict(enumerate(grid)), frame[:40], y[:40], frame[40:])

    assert_same_as_one_by_one(task, rtol=0, atol=0)


def test_a_subclass_is_not_served():
    """A subclass may fit differently: only the class itself shares."""

    class Mine(GradientBoostingRegressor):
        pass

    assert isinstance(batch_evaluator_for(Mine()), OneByOne)


def test_an_initial_model_is_part_of_the_stages(assert_same_as_one_by_one):
    """The first stage adds to the initial model, as a fit of one stage does."""
    estimator = GradientBoostingRegressor(
        init=DummyRegressor(strategy="median"), random_state=1
    )
    grid = [{"n_estimators": s} for s in (1, 3, 6)]

    assert_same_as_one_by_one(
        draw_task(estimator, grid, 1, None, "predict"), rtol=0, atol=0
    )
