"""Paths of kernel logistic regressions, judged by the conditions of a minimum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics.pairwise import rbf_kernel

from cvst.evaluation import _kernel_newton as newton_module
from cvst.evaluation._kernel_newton import LogisticProblem, logistic_path
from cvst.evaluation._kernel_spaces import DualSpace, PrimalSpace

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


def test_features_and_coefficients_find_the_same_minimum():
    """The kernel's root is a set of features."""
    kernel, signs, weights = make_problem(0.3)
    values, vectors = np.linalg.eigh(kernel)
    features = (vectors * np.sqrt(np.maximum(values, 0.0))).T
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


def test_a_failure_does_not_spoil_the_next_penalty():
    """An indefinite matrix has no minimum until the penalty outweighs it."""
    kernel = np.array([[1.0, 0.0], [0.0, -1.0]])
    problem = LogisticProblem(DualSpace(kernel), np.array([1.0, -1.0]), np.ones(2), 1.0)
    assert list(logistic_path(problem, np.array([0.02, 0.01]))) == [None, None]
