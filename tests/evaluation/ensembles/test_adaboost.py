"""The first rounds of AdaBoost are a shorter AdaBoost."""

from __future__ import annotations

from functools import partial

import evaluator_tasks
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cvst.evaluation import batch_evaluator_for

SIZES = st.lists(st.integers(1, 9), min_size=2, max_size=4)


def draw_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(60, 3)).astype(float)
    return X, X[:, 0] - X[:, 1] + rng.normal(size=60), rng.random(40) + 0.2


make_task = partial(evaluator_tasks.make_task, n_train=40)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 1000),
    sizes=SIZES,
    base=st.sampled_from([None, GaussianNB(), DecisionTreeClassifier(max_depth=9)]),
    n_classes=st.sampled_from([2, 3, 4]),
    response=st.sampled_from(["predict", "predict_proba", "decision_function"]),
    weighted=st.booleans(),
)
def test_first_rounds_classify_as_shorter_runs(
    assert_same_as_one_by_one, seed, sizes, base, n_classes, response, weighted
):
    """Bitwise; deep trees fit perfectly, naive Bayes may end worse than chance."""
    X, signal, weights = draw_rows(seed)
    edges = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
    y = np.array(["p", "q", "r", "s"])[np.digitize(signal, edges)]
    grid = [{"n_estimators": s, "learning_rate": r} for s in sizes for r in (1.0, 2.5)]
    estimator = AdaBoostClassifier(base, random_state=seed)

    task = make_task(
        estimator, grid, X, y, weights if weighted else None, response=response
    )

    assert_same_as_one_by_one(task, rtol=0, atol=0)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 1000),
    sizes=SIZES,
    depth=st.sampled_from([1, 3, None]),
    loss=st.sampled_from(["linear", "square", "exponential"]),
    weighted=st.booleans(),
)
def test_first_rounds_take_the_median_as_shorter_runs(
    assert_same_as_one_by_one, seed, sizes, depth, loss, weighted
):
    """Bitwise, with the base estimator's parameters in the grid too."""
    X, y, weights = draw_rows(seed)
    grid = [
        {"n_estimators": s, "estimator__max_depth": d}
        for s in sizes
        for d in (2, depth)
    ]
    estimator = AdaBoostRegressor(DecisionTreeRegressor(), loss=loss, random_state=seed)

    task = make_task(estimator, grid, X, y, weights if weighted else None)

    assert_same_as_one_by_one(task, rtol=0, atol=0)


def test_a_perfect_first_round_is_the_whole_ensemble(assert_same_as_one_by_one):
    """One round suffices, whatever number is asked for."""
    X = np.arange(60.0)[:, None] % 40
    y = (X[:, 0] > 20).astype(int)
    grid = [{"n_estimators": s} for s in (1, 5, 50)]

    assert_same_as_one_by_one(
        make_task(AdaBoostClassifier(random_state=0), grid, X, y), rtol=0, atol=0
    )


def test_worse_than_chance_is_the_same_error(assert_same_as_one_by_one):
    """A first round without any information fails for every number of rounds."""
    X, y = np.zeros((60, 1)), np.arange(60) % 2
    grid = [{"n_estimators": s} for s in (1, 5)]

    assert_same_as_one_by_one(make_task(AdaBoostClassifier(random_state=0), grid, X, y))


def test_named_columns(assert_same_as_one_by_one):
    """Rounds are fitted on bare arrays; a frame brings no warning."""
    X, y, _ = draw_rows(3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    grid = [{"n_estimators": s} for s in (2, 5)]

    assert_same_as_one_by_one(
        make_task(AdaBoostRegressor(random_state=0), grid, frame, y), rtol=0, atol=0
    )


@pytest.mark.parametrize(("random_state", "n_expected"), [(0, 1), (None, 4)])
def test_one_fit_serves_all_sizes(random_state, n_expected, count_fits):
    """With a seed; without one nothing is shared."""
    X, y, _ = draw_rows(4)
    fits = count_fits(AdaBoostRegressor)
    estimator = AdaBoostRegressor(random_state=random_state)
    grid = [{"n_estimators": s} for s in (1, 2, 4, 8)]

    list(batch_evaluator_for(estimator).evaluate(make_task(estimator, grid, X, y)))

    assert len(fits) == n_expected
