"""Steps by conjugate gradients lead to the minimum that dense Newton steps lead to."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics.pairwise import rbf_kernel

from cvst.evaluation.klr import _iteration as module
from cvst.evaluation.klr._iteration import IterativeDualSpace, dual_space
from cvst.evaluation.klr._newton import LogisticProblem, logistic_path

N = 260
PENALTIES = N * 10.0 ** np.arange(1, -8, -1)


def make_problem(gamma, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, size=(N, 2))
    signs = np.where(np.sin(X[:, 0]) + 0.3 * rng.normal(size=N) > 0, 1.0, -1.0)
    weights = rng.uniform(0, 2, size=N) * (rng.random(N) > 0.2)
    return rbf_kernel(X, gamma=gamma), signs, weights


def assert_minima(kernel, signs, weights, penalties, thetas):
    """Ask for a dense Newton step: it must not move any decision."""
    for alpha, theta in zip(penalties, thetas, strict=True):
        shares = expit(-signs * (kernel @ theta))
        forces = weights * signs * shares - alpha * theta
        curvatures = (weights * shares * (1 - shares))[:, np.newaxis]
        step = np.linalg.solve(curvatures * kernel + alpha * np.eye(N), forces)
        np.testing.assert_allclose(kernel @ step, 0.0, atol=2e-8)


@pytest.mark.parametrize("gamma", [0.003, 0.1, 3.0, 100.0])
def test_a_dense_step_leads_nowhere(gamma):
    """For penalties of which single precision serves the larger ones only."""
    kernel, signs, weights = make_problem(gamma)
    space = dual_space(kernel)
    thetas = list(logistic_path(LogisticProblem(space, signs, weights, 1.0), PENALTIES))
    assert_minima(kernel, signs, weights, PENALTIES, thetas)


def test_single_precision_is_given_up_in_time():
    """Where eigenvalues are too far apart the space is an ordinary one."""
    kernel, _, _ = make_problem(0.1)
    space = IterativeDualSpace(kernel)
    assert space.factorise(np.full(N, 0.25), 1.0)
    assert space.is_iterative
    assert space.factorise(np.full(N, 0.25), 1e-7)
    assert not space.is_iterative


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MOST_ROUNDS", 1),
        ("MOST_SERVING_ROUNDS", 0),
        ("LARGEST_ERROR", 0.9),
        ("LARGEST_WEAR", 0.0),
        ("LARGEST_WEAR", np.inf),
    ],
)
def test_bad_luck_costs_time_only(monkeypatch, name, value):
    """Too few rounds, a factorisation per step, careless steps: the same minimum."""
    monkeypatch.setattr(module, name, value)
    kernel, signs, weights = make_problem(0.1)
    problem = LogisticProblem(dual_space(kernel), signs, weights, 1.0)
    thetas = list(logistic_path(problem, PENALTIES))
    assert_minima(kernel, signs, weights, PENALTIES, thetas)


def test_a_factorisation_serves_several_steps(monkeypatch):
    """Otherwise the iteration would be of no use."""
    counts = {"steps": 0, "factorisations": 0}

    def counted(owner, name, what):
        original = getattr(owner, name)

        def count(*arguments):
            counts[what] += 1
            return original(*arguments)

        monkeypatch.setattr(owner, name, count)

    counted(IterativeDualSpace, "step", "steps")
    counted(module.SingleFactor, "factorise", "factorisations")
    kernel, signs, weights = make_problem(0.1)
    problem = LogisticProblem(dual_space(kernel), signs, weights, 1.0)
    list(logistic_path(problem, PENALTIES[:5]))
    assert 0 < 2 * counts["factorisations"] <= counts["steps"]


@pytest.mark.parametrize(("change", "n_expected"), [(1.1, 1), (0.9, 1), (10.0, 2)])
def test_a_factorisation_wears_out(monkeypatch, change, n_expected):
    """With curvatures over penalties that have changed much, and only then."""
    counted = []
    factorise = module.SingleFactor.factorise
    monkeypatch.setattr(
        module.SingleFactor,
        "factorise",
        lambda *arguments: counted.append(1) or factorise(*arguments),
    )
    kernel, _, _ = make_problem(0.1)
    space = IterativeDualSpace(kernel)
    space.factorise(np.full(N, 0.25), 1.0)
    space.factorise(np.full(N, 0.25), 1.0 / change)
    assert len(counted) == n_expected


@pytest.mark.parametrize("change", [0.01, 0.5, 1.0, 2.0, 100.0])
@pytest.mark.parametrize("enough", [1e-2, 1e-9])
def test_the_error_of_a_step_is_known(monkeypatch, change, enough):
    """In the norm of the objective, however old the factorisation is."""
    monkeypatch.setattr(module, "LARGEST_WEAR", np.inf)
    kernel, signs, weights = make_problem(0.1)
    weights = weights + 0.1
    rng = np.random.default_rng(1)
    theta, alpha = 0.01 * rng.normal(size=N), 0.3
    curvatures = weights * rng.uniform(0.1, 0.25, size=N)
    space = IterativeDualSpace(kernel)
    assert space.factorise(change ** rng.uniform(size=N) * curvatures, alpha)
    assert space.factorise(curvatures, alpha)
    residuals = weights * signs * rng.uniform(size=N)

    step, decisions, error = space.step(theta, residuals, alpha, enough)

    np.testing.assert_allclose(decisions, kernel @ step, rtol=0, atol=1e-10)
    system = curvatures[:, None] * kernel + alpha * np.eye(N)
    missing = step - np.linalg.solve(system, residuals - alpha * theta)
    image = kernel @ missing
    distance = np.sqrt(curvatures @ image**2 + alpha * missing @ image)
    assert distance <= error + 1e-10
    assert error <= max(enough, module.LARGEST_ERROR * np.sqrt(decisions @ residuals))


def test_a_small_gain_is_no_small_error():
    """Where the objective is large, a step that adds next to nothing to it counts."""
    kernel, signs, weights = make_problem(0.1)
    weights = 1e6 * weights
    penalties = np.array([1e4, 1e3, 1e2])
    problem = LogisticProblem(dual_space(kernel), signs, weights, 1.0)
    thetas = list(logistic_path(problem, penalties))
    assert_minima(kernel, signs, weights, penalties, thetas)


def test_a_step_that_leads_nowhere_is_made_exactly():
    """Far from the last penalty an inexact step may climb instead of descending."""
    kernel, signs, weights = make_problem(3.0)
    penalties = N * np.array([1e-4, 1e-5, 1e-7])
    problem = LogisticProblem(dual_space(kernel), signs, weights, 1.0)
    thetas = list(logistic_path(problem, penalties))
    assert_minima(kernel, signs, weights, penalties, thetas)


def test_no_step_where_no_factorisation_serves():
    """A system that has become indefinite has no step, rather than a wrong one."""
    space = IterativeDualSpace(np.diag(np.append(np.ones(N - 1), -1.0)))
    assert space.factorise(np.full(N, 0.95), 1.0)
    assert space.factorise(np.full(N, 1.05), 1.0)
    step = space.step(np.zeros(N), np.eye(N)[-1], 1.0, 1e-9)
    assert np.isnan(step.theta).all()
    assert np.isnan(step.decisions).all()
