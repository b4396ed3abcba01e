from __future__ import annotations

import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from cvst.evaluation import OneByOne, RaceRows, Scratch, Task, batch_evaluator_for

LOG = {"func": np.log, "inverse_func": np.exp}


def regression(seed=0, n_rows=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, np.exp(X[:, :2] + 0.1 * rng.normal(size=(n_rows, 2)))


def task_of(estimator, grid, X, y, scratch=None, n_train=40, **options):
    train, test = slice(0, n_train), slice(n_train, len(X))
    whole = RaceRows(X, train, test, scratch or Scratch())
    y_train = None if y is None else y[train]
    configurations = list(ParameterGrid(grid)) if isinstance(grid, dict) else grid
    return Task(
        estimator,
        dict(enumerate(configurations)),
        X[train],
        y_train,
        X[test],
        race_rows=whole,
        **options,
    )


VALUES = {
    "regressor": [
        KernelRidge(kernel="rbf"),
        GradientBoostingRegressor(random_state=0, n_estimators=5),
        make_pipeline(StandardScaler(), Ridge()),
        DecisionTreeRegressor(random_state=0),
        None,
    ],
    "regressor__alpha": [0.1, 1.0],
    "regressor__gamma": [0.5, None],
    "regressor__n_estimators": [2, 4],
    "regressor__ridge__alpha": [0.1, 10.0],
    "transformer": [StandardScaler(), QuantileTransformer(n_quantiles=10), None],
    "transformer__with_mean": [True, False],
    "func": [np.log, np.sqrt],
    "inverse_func": [np.exp, np.square],
    "check_inverse": [True, False],
    "nonsense": [1],
}


@settings(max_examples=40, deadline=None)
@given(
    regressor=st.sampled_from(VALUES["regressor"]),
    scale=st.sampled_from([{}, LOG, {"transformer": StandardScaler()}]),
    names=st.sets(st.sampled_from(sorted(VALUES)), min_size=1, max_size=3),
    n_outputs=st.integers(1, 2),
)
def test_any_grid(assert_same_as_one_by_one, regressor, scale, names, n_outputs):
    """Scales and regressors that come and go, one target or two."""
    X, y = regression()
    y = y[:, 0] if n_outputs == 1 else y
    model = TransformedTargetRegressor(regressor, **scale)
    task = task_of(model, {name: VALUES[name][:2] for name in names}, X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same_as_one_by_one(task, rtol=1e-6)


def test_targets_on_two_scales_are_kept_apart(assert_same_as_one_by_one):
    """What is kept for a race belongs to its targets: here, which column is chosen."""
    X, _ = regression()
    y = np.exp(X[:, 0]) + 50.0 * (X[:, 1] > 1.0)
    choice = SelectKBest(f_regression, k=1)
    chosen = [
        choice.fit(X[:40], t).get_support().tolist() for t in (y[:40], np.log(y[:40]))
    ]
    assert chosen[0] != chosen[1]
    regressor = Pipeline([("choice", choice), ("ridge", KernelRidge(kernel="rbf"))])
    model = TransformedTargetRegressor(regressor, check_inverse=False)
    grid = [
        {**LOG, "regressor__ridge__alpha": 1.0},
        {"regressor__ridge__alpha": 1.0},
        {**LOG, "regressor__ridge__alpha": 2.0},
    ]
    scratch = Scratch()
    for n_train in (20, 40):
        assert_same_as_one_by_one(task_of(model, grid, X, y, scratch, n_train))


def test_the_regressor_sees_the_whole_race():
    """Inputs are not transformed, so subsets still nest."""
    seen = []

    class Watched(LinearRegression):
        pass

    class Watching(OneByOne):
        def evaluate(self, task):
            seen.append((task.race_rows.X, task.y_train))
            yield from OneByOne().evaluate(task)

    batch_evaluator_for.register(Watched, lambda estimator: Watching())
    X, y = regression()
    model = TransformedTargetRegressor(Watched(), **LOG)
    task = task_of(model, [{}], X, y[:, 0])
    (outcome,) = batch_evaluator_for(model).evaluate(task)
    assert outcome.error is None
    assert seen[0][0] is X
    np.testing.assert_array_equal(seen[0][1], np.log(y[:40, 0]))


def test_one_fit_serves_all_stages_of_boosting(count_fits):
    """The regressor's own evaluator is at work."""
    fits = count_fits(GradientBoostingRegressor)
    X, y = regression()
    boosting = GradientBoostingRegressor(random_state=0)
    model = TransformedTargetRegressor(boosting, **LOG)
    grid = {"regressor__n_estimators": [1, 2, 5]}
    task = task_of(model, grid, X, y[:, 0])
    assert batch_evaluator_for(model).groups(model, task.configurations) == [[0, 1, 2]]
    assert len(list(batch_evaluator_for(model).evaluate(task))) == 3
    assert len(fits) == 1


@pytest.mark.parametrize("routing", [False, True])
def test_sample_weights(assert_same_as_one_by_one, routing):
    """They go to the regressor, by routing where that is switched on."""
    X, y = regression()
    weights = np.random.default_rng(1).uniform(0.1, 3.0, size=40)
    with sklearn.config_context(enable_metadata_routing=routing):
        regressor = KernelRidge(kernel="rbf")
        if routing:
            regressor.set_fit_request(sample_weight=True)
        model = TransformedTargetRegressor(regressor, **LOG)
        grid = {"regressor__alpha": [0.1, 1.0]}
        task = task_of(model, grid, X, y[:, 0], fit_params={"sample_weight": weights})
        assert_same_as_one_by_one(task)


@pytest.mark.parametrize(
    "change",
    [
        {"func": np.log},
        {"transformer": StandardScaler(), **LOG},
        {"regressor": "ridge"},
        {"regressor__nonsense": 1},
        {"inverse_func": lambda y: np.log(y, None), "func": np.log},
    ],
    ids=["half", "both", "text", "name", "breaks"],
)
def test_failures_are_those_of_the_estimator(assert_same_as_one_by_one, change):
    """The same type of error, for the same configurations."""
    X, y = regression()
    model = TransformedTargetRegressor(KernelRidge(kernel="rbf"))
    grid = [change, {"regressor__alpha": 1.0}, {"regressor__alpha": 2.0}]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same_as_one_by_one(task_of(model, grid, X, y[:, 0]))
        assert_same_as_one_by_one(task_of(model, grid, X, None))
        task = task_of(model, grid, X, y[:, 0], response="predict_proba")
        assert_same_as_one_by_one(task)


def test_random_scales_are_fitted_for_each_configuration():
    """A subsample of the targets is drawn anew for every fit without a seed."""
    X, y = regression()
    scale = QuantileTransformer(n_quantiles=5, subsample=10)
    model = TransformedTargetRegressor(
        KernelRidge(kernel="rbf"), transformer=scale, check_inverse=False
    )
    grid = {"regressor__alpha": [1.0, 1.0]}
    task = task_of(model, grid, X, y[:, 0])
    first, second = batch_evaluator_for(model).evaluate(task)
    assert np.any(first.prediction != second.prediction)


def test_subclasses_are_not_served():
    """They may do something else to the targets."""

    class Other(TransformedTargetRegressor):
        pass

    assert type(batch_evaluator_for(Other(Ridge()))) is OneByOne
