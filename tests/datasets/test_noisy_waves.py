from math import pi, sin

import numpy as np
import pytest

from cvst.datasets import make_noisy_sinc, make_noisy_sine


@pytest.mark.parametrize("dimension", [2, 3, 4])
def test_sinc_without_noise_is_the_formula_of_the_paper(dimension):
    """Witness: the printed formula, with the plain sine."""
    X, y = make_noisy_sinc(200, dimension=dimension, noise=0, random_state=1)

    expected = [sin(4 * x) / (4 * x) + sin(15 * dimension * x) / 5 for x in X[:, 0]]
    np.testing.assert_allclose(y, expected, atol=1e-12)
    assert X.min() >= -pi
    assert X.max() <= pi


@pytest.mark.parametrize("dimension", [5, 100])
def test_sine_without_noise_changes_class_every_half_period(dimension):
    """Witness: counting half periods."""
    X, y = make_noisy_sine(500, dimension=dimension, noise=0, random_state=1)

    np.testing.assert_array_equal(y, np.floor(X[:, 0] / pi) % 2 == 0)
    assert X.min() >= 0
    assert 2 * pi * (dimension - 1) < X.max() <= 2 * pi * dimension


@pytest.mark.parametrize("noise", [0.1, 0.2])
def test_noise_is_the_standard_deviation_of_the_residuals(noise):
    """With equal seeds the positions are equal, so the difference is pure noise."""
    X, y = make_noisy_sinc(20_000, noise=noise, random_state=2)
    X_pure, y_pure = make_noisy_sinc(20_000, noise=0, random_state=2)

    np.testing.assert_array_equal(X, X_pure)
    assert np.std(y - y_pure) == pytest.approx(noise, rel=0.02)
    assert np.mean(y - y_pure) == pytest.approx(0, abs=0.03 * noise)


@pytest.mark.parametrize("case", range(3))
def test_sinc_is_distributed_as_in_the_r_package(
    r_samples, assert_same_quantiles, case
):
    """Witness: deciles of a sample of the R package, within its sampling error."""
    sample = r_samples["noisy_sinc"][case]
    X, y = make_noisy_sinc(
        100_000,
        dimension=sample["dimension"],
        noise=sample["noise"],
        random_state=0,
    )

    assert_same_quantiles(y, sample["y_deciles"], sample["n_samples"])
    assert_same_quantiles(X[:, 0], sample["x_deciles"], sample["n_samples"])


@pytest.mark.parametrize("case", range(3))
def test_sine_is_distributed_as_in_the_r_package(
    r_samples, assert_same_quantiles, case
):
    """Witness: how often class 1 occurs in each tenth of the period there."""
    sample = r_samples["noisy_sine"][case]
    X, y = make_noisy_sine(
        100_000,
        dimension=sample["dimension"],
        noise=sample["noise"],
        random_state=0,
    )

    assert_same_quantiles(X[:, 0], sample["x_deciles"], sample["n_samples"])
    phase = np.floor(np.mod(X[:, 0], 2 * pi) / (2 * pi) * 10)
    for tenth, (n_rows, n_ones) in enumerate(
        zip(sample["rows_per_phase"], sample["class_1_per_phase"], strict=True)
    ):
        share = y[phase == tenth].mean()
        sampling_error = np.sqrt(max(share * (1 - share), 1 / n_rows) / n_rows)
        assert n_ones / n_rows == pytest.approx(share, abs=4.5 * sampling_error)
