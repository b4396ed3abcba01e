"""Kernel logistic regression along a path of penalties against one fit each.

The minimum is unique. Both sides stop close to it: decision values and probabilities
agree to 1e-6, labels wherever a decision is not a tie.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from cvst.datasets import make_noisy_sine
from cvst.evaluation import OneByOne, Scratch, Task, batch_evaluator_for
from cvst.evaluation.klr._bands import BandedSpace
from cvst.learners import KernelLogisticRegression

N_TRAIN, N_ROWS = 40, 70
TOLERANCE = 1e-6
LABELS = np.array(["left", "middle", "right", "up"])

KERNELS = st.sampled_from(["linear", "poly", "rbf", "laplacian"])
GAMMAS = st.sampled_from([None, 0.0, 0.02, 0.5, 3.0, 200.0])
PENALTIES = st.floats(-4, 3).map(lambda power: 10.0**power)
RESPONSES = ["predict", "predict_proba", "decision_function"]


@pytest.fixture(scope="module")
def make_rows(make_inputs):
    """Draw inputs of some kind, and labels."""

    def make(seed, n_features, kind, n_classes):
        X, rng = make_inputs(seed, n_features, kind)
        scores = X[:, 0] + 0.3 * rng.normal(size=N_ROWS)
        y = LABELS[np.digitize(scores, np.linspace(-0.6, 0.6, n_classes - 1))]
        return X, y, rng

    return make


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["distinct", "duplicated", "whole"]),
    n_features=st.sampled_from([1, 3]),
    n_classes=st.integers(2, 4),
    response=st.sampled_from(RESPONSES),
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
    n_classes,
    response,
    weighted,
    nested,
    data,
):
    """Kernels, widths, penalties, classes and weights in any mixture."""
    X, y, rng = make_rows(seed, n_features, kind, n_classes)
    configuration = st.fixed_dictionaries(
        {"alpha": PENALTIES},
        optional={
            "kernel": KERNELS,
            "gamma": GAMMAS,
            "degree": st.integers(1, 2),
            "coef0": st.sampled_from([0.0, 1.0]),
        },
    )
    grid = data.draw(st.lists(configuration, min_size=2, max_size=5))
    weights = {"sample_weight": rng.integers(0, 3, size=N_TRAIN)} if weighted else {}
    task = make_task(
        KernelLogisticRegression(),
        grid,
        X,
        y,
        scratch=Scratch() if nested else None,
        fit_params=weights,
        response=response,
    )
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("gamma", [0.001, 0.3, 30.0, 1000.0])
@pytest.mark.parametrize("response", RESPONSES)
def test_looks_of_a_race_nest(make_task, assert_same_as_one_by_one, gamma, response):
    """From low rank to nearly diagonal, with rows far from all training rows."""
    X, y = make_noisy_sine(400, random_state=0)
    scratch = Scratch()
    for n_train in (30, 61, 200):
        alphas = n_train * 10.0 ** np.arange(-7, 3)
        grid = [{"alpha": alpha, "gamma": gamma} for alpha in alphas]
        task = make_task(
            KernelLogisticRegression(),
            grid,
            X,
            y,
            n_train=n_train,
            scratch=scratch,
            response=response,
        )
        assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.fixture
def banded_steps(monkeypatch):
    """Count steps in which a kernel lacks its smallest values."""
    calls = []
    step = BandedSpace.step

    def counted(self, *arguments):
        calls.append(self)
        return step(self, *arguments)

    monkeypatch.setattr(BandedSpace, "step", counted)
    return calls


@pytest.mark.parametrize(("kernel", "gamma"), [("rbf", 30.0), ("laplacian", 20.0)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_narrow_kernels(
    make_task, assert_same_as_one_by_one, banded_steps, kernel, gamma, n_classes
):
    """Leaving out the smallest values of a kernel changes no prediction."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, size=(200, 2))
    y = LABELS[rng.integers(0, n_classes, size=200)]
    n_train = 150
    task = make_task(
        KernelLogisticRegression(kernel=kernel, gamma=gamma),
        [{"alpha": n_train * 10.0**power} for power in range(-8, 2)],
        X,
        y,
        n_train=n_train,
        fit_params={"sample_weight": rng.uniform(0, 3, size=n_train)},
        response="decision_function",
    )
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)
    assert banded_steps


