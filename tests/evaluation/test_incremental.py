from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import (
    LogisticRegression,
    SGDClassifier,
    SGDOneClassSVM,
    SGDRegressor,
)
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier, MLPRegressor

from cvst.evaluation import OneByOne, RaceRows, Scratch, Task
from cvst.evaluation.machinery import incremental_evaluator_for

RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(90, 4)))
LABELS = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [0.4, 0.9])]
CUTS = (20, 45, 70)


def look(estimator, grid, train, scratch, y=LABELS, inputs=X, **options):
    """Evaluate one look; rows from 70 on are for testing."""
    test = slice(70, 90)
    configurations = grid if isinstance(grid, dict) else dict(enumerate(grid))
    task = Task(
        estimator,
        configurations,
        inputs[train],
        None if y is None else y[train],
        inputs[test],
        race_rows=RaceRows(inputs, train, test, scratch),
        **options,
    )
    evaluator = incremental_evaluator_for(estimator)
    found = {}
    for group in evaluator.groups(estimator, configurations):
        for outcome in evaluator.evaluate(task.only(group)):
            assert outcome.error is None, outcome.error
            found[outcome.configuration] = outcome.prediction
    return [found[number] for number in configurations]


CASES = [
    (SGDClassifier(random_state=0), "alpha", LABELS, {"classes": np.unique(LABELS)}),
    (GaussianNB(), "var_smoothing", LABELS, {"classes": np.unique(LABELS)}),
    (MultinomialNB(), "alpha", LABELS, {"classes": np.unique(LABELS)}),
    (
        MLPClassifier(hidden_layer_sizes=(5,), random_state=0),
        "alpha",
        LABELS,
        {"classes": np.unique(LABELS)},
    ),
    (SGDRegressor(random_state=0), "alpha", X[:, 1], {}),
    (MLPRegressor(hidden_layer_sizes=(5,), random_state=0), "alpha", X[:, 1], {}),
    (SGDOneClassSVM(random_state=0), "nu", None, {}),
    (MiniBatchKMeans(3, random_state=0, n_init=1), "reassignment_ratio", None, {}),
    (
        MultiOutputClassifier(SGDClassifier(random_state=0)),
        "estimator__alpha",
        np.column_stack([LABELS, LABELS[::-1]]),
        {"classes": [np.unique(LABELS)] * 2},
    ),
]


@pytest.mark.parametrize(
    ("estimator", "name", "y", "first"), CASES, ids=lambda case: type(case).__name__
)
@pytest.mark.parametrize("as_array", [False, True])
def test_looks_are_calls_of_partial_fit_by_hand(estimator, name, y, first, as_array):
    """One call per look, with the new rows only and all classes in the first."""
    grid = [{name: 0.01}, {name: 0.3}]
    models = [clone(estimator).set_params(**configuration) for configuration in grid]
    scratch = Scratch()
    start = 0
    for stop in CUTS:
        new, train = slice(start, stop), slice(0, stop)
        rows = np.arange(stop) if as_array else train
        actual = look(estimator, grid, rows, scratch, y, classes=first.get("classes"))
        for model, prediction in zip(models, actual, strict=True):
            params = first if start == 0 else {}
            if y is None:
                model.partial_fit(X[new], **params)
            else:
                model.partial_fit(X[new], y[new], **params)
            np.testing.assert_array_equal(prediction, model.predict(X[70:]))
        start = stop


def test_naive_bayes_comes_out_as_a_fit_on_all_rows():
    """What only counts and adds up does not mind the order."""
    scratch = Scratch()
    classes = np.unique(LABELS)
    for stop in CUTS:
        train = slice(0, stop)
        options = {"classes": classes, "response": "predict_proba"}
        (actual,) = look(MultinomialNB(), [{}], train, scratch, **options)
        expected = MultinomialNB().fit(X[train], LABELS[train]).predict_proba(X[70:])
        np.testing.assert_allclose(actual, expected)


def test_a_class_that_comes_late_is_known_from_the_start():
    """The race's classes are given to the first call, whatever rows it has."""
    y = np.where(np.arange(90) < 30, "early", "late")
    scratch = Scratch()
    for stop in CUTS:
        (prediction,) = look(
            SGDClassifier(random_state=0),
            [{}],
            slice(0, stop),
            scratch,
            y,
            classes=np.array(["early", "late"]),
        )
    assert set(prediction) <= {"early", "late"}


def test_weights_follow_their_rows():
    """The new rows come with their own weights."""
    weights = RNG.uniform(0.1, 5.0, size=90)
    model = SGDRegressor(random_state=0)
    scratch = Scratch()
    start = 0
    for stop in CUTS:
        fit_params = {"sample_weight": weights[:stop]}
        (actual,) = look(
            SGDRegressor(random_state=0),
            [{}],
            slice(0, stop),
            scratch,
            X[:, 1],
            fit_params=fit_params,
        )
        new = slice(start, stop)
        model.partial_fit(X[new], X[new, 1], sample_weight=weights[new])
        np.testing.assert_array_equal(actual, model.predict(X[70:]))
        start = stop


