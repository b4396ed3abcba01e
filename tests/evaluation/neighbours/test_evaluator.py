"""One neighbour search answers for every k and every weight."""

from __future__ import annotations

from functools import partial

import evaluator_tasks
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from cvst.evaluation import OneByOne, Task, batch_evaluator_for

N_TRAIN, N_TEST = 37, 30
LABELS = np.array(["left", "middle", "right", "up"])


def inverse_square(distances):
    return 1.0 / (0.1 + distances**2)


def draw_rows(seed, n_columns, kind):
    """Whole numbers tie, tenths and duplicates tie and round, others do neither."""
    rng = np.random.default_rng(seed)
    n_rows = N_TRAIN + N_TEST
    if kind == "whole":
        return rng.integers(0, 3, size=(n_rows, n_columns)).astype(float), rng
    if kind == "tenths":
        return 10 + rng.integers(0, 3, size=(n_rows, n_columns)) / 10, rng
    X = rng.normal(size=(n_rows, n_columns)) + 10
    if kind == "duplicated":
        X = X[rng.integers(0, 15, size=n_rows)]
    return X, rng


make_task = partial(evaluator_tasks.make_task, n_train=N_TRAIN)


KS = st.lists(st.integers(1, N_TRAIN + 2), min_size=2, max_size=5)
KINDS = st.sampled_from(["whole", "tenths", "duplicated", "distinct"])
ALGORITHMS = st.sampled_from(["auto", "brute", "kd_tree", "ball_tree"])
METRICS = st.sampled_from(
    [
        {"p": 2},
        {"p": 1},
        {"p": 3},
        {"metric": "sqeuclidean", "algorithm": "brute"},
        {"metric": "cosine", "algorithm": "brute"},
        {"metric": "chebyshev"},
    ]
)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    ks=KS,
    kind=KINDS,
    n_columns=st.sampled_from([1, 2, 17]),
    algorithm=ALGORITHMS,
    metric=METRICS,
    n_classes=st.sampled_from([1, 2, 4]),
    n_outputs=st.sampled_from([1, 1, 2]),
    response=st.sampled_from(["predict", "predict_proba"]),
)
def test_lists_classify_as_separate_searches(
    assert_same_as_one_by_one,
    seed,
    ks,
    kind,
    n_columns,
    algorithm,
    metric,
    n_classes,
    n_outputs,
    response,
):
    """Labels are equal and shares to 1e-9; k beyond the rows is the same error."""
    X, rng = draw_rows(seed, n_columns, kind)
    y = LABELS[rng.integers(0, n_classes, size=len(X))]
    if n_outputs == 2:
        y = np.column_stack([y, LABELS[rng.integers(0, 3, size=len(X))]])
    estimator = KNeighborsClassifier(**{"algorithm": algorithm, **metric})
    grid = [
        {"n_neighbors": k, "weights": w}
        for k in ks
        for w in ("uniform", "distance", None, inverse_square)
    ]

    assert_same_as_one_by_one(make_task(estimator, grid, X, y, response=response))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    ks=KS,
    kind=KINDS,
    n_columns=st.sampled_from([1, 2, 17]),
    algorithm=ALGORITHMS,
    metric=METRICS,
    target=st.sampled_from(["one", "two", "column", "whole", "single"]),
)
def test_lists_average_as_separate_searches(
    assert_same_as_one_by_one, seed, ks, kind, n_columns, algorithm, metric, target
):
    """Means to 1e-9 (1e-6 in single precision), for targets of any type and shape."""
    X, rng = draw_rows(seed, n_columns, kind)
    y = {
        "one": rng.normal(size=len(X)),
        "two": rng.normal(size=(len(X), 2)),
        "column": rng.normal(size=(len(X), 1)),
        "whole": rng.integers(0, 9, size=len(X)),
        "single": rng.normal(size=len(X)).astype(np.float32),
    }[target]
    estimator = KNeighborsRegressor(**{"algorithm": algorithm, **metric})
    grid = [
        {"n_neighbors": k, "weights": w}
        for k in ks
        for w in ("uniform", "distance", None, inverse_square)
    ]

    tolerance = 1e-6 if target == "single" else 1e-9
    task = make_task(estimator, grid, X, y)
    assert_same_as_one_by_one(task, rtol=tolerance, atol=tolerance)


def test_products_round_with_the_rows_around(assert_same_as_one_by_one):
    """Tied tenths are not tied in a product, in which order depends on all rows."""
    grid = [
        {"n_neighbors": k, "weights": w}
        for k in (2, 3)
        for w in ("uniform", "distance")
    ]
    for n_columns, seed in ((17, 6), (40, 16), (40, 18)):
        X, rng = draw_rows(seed, n_columns, "tenths")
        y = rng.integers(0, 3, size=len(X))
        for estimator in (KNeighborsClassifier(), KNeighborsRegressor()):
            assert_same_as_one_by_one(make_task(estimator, grid, X, y))


