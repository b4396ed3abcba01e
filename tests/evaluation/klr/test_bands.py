"""A kernel without its smallest values, against the whole kernel, done densely."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from cvst.evaluation.klr import _bands as module
from cvst.evaluation.klr._bands import BandedSpace, band_of, negligible_value
from cvst.evaluation.klr._iteration import dual_space
from cvst.evaluation.klr._newton import LogisticProblem, logistic_path

N = 160
NEGLIGIBLE = 1e-14


def line(rng):
    return rng.uniform(0, 30, size=(N, 1))


def plane(rng):
    return rng.uniform(0, 100, size=(N, 2))


def clusters(rng):
    return 50.0 * rng.integers(0, 30, size=(N, 1)) + rng.normal(size=(N, 3))


def duplicates(rng):
    return line(rng)[rng.integers(0, N // 2, size=N)]


def strangers(rng):
    return 1e3 * rng.permutation(N)[:, np.newaxis]


ROWS = pytest.mark.parametrize(
    "make_rows", [line, plane, clusters, duplicates, strangers]
)


def make_kernel(make_rows):
    kernel = rbf_kernel(make_rows(np.random.default_rng(0)), gamma=3.0)
    return (kernel + kernel.T) / 2


def make_targets(seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0, 2, size=N) * (rng.random(N) > 0.2)
    return rng.choice([-1.0, 1.0], size=N), weights


@ROWS
def test_a_band_holds_all_that_matters(make_rows):
    """Put back to where they came from, its values are those of the matrix."""
    kernel = make_kernel(make_rows)
    band = band_of(kernel, NEGLIGIBLE)
    assert sorted(band.order) == list(range(N))
    ordered = np.zeros((N, N))
    for below, diagonal in enumerate(band.diagonals):
        rows = np.arange(below, N)
        ordered[rows, rows - below] = ordered[rows - below, rows] = diagonal[
            : N - below
        ]
    restored = np.empty((N, N))
    restored[np.ix_(band.order, band.order)] = ordered
    np.testing.assert_allclose(restored, kernel, rtol=0, atol=NEGLIGIBLE)
    matters = np.where(kernel > NEGLIGIBLE, kernel, 0.0)
    np.testing.assert_array_equal(band.matrix.toarray(), matters)


def test_a_line_is_followed():
    """Rows of a chain in disorder have one neighbour before and one behind."""
    places = np.random.default_rng(0).permutation(N)
    band = band_of(np.exp(-30.0 * np.abs(places[:, None] - places)), 1e-15)
    assert len(band.diagonals) == 2
    assert np.abs(np.diff(places[band.order])).tolist() == [1] * (N - 1)


@pytest.mark.parametrize(
    "kernel",
    [
        np.eye(module.SMALLEST_BANDED - 1),
        rbf_kernel(np.linspace(0, 1, N)[:, None]),
        # One row is close to all others.
        np.eye(N) + np.eye(N)[:, :1] + np.eye(N)[:1],
    ],
    ids=["few rows", "wide kernel", "star"],
)
def test_no_band_where_it_does_not_pay(kernel):
    """Nor is any looked for where all values matter."""
    assert band_of(kernel, NEGLIGIBLE) is None
    assert not isinstance(dual_space(kernel, NEGLIGIBLE), BandedSpace)
    assert not isinstance(dual_space(np.eye(N)), BandedSpace)


@ROWS
@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 10.0])
def test_steps_are_those_of_a_dense_system(make_rows, alpha):
    """In the order that the rows came in."""
    kernel = make_kernel(make_rows)
    rng = np.random.default_rng(1)
    theta, residuals = rng.normal(size=(2, N))
    curvatures = rng.uniform(0.01, 0.25, size=N)
    space = BandedSpace(band_of(kernel, NEGLIGIBLE))
    assert space.size == N
    assert space.factorise(curvatures, alpha)

    step, decisions, error = space.step(theta, residuals, alpha, 0.0)

    system = curvatures[:, None] * kernel + alpha * np.eye(N)
    exact = np.linalg.solve(system, residuals - alpha * theta)
    scale = np.abs(exact).max()
    np.testing.assert_allclose(step, exact, rtol=0, atol=1e-8 * scale)
    np.testing.assert_allclose(decisions, kernel @ step, rtol=0, atol=1e-11 * scale)
    assert error == 0.0


@ROWS
def test_products_and_norms_are_those_of_the_kernel(make_rows):
    """For any number of functions at once."""
    kernel = make_kernel(make_rows)
    space = BandedSpace(band_of(kernel, NEGLIGIBLE))
    thetas = np.random.default_rng(0).normal(size=(3, N))
    for given in (thetas[0], thetas[:0], thetas[:1], thetas):
        products = space.decisions(given)
        assert products.shape == given.shape
        np.testing.assert_allclose(products, given @ kernel, rtol=0, atol=1e-11)
    norms = np.sqrt(np.einsum("ij,jk,ik->i", thetas, kernel, thetas))
    assert (space.largest_norm(thetas) >= norms - 1e-11).all()
    assert space.largest_eigenvalue >= np.linalg.eigvalsh(kernel)[-1] - 1e-11


def test_an_indefinite_matrix_is_told():
    """It has no factorisation, rather than a wrong one."""
    kernel = np.kron(np.eye(N // 2), [[1.0, 2.0], [2.0, 1.0]])
    space = BandedSpace(band_of(kernel, NEGLIGIBLE))
    assert space.factorise(np.full(N, 0.25), 1.0)
    assert not space.factorise(np.full(N, 0.25), 0.1)


@pytest.mark.parametrize("kernel_of", [rbf_kernel, laplacian_kernel])
@pytest.mark.parametrize("make_rows", [line, plane, clusters, duplicates])
def test_a_step_with_the_whole_kernel_leads_nowhere(kernel_of, make_rows):
    """From the largest penalties to the smallest that are shared."""
    kernel = kernel_of(make_rows(np.random.default_rng(0)), gamma=20.0)
    signs, weights = make_targets()
    penalties = N * 10.0 ** np.arange(1, -10, -1)
    space = dual_space(kernel, negligible_value(weights, penalties[-1]))
    assert isinstance(space, BandedSpace)
    problem = LogisticProblem(space, signs, weights, 1.0)
    for alpha, theta in zip(penalties, logistic_path(problem, penalties), strict=True):
        shares = expit(-signs * (kernel @ theta))
        forces = weights * signs * shares - alpha * theta
        curvatures = (weights * shares * (1 - shares))[:, np.newaxis]
        step = np.linalg.solve(curvatures * kernel + alpha * np.eye(N), forces)
        np.testing.assert_allclose(kernel @ step, 0.0, atol=2e-8)


@pytest.mark.parametrize("alpha", [1e-3, 0.3, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_left_out_changes_no_decision_by_more(monkeypatch, alpha, seed):
    """With values just small enough everywhere, all of which push the same way.

    A row in the middle of all training rows feels it most: then the bound is reached
    within a factor of ten, where the penalty is like the curvature of the loss.
    """
    monkeypatch.setattr(module, "DECISION_ERROR", 1e-3)
    monkeypatch.setattr(module, "LARGEST_NEGLIGIBLE", np.inf)
    _, weights = make_targets(seed)
    negligible = negligible_value(weights, alpha)
    whole = np.full((N, N), negligible)
    np.fill_diagonal(whole, 1.0)
    middle = np.full((1, N), 0.99 / np.sqrt(N))
    rows = np.concatenate([whole, middle])
    assert (np.linalg.eigvalsh(np.block([[whole, middle.T], [middle, 1.0]])) > 0).all()
    decisions = []
    for kernel in (whole, np.eye(N)):
        problem = LogisticProblem(dual_space(kernel), np.ones(N), weights, 1.0)
        (theta,) = logistic_path(problem, np.array([alpha]))
        decisions.append(rows @ theta)
    change = np.abs(decisions[0] - decisions[1]).max()
    assert change <= 1e-3
    if alpha == 0.3:
        assert change > 1e-4


def test_little_is_left_out_with_large_penalties():
    """However little the solution depends on the kernel there."""
    weights = np.ones(N)
    assert negligible_value(weights, 1e30) == module.LARGEST_NEGLIGIBLE
    assert negligible_value(weights, 1e-3) < negligible_value(weights, 1e-2)
    assert negligible_value(1e3 * weights, 1.0) < negligible_value(weights, 1.0)
