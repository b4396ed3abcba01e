"""The first rounds of a CatBoost model are a shorter one, where its defaults agree."""

from __future__ import annotations

import logging
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cvst.evaluation import OneByOne, Task, batch_evaluator_for
from cvst.evaluation._dispatch import limited
from cvst.evaluation.machinery import covered_by_one_fit

catboost = pytest.importorskip("catboost")
CatBoostClassifier = catboost.CatBoostClassifier
CatBoostRegressor = catboost.CatBoostRegressor

N_TRAIN = 60
NAMES = ("iterations", "n_estimators", "num_boost_round", "num_trees")
SMALL = {
    "depth": 2,
    "learning_rate": 0.2,
    "thread_count": 1,
    "allow_writing_files": False,
    "logging_level": "Silent",
}
SAMPLING = [
    {},
    {"bootstrap_type": "Bernoulli", "subsample": 0.5},
    {"bootstrap_type": "MVS", "subsample": 0.6, "mvs_reg": 1.0},
    {"bootstrap_type": "Bayesian", "bagging_temperature": 3.0},
    {"bootstrap_type": "No", "random_strength": 0.0},
    {"rsm": 0.4, "sampling_frequency": "PerTree", "has_time": True},
]
SHAPES = [
    {},
    {"boosting_type": "Ordered", "fold_len_multiplier": 1.5},
    {"grow_policy": "Depthwise", "min_data_in_leaf": 3},
    {"grow_policy": "Lossguide", "max_leaves": 3},
    {"border_count": 4, "l2_leaf_reg": 0.5, "score_function": "L2"},
]


@pytest.fixture(autouse=True)
def nothing_is_written(tmp_path, monkeypatch):
    """Nor is anything left in the current folder, whatever the test is about."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not list(tmp_path.iterdir())


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 1000),
    sizes=st.lists(st.integers(1, 12), min_size=2, max_size=4),
    n_classes=st.sampled_from([2, 3]),
    response=st.sampled_from(["predict", "predict_proba"]),
    sampling=st.sampled_from(SAMPLING),
    shape=st.sampled_from(SHAPES),
    random_seed=st.sampled_from([None, 0, 7]),
    weights=st.sampled_from([{}, {"auto_class_weights": "Balanced"}]),
    weighted=st.booleans(),
    rate=st.floats(0.01, 1.0),
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
    shape,
    random_seed,
    weights,
    weighted,
    rate,
):
    """Bitwise; without a seed CatBoost's own is fixed."""
    X, signal, row_weights = draw_rows(seed)
    edges = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
    y = np.array(["p", "q", "r"])[np.digitize(signal, edges)]
    estimator = CatBoostClassifier(
        random_seed=random_seed, **SMALL, **sampling, **shape, **weights
    )
    grid = [{"iterations": s, "learning_rate": r} for s in sizes for r in (rate, 0.3)]

    task = make_weighted_task(
        estimator, grid, X, y, row_weights if weighted else None, response
    )

    assert_same_as_one_by_one(task, rtol=0, atol=0)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 1000),
    sizes=st.lists(st.integers(1, 12), min_size=2, max_size=4),
    loss=st.sampled_from(
        [
            "RMSE",
            "MAE",
            "MAPE",
            "LogCosh",
            "Poisson",
            "Quantile:alpha=0.3",
            "Huber:delta=1.0",
            "Expectile:alpha=0.3",
            "Tweedie:variance_power=1.5",
        ]
    ),
    shape=st.sampled_from([{}, *SHAPES[2:]]),
    n_train=st.sampled_from([3, 10, 60]),
    constant=st.booleans(),
)
def test_first_rounds_regress_as_shorter_runs(
    draw_rows,
    assert_same_as_one_by_one,
    seed,
    sizes,
    loss,
    shape,
    n_train,
    constant,
):
    """Bitwise for every loss that is shared, with few rows and constant targets too."""
    X, signal, _ = draw_rows(seed)
    y = np.exp(np.clip(0 * signal if constant else signal, -3, 3))
    estimator = CatBoostRegressor(loss_function=loss, **SMALL, **shape)
    grid = [{"iterations": s} for s in sizes]
    task = Task(estimator, dict(enumerate(grid)), X[:n_train], y[:n_train], X[60:])

    assert_same_as_one_by_one(task, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("estimator", "n_expected"),
    [
        (CatBoostClassifier(), 2),
        (CatBoostClassifier(loss_function="CrossEntropy"), 2),
        (CatBoostClassifier(leaf_estimation_iterations=3), 1),
        (CatBoostClassifier(loss_function="MultiClass"), 1),
        (
            CatBoostClassifier(
                loss_function="MultiClass", leaf_estimation_method="Gradient"
            ),
            2,
        ),
        (CatBoostRegressor(), 1),
        (CatBoostRegressor(objective="MAE"), 1),
        (CatBoostRegressor(loss_function="Poisson"), 2),
        (CatBoostRegressor(loss_function="Expectile:alpha=0.3"), 2),
    ],
)
def test_defaults_change_at_two_hundred_rounds(
    draw_rows, assert_same_as_one_by_one, estimator, n_expected, count_fits
):
    """Two fits where the steps for leaves change with the rounds, else one."""
    X, signal, _ = draw_rows(2)
    y = (signal > 0).astype(float)
    estimator.set_params(**{**SMALL, "depth": 1})
    grid = {i: {"iterations": s} for i, s in enumerate((20, 199, 200, 230))}
    task = Task(estimator, grid, X[:60], y[:60], X[60:])
    fits = count_fits(type(estimator))

    list(batch_evaluator_for(estimator).evaluate(task))

    assert len(fits) == n_expected
    assert_same_as_one_by_one(task, rtol=0, atol=0)


