"""The first members of a large ensemble are the small ensemble."""

from __future__ import annotations

from functools import partial

import evaluator_tasks
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from cvst.evaluation import OneByOne, Task, batch_evaluator_for

N_TRAIN, N_TEST = 40, 20
SIZES = st.lists(st.integers(1, 7), min_size=2, max_size=4)
RESPONSES = st.sampled_from(["predict", "predict_proba"])


def draw_rows(seed):
    """Rows on a coarse grid: duplicates, and votes that tie."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(N_TRAIN + N_TEST, 4)).astype(float)
    return X, X[:, 0] - X[:, 1] + rng.normal(size=len(X)), rng.random(N_TRAIN) + 0.2


def labels(signal, n_classes):
    edges = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
    return np.array(["a", "b", "c", "d"])[np.digitize(signal, edges)]


make_task = partial(evaluator_tasks.make_task, n_train=N_TRAIN)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 1000),
    sizes=SIZES,
    forest=st.sampled_from([RandomForestClassifier, ExtraTreesClassifier]),
    n_classes=st.sampled_from([2, 3]),
    n_outputs=st.sampled_from([1, 2]),
    bootstrap=st.booleans(),
    class_weight=st.sampled_from([None, "balanced", "balanced_subsample"]),
    response=RESPONSES,
    weighted=st.booleans(),
    warm_start=st.booleans(),
)
def test_prefixes_of_a_forest_classify_as_small_forests(
    assert_same_as_one_by_one,
    seed,
    sizes,
    forest,
    n_classes,
    n_outputs,
    bootstrap,
    class_weight,
    response,
    weighted,
    warm_start,
):
    """Bitwise: trees are added in order, so that even tied votes fall alike."""
    X, signal, weights = draw_rows(seed)
    y = labels(signal, n_classes)
    if n_outputs == 2:
        y = np.column_stack([y, labels(X[:, 2] + 0.1 * signal, 4)])
    # scikit-learn warns of balanced weights when it is told to start warm, and of
    # subsamples when there are none; warnings are errors here.
    warm_start = warm_start and class_weight is None
    bootstrap = bootstrap or class_weight == "balanced_subsample"
    estimator = forest(
        bootstrap=bootstrap,
        max_samples=0.6 if bootstrap else None,
        class_weight=class_weight,
        random_state=seed,
        warm_start=warm_start,
    )
    grid = [{"n_estimators": s, "max_depth": d} for s in sizes for d in (2, None)]

    task = make_task(
        estimator, grid, X, y, weights if weighted else None, response=response
    )

    assert_same_as_one_by_one(task, rtol=0, atol=0)


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 1000),
    sizes=SIZES,
    forest=st.sampled_from([RandomForestRegressor, ExtraTreesRegressor]),
    n_outputs=st.sampled_from([1, 2]),
    weighted=st.booleans(),
)
def test_prefixes_of_a_forest_average_as_small_forests(
    assert_same_as_one_by_one, seed, sizes, forest, n_outputs, weighted
):
    """Bitwise, for one output and for two."""
    X, signal, weights = draw_rows(seed)
    y = signal if n_outputs == 1 else np.column_stack([signal, -X[:, 1]])
    estimator = forest(max_features=0.5, random_state=np.random.RandomState(seed))
    # Not a count, and a parameter that only some configurations set.
    grid = [*({"n_estimators": s} for s in sizes), {"n_estimators": 0}, {"n_jobs": 2}]
    template = estimator.set_params(n_estimators=3)

    task = make_task(template, grid, X, y, weights if weighted else None)

    assert_same_as_one_by_one(task, rtol=1e-12, atol=1e-12)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 1000),
    sizes=SIZES,
    base=st.sampled_from(
        [
            None,
            GaussianNB(),
            Perceptron(max_iter=5, tol=None),
            LogisticRegression(C=0.1),
            DecisionTreeClassifier(max_depth=2),
        ]
    ),
    max_samples=st.sampled_from([0.1, 1.0]),
    features=st.sampled_from([{}, {"max_features": 2}, {"bootstrap_features": True}]),
    response=RESPONSES,
    n_jobs=st.sampled_from([None, 1]),
)
def test_prefixes_of_bagged_classifiers_vote_as_small_ensembles(
    assert_same_as_one_by_one,
    seed,
    sizes,
    base,
    max_samples,
    features,
    response,
    n_jobs,
):
    """Bitwise: members without probabilities vote, members may miss a class."""
    X, signal, _ = draw_rows(seed)
    estimator = BaggingClassifier(
        base, max_samples=max_samples, random_state=seed, n_jobs=n_jobs, **features
    )
    grid = [{"n_estimators": s, "bootstrap": b} for s in sizes for b in (True, False)]

    task = make_task(estimator, grid, X, labels(signal, 3), response=response)

    assert_same_as_one_by_one(task, rtol=0, atol=0)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_prefixes_of_bagged_regressors(assert_same_as_one_by_one, n_outputs):
    """Bitwise, for members with and without a seed of their own."""
    X, signal, weights = draw_rows(5)
    y = signal if n_outputs == 1 else np.column_stack([signal, X[:, 0]])
    grid = [
        {"n_estimators": s, "estimator": base}
        for base in (None, KNeighborsRegressor(3))
        for s in (1, 3, 6)
    ]
    estimator = BaggingRegressor(max_features=3, random_state=1)

    assert_same_as_one_by_one(make_task(estimator, grid, X, y), rtol=0, atol=0)
    assert_same_as_one_by_one(make_task(estimator, grid, X, y, weights), rtol=0, atol=0)


def test_bagged_decisions(assert_same_as_one_by_one):
    """``decision_function`` is averaged over members too."""
    X, signal, _ = draw_rows(6)
    grid = [{"n_estimators": s} for s in (1, 2, 5)]
    estimator = BaggingClassifier(LogisticRegression(), random_state=1)
    task = make_task(
        estimator, grid, X, labels(signal, 2), response="decision_function"
    )

    assert_same_as_one_by_one(task, rtol=0, atol=0)


@pytest.mark.parametrize("container", [sparse.csr_matrix, pd.DataFrame])
@pytest.mark.parametrize(
    "estimator",
    [RandomForestRegressor(random_state=0), BaggingRegressor(random_state=0)],
)
def test_other_containers(assert_same_as_one_by_one, container, estimator):
    """Sparse rows and named columns reach the trees as they do in a plain fit."""
    X, y, _ = draw_rows(7)
    rows = container(X)
    if isinstance(rows, pd.DataFrame):
        rows.columns = list("abcd")
    grid = [{"n_estimators": s} for s in (2, 5)]

    task = Task(
        estimator, dict(enumerate(grid)), rows[:N_TRAIN], y[:N_TRAIN], rows[N_TRAIN:]
    )

    assert_same_as_one_by_one(task, rtol=0, atol=0)


def test_missing_values(assert_same_as_one_by_one):
    """Allowed where scikit-learn allows them, an error where it refuses them."""
    X, signal, _ = draw_rows(8)
    X[::3, 1] = np.nan
    grid = [{"n_estimators": s} for s in (2, 5)]
    for forest in (RandomForestClassifier, ExtraTreesClassifier):
        for constraint in (None, [1, 0, 0, 0]):
            estimator = forest(random_state=0, monotonic_cst=constraint)
            task = make_task(estimator, grid, X, labels(signal, 2))
            assert_same_as_one_by_one(task, rtol=0, atol=0)
    only_tested = np.where(np.arange(len(X))[:, None] < N_TRAIN, np.nan_to_num(X), X)
    task = make_task(estimator, grid, only_tested, labels(signal, 2))
    assert_same_as_one_by_one(task, rtol=0, atol=0)


@pytest.mark.parametrize(
    "estimator_class",
    [RandomForestClassifier, ExtraTreesClassifier, BaggingClassifier],
)
def test_one_fit_serves_all_sizes(estimator_class, count_fits):
    """Five sizes cost one fit with a seed and five without."""
    X, signal, _ = draw_rows(9)
    grid = [{"n_estimators": s} for s in range(1, 6)]
    fits = count_fits(estimator_class)

    for random_state, n_expected in ((0, 1), (None, 5)):
        fits.clear()
        estimator = estimator_class(random_state=random_state)
        task = make_task(estimator, grid, X, labels(signal, 2))
        outcomes = list(batch_evaluator_for(estimator).evaluate(task))

        assert len(fits) == n_expected
        assert [o.error for o in outcomes] == [None] * 5


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_out_of_bag_scores_change_no_prediction(assert_same_as_one_by_one):
    """``oob_score`` is computed after the trees have grown."""
    X, signal, _ = draw_rows(10)
    estimator = RandomForestClassifier(oob_score=True, random_state=0)
    grid = [{"n_estimators": s} for s in (10, 15)]

    assert_same_as_one_by_one(
        make_task(estimator, grid, X, labels(signal, 2)), rtol=0, atol=0
    )


def test_no_decision_function_is_the_same_error(assert_same_as_one_by_one):
    """Forests have none; sharing does not hide that."""
    X, signal, _ = draw_rows(11)
    grid = [{"n_estimators": s} for s in (2, 3)]
    task = make_task(
        RandomForestClassifier(random_state=0),
        grid,
        X,
        labels(signal, 2),
        response="decision_function",
    )

    assert_same_as_one_by_one(task)
    assert all(isinstance(o.error, AttributeError) for o in OneByOne().evaluate(task))