def test_votes_that_tie_up_to_rounding(assert_same_as_one_by_one):
    """Weights of two classes with equal sums: the order of summation elects one."""
    grid = [{"n_neighbors": k, "weights": "distance"} for k in (20, 21)]
    y = np.repeat(["first", "second"], 10)
    for seed in range(20):
        tenths = np.random.default_rng(seed).permutation(np.arange(1.0, 60.0))[:20]
        lacking = tenths[:10].sum() - tenths[10:].sum()
        X = 10 / np.append(tenths, abs(lacking) or 0.01)
        labels = np.append(y, "second" if lacking > 0 else "first")
        task = Task(
            KNeighborsClassifier(), dict(enumerate(grid)), X[:, None], labels, [[0.0]]
        )

        assert_same_as_one_by_one(task)


def test_a_function_of_tied_distances_is_left_alone(assert_same_as_one_by_one):
    """The order of tied rows, which it may see, depends on k."""
    X, rng = draw_rows(0, 2, "whole")
    y = LABELS[rng.integers(0, 4, size=len(X))]
    grid = [{"n_neighbors": k, "weights": inverse_square} for k in range(1, 18)]

    assert_same_as_one_by_one(make_task(KNeighborsClassifier(), grid, X, y))


def test_a_zero_among_signed_distances(assert_same_as_one_by_one):
    """A user's metric may put rows before the one at distance zero."""
    X = np.arange(N_TRAIN + N_TEST, dtype=float)[:, None]
    X[N_TRAIN:] -= N_TEST + 3
    y = np.sin(X[:, 0])
    estimator = KNeighborsRegressor(
        metric=lambda a, b: float(b[0] - a[0]), algorithm="brute", weights="distance"
    )
    grid = [{"n_neighbors": k} for k in (1, 4, 30)]

    assert_same_as_one_by_one(make_task(estimator, grid, X, y))


def test_cosines_of_whole_numbers_round(assert_same_as_one_by_one):
    """Whole numbers make Euclidean products exact, but not those of unit vectors."""
    X, rng = draw_rows(160, 17, "whole")
    estimator = KNeighborsRegressor(metric="cosine", algorithm="brute")
    grid = [{"n_neighbors": k} for k in (1, 36)]

    assert_same_as_one_by_one(make_task(estimator, grid, X, rng.normal(size=len(X))))


def test_parameters_that_change_the_search_are_not_shared(assert_same_as_one_by_one):
    """A mixed grid falls into one group per search."""
    X, rng = draw_rows(0, 3, "distinct")
    y = rng.integers(0, 3, size=len(X))
    estimator = KNeighborsClassifier()
    grid = [
        {"n_neighbors": k, **other}
        for k in (1, 4, 9)
        for other in ({}, {"p": 1}, {"leaf_size": 5}, {"metric": "chebyshev"})
    ]

    groups = batch_evaluator_for(estimator).groups(estimator, dict(enumerate(grid)))

    assert sorted(map(len, groups)) == [3, 3, 3, 3]
    assert_same_as_one_by_one(make_task(estimator, grid, X, y))


def test_a_zero_distance_outweighs_the_others(assert_same_as_one_by_one):
    """Test rows that are training rows follow the rows they coincide with."""
    X, rng = draw_rows(1, 2, "distinct")
    X[N_TRAIN:] = X[:N_TEST]
    X[3] = X[4]
    y = rng.normal(size=len(X))
    grid = [{"n_neighbors": k, "weights": "distance"} for k in (1, 2, 3, 8)]

    assert_same_as_one_by_one(make_task(KNeighborsRegressor(), grid, X, y))


@pytest.mark.parametrize("container", [sparse.csr_matrix, pd.DataFrame])
def test_other_containers(assert_same_as_one_by_one, container):
    """Sparse rows and named columns."""
    X, rng = draw_rows(2, 4, "whole")
    rows = container(X)
    if isinstance(rows, pd.DataFrame):
        rows.columns = list("abcd")
    y = pd.Series(LABELS[rng.integers(0, 3, size=len(X))], dtype="category")
    grid = [{"n_neighbors": k, "weights": w} for k in (1, 5) for w in ("uniform", None)]
    task = Task(
        KNeighborsClassifier(),
        dict(enumerate(grid)),
        rows[:N_TRAIN],
        y[:N_TRAIN],
        rows[N_TRAIN:],
    )

    assert_same_as_one_by_one(task)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_other_numbers(assert_same_as_one_by_one, dtype):
    """Single precision and integers, in a tree and in brute force."""
    for n_columns in (3, 20):
        X, rng = draw_rows(3, n_columns, "distinct")
        X, y = (X * 10).astype(dtype), rng.integers(0, 3, size=len(X))
        grid = [
            {"n_neighbors": k, "weights": w}
            for k in range(1, 20, 3)
            for w in ("uniform", "distance")
        ]
        task = make_task(KNeighborsClassifier(), grid, X, y)

        assert_same_as_one_by_one(task)