def test_no_other_default_depends_on_the_rounds(draw_rows):
    """CatBoost itself says what it filled in; the witness of the split at 200."""
    X, signal, _ = draw_rows(3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).astype({"a": int})

    def filled(n_rounds, **further):
        model = CatBoostClassifier(
            iterations=n_rounds, cat_features=("a",), **SMALL, **further
        )
        return model.fit(frame, signal > 0).get_all_params()

    def changed(n_rounds, **further):
        one, other = filled(n_rounds, **further), filled(200, **further)
        names = {*one, *other} - {"iterations"}
        return {name for name in names if one.get(name) != other.get(name)}

    assert changed(199) == {"leaf_estimation_iterations", "max_ctr_complexity"}
    given_both = {"leaf_estimation_iterations": 2, "max_ctr_complexity": 2}
    assert changed(199, **given_both) == set()
    assert changed(499) == changed(500) == changed(1100) == set()


@pytest.mark.parametrize("further", [{}, {"max_ctr_complexity": 2}])
@pytest.mark.parametrize("sizes", [(2, 5, 30), (150, 210)])
def test_categories_and_names(draw_rows, assert_same_as_one_by_one, further, sizes):
    """Data frames pass through; combinations of categories begin at 200 rounds."""
    X, signal, _ = draw_rows(3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame[["a", "b"]] = frame[["a", "b"]].astype(int).astype("category")
    # Lists would do, but scikit-learn cannot clone what CatBoost makes of them.
    estimator = CatBoostRegressor(cat_features=("a", "b"), **SMALL, **further)
    grid = {i: {"iterations": s} for i, s in enumerate(sizes)}
    n_rows = slice(0, 60), slice(60, None)
    train, test = (frame.iloc[part] for part in n_rows)

    assert_same_as_one_by_one(
        Task(estimator, grid, train, signal[:60], test), rtol=0, atol=0
    )


@pytest.mark.parametrize(
    ("further", "n_expected"),
    [
        ({}, 1),
        ({"learning_rate": None}, 3),
        ({"learning_rate": None, "eta": 0.1}, 1),
        ({"model_shrink_rate": 0.1}, 3),
        ({"langevin": True}, 3),
        ({"posterior_sampling": True}, 3),
        ({"monotone_constraints": "(1,0,0)"}, 3),
        ({"early_stopping_rounds": 2}, 3),
        ({"od_type": "Iter", "od_wait": 2}, 3),
        ({"loss_function": "Lq:q=3"}, 3),
    ],
)
def test_one_fit_serves_all_sizes(
    draw_rows,
    make_weighted_task,
    assert_same_as_one_by_one,
    further,
    n_expected,
    count_fits,
    caplog,
):
    """Unless CatBoost chooses by the rounds, shrinks older trees or may stop early."""
    X, y, _ = draw_rows(4)
    fits = count_fits(CatBoostRegressor)
    estimator = CatBoostRegressor(**{**SMALL, **further})
    grid = [{"iterations": s} for s in (3, 6, 12)]
    task = make_weighted_task(estimator, grid, X, y)

    with caplog.at_level(logging.INFO, "cvst"):
        list(batch_evaluator_for(estimator).evaluate(task))

    assert len(fits) == n_expected
    assert ("one by one" in caplog.text) == (n_expected > 1)
    assert_same_as_one_by_one(task, rtol=0, atol=0)


def test_an_evaluation_set_keeps_all_fits_alone(
    draw_rows, make_task, assert_same_as_one_by_one, count_fits
):
    """A run with one may keep its best round, so runs are not shared."""
    X, y, _ = draw_rows(5)
    fits = count_fits(CatBoostRegressor)
    fit_params = {"eval_set": (X[60:], y[60:]), "early_stopping_rounds": 2}
    grid = [{"iterations": s} for s in (5, 20, 40)]
    task = make_task(CatBoostRegressor(**SMALL), grid, X, y, fit_params=fit_params)

    list(batch_evaluator_for(task.estimator).evaluate(task))

    assert len(fits) == 3
    assert_same_as_one_by_one(task, rtol=0, atol=0)


@pytest.mark.parametrize("name", NAMES)
def test_rounds_have_four_names(
    draw_rows, make_task, assert_same_as_one_by_one, count_fits, name
):
    """Each is shared and limited; two at once are refused by CatBoost itself."""
    X, y, _ = draw_rows(6)
    other = NAMES[NAMES.index(name) - 1]
    estimator = CatBoostRegressor(**SMALL)
    grid = [{name: 4}, {name: 9}, {other: 6}, {name: 5, other: 5}, {name: 0}, {}]
    task = make_task(estimator, grid, X, y, rounds=7)
    fits = count_fits(CatBoostRegressor)

    outcomes = list(batch_evaluator_for(estimator).evaluate(task))

    # One for all, one for each of the two that fail.
    assert len(fits) == 3
    assert {o.configuration for o in outcomes if o.error is not None} == {3, 4}
    assert limited(estimator, {name: 9}, 7) == {name: 7}
    assert limited(estimator, {name: 5}, 7) == {name: 5}
    assert limited(estimator, {}, 7) == {"iterations": 7}
    assert limited(CatBoostRegressor(**{name: 50}), {}, 7) == {name: 7}
    assert_same_as_one_by_one(task, rtol=0, atol=0)


def test_what_one_fit_covers():
    """The name in use, or all; a learning rate may still come with a configuration."""
    every = dict.fromkeys(NAMES, "smaller")

    assert covered_by_one_fit(CatBoostClassifier()) == every
    assert covered_by_one_fit(CatBoostRegressor(num_trees=5)) == {
        "num_trees": "smaller"
    }
    assert covered_by_one_fit(CatBoostClassifier(langevin=True)) == {}
    pipeline = make_pipeline(StandardScaler(), CatBoostRegressor(n_estimators=5))
    assert covered_by_one_fit(pipeline) == {
        "catboostregressor__n_estimators": "smaller"
    }


def test_fits_are_quiet_and_use_one_thread(
    draw_rows, make_task, count_fits, tmp_path, capfd
):
    """No file, no line, one thread, shared or not; what the user sets is kept."""
    X, y, _ = draw_rows(7)
    fits = count_fits(CatBoostRegressor)

    def run(estimator, grid, **changes):
        fits.clear()
        task = make_task(estimator, grid, X, y, **changes)
        before = estimator.get_params()
        outcomes = list(batch_evaluator_for(estimator).evaluate(task))
        assert [o.error for o in outcomes] == [None] * len(grid)
        assert estimator.get_params() == before
        return [fit.get_params() for fit in fits]

    grid = [{"iterations": s} for s in (3, 6)]
    shared = run(CatBoostRegressor(learning_rate=0.1), grid)
    alone = run(CatBoostRegressor(), grid)

    assert len(shared) == 1
    assert len(alone) == 2
    for params in [*shared, *alone]:
        assert params["thread_count"] == 1
        assert params["allow_writing_files"] is False
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr().out == ""

    kept = run(CatBoostRegressor(thread_count=2, verbose=3), grid)
    assert all(params["thread_count"] == 2 for params in kept)
    assert "learn:" in capfd.readouterr().out

    for_each = [{"iterations": s, "verbose": 0} for s in (3, 6)]
    assert "logging_level" not in run(CatBoostRegressor(), for_each)[0]
    assert run(CatBoostRegressor(), grid, fit_params={"verbose": False})
    folder = tmp_path / "mine"
    run(CatBoostRegressor(train_dir=str(folder)), grid)
    assert any(folder.iterdir())
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()


def test_rows_that_cannot_be_split(
    draw_rows, make_task, assert_same_as_one_by_one, caplog
):
    """CatBoost refuses them, shared or not: no mistake of ours, so no warning."""
    _, y, _ = draw_rows(8)
    grid = [{"iterations": s} for s in (2, 5)]
    for estimator in (CatBoostRegressor(**SMALL), CatBoostClassifier(**SMALL)):
        target = y if isinstance(estimator, CatBoostRegressor) else y > 0
        assert_same_as_one_by_one(
            make_task(estimator, grid, np.ones((90, 2)), target), rtol=0, atol=0
        )
    assert not caplog.records


def test_a_subclass_is_not_served():
    """A subclass may fit differently."""

    class Mine(CatBoostRegressor):
        pass

    assert isinstance(batch_evaluator_for(Mine()), OneByOne)


def test_importing_this_library_does_not_import_catboost():
    """Classes are served by name."""
    program = "import sys, cvst.evaluation; print('catboost' in sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert found.stdout.strip() == "False"
