"""Friedman's test; witnesses: R's friedman.test, scipy, and the test of each prefix."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.stats import friedmanchisquare

from cvst.statistics import Significance, friedman_prefixes, friedman_test
from cvst.statistics._friedman import _BLOCK

NO_EVIDENCE = Significance(0.0, 1.0)


def test_agrees_with_r(r_friedman):
    for case in r_friedman:
        actual = friedman_test(np.array(case["rows"]))
        if case["p_is_nan"]:
            assert actual == NO_EVIDENCE
        else:
            np.testing.assert_allclose(actual.statistic, case["statistic"], rtol=1e-10)
            np.testing.assert_allclose(actual.p_value, case["p"], rtol=1e-9)
    assert len(r_friedman) >= 40


def test_prefixes_end_with_the_numbers_of_r(r_friedman):
    """The one-pass form, against R on the whole table."""
    for case in r_friedman:
        if not case["p_is_nan"]:
            *_, last = friedman_prefixes(np.array(case["rows"]))
            np.testing.assert_allclose(last.p_value, case["p"], rtol=1e-9)


@pytest.mark.parametrize("n_levels", [2, 5, 10**9])
@pytest.mark.parametrize("n_points", [1, 3, 50, _BLOCK, _BLOCK + 1])
def test_each_prefix_agrees_with_scipy(n_levels, n_points):
    """With many, few and no ties, and across the border of a block of columns."""
    rng = np.random.default_rng(n_points)
    losses = rng.integers(0, n_levels, (7, n_points))

    actual = list(friedman_prefixes(losses))

    assert len(actual) == 6
    for k, prefix in enumerate(actual, start=2):
        if (losses[:k] == losses[0]).all():
            assert prefix == NO_EVIDENCE
        elif k > 2:  # scipy refuses two configurations
            expected = friedmanchisquare(*losses[:k])
            np.testing.assert_allclose(prefix.statistic, expected.statistic)
            np.testing.assert_allclose(prefix.p_value, expected.pvalue)


@settings(max_examples=100, deadline=None)
@given(
    arrays(
        np.int64,
        array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=9),
        elements=st.integers(0, 4),
    )
)
def test_prefixes_are_the_tests_of_the_prefixes(losses):
    """The two forms share no ranking code, and agree to the last digit."""
    expected = [friedman_test(losses[:k]) for k in range(2, len(losses) + 1)]
    assert list(friedman_prefixes(losses)) == expected


def test_two_configurations_are_a_sign_test():
    """Witness: (wins - losses)^2 / (wins + losses), by hand; ties drop out."""
    losses = np.array([[1, 1, 1, 1, 2, 5, 5], [2, 2, 2, 2, 1, 5, 5]])
    assert friedman_test(losses).statistic == pytest.approx((4 - 1) ** 2 / 5)


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (1, 0), (1, 4), (3, 0)])
def test_without_anything_to_compare_there_is_no_evidence(shape):
    losses = np.arange(np.prod(shape), dtype=float).reshape(shape)
    assert friedman_test(losses) == NO_EVIDENCE
    expected = [NO_EVIDENCE] * max(shape[0] - 1, 0)
    assert list(friedman_prefixes(losses)) == expected


@pytest.mark.parametrize("value", [0.0, -3.0, np.inf, -np.inf])
def test_if_all_tie_there_is_no_evidence(value):
    losses = np.full((4, 6), value)
    assert friedman_test(losses) == NO_EVIDENCE
    assert list(friedman_prefixes(losses)) == [NO_EVIDENCE] * 3


def test_only_the_order_within_a_point_matters():
    """Infinite losses are the largest ranks; any monotone map gives the same digits."""
    losses = np.random.default_rng(1).integers(1, 6, (5, 40)).astype(float)
    mapped = np.exp(losses) * 1e3
    mapped[losses == 5] = np.inf
    mapped[losses == 1] = -np.inf
    assert friedman_test(mapped) == friedman_test(losses)
    assert list(friedman_prefixes(mapped)) == list(friedman_prefixes(losses))


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int32, np.float16, np.float32])
def test_dtypes_do_not_matter(dtype):
    losses = np.random.default_rng(2).integers(0, 2, (4, 30))
    assert friedman_test(losses.astype(dtype)) == friedman_test(losses)
    prefixes = list(friedman_prefixes(losses.astype(dtype)))
    assert prefixes == list(friedman_prefixes(losses))


def test_far_tail_is_tiny_and_not_nan():
    """Strict order on every point: the statistic is n_points (K - 1), whatever K.

    All comparisons of a block are true, as many as its counters must hold.
    """
    losses = np.tile(np.arange(12.0)[:, None], (1, 5000))
    results = [friedman_test(losses), *friedman_prefixes(losses)]
    for k, result in zip([12, *range(2, 13)], results, strict=True):
        assert result.statistic == pytest.approx(5000 * (k - 1))
        assert 0.0 <= result.p_value < 1e-300


def test_unread_prefixes_cost_nothing():
    """Rows beyond the prefix asked for are not looked at: they may still change."""
    losses = np.random.default_rng(3).random((300, 20))
    prefixes = friedman_prefixes(losses)
    expected = friedman_test(losses[:2])
    losses[2:] = 0.0
    assert next(prefixes) == expected


def test_memory_stays_in_proportion_to_the_table():
    """Beside the table of floats, at most two bytes per entry are held at a time."""
    losses = np.random.default_rng(4).random((400, 500))
    tracemalloc.start()
    for _ in friedman_prefixes(losses):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * losses.size
