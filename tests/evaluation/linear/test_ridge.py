"""One product of the rows serves every penalty of ridge regression."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from evaluator_tasks import make_task
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import Ridge, RidgeClassifier

from cvst.evaluation import Task, batch_evaluator_for

N_TEST = 15
ALPHAS = st.lists(
    st.sampled_from([1e-6, 1e-3, 0.1, 1.0, 1.0, 50.0, 1e6]), min_size=2, max_size=5
)


def draw_rows(seed, n_train, n_features, n_targets=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_train + N_TEST, n_features)) + 3
    noise = rng.normal(size=(len(X), n_targets))
    y = X[:, :1] - 2 * X[:, -1:] + noise @ np.diag(np.arange(1, n_targets + 1))
    return X, y.ravel() if n_targets == 1 else y, rng.random(n_train) + 0.1


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    alphas=ALPHAS,
    shape=st.sampled_from([(30, 4), (8, 20), (12, 12)]),
    n_targets=st.sampled_from([1, 3]),
    solver=st.sampled_from(["auto", "cholesky", "svd"]),
    fit_intercept=st.booleans(),
    weighted=st.booleans(),
)
def test_penalties_predict_as_separate_fits(
    assert_same_as_one_by_one,
    seed,
    alphas,
    shape,
    n_targets,
    solver,
    fit_intercept,
    weighted,
):
    """To 1e-9, with one penalty for all targets and with one for each."""
    n_train, n_features = shape
    X, y, weights = draw_rows(seed, n_train, n_features, n_targets)
    estimator = Ridge(solver=solver, fit_intercept=fit_intercept)
    grid = [{"alpha": a} for a in alphas]
    grid += [{"alpha": np.resize(alphas, n_targets)}, {"alpha": [1.0, 2.0]}]

    assert_same_as_one_by_one(
        make_task(estimator, grid, X, y, weights if weighted else None, n_train=n_train)
    )


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 1000),
    alphas=ALPHAS,
    n_classes=st.sampled_from([1, 2, 4]),
    class_weight=st.sampled_from([None, "balanced", {"b": 3.0}]),
    solver=st.sampled_from(["auto", "svd"]),
    response=st.sampled_from(["predict", "decision_function", "predict_proba"]),
    weighted=st.booleans(),
    symmetric=st.booleans(),
)
def test_penalties_classify_as_separate_fits(
    assert_same_as_one_by_one,
    seed,
    alphas,
    n_classes,
    class_weight,
    solver,
    response,
    weighted,
    symmetric,
):
    """Labels are equal; on symmetric rows many decisions are zero up to rounding."""
    X, signal, weights = draw_rows(seed, 40, 5)
    y = np.array(["a", "b", "c", "d"])[
        np.digitize(signal, [-3.0, 0.0, 3.0]) % n_classes
    ]
    if symmetric:
        X = np.rint(X)
        X[20:40], y[20:40] = -X[:20], np.where(y[:20] == "a", "b", "a")
        X[40:48] = 0
    estimator = RidgeClassifier(class_weight=class_weight, solver=solver)
    grid = [{"alpha": a, "fit_intercept": f} for a in alphas for f in (True, False)]

    assert_same_as_one_by_one(
        make_task(
            estimator,
            grid,
            X,
            y,
            weights if weighted else None,
            n_train=40,
            response=response,
        )
    )


def test_many_penalties_of_a_large_system(assert_same_as_one_by_one):
    """A decomposition answers where the system is well-conditioned, to 1e-9."""
    grid = [{"alpha": a} for a in np.logspace(-9, 6, 30)]
    for shape in ((260, 210), (210, 260)):
        X, y, _ = draw_rows(0, *shape)
        X *= np.logspace(0, -5, shape[1])
        assert_same_as_one_by_one(make_task(Ridge(), grid, X, y, n_train=shape[0]))


@pytest.mark.filterwarnings("ignore:Ill-conditioned matrix")
@pytest.mark.filterwarnings("ignore:An ill-conditioned matrix")
def test_ill_conditioned_systems(assert_same_as_one_by_one):
    """Same operations, same answer: columns that nearly coincide, tiny penalties."""
    X, y, _ = draw_rows(1, 90, 60)
    X[:, 30:] = X[:, :30] + 1e-7 * X[:, 30:]
    grid = [{"alpha": a} for a in (1e-12, 1e-9, 1e-4)]

    assert_same_as_one_by_one(make_task(Ridge(), grid, X, y, n_train=90))


@pytest.mark.filterwarnings("ignore:Singular matrix in solving dual problem")
def test_no_penalty_on_a_singular_system(assert_same_as_one_by_one):
    """Left to the plain fit, which goes another way then."""
    for n_features in (4, 40):
        X, y, _ = draw_rows(2, 20, n_features)
        X[:, 1] = X[:, 0]
        grid = [{"alpha": a} for a in (0.0, 0, 1.0)]
        for solver in ("cholesky", "svd"):
            assert_same_as_one_by_one(
                make_task(Ridge(solver=solver), grid, X, y, n_train=20)
            )


@pytest.mark.filterwarnings("ignore:Singular matrix in solving dual problem")
@pytest.mark.parametrize(
    ("n_features", "alphas", "n_columns"),
    [
        (4, [0.0, 0], 0),
        (40, [0.0, 0], 0),
        (4, [[0.0, 0.0], [0, 0]], 2),
        (4, [[1.0, 2.0], [1.0, 2.0, 3.0]], 0),
    ],
    ids=["singular", "singular, dual", "singular, targets", "not one per target"],
)
def test_where_nothing_was_solved_the_log_says_why(
    n_features, alphas, n_columns, assert_same_as_one_by_one, caplog
):
    """It is not our mistake, and nothing is divided by the number of solutions."""
    X, y, _ = draw_rows(2, 20, n_features, n_columns or 1)
    grid = [{"alpha": alpha} for alpha in alphas]
    task = make_task(Ridge(solver="cholesky"), grid, np.zeros_like(X), y, n_train=20)
    assert_same_as_one_by_one(task)
    caplog.clear()
    caplog.set_level("INFO", "cvst")
    list(batch_evaluator_for(task.estimator).evaluate(task))
    (record,) = caplog.records
    assert record.getMessage() == (
        "Ridge: 2 configurations are fitted one by one: the system is singular, or the "
        "penalties are not one for each target"
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {"solver": "lsqr"},
        {"solver": "sparse_cg"},
        {"solver": "sag", "random_state": 0, "max_iter": 3, "tol": 1e-2},
        {"solver": "saga", "random_state": 0, "max_iter": 3, "tol": 1e-2},
        {"positive": True},
    ],
)
@pytest.mark.filterwarnings("ignore:The max_iter was reached")
def test_iterative_solvers_are_left_alone(
    parameters, assert_same_as_one_by_one, count_fits
):
    """Their answers depend on where they stop: bitwise equal, one fit each."""
    X, y, _ = draw_rows(3, 30, 4)
    grid = [{"alpha": a} for a in (0.1, 1.0)]
    task = make_task(Ridge(**parameters), grid, X, y, n_train=30)

    assert_same_as_one_by_one(task, rtol=0, atol=0)

    fits = count_fits(Ridge)
    list(batch_evaluator_for(task.estimator).evaluate(task))
    assert len(fits) == 2


@pytest.mark.parametrize("container", [sparse.csr_matrix, pd.DataFrame, np.float32])
def test_other_containers(container, assert_same_as_one_by_one):
    """Sparse rows are left alone; frames and single precision are shared."""
    X, y, _ = draw_rows(4, 30, 4)
    rows = X.astype(np.float32) if container is np.float32 else container(X)
    if isinstance(rows, pd.DataFrame):
        rows.columns = list("abcd")
    grid = [{"alpha": a} for a in (0.1, 1.0, 10.0)]
    task = Task(Ridge(), dict(enumerate(grid)), rows[:30], pd.Series(y[:30]), rows[30:])

    tolerance = 1e-4 if container is np.float32 else 1e-9
    assert_same_as_one_by_one(task, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0}])
@pytest.mark.parametrize("response", ["predict", "decision_function"])
def test_single_precision_stays_single(
    class_weight, response, assert_same_as_one_by_one
):
    """Far from the origin it decides on labels.

    The systems are the same to the last bit; products with new rows round. Solutions
    in double precision are 3e-4 and more away.
    """
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(145, 5)) + 100).astype(np.float32)
    y = rng.integers(0, 2, size=145)
    estimator = RidgeClassifier(class_weight=class_weight, fit_intercept=False)
    grid = [{"alpha": a} for a in (1.0, 10.0)]
    task = Task(
        estimator, dict(enumerate(grid)), X[:120], y[:120], X[120:], response=response
    )

    assert_same_as_one_by_one(task, rtol=0, atol=1e-4)


@pytest.mark.parametrize("alpha", [-1.0, "large", None, np.nan])
def test_a_bad_penalty_fails_alone(alpha, assert_same_as_one_by_one):
    """The others are answered, and the bad one has the error of a plain fit."""
    X, y, _ = draw_rows(5, 30, 4)
    grid = [{"alpha": 1.0}, {"alpha": alpha}, {"alpha": 2.0}]

    assert_same_as_one_by_one(make_task(Ridge(), grid, X, y, n_train=30))


@pytest.mark.parametrize(
    "y", [np.arange(30.0)[:, None], np.tile([[0, 1], [1, 1], [1, 0]], (10, 1))]
)
def test_unusual_targets_are_left_alone(y, assert_same_as_one_by_one):
    """A single column, and several labels per row."""
    X, _, _ = draw_rows(6, 30, 4)
    grid = [{"alpha": a} for a in (0.1, 1.0)]

    for estimator in (Ridge(), RidgeClassifier()):
        if y.dtype == int or isinstance(estimator, Ridge):
            assert_same_as_one_by_one(make_task(estimator, grid, X, y, n_train=30))


@pytest.mark.parametrize("estimator_class", [Ridge, RidgeClassifier])
def test_nothing_is_fitted_one_by_one(estimator_class, count_fits):
    """All penalties are solved without a single plain fit."""
    X, signal, weights = draw_rows(7, 30, 4)
    y = signal if estimator_class is Ridge else (signal > 0).astype(int)
    fits = count_fits(estimator_class)
    estimator = estimator_class()
    grid = [{"alpha": a} for a in np.logspace(-3, 3, 7)]

    task = make_task(estimator, grid, X, y, weights, n_train=30)
    outcomes = list(batch_evaluator_for(estimator).evaluate(task))

    assert fits == []
    assert [o.error for o in outcomes] == [None] * 7
