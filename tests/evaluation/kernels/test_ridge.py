"""Kernel ridge regression of many penalties against one fit each.

Tolerance: 1e-6 of the largest target, down to penalties of 1e-7 per row. What is seen
is about a rounding error times the number of rows over the penalty.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from cvst.evaluation import OneByOne, RaceRows, Scratch, Task, batch_evaluator_for

N_TRAIN, N_ROWS = 40, 70
TOLERANCE = 1e-6

KERNELS = st.sampled_from(["linear", "poly", "polynomial", "rbf", "laplacian"])
GAMMAS = st.sampled_from([None, 0, 0.01, 0.3, 2.0, 50.0])
PENALTIES = st.floats(-5, 3).map(lambda power: 10.0**power)


@pytest.fixture(scope="module")
def make_rows(make_inputs):
    """Draw inputs of some kind, and a curve to fit."""

    def make(seed, n_features=2, kind="distinct"):
        X, rng = make_inputs(seed, n_features, kind)
        y = np.sin(2 * X.sum(axis=1)) + 0.1 * rng.normal(size=N_ROWS)
        return X, y, rng

    return make


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["distinct", "duplicated", "whole"]),
    n_features=st.integers(1, 5),
    n_targets=st.sampled_from([None, 1, 3]),
    weighted=st.booleans(),
    nested=st.booleans(),
    data=st.data(),
)
def test_any_grid_is_as_one_by_one(
    make_rows,
    make_task,
    assert_same_as_one_by_one,
    seed,
    kind,
    n_features,
    n_targets,
    weighted,
    nested,
    data,
):
    """Kernels, widths and penalties may all vary, and so may the kind of data."""
    X, y, rng = make_rows(seed, n_features, kind)
    if n_targets is not None:
        y = np.column_stack([np.roll(y, shift) for shift in range(n_targets)])
    configuration = st.fixed_dictionaries(
        {"alpha": PENALTIES},
        optional={
            "kernel": KERNELS,
            "gamma": GAMMAS,
            "degree": st.integers(1, 3),
            "coef0": st.sampled_from([0.0, 0.5, 1.0]),
        },
    )
    grid = data.draw(st.lists(configuration, min_size=2, max_size=6))
    template = KernelRidge(kernel=data.draw(KERNELS), gamma=data.draw(GAMMAS))
    weights = {"sample_weight": rng.integers(0, 3, size=N_TRAIN)} if weighted else {}
    scratch = Scratch() if nested else None
    task = make_task(template, grid, X, y, scratch=scratch, fit_params=weights)
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("n_penalties", [1, 3, 8, 30])
@pytest.mark.parametrize("gamma", [0.001, 1.0, 300.0])
def test_looks_of_a_race_nest(make_task, assert_same_as_one_by_one, gamma, n_penalties):
    """What a look leaves behind serves the next one, for any number of penalties."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(300, 1))
    y = np.sinc(X[:, 0]) + 0.1 * rng.normal(size=300)
    scratch = Scratch()
    for n_train in (30, 61, 200):
        alphas = n_train * np.logspace(-7, 2, n_penalties)
        grid = [{"alpha": alpha, "gamma": gamma} for alpha in alphas]
        task = make_task(
            KernelRidge(kernel="rbf"), grid, X, y, n_train=n_train, scratch=scratch
        )
        assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


def test_folds_need_no_prefix(make_rows, assert_same_as_one_by_one):
    """Training rows may be anywhere, as in cross-validation."""
    X, y, rng = make_rows(1)
    order = rng.permutation(N_ROWS)
    train, test = order[:N_TRAIN], order[N_TRAIN:]
    grid = [{"alpha": 0.1 * k, "gamma": g} for g in (0.1, 5.0) for k in range(1, 10)]
    whole = RaceRows(X, train, test, Scratch())
    task = Task(
        KernelRidge(kernel="rbf"),
        dict(enumerate(grid)),
        X[train],
        y[train],
        X[test],
        race_rows=whole,
    )
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


def test_one_group_per_kernel():
    """Configurations that share a kernel form a group, whatever they leave out."""
    grid = [
        {"gamma": 1.0, "alpha": 1.0},
        {"gamma": 2.0, "alpha": 1.0},
        {"gamma": 1.0, "alpha": 2.0},
        {"kernel": "linear", "gamma": 1.0},
        {"kernel": "linear", "gamma": 2.0, "degree": 5},
        {"alpha": "many"},
    ]
    groups = batch_evaluator_for(KernelRidge()).groups(
        KernelRidge(kernel="rbf"), dict(enumerate(grid))
    )
    assert groups == [[0, 2], [1], [3, 4], [5]]


def test_none_is_fitted_alone(make_rows, make_task, count_fits):
    """All penalties and widths of a plain grid come from shared work."""
    X, y, _ = make_rows(0)
    fits = count_fits(KernelRidge)
    alphas = np.logspace(-4, 1, 12)
    grid = [{"alpha": a, "gamma": g} for g in (0.01, 1.0, 100.0) for a in alphas]
    task = make_task(KernelRidge(kernel="rbf"), grid, X, y, scratch=Scratch())
    outcomes = list(batch_evaluator_for(task.estimator).evaluate(task))
    assert len(outcomes) == len(grid)
    assert fits == []


