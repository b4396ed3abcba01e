"""Paths of kernel logistic regressions, judged by the conditions of a minimum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics.pairwise import rbf_kernel

from cvst.evaluation.klr import _newton as newton_module
from cvst.evaluation.klr._newton import LogisticProblem, logistic_path
from cvst.evaluation.klr._spaces import DualSpace, PrimalSpace

PENALTIES = 200 * 10.0 ** np.arange(2, -8, -1)


def make_problem(gamma, n=200):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, size=(n, 1))
    signs = np.where(np.sin(X[:, 0]) + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    weights = rng.uniform(0, 2, size=n) * (rng.random(n) > 0.2)
    return rbf_kernel(X, gamma=gamma), signs, weights


@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0])
def test_another_step_leads_nowhere(gamma):
    """A Newton step of its own, solved densely, moves no decision by more than 1e-7."""
    kernel, signs, weights = make_problem(gamma)
    problem = LogisticProblem(DualSpace(kernel), signs, weights, 1.0)
    for alpha, theta in zip(PENALTIES, logistic_path(problem, PENALTIES), strict=True):
        shares = expit(-signs * (kernel @ theta))
        forces = weights * signs * shares - alpha * theta
        curvatures = (weights * shares * (1 - shares))[:, np.newaxis]
        step = np.linalg.solve(
            curvatures * kernel + alpha * np.eye(len(kernel)), forces
        )
        np.testing.assert_allclose(kernel @ step, 0.0, atol=1e-7)


@pytest.mark.parametrize(
    "penalties",
    [[100.0, 1.0 + 1e-13, 1.0, 1e-4], [1.0, 1.0, 1.0, 1e-3, 1e-3], [5.0, 1e-6]],
    ids=str,
)
def test_penalties_at_any_distance(penalties):
    """Neighbours may be equal, next to equal or far away from each other."""
    kernel, signs, weights = make_problem(1.0)
    problem = LogisticProblem(DualSpace(kernel), signs, weights, 1.0)
    path = logistic_path(problem, np.array(penalties))
    for alpha, theta in zip(penalties, path, strict=True):
        (direct,) = logistic_path(problem, np.array([alpha]))
        np.testing.assert_allclose(kernel @ theta, kernel @ direct, atol=1e-7)


@pytest.mark.parametrize("order", [1, -1])
def test_features_and_coefficients_find_the_same_minimum(order):
    """The kernel's root is a set of features, with the largest first or last."""
    kernel, signs, weights = make_problem(0.3)
    values, vectors = np.linalg.eigh(kernel)
    features = (vectors * np.sqrt(np.maximum(values, 0.0))).T[::order]
    dual = LogisticProblem(DualSpace(kernel), signs, weights, 1.0)
    primal = LogisticProblem(PrimalSpace(features), signs, weights, 1.0)
    pairs = zip(
        logistic_path(dual, PENALTIES), logistic_path(primal, PENALTIES), strict=True
    )
    for theta, other in pairs:
        np.testing.assert_allclose(other @ features, kernel @ theta, atol=1e-7)


def test_old_factorisations_lead_to_the_same_minimum(monkeypatch):
    """They save time and nothing else."""
    kernel, signs, weights = make_problem(10.0)
    problem = LogisticProblem(DualSpace(kernel), signs, weights, 1.0)
    reusing = list(logistic_path(problem, PENALTIES))
    counted = []
    factorise = DualSpace.factorise
    monkeypatch.setattr(
        DualSpace,
        "factorise",
        lambda *arguments: counted.append(1) or factorise(*arguments),
    )
    list(logistic_path(problem, PENALTIES))
    n_reusing = len(counted)
    monkeypatch.setattr(newton_module, "SMALLEST_REUSED", np.inf)
    fresh = list(logistic_path(problem, PENALTIES))
    assert len(counted) - n_reusing > 1.2 * n_reusing
    for theta, other in zip(reusing, fresh, strict=True):
        np.testing.assert_allclose(kernel @ other, kernel @ theta, atol=1e-8)


