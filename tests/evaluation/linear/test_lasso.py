"""Coordinate descent on shared products ends where it ends on the rows."""

from __future__ import annotations

import warnings
from functools import partial

import evaluator_tasks
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso

from cvst.evaluation import OneByOne, Task, batch_evaluator_for
from cvst.evaluation.linear import _lasso

N_TRAIN, N_TEST = 50, 15


def draw_rows(seed, n_features=8, n_targets=1, correlation=0.7):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(N_TRAIN + N_TEST, 1))
    X = rng.normal(size=(len(common), n_features)) + 3
    X += correlation * 5 * common
    noise = rng.normal(size=(len(X), n_targets))
    y = X[:, :1] - 2 * X[:, -1:] + noise @ np.diag(np.arange(1, n_targets + 1))
    return X, y.ravel() if n_targets == 1 else y, rng.random(N_TRAIN) + 0.1


make_task = partial(evaluator_tasks.make_task, n_train=N_TRAIN)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    alphas=st.lists(
        st.sampled_from([1e-3, 0.03, 0.1, 1.0, 5.0, 100.0]), min_size=2, max_size=4
    ),
    n_targets=st.sampled_from([1, 1, 2]),
    fit_intercept=st.booleans(),
    precompute=st.booleans(),
    weighted=st.booleans(),
    positive=st.booleans(),
    selection=st.sampled_from(["cyclic", "random"]),
    tol=st.sampled_from([1e-2, 1e-4, 1e-8]),
    warm_start=st.booleans(),
)
def test_penalties_predict_as_separate_fits(
    assert_same_as_one_by_one,
    seed,
    alphas,
    n_targets,
    fit_intercept,
    precompute,
    weighted,
    positive,
    selection,
    tol,
    warm_start,
):
    """To 1e-9, far below the tolerance of the solver: the sweeps are the same."""
    X, y, weights = draw_rows(seed, n_targets=n_targets)
    shared = {
        "fit_intercept": fit_intercept,
        "precompute": precompute,
        "positive": positive,
        "selection": selection,
        "random_state": seed,
        "tol": tol,
        "max_iter": 100_000,
        "warm_start": warm_start,
    }
    lasso = [{"alpha": a} for a in alphas]
    net = [{"alpha": a, "l1_ratio": r} for a in alphas for r in (0.2, 1.0)]
    weights = weights if weighted else None

    assert_same_as_one_by_one(make_task(Lasso(**shared), lasso, X, y, weights))
    assert_same_as_one_by_one(make_task(ElasticNet(**shared), net, X, y, weights))


def test_unfinished_descents_stop_alike_and_warn_alike(count_fits):
    """After the same few sweeps, to 1e-9, with as many warnings."""
    X, y, _ = draw_rows(1, correlation=2.0)
    estimator = Lasso(tol=1e-8)
    grid = [{"alpha": 0.01, "max_iter": m} for m in (1, 2, 5, 10_000)]
    task = make_task(estimator, grid, X, y)

    with pytest.warns(ConvergenceWarning) as expected_warnings:
        expected = list(OneByOne().evaluate(task))
    fits = count_fits(Lasso)
    with pytest.warns(ConvergenceWarning) as actual_warnings:
        actual = list(batch_evaluator_for(estimator).evaluate(task))

    assert fits == []
    assert len(actual_warnings) == len(expected_warnings) == 3
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one.prediction, other.prediction, rtol=1e-9)


def test_both_ends_are_within_the_duality_gap():
    """Half the squared distance to the optimum is at most the tolerance in y'y."""
    X, y, _ = draw_rows(2, correlation=2.0)
    estimator = Lasso(alpha=0.05, tol=1e-3)
    grid = [{"tol": 1e-3}, {"tol": 1e-2}]
    train = X[:N_TRAIN]
    task = Task(estimator, dict(enumerate(grid)), train, y[:N_TRAIN], train)
    optimum = Lasso(alpha=0.05, tol=1e-14, max_iter=10**6)
    best = optimum.fit(train, y[:N_TRAIN]).predict(train)
    spread = np.sum((y[:N_TRAIN] - y[:N_TRAIN].mean()) ** 2)

    for outcome in batch_evaluator_for(estimator).evaluate(task):
        distance = np.sum((outcome.prediction - best) ** 2) / 2
        assert distance <= grid[outcome.configuration]["tol"] * spread


