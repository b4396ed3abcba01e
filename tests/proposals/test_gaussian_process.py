from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from cvst.proposals._gaussian_process import (
    GaussianProcess,
    Hyperparameters,
    _negative_log_posterior,
    fit_hyperparameters,
    matern,
)
from cvst.proposals._space import squared_distances


def numbers(n, d, seed=0):
    return np.random.default_rng(seed).random((n, d))


def distances(left, right):
    return squared_distances(left, right, np.zeros(left.shape[1], dtype=int))


def test_correlation_equals_that_of_scikit_learn():
    points, lengths = numbers(8, 3), np.array([0.3, 1.0, 2.0])

    actual = matern(distances(points, points), lengths)

    np.testing.assert_allclose(actual, Matern(lengths, nu=2.5)(points))


def test_posterior_equals_that_of_scikit_learn():
    """At the same lengths, noise and scale; without the noise of new observations."""
    known, new = numbers(20, 3), numbers(15, 3, seed=1)
    scores = np.sin(5 * known[:, 0]) + known[:, 1]
    hyperparameters = Hyperparameters(np.array([0.3, 0.8, 2.0]), 0.05)
    process = GaussianProcess.given(distances(known, known), scores, hyperparameters)
    kernel = ConstantKernel(process.scale) * Matern([0.3, 0.8, 2.0], nu=2.5)
    noise = (0.05 + 1e-8) * process.scale
    witness = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None)
    witness.fit(known, scores - scores.mean())

    means, deviations = process.predict(distances(known, new))

    expected_means, expected_deviations = witness.predict(new, return_std=True)
    np.testing.assert_allclose(means, expected_means + scores.mean(), rtol=1e-6)
    np.testing.assert_allclose(deviations, expected_deviations, rtol=1e-5)


def test_a_point_that_came_out_as_predicted_leaves_means_and_lowers_deviations():
    """Deviations by brute force: those of a process that knows the point as well."""
    known, added, new = numbers(20, 3), numbers(2, 3, seed=2), numbers(15, 3, seed=1)
    scores = np.sin(5 * known[:, 0]) + known[:, 1]
    hyperparameters = Hyperparameters(np.array([0.3, 0.8, 2.0]), 0.05)
    before = GaussianProcess.given(distances(known, known), scores, hyperparameters)

    after, points = before, known
    for one in added:
        after = after.expecting(distances(points, one[None]))
        points = np.vstack([points, one])
    means, deviations = after.predict(distances(points, new))

    correlations = matern(distances(points, points), hyperparameters.lengths)
    inverse = np.linalg.inv(correlations + (0.05 + 1e-8) * np.eye(22))
    across = matern(distances(points, new), hyperparameters.lengths)
    left = 1 - np.einsum("ij,ik,kj->j", across, inverse, across)
    np.testing.assert_allclose(deviations, np.sqrt(before.scale * left))
    np.testing.assert_allclose(means, before.predict(distances(known, new))[0])


def test_an_inactive_parameter_does_not_stop_the_process():
    """It is 1 apart from all values of the others, as no point of a line is."""
    points = np.append(np.linspace(0, 1, 34), np.nan)[:, None]
    squared = distances(points, points)
    hyperparameters = Hyperparameters(np.array([30.0]), 1e-6)
    correlations = matern(squared, hyperparameters.lengths)
    assert np.linalg.eigvalsh(correlations).min() < -1e-5

    process = GaussianProcess.given(squared, np.sin(np.arange(35.0)), hyperparameters)

    means, deviations = process.predict(squared)
    assert np.isfinite(means).all()
    assert np.isfinite(deviations).all()


def test_scale_maximises_the_likelihood_of_scikit_learn():
    """A larger or smaller scale has a lower marginal likelihood."""
    known = numbers(20, 2)
    scores = np.sin(5 * known[:, 0]) + known[:, 1]
    hyperparameters = Hyperparameters(np.array([0.3, 0.8]), 0.05)
    scale = GaussianProcess.given(
        distances(known, known), scores, hyperparameters
    ).scale

    def likelihood(value):
        kernel = ConstantKernel(value) * (
            Matern([0.3, 0.8], nu=2.5) + WhiteKernel(0.05)
        )
        witness = GaussianProcessRegressor(kernel, optimizer=None)
        return witness.fit(known, scores - scores.mean()).log_marginal_likelihood()

    assert likelihood(scale) > max(likelihood(1.02 * scale), likelihood(scale / 1.02))


@pytest.mark.parametrize("seed", range(3))
def test_gradient_equals_differences(seed):
    points = numbers(15, 3, seed)
    squared = distances(points, points)
    centred = np.random.default_rng(seed).normal(size=15)
    centred -= centred.mean()
    theta = np.random.default_rng(seed).normal(-1, 0.5, 4)

    _, gradient = _negative_log_posterior(theta, squared, centred)

    expected = approx_fprime(
        theta, lambda t: _negative_log_posterior(t, squared, centred)[0], 1e-6
    )
    np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-4)


def test_parameters_that_matter_get_short_lengths_and_noise_is_seen():
    points = numbers(60, 3)
    squared = distances(points, points)
    smooth = np.sin(6 * points[:, 0])
    noisy = smooth + np.random.default_rng(0).normal(0, 0.5, 60)

    clear, unclear = (fit_hyperparameters(squared, s) for s in (smooth, noisy))

    assert clear.lengths[0] < 0.5 * clear.lengths[1:].min()
    assert unclear.noise > 5 * clear.noise


def test_duplicates_and_constant_columns_do_no_harm():
    points = np.repeat(numbers(5, 2), 3, axis=0)
    points[:, 1] = 0.5
    squared = distances(points, points)
    scores = np.arange(15.0)

    found = fit_hyperparameters(squared, scores)
    means, deviations = GaussianProcess.given(squared, scores, found).predict(squared)

    assert np.isfinite(means).all()
    assert (deviations > 0).all()
