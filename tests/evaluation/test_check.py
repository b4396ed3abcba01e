"""Each rule of the contract, broken once."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge

from cvst.evaluation import (
    OneByOne,
    Outcome,
    Task,
    batch_evaluator_for,
    check_evaluator,
)
from cvst.exceptions import InvalidInputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
GRID = {0: {"alpha": 1.0}, 1: {"alpha": -1.0}, 2: {"alpha": 5.0}}
TASK = Task(Ridge(), GRID, X[:20], X[:20, 0], X[20:])


class Nameless:
    prefer = "threads"

    def groups(self, estimator, configurations):
        return [[number] for number in configurations]


class Undecided(OneByOne):
    prefer = "both"


class Heavy(OneByOne):
    def __init__(self):
        self.function = lambda: None


class Positions(OneByOne):
    def groups(self, estimator, configurations):
        return [list(range(len(configurations)))]


class Doubles(OneByOne):
    def groups(self, estimator, configurations):
        return [list(configurations), list(configurations)]


class Raises(OneByOne):
    def evaluate(self, task):
        for outcome in OneByOne().evaluate(task):
            if outcome.error is not None:
                raise outcome.error
            yield outcome


class Forgets(OneByOne):
    def evaluate(self, task):
        yield from list(OneByOne().evaluate(task))[1:]


class Writes(OneByOne):
    def evaluate(self, task):
        task.X_train[0, 0] += 1.0
        yield from OneByOne().evaluate(task)


class FitsTheTemplate(OneByOne):
    def evaluate(self, task):
        task.estimator.fit(task.X_train, task.y_train)
        yield from OneByOne().evaluate(task)


class Changed(OneByOne):
    """Changes each good outcome by a function."""

    def change(self, outcome):
        raise NotImplementedError

    def evaluate(self, task):
        for outcome in OneByOne().evaluate(task):
            yield outcome if outcome.error else self.change(outcome)


class Inexact(Changed):
    def change(self, outcome):
        return replace(outcome, prediction=outcome.prediction + 1e-3)


class Single(Changed):
    def change(self, outcome):
        return replace(outcome, prediction=outcome.prediction.astype(np.float32))


class Column(Changed):
    def change(self, outcome):
        return replace(outcome, prediction=outcome.prediction[:, None])


class Fails(Changed):
    def change(self, outcome):
        return Outcome(outcome.configuration, error=KeyError("lost"))


class BackInTime(Changed):
    def change(self, outcome):
        return replace(outcome, fit_seconds=-1.0)


class Flips(Changed):
    def change(self, outcome):
        return replace(outcome, prediction=outcome.prediction[::-1])


class Relabels(Changed):
    def change(self, outcome):
        return replace(outcome, classes=outcome.classes[::-1])


@pytest.mark.parametrize(
    ("evaluator", "sentence"),
    [
        (Nameless, "Nameless has no evaluate. An evaluator needs"),
        (Undecided, "Undecided.prefer is 'both'"),
        (Heavy, "Heavy cannot be pickled"),
        (Positions, "returned [[0, 1, 2]] for configurations with the numbers [5, 8"),
        (Doubles, "Each number must be in exactly one group"),
        (Raises, "Raises.evaluate raised InvalidParameterError"),
        (
            Forgets,
            "yielded outcomes for [], but the configurations of its task are [5]",
        ),
        (Writes, "Writes has changed X_train of the task"),
        (FitsTheTemplate, "FitsTheTemplate has changed the estimator of the task"),
        (Inexact, "configuration 0, {'alpha': 1.0}: the prediction differs from that "),
        (Inexact, "by up to 0.001; rtol=1e-09 and atol=1e-09 are allowed"),
        (Single, "is of shape (10,) and type float32, that of a fit on its own of"),
        (Column, "is of shape (10, 1)"),
        (Fails, "the error is KeyError('lost'), that of a fit on its own is None"),
        (BackInTime, "fit_seconds and score_seconds are (-1.0"),
    ],
)
def test_a_broken_rule_is_named(evaluator, sentence):
    """The message holds what was found, the rule and the way out."""
    task = replace(TASK, X_train=X[:20].copy(), estimator=Ridge())
    with pytest.raises(InvalidInputError, match=re.escape(sentence)):
        check_evaluator(evaluator(), task)


@pytest.mark.parametrize(
    ("evaluator", "response", "sentence"),
    [
        (Flips, "predict", "the prediction differs from that of a fit on its own in"),
        (
            Relabels,
            "predict_proba",
            "classes differs from that of a fit on its own in 2",
        ),
    ],
)
def test_labels_are_compared_exactly(evaluator, response, sentence):
    """Whatever the tolerance."""
    labels = np.where(X[:, 0] > 0, "a", "b")
    task = Task(LogisticRegression(), {0: {}}, X[:20], labels[:20], X[20:])
    task = replace(task, response=response)
    with pytest.raises(InvalidInputError, match=sentence):
        check_evaluator(evaluator(), task, rtol=10.0, atol=10.0)


class WritesIntoFrames(OneByOne):
    def evaluate(self, task):
        task.X_train.iloc[0, 1] = task.X_train.iloc[1, 1]
        yield from OneByOne().evaluate(task)


@pytest.mark.parametrize("dtype", [float, "Float64", object])
def test_frames_are_watched_too(dtype):
    """Values count, not how a frame happens to be stored."""
    frame = pd.DataFrame(X, columns=["a", "b"]).astype(dtype)
    task = replace(TASK, X_train=frame[:20].copy(), X_test=frame[20:])
    check_evaluator(batch_evaluator_for(Ridge()), task)
    with pytest.raises(InvalidInputError, match="has changed X_train"):
        check_evaluator(WritesIntoFrames(), task)


class WritesIntoData(OneByOne):
    def evaluate(self, task):
        task.X_train.data[0] += 1.0
        yield from OneByOne().evaluate(task)


def test_sparse_rows_are_watched_too():
    """Their values lie in an array of their own."""
    task = replace(TASK, X_train=sparse.csr_array(X[:20]), X_test=sparse.csr_array(X))
    check_evaluator(batch_evaluator_for(Ridge()), task)
    with pytest.raises(InvalidInputError, match="has changed X_train"):
        check_evaluator(WritesIntoData(), task)


class Rounded(Changed):
    """Rounds as sums do whose terms are a million times as large as the result."""

    def change(self, outcome):
        return replace(outcome, prediction=outcome.prediction + np.eye(3)[1] * 1e-3)


@pytest.mark.parametrize("largest", [1.0, 1e7])
def test_tolerance_is_relative_to_the_largest_number(largest):
    """0.001 beside 10,000,000 is rounding, beside 1 it is another result."""
    rows = np.array([[largest], [0.0], [0.5]])
    grid = {0: {"alpha": 1.0}}
    task = Task(Ridge(), grid, np.arange(9.0)[:, None], np.arange(9.0), rows)
    if largest > 1:
        check_evaluator(Rounded(), task)
    else:
        with pytest.raises(InvalidInputError, match=r"by up to 0\.001"):
            check_evaluator(Rounded(), task)


def test_a_good_evaluator_passes():
    """One fit at a time, within a tolerance, and with rounds to keep to."""
    check_evaluator(OneByOne(), TASK)
    check_evaluator(Inexact(), TASK, atol=0.01)
    boosting = GradientBoostingRegressor(random_state=0)
    grid = {0: {"n_estimators": 3}, 1: {"n_estimators": 9}}
    task = replace(TASK, estimator=boosting, configurations=grid, rounds=4)
    check_evaluator(batch_evaluator_for(boosting), task, rtol=0, atol=0)


class Sums(OneByOne):
    """Adds up all members of a group first, so that rounding depends on who is there.

    By a tenth of what a tolerance allows.
    """

    promised = False

    def groups(self, estimator, configurations):
        return [list(configurations)]

    def evaluate(self, task):
        noise = 1e-10 * len(task.configurations)
        for outcome in OneByOne().evaluate(task):
            yield (
                outcome
                if outcome.error
                else replace(outcome, prediction=outcome.prediction + noise)
            )

    def are_independent(self, estimator, response):
        return self.promised and response == "predict"


class Promises(Sums):
    promised = True


class Cuts(Sums):
    def divides(self, estimator, response):
        return True


@pytest.mark.parametrize(
    ("evaluator", "name"), [(Promises(), "are_independent"), (Cuts(), "divides")]
)
def test_a_promise_to_the_last_bit_is_tried(evaluator, name):
    """In groups of three or more: one that is left alone may be fitted alone."""
    check_evaluator(Sums(), TASK)
    check_evaluator(evaluator, TASK.only([0, 2]))
    with pytest.raises(InvalidInputError, match=f"promises by {name} .* without"):
        check_evaluator(evaluator, TASK)


@pytest.mark.parametrize("response", ["predict", "predict_proba"])
def test_promises_that_are_kept_pass(response):
    """Trees of a forest: the sum of the first ones is the same."""
    forest = RandomForestClassifier(random_state=0)
    grid = {n: {"n_estimators": size} for n, size in enumerate([3, 7, 20])}
    task = Task(forest, grid, X[:20], X[:20, 0] > 0, X[20:], response=response)
    evaluator = batch_evaluator_for(forest)
    assert evaluator.are_independent(forest, response)
    check_evaluator(evaluator, task)
    several = np.column_stack([X[:20, 0] > 0, np.arange(20) % 3])
    check_evaluator(evaluator, replace(task, y_train=several))
