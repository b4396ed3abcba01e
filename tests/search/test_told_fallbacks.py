"""A race says once why configurations are fitted one by one, wherever that is."""

from __future__ import annotations

import importlib
import inspect
import re

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from cvst import RaceGridSearchCV
from cvst.evaluation import _dispatch, _stand_ins, batch_evaluator_for

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = (X[:, 0] + RNG.normal(size=90) > 0).astype(int)

ALPHAS = {"alpha": [0.1, 1.0]}


class SteeperRidge(Ridge):
    """May fit differently, for all the library knows."""


class OwnPipeline(Pipeline):
    """May walk through its steps in another way."""


def lines_of(caplog, search):
    """Return what a race says of fits one by one."""
    with caplog.at_level("DEBUG", "cvst"):
        search.fit(X, Y)
    lines = [record.getMessage() for record in caplog.records]
    return [line for line in lines if "one by one" in line or "by itself" in line]


def race_of(estimator, grid, **options):
    return RaceGridSearchCV(estimator, grid, random_state=0, **options)


def asks_for_coefficients(estimator, X, y):
    return float(estimator.coef_.max())


def asks_for_other_rows(estimator, X, y):
    return -float(np.mean((estimator.predict(X[:-1]) - y[:-1]) ** 2))


def asks_as_usual(estimator, X, y):
    return -float(np.mean((estimator.predict(X) - y) ** 2))


def asks_for_nothing(estimator, X, y):
    return 0.0


NO_CERTAIN_SEED = make_pipeline(SelectKBest(mutual_info_classif, k=2), SVC())

CASES = {
    "subclass": (
        race_of(SteeperRidge(), ALPHAS),
        "SteeperRidge",
        "it is a subclass of Ridge",
    ),
    "subclass of a pipeline": (
        race_of(OwnPipeline([("final", Ridge())]), {"final__alpha": [0.1, 1.0]}),
        "OwnPipeline",
        "it is a subclass of Pipeline",
    ),
    "subclass in a pipeline": (
        race_of(
            make_pipeline(StandardScaler(), SteeperRidge()),
            {"steeperridge__alpha": [0.1, 1.0]},
        ),
        "SteeperRidge",
        "it is a subclass of Ridge",
    ),
    "subclass behind targets": (
        race_of(
            TransformedTargetRegressor(SteeperRidge()), {"regressor__alpha": [0.1, 1.0]}
        ),
        "SteeperRidge",
        "it is a subclass of Ridge",
    ),
    "no evaluator": (
        race_of(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}),
        "GaussianNB",
        "no evaluator shares",
    ),
    "random step": (
        race_of(NO_CERTAIN_SEED, {"svc__C": [0.1, 1.0]}),
        "SVC",
        "SelectKBest draws random numbers",
    ),
    "plain scores": (
        race_of(LogisticRegression(), {"C": [0.1, 1.0]}, strategy="cross_validation"),
        "LogisticRegression",
        "the strategy wants the scores of plain fits",
    ),
    "a model and predictions": (
        race_of(
            Ridge(),
            ALPHAS,
            scoring={"r2": "r2", "own": asks_for_coefficients},
            refit="r2",
        ),
        "Ridge",
        "a score asks for the model",
    ),
    "coefficients": (
        race_of(Ridge(), ALPHAS, scoring=asks_for_coefficients),
        "Ridge",
        "the scorer asks for coef_",
    ),
    "other rows": (
        race_of(Ridge(), ALPHAS, scoring=asks_for_other_rows),
        "Ridge",
        "the scorer asks for predict of rows",
    ),
    "nothing": (
        race_of(Ridge(), ALPHAS, scoring=asks_for_nothing),
        "Ridge",
        "the scorer asks the model for no",
    ),
    "an iterative solver": (
        race_of(Ridge(), {"alpha": [0.1, 1.0], "solver": ["lsqr"]}),
        "Ridge",
        "the solver is not direct",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_race_says_once_why_nothing_is_shared(case, caplog):
    """Over all looks, for each class and reason."""
    search, name, reason = CASES[case]
    (line,) = lines_of(caplog, search)
    assert re.match(
        rf"{name}: (2 )?configurations are fitted one by one: {reason}", line
    )
    assert search.n_looks_ > 1


def test_a_model_that_nothing_can_stand_for_is_told(caplog, monkeypatch):
    """As with classes that refuse to be derived from."""

    def refuse(kind):
        raise TypeError("no subclasses, please\nTraceback")

    monkeypatch.setattr(_stand_ins, "_class_for", refuse)
    (line,) = lines_of(caplog, race_of(Ridge(), ALPHAS, scoring=asks_as_usual))
    assert line == (
        "Ridge: configurations are fitted one by one: no model can stand in for a "
        "fitted one: TypeError: no subclasses, please"
    )


def test_what_workers_say_comes_back(caplog):
    """Forests without a seed in other processes, whose logs nobody reads."""
    forest = RandomForestClassifier(random_state=np.random.RandomState(0))
    # A limit on the time of fits has them done in processes of our own.
    search = race_of(
        make_pipeline(SelectKBest(mutual_info_classif, k=2), forest),
        {"randomforestclassifier__n_estimators": [2, 3]},
        fit_timeout=60,
        max_looks=2,
    )
    (line,) = lines_of(caplog, search)
    assert line.startswith(
        "RandomForestClassifier: configurations are fitted one by one: SelectKBest"
    )


def test_shared_work_is_not_told(caplog):
    """So that a line means something."""
    assert lines_of(caplog, race_of(Ridge(), ALPHAS, scoring=asks_as_usual)) == []


def served():
    """Return all classes that an evaluator of the library serves exactly."""
    kinds = {*_dispatch._EXACTLY}
    for module, name in _dispatch._BY_NAME:
        try:
            kinds.add(getattr(importlib.import_module(module), name))
        except ImportError:  # not installed here
            continue
    return sorted(kinds, key=lambda kind: (kind.__name__, kind.__module__))


@pytest.mark.parametrize("kind", served(), ids=lambda kind: kind.__name__)
def test_every_family_says_that_subclasses_are_not_served(kind):
    """Whoever derives from a class with an evaluator learns why it is not used."""
    needs = inspect.signature(kind).parameters
    given = {"steps": [("final", Ridge())]} if "steps" in needs else {}
    derived = type("Derived", (kind,), {"__init__": kind.__init__})

    assert type(batch_evaluator_for(kind(**given))) is not type(
        batch_evaluator_for(derived(**given))
    )
    reason = batch_evaluator_for(derived(**given)).reason
    assert reason == f"it is a subclass of {kind.__name__}, which may fit differently"