@pytest.mark.parametrize(
    "configuration",
    [
        {"kernel": "sigmoid", "gamma": 0.1},
        {"kernel": "cosine"},
        {"kernel": "chi2"},
        {"kernel": lambda a, b: float(a @ b)},
        {"alpha": 0.0},
        {"alpha": 1e-14},
        {"alpha": [0.1, 0.2, 0.3]},
        {"kernel": "poly", "coef0": -1.0},
        {"kernel": "poly", "degree": 2.5},
        {"gamma": 1e12},
    ],
)
def test_what_cannot_be_shared_is_fitted_alone(
    make_rows, make_task, assert_same_as_one_by_one, count_fits, configuration
):
    """Kernels that may be indefinite, functions, and penalties that round away."""
    X, y, _ = make_rows(0)
    X, y = np.abs(X), np.column_stack([y, y + 1, y**2])
    grid = [{"alpha": 1.0}, configuration, {"alpha": 2.0}]
    task = make_task(KernelRidge(kernel="rbf"), grid, X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # With hardly any penalty the fit is decided by rounding: fitted alone, it is
        # the same to the last bit.
        assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)
        fits = count_fits(KernelRidge)
        list(batch_evaluator_for(task.estimator).evaluate(task))
    # This kernel wants rows that it may write to, and gets them when it says so.
    assert len(fits) == (2 if configuration == {"kernel": "chi2"} else 1)


@pytest.mark.parametrize(
    ("configuration", "response"),
    [
        ({"alpha": -1.0}, "predict"),
        ({"gamma": "wide"}, "predict"),
        ({"kernel": "none of them"}, "predict"),
        ({"penalty": 1.0}, "predict"),
        ({"alpha": True}, "predict"),
        ({"alpha": 1.0}, "decision_function"),
    ],
)
def test_errors_are_those_of_a_fit(
    make_rows, make_task, assert_same_as_one_by_one, configuration, response
):
    """What a fit refuses, the evaluator refuses for the same reason."""
    X, y, _ = make_rows(0)
    grid = [{"alpha": 1.0}, configuration]
    task = make_task(KernelRidge(kernel="rbf"), grid, X, y, response=response)
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


def broken(X):
    X = X.copy()
    X[3, 0] = np.nan
    return X


@pytest.mark.parametrize(
    "convert",
    [
        np.float32,
        sparse.csr_array,
        broken,
        lambda X: X.astype(object),
        lambda X: pd.DataFrame(X, columns=["a", "b"]),
        lambda X: pd.DataFrame(X, columns=["a", "b"], dtype="Float64"),
        lambda X: X[:, :0],
        lambda X: X.astype(str),
    ],
    ids=["float32", "sparse", "nan", "object", "frame", "nullable", "empty", "text"],
)
@pytest.mark.parametrize("nested", [True, False])
def test_inputs_of_all_kinds(
    make_rows, make_task, assert_same_as_one_by_one, convert, nested
):
    """Containers and number formats: supported, or left to scikit-learn."""
    X, y, _ = make_rows(0)
    grid = [{"alpha": alpha, "gamma": 0.5} for alpha in (0.1, 1.0)]
    scratch = Scratch() if nested else None
    task = make_task(KernelRidge(kernel="rbf"), grid, convert(X), y, scratch=scratch)
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize(
    "weights",
    [
        np.zeros(N_TRAIN),
        -np.ones(N_TRAIN),
        np.full(N_TRAIN, np.nan),
        np.ones(N_TRAIN - 1),
        2.0,
        [1.0] * N_TRAIN,
    ],
    ids=["zero", "negative", "nan", "short", "number", "list"],
)
def test_odd_weights(make_rows, make_task, assert_same_as_one_by_one, weights):
    """Whatever a fit does with odd weights, the evaluator does."""
    X, y, _ = make_rows(0)
    grid = [{"alpha": 0.1}, {"alpha": 1.0}]
    fit_params = {"sample_weight": weights}
    task = make_task(KernelRidge(kernel="rbf"), grid, X, y, fit_params=fit_params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


def test_a_kernel_matrix_is_taken_as_it_is(make_rows, assert_same_as_one_by_one):
    """With precomputed kernels nothing is shared, and nothing goes wrong."""
    X, y, _ = make_rows(0)
    K = rbf_kernel(X)
    grid = [{"alpha": 0.1}, {"alpha": 1.0}]
    task = Task(
        KernelRidge(kernel="precomputed"),
        dict(enumerate(grid)),
        K[:N_TRAIN, :N_TRAIN],
        y[:N_TRAIN],
        K[N_TRAIN:, :N_TRAIN],
    )
    assert_same_as_one_by_one(task)


def test_time_is_split_evenly(make_rows, make_task):
    """Members of a group report the same share, and together no more than it took."""
    X, y, _ = make_rows(0)
    grid = [{"alpha": alpha} for alpha in (0.1, 1.0, 10.0)]
    task = make_task(KernelRidge(kernel="rbf"), grid, X, y)
    outcomes = list(batch_evaluator_for(task.estimator).evaluate(task))
    assert len({outcome.fit_seconds for outcome in outcomes}) == 1
    assert len({outcome.score_seconds for outcome in outcomes}) == 1
    assert outcomes[0].fit_seconds > 0


def test_subclasses_are_fitted_as_they_like():
    """A subclass may fit differently."""

    class Other(KernelRidge):
        def fit(self, X, y, sample_weight=None):
            raise NotFittedError("never")

    assert isinstance(batch_evaluator_for(Other()), OneByOne)