def count_steps(monkeypatch, problem, penalties):
    counted = []
    with monkeypatch.context() as patch:
        factorise = newton_module._Descent._factorise
        patch.setattr(
            newton_module._Descent,
            "_factorise",
            lambda *arguments: counted.append(1) or factorise(*arguments),
        )
        patch.setattr(newton_module, "SMALLEST_REUSED", np.inf)
        thetas = list(logistic_path(problem, penalties))
    return len(counted), thetas


def test_slopes_save_steps_and_nothing_else(monkeypatch):
    """Each minimum is where it is, whatever the start."""
    kernel, signs, weights = make_problem(10.0)
    problem = LogisticProblem(DualSpace(kernel), signs, weights, 1.0)
    n_steps, thetas = count_steps(monkeypatch, problem, PENALTIES)
    monkeypatch.setattr(newton_module._Descent, "tangent", lambda *_: None)
    n_afresh, others = count_steps(monkeypatch, problem, PENALTIES)
    assert n_steps < 0.75 * n_afresh
    for theta, other in zip(thetas, others, strict=True):
        np.testing.assert_allclose(kernel @ other, kernel @ theta, atol=1e-8)


@pytest.mark.parametrize("primal", [False, True])
def test_slopes_are_those_of_the_path(primal):
    """As two penalties next to each other tell."""
    kernel, signs, weights = make_problem(1.0)
    space = DualSpace(kernel)
    if primal:
        values, vectors = np.linalg.eigh(kernel)
        space = PrimalSpace((vectors * np.sqrt(np.maximum(values, 0.0))).T[::-1])
    problem = LogisticProblem(space, signs, weights, 1.0)
    alpha, ratio = 0.1, 1 + 1e-3
    (theta,) = logistic_path(problem, np.array([alpha]))
    # Started at the minimum, it factorises there.
    descent = newton_module._Descent(problem, alpha)
    point = descent.minimum(problem.at(theta, space.decisions(theta), alpha))
    known = descent.tangent(point)
    path = logistic_path(problem, np.array([alpha * ratio, alpha / ratio]))
    above, below = (space.decisions(theta) for theta in path)
    expected = (above - below) / (2 * np.log(ratio))
    np.testing.assert_allclose(known.decisions_slope, expected, rtol=0, atol=1e-4)
    slope = space.decisions(known.theta_slope)
    np.testing.assert_allclose(known.decisions_slope, slope, rtol=0, atol=1e-9)


@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0])
def test_short_steps_go_down(monkeypatch, gamma):
    """So the objective is not asked for there."""
    kernel, signs, weights = make_problem(gamma)
    problem = LogisticProblem(DualSpace(kernel), signs, weights, 1.0)
    at, target = LogisticProblem.at, newton_module._Descent._target
    trusted = []

    def checked(self, point, *arguments):
        reached = target(self, point, *arguments)
        if reached.objective == point.objective:
            before, after = (
                at(problem, one.theta, one.decisions, self.alpha).objective
                for one in (point, reached)
            )
            trusted.append(after <= before * (1 + 1e-14))
        return reached

    monkeypatch.setattr(newton_module._Descent, "_target", checked)
    list(logistic_path(problem, PENALTIES))
    # From far away, long steps overshoot: none of them is trusted.
    rng = np.random.default_rng(0)
    for alpha in PENALTIES:
        theta = rng.normal(size=len(kernel))
        theta *= 10.0 / np.abs(kernel @ theta).max()
        start = problem.at(theta, kernel @ theta, alpha)
        newton_module._Descent(problem, alpha).minimum(start)
    assert len(trusted) > 10
    assert all(trusted)


def test_a_failure_does_not_spoil_the_next_penalty():
    """An indefinite matrix has no minimum until the penalty outweighs it."""
    kernel = np.array([[1.0, 0.0], [0.0, -1.0]])
    problem = LogisticProblem(DualSpace(kernel), np.array([1.0, -1.0]), np.ones(2), 1.0)
    assert list(logistic_path(problem, np.array([0.02, 0.01]))) == [None, None]
