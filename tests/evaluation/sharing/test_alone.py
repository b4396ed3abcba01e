"""Whatever is not shared says so in the log, with the reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from cvst.evaluation import OneByOne, Task, batch_evaluator_for
from cvst.evaluation._telling import Told
from cvst.evaluation.ensembles import _boosting
from cvst.learners import KernelLogisticRegression

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3))
Y = X[:, 0] + RNG.normal(size=50)


def task_of(estimator, configurations, **changes):
    labels = isinstance(estimator, KernelLogisticRegression)
    y = (Y > 0).astype(int) if labels else Y
    task = Task(estimator, dict(enumerate(configurations)), X[:40], y[:40], X[40:])
    return replace(task, **changes)


def refuse(y):
    raise RuntimeError("not today")


CASES = [
    (
        RandomForestRegressor(),
        [{"n_estimators": 2}, {"n_estimators": 3}],
        "not the beginning of a large one",
    ),
    (
        GradientBoostingRegressor(random_state=0),
        [{"n_estimators": 2}, {"n_estimators": "many"}],
        "fewer than two have a valid n_estimators",
    ),
    (Ridge(solver="lsqr"), [{"alpha": 1.0}, {"alpha": 2.0}], "solver is not direct"),
    (Ridge(), [{"alpha": -1.0}, {"alpha": 2.0}], "fewer than two have valid"),
    (Lasso(positive=True), [{"alpha": 0.1}, {"alpha": "x"}], "fewer than two have"),
    (
        KNeighborsRegressor(),
        [{"n_neighbors": 2}, {"n_neighbors": -1}],
        "fewer than two have valid n_neighbors",
    ),
    (KernelRidge(kernel="cosine"), [{"alpha": 1.0}], "kernel or another parameter"),
    (SVR(kernel="poly", coef0=1.0), [{"C": 1.0}], "kernel or another parameter"),
    (KernelRidge(kernel="rbf"), [{"alpha": 1e-300}], "rounding errors"),
    (
        KernelLogisticRegression(tol=0.1),
        [{"alpha": 1.0}],
        "kernel or another parameter",
    ),
    (make_pipeline(StandardScaler(copy=False), Ridge()), [{}], "only the whole"),
    (
        TransformedTargetRegressor(Ridge(), func=refuse, inverse_func=refuse),
        [{}],
        "sharing failed with RuntimeError: not today",
    ),
]


@pytest.mark.parametrize(("estimator", "grid", "reason"), CASES)
def test_a_fit_on_its_own_is_logged(estimator, grid, reason, caplog):
    """One line, with the class, the number of configurations and the reason."""
    caplog.set_level("INFO", "cvst")
    task = task_of(estimator, grid)
    outcomes = list(batch_evaluator_for(estimator).evaluate(task))
    assert len(outcomes) == len(grid)
    messages = [record.getMessage() for record in caplog.records]
    (message,) = (text for text in messages if reason in text)
    assert message.startswith(f"{type(estimator).__name__}: {len(grid)} configuration")


@pytest.mark.parametrize(
    ("estimator", "changes"),
    [
        (KernelRidge(kernel="rbf"), {"X_train": X[:40].astype(np.float32)}),
        (SVR(), {"y_train": Y[:40].astype(object)}),
        (KernelLogisticRegression(kernel="rbf"), {"response": "score"}),
    ],
    ids=str,
)
def test_rows_that_are_not_plain_are_logged(estimator, changes, caplog):
    """For kernel machines, whatever is not a table of finite numbers."""
    caplog.set_level("INFO", "cvst")
    list(batch_evaluator_for(estimator).evaluate(task_of(estimator, [{}], **changes)))
    assert "not plain finite numbers" in caplog.text


@pytest.mark.parametrize(
    ("error", "level"), [(ValueError, "INFO"), (ZeroDivisionError, "WARNING")]
)
def test_an_error_while_sharing_is_not_swallowed(monkeypatch, caplog, error, level):
    """Bad input is told at INFO, whatever looks like a mistake of ours at WARNING."""

    def broken(*args):
        raise error("first line\nsecond line")

    monkeypatch.setattr(_boosting.BoostingStages, "predictions", broken)
    caplog.set_level("INFO", "cvst")
    estimator = GradientBoostingRegressor(random_state=0)
    task = task_of(estimator, [{"n_estimators": 2}, {"n_estimators": 3}])
    outcomes = list(batch_evaluator_for(estimator).evaluate(task))
    expected = list(OneByOne().evaluate(task))
    for one, other in zip(outcomes, expected, strict=True):
        np.testing.assert_array_equal(one.prediction, other.prediction)
    (record,) = caplog.records
    assert record.levelname == level
    assert record.getMessage().endswith(f"with {error.__name__}: first line")


def test_a_race_is_told_once(caplog):
    """Each look falls back for the same reason; another reason is told again."""
    caplog.set_level("INFO", "cvst")
    told = Told()
    for estimator in (Ridge(solver="lsqr"), Ridge(solver="lsqr"), Ridge()):
        task = task_of(estimator, [{"alpha": -1.0}, {"alpha": 2.0}])
        if estimator.solver == "lsqr":
            task = replace(task, configurations={0: {"alpha": 1.0}, 1: {"alpha": 2.0}})
        with told.listening():
            assert len(list(batch_evaluator_for(estimator).evaluate(task))) == 2
    assert len(caplog.records) == 2


def test_what_is_shared_is_silent(caplog):
    """So that a line in the log means something; one configuration shares nothing."""
    caplog.set_level("INFO", "cvst")
    pipeline = Pipeline([("scale", FunctionTransformer()), ("final", Ridge())])
    for estimator, grid in (
        (Ridge(), [{"alpha": 1.0}, {"alpha": 2.0}]),
        (Ridge(solver="lsqr"), [{"alpha": 1.0}]),
        (pipeline, [{"final__alpha": 1.0}, {"final__alpha": 2.0}]),
        (DecisionTreeRegressor(), [{}, {"max_depth": 2}]),
    ):
        task = task_of(estimator, grid)
        assert len(list(batch_evaluator_for(estimator).evaluate(task))) == len(grid)
    assert not caplog.records
