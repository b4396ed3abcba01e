from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostRegressor,
    HistGradientBoostingClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Perceptron, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from cvst.evaluation import BatchEvaluator, OneByOne, Outcome, Task, batch_evaluator_for
from cvst.evaluation._dispatch import serve_exactly
from cvst.evaluation.machinery import covered_by_one_fit

# Classes of users, which other tests may have registered, do not concern us.
OURS = ("sklearn.", "lightgbm.", "xgboost.", "cvst.")
SERVED = sorted(
    (
        estimator_class
        for estimator_class in batch_evaluator_for.registry
        if estimator_class.__module__.startswith(OURS)
    ),
    key=lambda estimator_class: estimator_class.__name__,
)


def made(estimator_class):
    if issubclass(estimator_class, Pipeline):
        return estimator_class([("final", SVC())])
    return estimator_class()


class Mine(OneByOne):
    """An evaluator of a user's own."""


@pytest.mark.parametrize("estimator_class", SERVED, ids=lambda c: c.__name__)
def test_the_library_serves_the_very_class(estimator_class):
    """A subclass may fit differently, and is fitted one by one."""
    subclass = type("Changed", (estimator_class,), {})
    assert type(batch_evaluator_for(made(estimator_class))) is not OneByOne
    assert type(batch_evaluator_for(made(subclass))) is OneByOne


@pytest.mark.parametrize("estimator_class", SERVED, ids=lambda c: c.__name__)
def test_evaluators_fulfil_the_protocol_and_can_travel(estimator_class):
    """They hold no state that a worker process would miss."""
    evaluator = batch_evaluator_for(made(estimator_class))
    assert isinstance(evaluator, BatchEvaluator)
    copy = pickle.loads(pickle.dumps(evaluator))
    assert type(copy) is type(evaluator)
    assert copy.prefer == evaluator.prefer
    assert evaluator.prefer in ("threads", "processes")


def test_anything_else_is_fitted_one_by_one():
    """Estimators without an evaluator, and things that are not estimators."""
    for anything in (GaussianNB(), Perceptron(), "passthrough", None, object()):
        assert type(batch_evaluator_for(anything)) is OneByOne


def test_a_registered_evaluator_serves_a_class_and_its_subclasses():
    """Unless a subclass has its own."""

    class Parent(Ridge):
        pass

    class Child(Parent):
        pass

    class OwnChild(Parent):
        pass

    class Other(OneByOne):
        pass

    @batch_evaluator_for.register(Parent)
    def _(estimator):
        return Mine()

    batch_evaluator_for.register(OwnChild, lambda estimator: Other())

    assert type(batch_evaluator_for(Parent())) is Mine
    assert type(batch_evaluator_for(Child())) is Mine
    assert type(batch_evaluator_for(OwnChild())) is Other
    assert type(batch_evaluator_for(Ridge())) is not Mine


def test_a_subclass_of_a_served_class_can_be_registered():
    """The user knows what the subclass does."""

    class Machine(SVC):
        pass

    assert type(batch_evaluator_for(Machine())) is OneByOne
    batch_evaluator_for.register(Machine, lambda estimator: Mine())
    assert type(batch_evaluator_for(Machine())) is Mine


def test_the_choice_may_depend_on_the_parameters():
    """A registered function sees the estimator, not only its class."""

    class Machine(SVC):
        pass

    @batch_evaluator_for.register(Machine)
    def _(estimator):
        return Mine() if estimator.kernel == "rbf" else OneByOne()

    assert type(batch_evaluator_for(Machine())) is Mine
    assert type(batch_evaluator_for(Machine(kernel="linear"))) is OneByOne


def test_serving_exactly_several_classes():
    """One evaluator for a family, none for classes derived from it."""

    class First(Ridge):
        pass

    class Second(Ridge):
        pass

    class Derived(First):
        pass

    serve_exactly(Mine(), First, Second)
    assert type(batch_evaluator_for(First())) is Mine
    assert type(batch_evaluator_for(Second())) is Mine
    assert type(batch_evaluator_for(Derived())) is OneByOne


def test_a_registered_evaluator_is_used_inside_a_pipeline():
    """Behind transformers the same rules hold; values, not names, decide."""

    class Constant(Ridge):
        pass

    class Knowing(OneByOne):
        def evaluate(self, task):
            for number, configuration in task.configurations.items():
                value = configuration.get("alpha", task.estimator.alpha)
                yield Outcome(number, np.full(len(task.X_test), value))

    batch_evaluator_for.register(Constant, lambda estimator: Knowing())
    pipeline = make_pipeline(StandardScaler(), Constant(alpha=7.0))
    X = np.arange(20.0).reshape(10, 2)
    grid = [{"constant__alpha": 3.0}, {}]
    task = Task(pipeline, dict(enumerate(grid)), X[:8], X[:8, 0], X[8:])
    outcomes = sorted(
        batch_evaluator_for(pipeline).evaluate(task), key=lambda o: o.configuration
    )
    np.testing.assert_array_equal(outcomes[0].prediction, [3.0, 3.0])
    np.testing.assert_array_equal(outcomes[1].prediction, [7.0, 7.0])


class Doubtful:
    """An evaluator that knows nothing of the protocol's newer methods."""

    prefer = "threads"

    def groups(self, estimator, configurations):
        return [list(configurations)]

    def evaluate(self, task):
        yield from OneByOne().evaluate(task)


class Frank(Doubtful):
    """An evaluator that says what one fit covers."""

    def covered_by_one_fit(self, estimator):
        return {"alpha": "all"}


@pytest.mark.parametrize(
    ("estimator", "covered"),
    [
        (RandomForestRegressor(random_state=0), {"n_estimators": "smaller"}),
        (RandomForestRegressor(), {}),
        (HistGradientBoostingClassifier(random_state=0), {"max_iter": "smaller"}),
        (KNeighborsClassifier(), {"n_neighbors": "all", "weights": "all"}),
        (Ridge(), {}),
        (SVC(), {}),
        (
            TransformedTargetRegressor(AdaBoostRegressor(random_state=0)),
            {"regressor__n_estimators": "smaller"},
        ),
        (TransformedTargetRegressor(), {}),
        (
            make_pipeline(
                StandardScaler(), TransformedTargetRegressor(KNeighborsRegressor())
            ),
            {
                "transformedtargetregressor__regressor__n_neighbors": "all",
                "transformedtargetregressor__regressor__weights": "all",
            },
        ),
        (Pipeline([("scale", StandardScaler()), ("end", "passthrough")]), {}),
        (Pipeline([]), {}),
    ],
    ids=str,
)
def test_an_evaluator_says_what_one_fit_covers(estimator, covered):
    """Sizes of ensembles and neighbours, behind pipelines and transformed targets."""
    assert covered_by_one_fit(estimator) == covered


def test_an_evaluator_without_that_method_covers_nothing():
    """Three names make an evaluator; the fourth has a default."""

    class First(Ridge):
        pass

    class Second(Ridge):
        pass

    batch_evaluator_for.register(First, lambda estimator: Doubtful())
    batch_evaluator_for.register(Second, lambda estimator: Frank())
    assert covered_by_one_fit(First()) == {}
    assert covered_by_one_fit(Second()) == {"alpha": "all"}
    assert covered_by_one_fit(make_pipeline(Second())) == {"second__alpha": "all"}
