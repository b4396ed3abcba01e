from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from cvst.evaluation import BatchEvaluator, OneByOne, Task
from cvst.evaluation.machinery import configured

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
LABELS = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
TRAIN, TEST = slice(0, 40), slice(40, 60)


def fitted_attributes(estimator):
    return [name for name in vars(estimator) if name.endswith("_")]


@pytest.mark.parametrize("response", ["predict", "predict_proba", "decision_function"])
def test_an_outcome_is_what_the_fitted_clone_says(response):
    """Written out by hand: clone with the parameters, fit, ask."""
    grid = [{"C": 0.01}, {"C": 1.0, "fit_intercept": False}, {}]
    estimator = LogisticRegression(C=5.0)
    task = Task(
        estimator,
        dict(enumerate(grid)),
        X[TRAIN],
        LABELS[TRAIN],
        X[TEST],
        response=response,
    )
    for outcome in OneByOne().evaluate(task):
        params = {"C": 5.0, **grid[outcome.configuration]}
        model = LogisticRegression(**params).fit(X[TRAIN], LABELS[TRAIN])
        expected = getattr(model, response)(X[TEST])
        np.testing.assert_array_equal(outcome.prediction, expected)
        np.testing.assert_array_equal(outcome.classes, ["no", "yes"])
        assert outcome.error is None
        assert min(outcome.fit_seconds, outcome.score_seconds) > 0


def test_weights_reach_the_fit():
    """Arguments of fit are passed on as they are."""
    weights = RNG.uniform(size=40)
    fit_params = {"sample_weight": weights}
    task = Task(Ridge(), {0: {}}, X[TRAIN], X[TRAIN, 0], X[TEST], fit_params=fit_params)
    (outcome,) = OneByOne().evaluate(task)
    expected = Ridge().fit(X[TRAIN], X[TRAIN, 0], sample_weight=weights)
    np.testing.assert_array_equal(outcome.prediction, expected.predict(X[TEST]))
    assert outcome.classes is None


def test_without_targets():
    """Densities and clusters have none."""
    estimator = GaussianMixture(2, random_state=0)
    task = Task(estimator, {0: {}}, X[TRAIN], None, X[TEST], response="score_samples")
    (outcome,) = OneByOne().evaluate(task)
    expected = GaussianMixture(2, random_state=0).fit(X[TRAIN]).score_samples(X[TEST])
    np.testing.assert_array_equal(outcome.prediction, expected)


def test_no_two_share_a_fit():
    """Every configuration is a group of its own."""
    assert OneByOne().groups(Ridge(), dict(enumerate([{}, {}, {}]))) == [[0], [1], [2]]


def test_a_failure_is_an_outcome_and_does_not_end_the_others():
    """Fits fail, predictions fail, parameters fail; the rest goes on."""
    grid = [{"C": -1.0}, {"C": 1.0}, {"nonsense": 1}]
    task = Task(SVC(), dict(enumerate(grid)), X[TRAIN], LABELS[TRAIN], X[TEST])
    errors = [type(outcome.error).__mro__ for outcome in OneByOne().evaluate(task)]
    assert ValueError in errors[0]
    assert errors[1][0] is type(None)
    assert ValueError in errors[2]
    task = Task(SVC(), {0: {}}, X[TRAIN], LABELS[TRAIN], X[TEST, :2])
    (outcome,) = OneByOne().evaluate(task)
    assert isinstance(outcome.error, ValueError)
    assert outcome.prediction is None


def test_an_interrupt_is_not_a_failure():
    """Ctrl-C ends the race, not the configuration."""

    class Interrupted(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            raise KeyboardInterrupt

    task = Task(Interrupted(), {0: {}}, X[TRAIN], LABELS[TRAIN], X[TEST])
    with pytest.raises(KeyboardInterrupt):
        list(OneByOne().evaluate(task))


def test_neither_the_template_nor_the_grid_learns_anything():
    """All that is fitted is a clone, estimators among the values included."""
    scaler, final = MinMaxScaler(), LogisticRegression()
    template = make_pipeline(StandardScaler(), SVC())
    grid = [{"standardscaler": scaler, "svc": final}, {"svc__C": 2.0}]
    task = Task(template, dict(enumerate(grid)), X[TRAIN], LABELS[TRAIN], X[TEST])
    assert all(outcome.error is None for outcome in OneByOne().evaluate(task))
    for estimator in (scaler, final, template, *dict(template.steps).values()):
        assert fitted_attributes(estimator) == []


def test_a_configured_clone_follows_the_names():
    """Replaced steps first, then parameters of what replaced them."""
    template = Pipeline([("scale", StandardScaler()), ("final", SVC())])
    configuration = {"final__C": 3.0, "final": LogisticRegression(), "scale": None}
    model = configured(template, configuration)
    assert isinstance(model.named_steps["final"], LogisticRegression)
    assert model.named_steps["final"].C == 3.0
    assert model.named_steps["scale"] is None
    assert isinstance(template.named_steps["final"], SVC)
    assert configuration["final"].C == 1.0


def test_it_is_an_evaluator_that_can_travel():
    """It fulfils the protocol and can be pickled."""
    assert isinstance(OneByOne(), BatchEvaluator)
    assert isinstance(pickle.loads(pickle.dumps(OneByOne())), OneByOne)


class Writer(ClassifierMixin, BaseEstimator):
    """Writes into all that it gets, and says what it found there."""

    def __init__(self, step=1.0):
        self.step = step

    def fit(self, X, y, marks=None):
        """Add up, and leave nothing as it was."""
        self.classes_ = np.unique(y)
        self.total_ = float(np.sum(_values(X))) + float(np.sum(_values(marks)))
        self.n_ones_ = int(np.sum(np.asarray(y) == 1))
        for given in (X, y, marks):
            self._write(given)
        return self

    def predict(self, X):
        """Return one number for all that was seen."""
        found = self.total_ + float(np.sum(_values(X))) + 1000 * self.n_ones_
        self._write(X)
        return np.full(len(_values(X)), found)

    def _write(self, given):
        if sparse.issparse(given):
            given.data += self.step
        elif hasattr(given, "iloc"):
            given.iloc[:] = 0
        elif isinstance(given, list):
            given[0] = given[1]
        else:
            given += 1


def _values(given):
    return given.toarray() if sparse.issparse(given) else np.asarray(given)


@pytest.mark.parametrize(
    "container", [np.array, sparse.csr_matrix, pd.DataFrame, lambda rows: rows.tolist()]
)
def test_none_sees_what_others_write(container):
    """Rows, targets and arguments of fit, in any container."""
    rows = RNG.integers(1, 9, size=(60, 3)).astype(float)
    labels = (rows[:, 0] > 4).astype(int)
    given = container(rows[TRAIN]), container(rows[TEST])
    marks = pd.Series(rows[TRAIN, 1])
    task = Task(
        Writer(),
        dict(enumerate([{"step": step} for step in (1.0, 2.0, 3.0)])),
        given[0],
        labels[TRAIN].copy(),
        given[1],
        fit_params={"marks": marks},
    )
    outcomes = list(OneByOne().evaluate(task))
    expected = rows.sum() + rows[TRAIN, 1].sum() + 1000 * labels[TRAIN].sum()
    for outcome in outcomes:
        assert outcome.error is None
        np.testing.assert_array_equal(outcome.prediction, expected)
    np.testing.assert_array_equal(_values(given[0]), rows[TRAIN])
    np.testing.assert_array_equal(task.y_train, labels[TRAIN])
