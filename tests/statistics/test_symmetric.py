"""The test for symmetric differences; witnesses: all signs, one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm

from cvst.exceptions import InvalidInputError
from cvst.statistics import symmetric_excess_test

SIGNS = np.array(list(product([-1.0, 1.0], repeat=10)))


@settings(max_examples=60, deadline=None)
@given(arrays(float, 10, elements=st.floats(0.001, 1000)))
def test_p_value_holds_under_all_signs(sizes):
    """Given the sizes, all signs are equally likely: P(p <= a) is at most a."""
    p_values = symmetric_excess_test(SIGNS * sizes)
    levels, counts = np.unique(p_values, return_counts=True)
    share = np.cumsum(counts) / len(SIGNS)
    assert np.all(share[levels < 1] <= levels[levels < 1] * (1 + 1e-9))


def test_bound_is_sharp_for_two_equal_rows():
    """Both signs agree with probability 1/4, and that is the p-value."""
    np.testing.assert_allclose(symmetric_excess_test([[3.0, 3.0]]), [0.25])


def test_p_value_is_about_three_times_the_normal_tail():
    """Witness: scipy's normal tail at the self-normalised sum."""
    rows = np.random.default_rng(0).normal(0.1, 1, (5, 400))
    ratio = rows.sum(axis=1) / np.sqrt((rows**2).sum(axis=1))
    expected = np.minimum(1, 0.25 / norm.sf(np.sqrt(2)) * norm.sf(ratio))
    np.testing.assert_allclose(
        symmetric_excess_test(rows), np.where(ratio > 0, expected, 1.0)
    )


def test_a_shift_below_zero_never_makes_it_smaller():
    """Differences symmetric about a centre below zero are rejected less often."""
    rows = np.random.default_rng(1).standard_t(2, (200, 50))
    before, after = symmetric_excess_test(rows), symmetric_excess_test(rows - 0.3)
    assert np.all(after >= before)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_unit_does_not_matter(scale):
    """Neither small nor large units change the p-value."""
    rows = np.random.default_rng(2).normal(0.3, 1, (3, 40))
    np.testing.assert_allclose(
        symmetric_excess_test(scale * rows), symmetric_excess_test(rows)
    )


def test_without_an_excess_the_p_value_is_one():
    """No difference, or a gain."""
    np.testing.assert_array_equal(
        symmetric_excess_test([[0.0, 0.0], [-1.0, 0.5]]), [1.0, 1.0]
    )


def test_nan_is_refused():
    """A failed fit does not count as a difference."""
    with pytest.raises(InvalidInputError):
        symmetric_excess_test([[np.nan, 1.0]])
