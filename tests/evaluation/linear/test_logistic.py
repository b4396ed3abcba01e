"""A path through the penalties ends where fits that start at zero end."""

from __future__ import annotations

import logging
from functools import partial

import evaluator_tasks
import numpy as np
import pandas as pd
import pytest
from scipy import optimize, sparse
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cvst import RaceGridSearchCV, batch_evaluator_for
from cvst.evaluation import OneByOne
from cvst.evaluation.linear._logistic_path import LogisticLoss, logistic_path

N_TRAIN, N_TEST = 60, 25
NAMES = np.array(["left", "middle", "right"])
PENALTIES = [1.0, 0.1, 0.01, 1e-4]
GRID = [{"C": C} for C in (0.01, 100.0, 1.0, 0.1)]


def draw_rows(seed=0, n_classes=2, n_columns=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_TRAIN + N_TEST, n_columns)) + 1
    scores = X @ rng.normal(size=(n_columns, n_classes))
    labels = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    return X, labels, rng.random(N_TRAIN) + 0.1


def make_loss(n_classes, has_intercept, seed=0):
    X, labels, weights = draw_rows(seed, n_classes)
    rows = X[:N_TRAIN]
    if has_intercept:
        rows = np.column_stack([rows, np.ones(N_TRAIN)])
    n_outputs = 1 if n_classes == 2 else n_classes
    weights = weights / weights.sum()
    return LogisticLoss(rows, labels[:N_TRAIN], weights, n_outputs, has_intercept)


make_task = partial(
    evaluator_tasks.make_task, n_train=N_TRAIN, response="predict_proba"
)


KINDS = pytest.mark.parametrize(
    ("n_classes", "has_intercept"), [(2, True), (2, False), (3, True), (3, False)]
)


@KINDS
def test_derivatives_are_those_of_differences(n_classes, has_intercept):
    """Gradient and Hessian against central differences."""
    loss = make_loss(n_classes, has_intercept)
    point = np.random.default_rng(1).normal(size=loss.shape).ravel()
    steps = 1e-5 * np.eye(len(point))

    def value(at):
        return loss.value_and_gradient(at)[0]

    def gradient(at):
        return loss.value_and_gradient(at)[1]

    slopes = [(value(point + s) - value(point - s)) / 2e-5 for s in steps]
    bends = [(gradient(point + s) - gradient(point - s)) / 2e-5 for s in steps]
    hessian = loss.hessian(loss.value_and_gradient(point)[2])
    if n_classes > 2 and has_intercept:
        # Curvature along a constant of all intercepts is added, and stands for none.
        last = slice(loss.shape[1] - 1, None, loss.shape[1])
        hessian[last, last] -= 1.0

    np.testing.assert_allclose(gradient(point), slopes, atol=1e-8)
    np.testing.assert_allclose(hessian, bends, atol=1e-8)


@KINDS
def test_a_path_ends_in_the_minimum_of_each_penalty(n_classes, has_intercept):
    """Against scipy's minimiser; the gradient of the whole is as small as asked for."""
    loss = make_loss(n_classes, has_intercept)
    mask = loss.penalised().ravel()
    found = list(logistic_path(loss, PENALTIES, 1e-9, 100))

    for penalty, coefficients in zip(PENALTIES, found, strict=True):

        def whole(at, strength=penalty * mask):
            value, gradient, _ = loss.value_and_gradient(at)
            return value + 0.5 * strength @ at**2, gradient + strength * at

        start = np.zeros(loss.shape).ravel()
        plain = optimize.minimize(whole, start, jac=True, method="BFGS", tol=1e-9)
        at = coefficients.ravel()
        assert whole(at)[0] <= plain.fun + 1e-12
        assert np.abs(whole(at)[1]).max() <= 1e-9
        np.testing.assert_allclose(at, plain.x, rtol=1e-4, atol=1e-6)


def test_a_path_that_is_cut_short_says_so():
    """The first penalty needs more than one step."""
    loss = make_loss(2, True)

    assert next(logistic_path(loss, [1e-4], 1e-9, 1)) is None