@pytest.mark.parametrize(
    "parameters",
    [
        {"alpha": 0.0},
        {"tol": 1e-12},
        {"selection": "random", "random_state": None},
    ],
)
def test_exceptions_are_left_alone(parameters, count_fits):
    """No penalty, a tolerance near rounding, sweeps that no seed fixes."""
    X, y, _ = draw_rows(3)
    grid = [{"max_iter": 10_000 + i, **parameters} for i in range(3)]
    fits = count_fits(Lasso)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        list(batch_evaluator_for(Lasso()).evaluate(make_task(Lasso(), grid, X, y)))

    assert len(fits) == 3


@pytest.mark.parametrize("container", [sparse.csc_matrix, pd.DataFrame, np.float32])
def test_other_containers(container, assert_same_as_one_by_one):
    """Sparse rows and single precision are left alone; frames are shared."""
    X, y, _ = draw_rows(4)
    rows = X.astype(np.float32) if container is np.float32 else container(X)
    if isinstance(rows, pd.DataFrame):
        rows.columns = list("abcdefgh")
    grid = [{"alpha": a} for a in (0.1, 1.0, 10.0)]
    task = Task(
        Lasso(), dict(enumerate(grid)), rows[:N_TRAIN], y[:N_TRAIN], rows[N_TRAIN:]
    )

    assert_same_as_one_by_one(task)


@pytest.mark.parametrize("alpha", [-1.0, "large", None])
def test_a_bad_penalty_fails_alone(alpha, assert_same_as_one_by_one):
    """The others are answered, and the bad one has the error of a plain fit."""
    X, y, _ = draw_rows(5)
    grid = [{"alpha": 1.0}, {"alpha": alpha}, {"alpha": 2.0}]

    assert_same_as_one_by_one(make_task(ElasticNet(), grid, X, y))


@pytest.mark.parametrize(("n_features", "n_expected"), [(8, 0), (60, 3)])
def test_products_are_shared_where_rows_outnumber_features(
    n_features, n_expected, count_fits, assert_same_as_one_by_one
):
    """Elsewhere they cost more than they save, unless the user asks for them."""
    X, y, _ = draw_rows(6, n_features)
    grid = [{"alpha": a} for a in (0.5, 1.0, 2.0)]
    for precompute in (False, True):
        task = make_task(Lasso(precompute=precompute), grid, X, y)
        assert_same_as_one_by_one(task)

    fits = count_fits(Lasso)
    task = make_task(Lasso(), grid, X, y)
    list(batch_evaluator_for(task.estimator).evaluate(task))
    assert len(fits) == n_expected


def test_degenerate_rows(assert_same_as_one_by_one):
    """Constant columns and a constant target."""
    X, y, _ = draw_rows(7)
    X[:, 2] = 5.0
    X[:, 3] = X[:, 4]
    grid = [{"alpha": a} for a in (0.1, 1.0)]

    assert_same_as_one_by_one(make_task(Lasso(), grid, X, y))
    assert_same_as_one_by_one(make_task(Lasso(), grid, X, np.ones_like(y)))
    assert_same_as_one_by_one(make_task(Lasso(), grid, X, y[:, None]))


def test_where_nothing_is_finite_the_log_says_so(monkeypatch, caplog):
    """The plain fits get their say."""
    X, y, _ = draw_rows(0)

    def lost(X, y, **_):
        return None, np.full((X.shape[1], 1), np.nan), None

    monkeypatch.setattr(_lasso, "enet_path", lost)
    caplog.set_level("INFO", "cvst")
    task = make_task(Lasso(), [{"alpha": 1.0}, {"alpha": 2.0}], X, y)
    outcomes = list(batch_evaluator_for(task.estimator).evaluate(task))
    for outcome, alpha in zip(outcomes, (1.0, 2.0), strict=True):
        model = Lasso(alpha=alpha).fit(X[:N_TRAIN], y[:N_TRAIN])
        np.testing.assert_array_equal(outcome.prediction, model.predict(X[N_TRAIN:]))
    (record,) = caplog.records
    assert record.getMessage().endswith("one by one: no coefficients are finite")