@pytest.mark.parametrize(
    ("configuration", "error"),
    [
        ({"n_neighbors": 0}, ValueError),
        ({"n_neighbors": N_TRAIN + 1}, ValueError),
        ({"n_neighbors": 2.0}, ValueError),
        ({"weights": "heavy"}, ValueError),
        ({"weights": lambda distances: np.zeros_like(distances)}, ValueError),
        ({"weights": lambda distances: 1 / len("")}, ZeroDivisionError),
        ({"no_such_parameter": 1}, ValueError),
    ],
)
def test_a_bad_configuration_fails_alone(
    assert_same_as_one_by_one, configuration, error
):
    """The others are answered, and the bad one has the error of a plain fit."""
    X, rng = draw_rows(4, 2, "distinct")
    y = rng.integers(0, 2, size=len(X))
    grid = [{"n_neighbors": 1}, configuration, {"n_neighbors": 3}]
    task = make_task(KNeighborsClassifier(), grid, X, y)

    assert_same_as_one_by_one(task)
    outcomes = {o.configuration: o for o in OneByOne().evaluate(task)}
    assert isinstance(outcomes[1].error, error)


def test_weights_of_rows_are_refused_as_ever(assert_same_as_one_by_one):
    """Neighbours take no ``sample_weight``."""
    X, rng = draw_rows(5, 2, "distinct")
    y = rng.normal(size=N_TRAIN)
    task = Task(
        KNeighborsRegressor(),
        dict(enumerate([{"n_neighbors": k} for k in (1, 2)])),
        X[:N_TRAIN],
        y,
        X[N_TRAIN:],
        {"sample_weight": np.ones(N_TRAIN)},
    )

    assert_same_as_one_by_one(task)


@pytest.mark.parametrize("kind", ["whole", "distinct"])
@pytest.mark.parametrize("n_columns", [2, 20])
@pytest.mark.parametrize("estimator_class", [KNeighborsClassifier, KNeighborsRegressor])
def test_one_fit_serves_all(estimator_class, n_columns, kind, count_fits):
    """Also on data full of ties: rows are predicted anew, nothing is fitted anew."""
    X, rng = draw_rows(6, n_columns, kind)
    y = rng.integers(0, 3, size=len(X))
    fits = count_fits(estimator_class)
    grid = [
        {"n_neighbors": k, "weights": w}
        for k in range(1, N_TRAIN // 2)
        for w in ("uniform", "distance")
    ]
    estimator = estimator_class()

    outcomes = list(
        batch_evaluator_for(estimator).evaluate(make_task(estimator, grid, X, y))
    )

    assert len(fits) == 1
    assert len(outcomes) == len(grid)


def test_the_switch_at_half_of_the_rows_costs_a_second_search(
    count_fits, assert_same_as_one_by_one
):
    """``algorithm="auto"`` searches by brute force from n // 2 neighbours on."""
    X, rng = draw_rows(7, 2, "whole")
    y = rng.integers(0, 3, size=len(X))
    half = N_TRAIN // 2
    grid = [{"n_neighbors": k} for k in (2, half - 1, half, half + 3)]
    task = make_task(KNeighborsClassifier(), grid, X, y)
    assert_same_as_one_by_one(task)

    fits = count_fits(KNeighborsClassifier)
    list(batch_evaluator_for(task.estimator).evaluate(task))

    assert len(fits) == 2


def test_a_precomputed_metric_is_left_alone(assert_same_as_one_by_one):
    """Distances given as rows."""
    X, rng = draw_rows(8, 2, "distinct")
    distances = np.linalg.norm(X[:, None] - X[None, :N_TRAIN], axis=-1)
    y = rng.integers(0, 2, size=N_TRAIN)
    task = Task(
        KNeighborsClassifier(metric="precomputed"),
        dict(enumerate([{"n_neighbors": k} for k in (1, 4)])),
        distances[:N_TRAIN],
        y,
        distances[N_TRAIN:],
    )

    assert_same_as_one_by_one(task)