def test_negative_values_matter(make_task, assert_same_as_one_by_one, banded_steps):
    """However few values of such a kernel are not zero."""
    rng = np.random.default_rng(0)
    X = np.eye(100)[rng.permutation(200) % 100] * rng.choice([-1.0, 1.0], (200, 1))
    y = X.sum(axis=1) + 0.5 * rng.normal(size=200) > 0
    task = make_task(
        KernelLogisticRegression(kernel="poly", degree=1, gamma=1.0, coef0=0.0),
        [{"alpha": alpha} for alpha in (0.01, 0.1, 1.0)],
        X,
        y,
        n_train=150,
        response="decision_function",
    )
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)
    assert not banded_steps


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c"]])
def test_rows_far_from_all_others(make_task, assert_same_as_one_by_one, labels):
    """There the decision function is 0 but for rounding, and the label hangs on it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 2))
    X[N_TRAIN:] += rng.choice([0.0, 4.0, 40.0, 4000.0], size=(N_ROWS - N_TRAIN, 2))
    y = rng.choice(labels, size=N_ROWS)
    grid = [{"alpha": a, "gamma": g} for g in (0.01, 1.0, 30.0) for a in (1e-3, 0.1, 1)]
    task = make_task(KernelLogisticRegression(), grid, X, y)
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("tol", [0.0, 1e-5])
def test_separable_classes(make_task, assert_same_as_one_by_one, tol):
    """Hardly any penalty keeps the solution finite."""
    X = np.linspace(-1, 1, N_ROWS)[:, np.newaxis]
    rng = np.random.default_rng(0)
    X = rng.permutation(X)
    y = X[:, 0] > 0.1
    grid = [{"alpha": 10.0**k, "gamma": g} for k in range(-4, 2) for g in (0.1, 10.0)]
    task = make_task(
        KernelLogisticRegression(tol=tol), grid, X, y, response="predict_proba"
    )
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


def test_none_is_fitted_alone(make_rows, make_task, count_fits):
    """All penalties and widths of a plain grid come from shared work."""
    X, y, _ = make_rows(0, 2, "distinct", 3)
    fits = count_fits(KernelLogisticRegression)
    alphas = np.logspace(-3, 1, 5)
    grid = [{"alpha": a, "gamma": g} for g in (0.01, 1.0, 100.0) for a in alphas]
    task = make_task(KernelLogisticRegression(), grid, X, y, response="predict_proba")
    evaluator = batch_evaluator_for(task.estimator)
    assert [
        len(group) for group in evaluator.groups(task.estimator, dict(enumerate(grid)))
    ] == [5] * 3
    assert len(list(evaluator.evaluate(task))) == len(grid)
    assert fits == []


@pytest.mark.parametrize(
    "configuration",
    [
        {"max_iter": 3},
        {"tol": 5e-5},
        {"kernel": "poly", "gamma": 200.0},
        {"kernel": "sigmoid", "gamma": 0.01},
        {"kernel": lambda a, b: float(a @ b)},
        {"alpha": 1e-12},
    ],
)
def test_what_cannot_be_shared_is_fitted_alone(
    make_rows, make_task, assert_same_as_one_by_one, count_fits, configuration
):
    """Where the end depends on the start, or on rounding, each goes its own way."""
    X, y, _ = make_rows(0, 2, "distinct", 2)
    grid = [{"alpha": 1.0}, configuration, {"alpha": 2.0}]
    task = make_task(KernelLogisticRegression(), grid, X, y, response="predict_proba")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)
        fits = count_fits(KernelLogisticRegression)
        list(batch_evaluator_for(task.estimator).evaluate(task))
    assert len(fits) == 1


@pytest.mark.parametrize("ratio", [1e2, 1e6])
def test_penalties_that_are_small_beside_a_weight_are_left_to_the_estimator(
    assert_same_as_one_by_one, ratio
):
    """Rounding errors decide there too."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 5, size=(120, 1))
    X[:100] = X[rng.integers(0, 50, size=100)]
    y = rng.integers(0, 2, size=120)
    weights = np.where(rng.random(100) < 0.5, 1.0, ratio)
    task = Task(
        KernelLogisticRegression(gamma=5.0, tol=1e-10, max_iter=500),
        dict(enumerate([{"alpha": 100 * power} for power in (1e-9, 1e-7, 1e-5, 1e-3)])),
        X[:100],
        y[:100],
        X[100:],
        {"sample_weight": weights},
        "decision_function",
    )
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize(
    ("configuration", "response"),
    [
        ({"alpha": 0.0}, "predict"),
        ({"max_iter": 0}, "predict"),
        ({"gamma": "wide"}, "predict"),
        ({"C": 1.0}, "predict"),
        ({"alpha": 1.0}, "score_samples"),
    ],
)
def test_errors_are_those_of_a_fit(
    make_rows, make_task, assert_same_as_one_by_one, configuration, response
):
    """What a fit refuses, the evaluator refuses for the same reason."""
    X, y, _ = make_rows(0, 2, "distinct", 2)
    grid = [{"alpha": 1.0}, configuration]
    task = make_task(KernelLogisticRegression(), grid, X, y, response=response)
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize(
    "targets",
    [
        lambda y: np.zeros(len(y)),
        lambda y: y,
        lambda y: (y > 0).astype(object),
        lambda y: pd.Series(np.where(y > 0, "b", "a"), dtype="category"),
    ],
    ids=["one class", "numbers", "object", "category"],
)
def test_targets_of_all_kinds(make_rows, make_task, assert_same_as_one_by_one, targets):
    """A single class and other targets that no classifier takes are errors."""
    X, _, _ = make_rows(0, 2, "distinct", 2)
    grid = [{"alpha": 1.0}, {"alpha": 0.1}]
    task = make_task(KernelLogisticRegression(), grid, X, targets(X[:, 0]))
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize(
    "convert",
    [
        np.float32,
        sparse.csr_array,
        lambda X: np.where(X > 1.5, np.nan, X),
        lambda X: pd.DataFrame(X, columns=["a", "b"]),
    ],
    ids=["float32", "sparse", "nan", "frame"],
)
def test_inputs_of_all_kinds(make_rows, make_task, assert_same_as_one_by_one, convert):
    """Containers and number formats: supported, or left to the estimator."""
    X, y, _ = make_rows(0, 2, "distinct", 3)
    grid = [{"alpha": alpha, "gamma": 0.5} for alpha in (0.1, 1.0)]
    task = make_task(
        KernelLogisticRegression(), grid, convert(X), y, response="predict_proba"
    )
    assert_same_as_one_by_one(task, rtol=TOLERANCE, atol=TOLERANCE)


def test_subclasses_are_fitted_as_they_like():
    """A subclass may fit differently."""

    class Other(KernelLogisticRegression):
        pass

    assert isinstance(batch_evaluator_for(Other()), OneByOne)
