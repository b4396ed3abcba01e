"""Holm's correction; witness: statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from cvst.exceptions import InvalidInputError
from cvst.statistics import holm


@pytest.mark.parametrize("level", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("n_tests", [1, 2, 10, 609])
def test_agrees_with_statsmodels(n_tests, level):
    """With p-values small enough that some are rejected, and with ties."""
    p_values = np.random.default_rng(n_tests).random(n_tests).round(2) ** 6
    expected = multipletests(p_values, alpha=level, method="holm")[0]
    np.testing.assert_array_equal(holm(p_values, level), expected)


def test_a_failure_stops_all_that_follow():
    """0.026 would pass its own threshold 0.05 / 1, but 0.0255 fails at 0.05 / 2."""
    assert holm([0.0255, 0.026], 0.05).tolist() == [False, False]
    assert holm([0.0245, 0.026], 0.05).tolist() == [True, True]


def test_rejects_whatever_bonferroni_rejects():
    p_values = np.random.default_rng(0).random(500) ** 4
    bonferroni = p_values <= 0.05 / 500
    assert bonferroni.any()
    assert holm(p_values, 0.05)[bonferroni].all()


def test_without_tests_nothing_is_rejected():
    assert holm([], 0.05).shape == (0,)


@pytest.mark.parametrize("p_values", [[0.1, np.nan], [1.1], [-0.1], [[0.1]]])
def test_impossible_p_values_are_refused(p_values):
    with pytest.raises(InvalidInputError, match="between 0 and 1"):
        holm(p_values, 0.05)


@pytest.mark.parametrize("level", [-0.1, 1.5, float("nan")])
def test_impossible_levels_are_refused(level):
    with pytest.raises(InvalidInputError, match="level="):
        holm([0.5], level)
