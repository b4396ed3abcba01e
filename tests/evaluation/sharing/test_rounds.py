"""A look may allow fewer rounds than a configuration asks for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import SGDRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from cvst.evaluation import (
    OneByOne,
    Task,
    batch_evaluator_for,
    resolve_loss,
    resolve_rescaling,
)
from cvst.evaluation.machinery import DataSource, RaceData
from cvst.race import Look

RNG = np.random.default_rng(0)
X = RNG.normal(size=(70, 4))
Y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * RNG.normal(size=70)

MODELS = [
    (AdaBoostClassifier(random_state=0), "n_estimators"),
    (AdaBoostRegressor(random_state=0), "n_estimators"),
    (BaggingRegressor(random_state=0), "n_estimators"),
    (ExtraTreesClassifier(random_state=0), "n_estimators"),
    (GradientBoostingClassifier(random_state=0), "n_estimators"),
    (GradientBoostingRegressor(random_state=0), "n_estimators"),
    (HistGradientBoostingClassifier(random_state=0), "max_iter"),
    (HistGradientBoostingRegressor(random_state=0), "max_iter"),
    (RandomForestRegressor(random_state=0), "n_estimators"),
    (
        make_pipeline(StandardScaler(), GradientBoostingRegressor(random_state=0)),
        "gradientboostingregressor__n_estimators",
    ),
    # The evaluator fits these pipelines one by one: one for each configuration.
    (
        make_pipeline(
            StandardScaler(copy=False), GradientBoostingRegressor(random_state=0)
        ),
        "gradientboostingregressor__n_estimators",
    ),
    (
        TransformedTargetRegressor(
            make_pipeline(StandardScaler(), AdaBoostRegressor(random_state=0))
        ),
        "regressor__adaboostregressor__n_estimators",
    ),
]


def task_of(estimator, configurations, **options):
    base = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    y = Y
    if hasattr(base, "fit") and is_classifier(base):
        y, options["response"] = Y > 0, "predict_proba"
    return Task(estimator, configurations, X[:50], y[:50], X[50:], **options)


def predictions(evaluator, task):
    found = {}
    for group in evaluator.groups(task.estimator, task.configurations):
        for outcome in evaluator.evaluate(task.only(group)):
            assert outcome.error is None, outcome.error
            found[outcome.configuration] = outcome.prediction
    return found


def assert_limited(estimator, name, rounds, rtol=0.0):
    sizes = {4: 2, 7: 5, 9: 12}
    task = task_of(estimator, {i: {name: size} for i, size in sizes.items()})
    fewer = {i: {name: min(size, rounds)} for i, size in sizes.items()}
    expected = predictions(OneByOne(), replace(task, configurations=fewer))
    evaluator = batch_evaluator_for(estimator)
    actual = predictions(evaluator, replace(task, rounds=rounds))
    assert sorted(actual) == sorted(expected)
    for number, prediction in expected.items():
        np.testing.assert_allclose(actual[number], prediction, rtol=rtol, atol=rtol)
    return actual


@pytest.mark.parametrize("rounds", [1, 5, 20])
@pytest.mark.parametrize(("estimator", "name"), MODELS, ids=str)
def test_rounds_are_the_most_that_are_trained(estimator, name, rounds):
    """The witness is a clone with the smaller of both sizes."""
    found = assert_limited(estimator, name, rounds)
    assert np.array_equal(found[7], found[9]) == (rounds <= 5)


@pytest.mark.parametrize(
    ("library", "name"), [("lightgbm", "LGBMRegressor"), ("xgboost", "XGBRegressor")]
)
def test_rounds_limit_the_boosting_libraries(library, name):
    """The same for estimators that are served by name; None stands for 100 rounds."""
    module = pytest.importorskip(library)
    quiet = {"verbose": -1} if library == "lightgbm" else {}
    estimator = getattr(module, name)(n_jobs=1, random_state=0, **quiet)
    assert_limited(estimator, "n_estimators", 3, rtol=1e-9)
    task = task_of(estimator, {0: {}, 1: {"n_estimators": 3}}, rounds=3)
    found = predictions(batch_evaluator_for(estimator), task)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


def test_the_size_of_the_template_is_limited_too():
    """A configuration that says nothing of the size has the template's."""
    estimator = GradientBoostingRegressor(n_estimators=30, random_state=0)
    task = task_of(estimator, {0: {"max_depth": 1}, 1: {"max_depth": 2}}, rounds=4)
    found = predictions(batch_evaluator_for(estimator), task)
    for number, depth in ((0, 1), (1, 2)):
        model = GradientBoostingRegressor(
            n_estimators=4, max_depth=depth, random_state=0
        ).fit(X[:50], Y[:50])
        np.testing.assert_array_equal(found[number], model.predict(X[50:]))


def test_a_random_step_does_not_hide_the_limit():
    """Steps that each configuration fits for itself, and estimators set by the grid."""
    final = GradientBoostingRegressor(n_estimators=30, random_state=0)
    pipeline = Pipeline([("svd", TruncatedSVD(3)), ("final", "passthrough")])
    counted = []

    class Counting(GradientBoostingRegressor):
        def fit(self, X, y):
            counted.append(self.n_estimators)
            return super().fit(X, y)

    batch_evaluator_for.register(Counting, lambda _: batch_evaluator_for(final))
    model = Counting(n_estimators=30, random_state=0)
    task = task_of(pipeline, {0: {"final": model}}, rounds=4)
    predictions(batch_evaluator_for(pipeline), task)
    assert counted == [4]


def test_learners_without_rounds_do_not_notice():
    """Their number of passes is another thing."""
    task = task_of(SGDRegressor(random_state=0), {0: {}}, rounds=1)
    evaluator = batch_evaluator_for(task.estimator)
    actual, expected = (
        predictions(evaluator, one)[0] for one in (task, replace(task, rounds=None))
    )
    np.testing.assert_array_equal(actual, expected)


def test_what_is_no_size_fails_as_ever():
    """A limit hides no mistake."""
    task = task_of(GradientBoostingRegressor(random_state=0), {0: {}}, rounds=4)
    task = replace(task, configurations={0: {"n_estimators": -3}})
    (outcome,) = batch_evaluator_for(task.estimator).evaluate(task)
    assert "-3" in str(outcome.error)


def test_a_look_has_rounds():
    """What the look says reaches the fits."""
    estimator = GradientBoostingRegressor(random_state=0)
    grid = [{"n_estimators": size} for size in (3, 30)]
    source = DataSource(
        estimator=estimator,
        configurations=grid,
        data=RaceData(X=X, y=Y, n_samples=70),
        loss=resolve_loss("neg_mean_squared_error", estimator, Y),
        rescaling=resolve_rescaling(None, estimator, grid, False),
        evaluator=batch_evaluator_for(estimator),
    )
    look = Look(slice(0, 50), slice(50, 70), 50, np.arange(2))
    few, many = source.observe(look).losses
    assert not np.array_equal(few, many)
    limited = source.observe(replace(look, rounds=3)).losses
    np.testing.assert_array_equal(limited, [few, few])