def test_separable_rows_have_a_minimum_far_away():
    """Hardly any penalty, no errors: coefficients grow, probabilities saturate."""
    rows = np.array([[-2.0, 1.0], [-1.0, 1.0], [1.0, 1.0], [3.0, 1.0]])
    loss = LogisticLoss(rows, np.array([0, 0, 1, 1]), np.full(4, 0.25), 1, True)

    strong, weak = logistic_path(loss, [1.0, 1e-9], 1e-12, 100)

    assert 0 < strong[0, 0] < 1 < 5 < weak[0, 0]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"solver": "newton-cg"},
        {"solver": "newton-cholesky"},
        {"class_weight": "balanced"},
        {"class_weight": {0: 3.0}},
        {"fit_intercept": False},
        {"intercept_scaling": 7.0, "max_iter": 5_000, "warm_start": True},
    ],
)
def test_models_are_those_of_accurate_plain_fits(
    assert_same_as_one_by_one, n_classes, changes
):
    """With a small ``tol`` the plain fits come as close to the minimum."""
    X, y, _ = draw_rows(2, n_classes)
    estimator = LogisticRegression(**{"tol": 1e-8, "max_iter": 10_000, **changes})

    assert_same_as_one_by_one(make_task(estimator, GRID, X, y), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("response", ["predict", "predict_proba", "decision_function"])
def test_weights_names_and_frames(assert_same_as_one_by_one, response):
    """Rows with weights, classes with names, columns with names."""
    X, y, weights = draw_rows(3, 3)
    frame = pd.DataFrame(X, columns=list("abcd"))
    task = make_task(
        LogisticRegression(tol=1e-8, max_iter=10_000),
        GRID,
        frame,
        NAMES[y],
        response=response,
        fit_params={"sample_weight": weights},
    )

    assert_same_as_one_by_one(task, rtol=1e-3, atol=1e-3)


def test_the_objective_is_no_larger_than_that_of_a_plain_fit():
    """With the usual ``tol``, in the words of scikit-learn: C losses + penalty."""
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rows = np.column_stack([X, np.ones(len(X))])
    loss = LogisticLoss(rows, y, np.full(len(y), 1 / len(y)), 3, True)
    Cs = sorted(one["C"] for one in GRID)

    found = logistic_path(loss, [1 / (C * len(y)) for C in Cs], 1e-6, 100)

    for C, coefficients in zip(Cs, found, strict=True):
        plain = LogisticRegression(C=C).fit(X, y)
        chosen = plain.predict_proba(X)[np.arange(len(y)), y]
        reached = -C * np.log(chosen).sum() + 0.5 * np.sum(plain.coef_**2)
        value = loss.value_and_gradient(coefficients.ravel())[0]
        ours = C * len(y) * value + 0.5 * np.sum(coefficients[:, :-1] ** 2)
        assert ours <= reached + 1e-6


def test_others_in_the_group_matter_no_more_than_the_tolerance():
    X, y, _ = draw_rows(4, 3)
    evaluator = batch_evaluator_for(LogisticRegression())
    everyone = make_task(LogisticRegression(), GRID, X, y)

    found = {o.configuration: o.prediction for o in evaluator.evaluate(everyone)}

    for number, expected in found.items():
        (alone,) = evaluator.evaluate(everyone.only([number]))
        np.testing.assert_allclose(alone.prediction, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"l1_ratio": 1.0, "solver": "saga", "max_iter": 500}, "not quadratic"),
        ({"l1_ratio": 0.5, "solver": "saga", "max_iter": 500}, "not quadratic"),
        ({"solver": "liblinear"}, "not quadratic"),
        ({"solver": "sag", "max_iter": 500}, "not quadratic"),
        ({"max_iter": 99}, "where a fit stops"),
        ({"tol": 0.0}, "where a fit stops"),
        ({"C": np.inf}, "a finite C"),
        ({"C": -1.0}, "a finite C"),
        ({"solver": "no such solver"}, "valid parameters"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore:l1_ratio parameter is only used:UserWarning")
def test_what_the_path_does_not_know_is_fitted_plainly(
    assert_same_as_one_by_one, caplog, changes, reason
):
    """To the last bit, and the log says why."""
    X, y, _ = draw_rows(5)
    estimator = LogisticRegression(random_state=0)
    grid = [{"C": 0.1, **changes}, {"C": 1.0, **changes}]

    with caplog.at_level(logging.INFO, "cvst"):
        task = make_task(estimator, grid, X, y)
        assert_same_as_one_by_one(task, rtol=0, atol=0)

    assert any(reason in message for message in caplog.messages)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["sparse", "single", "wide", "one class", "weights"])
def test_rows_that_the_path_does_not_know(assert_same_as_one_by_one, kind):
    """Sparse, of single precision, of too many columns, of one class, odd weights."""
    X, y, weights = draw_rows(6, n_columns=700 if kind == "wide" else 4)
    X = sparse.csr_matrix(X) if kind == "sparse" else X
    X = X.astype(np.float32) if kind == "single" else X
    y = np.zeros_like(y) if kind == "one class" else y
    changes = {}
    if kind == "weights":
        changes["fit_params"] = {"sample_weight": weights}
    estimator = LogisticRegression(class_weight="balanced")

    task = make_task(estimator, GRID, X, y, **changes)

    assert_same_as_one_by_one(task, rtol=0, atol=0)


def test_nothing_is_fitted_where_the_path_goes(count_fits):
    X, y, _ = draw_rows(7)
    fits = count_fits(LogisticRegression)

    evaluator = batch_evaluator_for(LogisticRegression())

    task = make_task(LogisticRegression(), GRID, X, y)
    outcomes = [*evaluator.evaluate(task), *evaluator.evaluate(task.only([0]))]

    assert [one.configuration for one in outcomes] == [0, 3, 2, 1, 0]
    assert not fits


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_a_race_finds_the_winner_that_plain_fits_find(load, monkeypatch):
    """Scored by log loss, which feels every digit."""
    X, y = load(return_X_y=True)
    pipeline = make_pipeline(
        StandardScaler(), LogisticRegression(tol=1e-7, max_iter=5000)
    )
    grid = {"logisticregression__C": np.logspace(-3, 3, 7)}

    def search():
        search = RaceGridSearchCV(
            pipeline, grid, scoring="neg_log_loss", random_state=0
        )
        return search.fit(X, y)

    shared = search()
    kind = type(batch_evaluator_for(LogisticRegression()))
    monkeypatch.setattr(kind, "evaluate", lambda _, task: OneByOne().evaluate(task))
    plain = search()

    assert shared.best_params_ == plain.best_params_
    np.testing.assert_allclose(
        shared.cv_results_["mean_test_score"],
        plain.cv_results_["mean_test_score"],
        rtol=2e-3,
    )
