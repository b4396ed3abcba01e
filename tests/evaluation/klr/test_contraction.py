"""Large penalties of kernel logistic regressions, judged by a solver of its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from cvst.evaluation.klr import _contraction as module
from cvst.evaluation.klr._contraction import contracted
from cvst.evaluation.klr._spaces import DualSpace, PrimalSpace


def draw_problem(seed, kind, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[n // 2 :] = X[: n - n // 2]  # rows that occur twice
    kernels = {
        "narrow": lambda: rbf_kernel(X, gamma=10.0),
        "wide": lambda: rbf_kernel(X, gamma=0.01),
        "large": lambda: polynomial_kernel(X, degree=2, gamma=3.0),
        "zero": lambda: np.zeros((n, n)),
        "small": lambda: 1e-3 * rbf_kernel(X, gamma=1.0),
    }
    signs = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    weights = rng.uniform(0.0, 3.0, size=n) * (rng.random(n) > 0.2)
    weights[0] = 1.0
    return kernels[kind](), signs, weights


def minimum(kernel, signs, weights, alpha):
    """Return the decisions at the minimum by plain Newton steps, solved densely."""
    theta = np.zeros(len(kernel))
    for _ in range(50):
        shares = expit(-signs * (kernel @ theta))
        forces = weights * signs * shares - alpha * theta
        curvatures = (weights * shares * (1 - shares))[:, None]
        system = curvatures * kernel + alpha * np.eye(len(kernel))
        theta = theta + np.linalg.solve(system, forces)
    return kernel @ theta


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    kind=st.sampled_from(["narrow", "wide", "large", "small", "zero"]),
    n=st.integers(2, 60),
    logarithms=st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=5),
    primal=st.booleans(),
)
def test_decisions_are_those_of_the_minimum(seed, kind, n, logarithms, primal):
    """To 1e-8 per root of the kernel's largest value; first come the largest."""
    kernel, signs, weights = draw_problem(seed, kind, n)
    scale = np.linalg.eigvalsh(kernel)[-1] or 1.0
    penalties = scale * 10.0 ** np.sort(logarithms)[::-1]
    space = DualSpace(kernel)
    if primal:
        values, vectors = np.linalg.eigh(kernel)
        space = PrimalSpace((vectors * np.sqrt(np.maximum(values, 0.0))).T)
    largest_value = kernel.diagonal().max()

    thetas, decisions = contracted(space, signs, weights, largest_value, penalties)

    assert len(thetas) <= len(penalties)
    np.testing.assert_allclose(decisions, space.decisions(thetas), rtol=0, atol=1e-12)
    for alpha, own in zip(penalties, decisions, strict=False):
        expected = minimum(kernel, signs, weights, alpha)
        error = 1e-8 * max(1.0, np.sqrt(largest_value))
        np.testing.assert_allclose(own, expected, rtol=0, atol=error)


@pytest.mark.parametrize("kind", ["narrow", "wide", "small"])
def test_large_penalties_are_solved_and_small_ones_left(kind):
    """So that nothing is gained by doing nothing."""
    kernel, signs, weights = draw_problem(0, kind, 50)
    largest = np.abs(kernel).sum(axis=1).max() * weights.max()
    penalties = largest * np.array([100.0, 1.0, 0.1, 1e-3, 1e-6])

    thetas, _ = contracted(DualSpace(kernel), signs, weights, 1.0, penalties)

    assert len(thetas) == 3


def test_penalties_too_small_cost_nothing():
    """Not a single product with the kernel is made."""

    class Untouched(DualSpace):
        def decisions(self, theta):
            raise AssertionError("a product was made")

    kernel, signs, weights = draw_problem(1, "wide", 50)

    thetas, decisions = contracted(
        Untouched(kernel), signs, weights, 1.0, np.array([1e-5, 1e-6])
    )

    assert thetas.shape == decisions.shape == (0, 50)


class Counting(DualSpace):
    """Counts the products with its kernel."""

    n_products = 0

    def decisions(self, theta):
        if theta.ndim == 2:
            self.n_products += len(theta)
        return super().decisions(theta)


def test_who_is_there_costs_no_more_products():
    """All penalties together take as many as each of them alone."""
    kernel, signs, weights = draw_problem(0, "wide", 50)
    largest = np.abs(kernel).sum(axis=1).max() * weights.max()
    penalties = largest * np.array([100.0, 10.0, 1.0, 0.1])
    together = Counting(kernel)
    contracted(together, signs, weights, 1.0, penalties)
    n_alone = 0
    for alpha in penalties:
        alone = Counting(kernel)
        contracted(alone, signs, weights, 1.0, np.array([alpha]))
        n_alone += alone.n_products
    assert together.n_products == n_alone


def test_who_is_there_in_time_is_kept(monkeypatch):
    """If rounds run out, solutions of the larger penalties still count."""
    kernel, signs, weights = draw_problem(0, "wide", 50)
    largest = np.abs(kernel).sum(axis=1).max() * weights.max()
    penalties = largest * np.array([100.0, 10.0, 0.1])
    monkeypatch.setattr(module, "MOST_ROUNDS", 12)

    thetas, decisions = contracted(DualSpace(kernel), signs, weights, 1.0, penalties)

    assert thetas.shape == decisions.shape == (2, 50)
    for alpha, own in zip(penalties, decisions, strict=False):
        expected = minimum(kernel, signs, weights, alpha)
        np.testing.assert_allclose(own, expected, rtol=0, atol=1e-8)
