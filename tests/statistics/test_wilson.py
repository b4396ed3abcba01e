"""Comparison of proportions; witnesses: scipy, statsmodels, each prefix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.stats import chi2_contingency
from statsmodels.stats.proportion import proportions_chisquare

from cvst.statistics import Significance, wilson_prefixes, wilson_test

NO_EVIDENCE = Significance(0.0, 1.0)


@pytest.mark.parametrize("correction", [True, False])
@pytest.mark.parametrize("success_rate", [0.1, 0.5, 0.9])
def test_each_prefix_agrees_with_the_contingency_table(success_rate, correction):
    """SciPy corrects tables of two rows, like R, and others never."""
    rng = np.random.default_rng(0)
    outcomes = rng.random((7, 80)) < success_rate

    actual = list(wilson_prefixes(outcomes, correction=correction))

    assert len(actual) == 6
    for k, prefix in enumerate(actual, start=2):
        wins = outcomes[:k].sum(axis=1)
        expected = chi2_contingency(np.c_[wins, 80 - wins], correction=correction)
        assert prefix.statistic == pytest.approx(expected.statistic, abs=1e-12)
        assert prefix.p_value == pytest.approx(expected.pvalue)


def test_agrees_with_statsmodels():
    outcomes = np.random.default_rng(1).random((5, 60)) < 0.3
    statistic, p_value, _ = proportions_chisquare(outcomes.sum(axis=1), 60)
    assert wilson_test(outcomes).statistic == pytest.approx(statistic)
    assert wilson_test(outcomes).p_value == pytest.approx(p_value)


def test_a_small_difference_is_corrected_to_nothing():
    """Yates never takes away more than there is."""
    outcomes = [[1, 0, 0, 0], [0, 0, 0, 0]]
    assert wilson_test(outcomes) == NO_EVIDENCE
    assert wilson_test(outcomes, correction=False).p_value < 0.4


@settings(max_examples=100, deadline=None)
@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=8)))
def test_prefixes_are_the_tests_of_the_prefixes(outcomes):
    expected = [wilson_test(outcomes[:k]) for k in range(2, len(outcomes) + 1)]
    assert list(wilson_prefixes(outcomes)) == expected


def test_pairing_is_ignored():
    rng = np.random.default_rng(2)
    outcomes = rng.random((4, 60)) < 0.4
    assert wilson_test(rng.permuted(outcomes, axis=1)) == wilson_test(outcomes)


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (1, 0), (1, 4), (3, 0)])
def test_without_anything_to_compare_there_is_no_evidence(shape):
    outcomes = np.eye(*shape, dtype=bool)
    assert wilson_test(outcomes) == NO_EVIDENCE
    expected = [NO_EVIDENCE] * max(shape[0] - 1, 0)
    assert list(wilson_prefixes(outcomes)) == expected


@pytest.mark.parametrize("outcome", [True, False])
def test_without_any_variation_there_is_no_evidence(outcome):
    outcomes = np.full((3, 9), outcome)
    assert wilson_test(outcomes) == NO_EVIDENCE
    assert list(wilson_prefixes(outcomes)) == [NO_EVIDENCE] * 2


def test_far_tail_is_tiny_and_not_nan():
    outcomes = np.zeros((40, 5000), dtype=bool)
    outcomes[0] = True
    for result in (wilson_test(outcomes), *wilson_prefixes(outcomes)):
        assert 0.0 <= result.p_value < 1e-300
