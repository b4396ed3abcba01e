from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import kstest, truncnorm

from cvst.proposals import ParzenDensity

GRID = np.linspace(0, 1, 2001)


def density_around(points, choices, **options):
    return ParzenDensity.around(
        np.asarray(points, dtype=float), np.asarray(choices), **options
    )


@pytest.mark.parametrize("n", [0, 1, 5, 40])
def test_one_number_integrates_to_one(n):
    points = np.random.default_rng(n).random((n, 1))

    density = np.exp(density_around(points, [0]).log_density(GRID[:, None]))

    assert trapezoid(density, GRID) == pytest.approx(1, abs=1e-5)


def test_numbers_and_choices_integrate_to_one():
    """A sum over both choices of an integral over the number."""
    rng = np.random.default_rng(0)
    points = np.column_stack(
        [rng.random(7), rng.integers(3, size=7), rng.integers(2, size=7)]
    )
    points[3, 0] = points[4, 1] = np.nan
    density = density_around(points, [0, 3, 2])

    total = 0.0
    for a, b in product(range(3), range(2)):
        grid = np.column_stack([GRID, np.full_like(GRID, a), np.full_like(GRID, b)])
        total += trapezoid(np.exp(density.log_density(grid)), GRID)

    assert total == pytest.approx(1, abs=1e-5)


def test_mixture_equals_that_of_scipy():
    """Two numbers, weighted: a sum of products of scipy's truncated normals."""
    rng = np.random.default_rng(1)
    centres, weights = rng.random((6, 2)), np.array([3, 2, 1, 0.5, 0.25, 2.0])
    density = density_around(centres, [0, 0], weights=weights, even_weight=2.0)
    points = rng.random((50, 2))

    expected = np.full(50, 2.0 / (weights.sum() + 2))
    for i in range(6):
        kernel = np.ones(50)
        for j in range(2):
            c, s = centres[i, j], density.bandwidths[i, j]
            kernel *= truncnorm.pdf(points[:, j], -c / s, (1 - c) / s, c, s)
        expected += weights[i] / (weights.sum() + 2) * kernel

    np.testing.assert_allclose(np.exp(density.log_density(points)), expected)


def test_draws_follow_the_density():
    """Kolmogorov and Smirnov see no difference to the integrated density."""
    density = density_around([[0.02], [0.6], [0.65]], [0])
    cumulative = np.cumsum(np.exp(density.log_density(GRID[:, None]))) / len(GRID)

    draws = density.draw(4000, np.random.default_rng(0)).ravel()

    assert kstest(draws, lambda x: np.interp(x, GRID, cumulative)).pvalue > 0.01


def test_draws_of_choices_follow_the_density():
    density = density_around([[1], [1], [2]], [3])

    draws = density.draw(6000, np.random.default_rng(0)).ravel().astype(int)

    expected = np.exp(density.log_density(np.array([[0.0], [1.0], [2.0]])))
    np.testing.assert_allclose(np.bincount(draws) / 6000, expected, atol=0.02)
    assert expected[1] > expected[2] > expected[0]


def test_a_choice_of_one_has_probability_one():
    density = density_around([[0], [0]], [1])

    assert density.log_density(np.array([[0.0]])) == pytest.approx(0)


def test_an_inactive_parameter_is_integrated_out():
    density = density_around([[0.2, 0.1], [0.7, 0.9], [0.3, np.nan]], [0, 0])
    grid = np.column_stack([np.full_like(GRID, 0.4), GRID])

    marginal = np.exp(density.log_density(np.array([[0.4, np.nan]])))

    integral = trapezoid(np.exp(density.log_density(grid)), GRID)
    assert marginal[0] == pytest.approx(integral, rel=1e-5)


def test_an_inactive_choice_is_summed_out():
    density = density_around([[0.2, 1], [0.7, 2], [0.3, np.nan]], [0, 3])
    codes = np.array([[0.4, 0], [0.4, 1], [0.4, 2]])

    marginal = np.exp(density.log_density(np.array([[0.4, np.nan]])))

    assert marginal[0] == pytest.approx(np.exp(density.log_density(codes)).sum())
