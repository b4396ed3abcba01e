from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from cvst.proposals import expected_improvement, log_expected_improvement

CASES = [(0.0, 1.0, 0.0), (1.0, 0.5, 0.2), (-2.0, 0.1, 0.0), (3.0, 1.0, 0.0)]


@pytest.mark.parametrize(("mean", "deviation", "best"), CASES)
def test_formula_agrees_with_draws(mean, deviation, best):
    draws = np.random.default_rng(0).normal(mean, deviation, 400_000)

    actual = expected_improvement(np.array([mean]), np.array([deviation]), best)

    expected = np.maximum(best - draws, 0)
    error = expected.std() / np.sqrt(len(draws))
    assert abs(actual[0] - expected.mean()) < 5 * error


@pytest.mark.parametrize("z", [2.0, 0.0, -1.0, -6.0, -20.0, -24.9, -25.1, -35.0])
def test_logarithm_agrees_with_an_integral(z):
    """EI in units of phi(z): the integral of t exp(z t - t^2 / 2) over t > 0."""
    scaled, _ = quad(lambda t: t * np.exp(z * t - t * t / 2), 0, np.inf)

    actual = log_expected_improvement(np.array([-z * 3.0]), np.array([3.0]), 0.0)

    expected = np.log(scaled) + norm.logpdf(z) + np.log(3.0)
    assert actual[0] == pytest.approx(expected, abs=0.006)


def test_lower_means_and_larger_deviations_are_better():
    means = np.linspace(-1, 100, 400)
    falling = log_expected_improvement(means, np.ones(400), 0.0)
    rising = log_expected_improvement(np.ones(400), np.geomspace(1e-3, 10, 400), 0.0)

    assert (np.diff(falling) < 0).all()
    assert (np.diff(rising) > 0).all()


def test_no_deviation_is_no_division_by_zero():
    value = expected_improvement(np.array([1.0, -1.0]), np.zeros(2), 0.0)

    np.testing.assert_allclose(value, [0, 1])
    assert np.isfinite(
        log_expected_improvement(np.array([-1.0]), np.zeros(1), 0.0)
    ).all()