def test_rescaled_values_are_set_on_the_kept_model():
    """A configuration is known by its number when its values change."""
    models = [SGDRegressor(random_state=0) for _ in range(2)]
    scratch = Scratch()
    start = 0
    for stop in CUTS:
        grid = [{"alpha": 0.1 * stop}, {"alpha": 0.001 * stop}]
        # Numbers are those of the grid: the order within a look may change.
        actual = look(
            SGDRegressor(random_state=0),
            {7: grid[1], 3: grid[0]} if stop == CUTS[1] else {3: grid[0], 7: grid[1]},
            slice(0, stop),
            scratch,
            X[:, 1],
        )
        if stop == CUTS[1]:
            actual.reverse()
        new = slice(start, stop)
        for model, configuration, prediction in zip(models, grid, actual, strict=True):
            model.set_params(**configuration).partial_fit(X[new], X[new, 1])
            np.testing.assert_array_equal(prediction, model.predict(X[70:]))
        start = stop


@pytest.mark.parametrize(
    "rows", [slice(5, 40), slice(0, 10), np.arange(40), np.arange(40)[::-1]], ids=str
)
def test_rows_that_do_not_continue_begin_anew_and_disturb_nothing(rows):
    """A fold in between gets its own model; the next prefix continues the old one."""
    estimator, y, scratch = SGDRegressor(random_state=0), X[:, 1], Scratch()
    look(estimator, [{}], slice(0, 20), scratch, y)
    (between,) = look(estimator, [{}], rows, scratch, y)
    (after,) = look(estimator, [{}], slice(0, 45), scratch, y)

    fresh = clone(estimator).partial_fit(X[rows], y[rows])
    np.testing.assert_array_equal(between, fresh.predict(X[70:]))
    model = clone(estimator).partial_fit(X[:20], y[:20]).partial_fit(X[20:45], y[20:45])
    np.testing.assert_array_equal(after, model.predict(X[70:]))


def test_the_same_look_again_gives_the_same_answer():
    """No row is shown twice, not even to equal configurations of one look."""
    scratch, y = Scratch(), X[:, 1]
    grid = [{"alpha": 0.1}, {"alpha": 0.1}]
    first, twin = look(SGDRegressor(random_state=0), grid, slice(0, 20), scratch, y)
    again, _ = look(SGDRegressor(random_state=0), grid, slice(0, 20), scratch, y)
    np.testing.assert_array_equal(first, twin)
    np.testing.assert_array_equal(first, again)


def test_without_a_race_every_task_begins_anew():
    """In a worker process nothing was kept: all rows are shown at once."""
    task = Task(SGDRegressor(random_state=0), {0: {}}, X[:45], X[:45, 1], X[70:])
    (outcome,) = incremental_evaluator_for(task.estimator).evaluate(task)
    model = SGDRegressor(random_state=0).partial_fit(X[:45], X[:45, 1])
    np.testing.assert_array_equal(outcome.prediction, model.predict(X[70:]))


def test_sparse_rows():
    """Slices of sparse rows are rows."""
    inputs, scratch = sparse.csr_matrix(X), Scratch()
    model = SGDRegressor(random_state=0)
    for new in (slice(0, 20), slice(20, 45)):
        rows = slice(0, new.stop)
        (actual,) = look(
            SGDRegressor(random_state=0), [{}], rows, scratch, X[:, 1], inputs
        )
        model.partial_fit(inputs[new], X[new, 1])
        np.testing.assert_array_equal(actual, model.predict(inputs[70:]))


def test_a_failure_is_an_outcome_and_the_next_look_begins_anew():
    """A model that broke halfway is not continued."""
    scratch = Scratch()
    estimator = SGDRegressor(random_state=0)
    look(estimator, [{}], slice(0, 20), scratch, X[:, 1])
    broken = np.where(np.arange(90) < 45, X[:, 1], np.nan)
    train, test = slice(0, 50), slice(70, 90)
    whole = RaceRows(X, train, test, scratch)
    task = Task(estimator, {0: {}}, X[train], broken[train], X[test], race_rows=whole)
    (outcome,) = incremental_evaluator_for(estimator).evaluate(task)
    assert isinstance(outcome.error, ValueError)
    (actual,) = look(estimator, [{}], slice(0, 60), scratch, X[:, 1])
    model = clone(estimator).partial_fit(X[:60], X[:60, 1])
    np.testing.assert_array_equal(actual, model.predict(X[70:]))


def test_what_cannot_learn_bit_by_bit_is_fitted(caplog):
    """A solver without partial_fit learns from all rows, as without this evaluator."""
    caplog.set_level("INFO", logger="cvst")
    estimator = MLPClassifier(hidden_layer_sizes=(3,), random_state=0, max_iter=500)
    task = Task(estimator, {0: {"solver": "lbfgs"}}, X[:40], LABELS[:40], X[70:])
    (outcome,) = incremental_evaluator_for(estimator).evaluate(task)
    assert "1 configuration is fitted by itself: it has no partial_fit" in caplog.text
    expected = OneByOne().evaluate_one(task, 0)
    np.testing.assert_array_equal(outcome.prediction, expected.prediction)
    assert incremental_evaluator_for(LogisticRegression()) is None
