"""The chi-square tail; witness: scipy.stats, and the limits of double precision."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import chi2

from cvst.statistics import Significance
from cvst.statistics._result import chi_square_significance


def test_result_cannot_be_changed():
    result = Significance(1.0, 0.5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.p_value = 0.0


@pytest.mark.parametrize("n_configurations", [2, 3, 10, 610])
def test_tail_agrees_with_the_chi_square_distribution(n_configurations):
    """Relative agreement down to the smallest p-values that a double can hold."""
    statistics = np.linspace(0, 1400, 200)
    actual = [chi_square_significance(s, n_configurations).p_value for s in statistics]
    expected = chi2.sf(statistics, df=n_configurations - 1)
    np.testing.assert_allclose(actual, expected, rtol=1e-10)


@pytest.mark.parametrize("n_configurations", [2, 3, 610, 10**6])
@pytest.mark.parametrize("statistic", [0.0, 1e-300, 1e4, 1e9, 1e300, np.inf])
def test_extreme_statistics_never_give_nan(statistic, n_configurations):
    p_value = chi_square_significance(statistic, n_configurations).p_value
    assert 0.0 <= p_value <= 1.0
