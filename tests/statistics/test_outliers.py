"""Outlying residuals; witnesses: the standard library's deviation, normal samples."""

from __future__ import annotations

from statistics import NormalDist, stdev

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.statistics import outlier_outcomes


@pytest.mark.parametrize("n_points", [6, 300])
@pytest.mark.parametrize("level", [0.01, 0.05, 0.3])
def test_cut_is_the_normal_quantile_times_the_standard_deviation(level, n_points):
    """Spread about the mean, cut about zero: a bias makes outliers on one side."""
    rng = np.random.default_rng(0)
    residuals = rng.normal(np.repeat([[0.0], [1.0]], 100, axis=0), 1.0, (200, n_points))
    quantile = NormalDist().inv_cdf(1 - level / 2)
    cuts = [[quantile * stdev(row)] for row in residuals]
    expected = abs(residuals) > cuts
    np.testing.assert_array_equal(outlier_outcomes(residuals, level), expected)


def test_normal_residuals_have_the_expected_share_of_outliers():
    residuals = np.random.default_rng(1).normal(0, 7, (20, 5000))
    share = outlier_outcomes(residuals, 0.05).mean()
    assert share == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / residuals.size))


def test_each_configuration_has_its_own_scale():
    residuals = np.random.default_rng(2).normal(size=(3, 50))
    scaled = residuals * np.array([[1.0], [100.0], [1e-3]])
    np.testing.assert_array_equal(
        outlier_outcomes(scaled, 0.1), outlier_outcomes(residuals, 0.1)
    )


def test_infinite_residuals_are_outliers_and_leave_the_others_alone():
    residuals = np.array([[0.1, -0.2, 0.15, -0.1, 3.0, 0.1, -0.1]])
    with_infinite = np.append(residuals, [[np.inf, -np.inf]], axis=1)
    actual = outlier_outcomes(with_infinite, 0.05)
    np.testing.assert_array_equal(actual[:, :-2], outlier_outcomes(residuals, 0.05))
    assert actual[:, -2:].all()


def test_failed_configurations_have_no_outliers():
    residuals = np.random.default_rng(3).normal(size=(3, 40))
    residuals[1] = np.nan
    actual = outlier_outcomes(residuals, 0.5)
    assert actual.any(axis=1).tolist() == [True, False, True]


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (2, 0), (2, 1)])
def test_too_few_residuals_have_no_outliers(shape):
    actual = outlier_outcomes(np.full(shape, 3.0), 0.05)
    assert actual.shape == shape
    assert actual.dtype == bool
    assert not actual.any()


@pytest.mark.parametrize("level", [0.0, 1.0, float("nan")])
def test_impossible_levels_are_refused(level):
    with pytest.raises(InvalidInputError, match="strictly between 0 and 1"):
        outlier_outcomes(np.ones((2, 2)), level)


def test_a_table_has_two_axes():
    with pytest.raises(InvalidInputError, match="two axes"):
        outlier_outcomes(np.ones(4), 0.05)
