"""Kruskal and Wallis' test; witnesses: scipy and the test of each prefix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.stats import kruskal

from cvst.statistics import (
    Significance,
    kruskal_wallis_prefixes,
    kruskal_wallis_test,
)

NO_EVIDENCE = Significance(0.0, 1.0)


@pytest.mark.parametrize("n_levels", [2, 7, 10**9])
@pytest.mark.parametrize("n_points", [1, 2, 40])
def test_each_prefix_agrees_with_scipy(n_levels, n_points):
    rng = np.random.default_rng(n_points)
    losses = rng.integers(0, n_levels, (6, n_points))

    actual = list(kruskal_wallis_prefixes(losses))

    assert len(actual) == 5
    for k, prefix in enumerate(actual, start=2):
        if len(np.unique(losses[:k])) == 1:
            assert prefix == NO_EVIDENCE
        else:
            expected = kruskal(*losses[:k])
            np.testing.assert_allclose(
                [prefix.statistic, prefix.p_value],
                [expected.statistic, expected.pvalue],
                atol=1e-12,
            )


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
    expected = [kruskal_wallis_test(losses[:k]) for k in range(2, len(losses) + 1)]
    assert list(kruskal_wallis_prefixes(losses)) == expected


def test_pairing_is_ignored():
    """Shuffling the points of one configuration changes nothing."""
    rng = np.random.default_rng(0)
    losses = rng.random((4, 60))
    shuffled = rng.permuted(losses, axis=1)
    assert kruskal_wallis_test(shuffled) == kruskal_wallis_test(losses)
    prefixes = list(kruskal_wallis_prefixes(shuffled))
    assert prefixes == list(kruskal_wallis_prefixes(losses))


def test_only_the_order_matters():
    """Infinite losses are the largest ranks; any monotone map gives the same digits."""
    losses = np.random.default_rng(1).integers(1, 6, (5, 40)).astype(float)
    mapped = np.exp(losses) * 1e3
    mapped[losses == 5] = np.inf
    mapped[losses == 1] = -np.inf
    assert kruskal_wallis_test(mapped) == kruskal_wallis_test(losses)
    prefixes = list(kruskal_wallis_prefixes(mapped))
    assert prefixes == list(kruskal_wallis_prefixes(losses))


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (1, 0), (1, 4), (3, 0)])
def test_without_anything_to_compare_there_is_no_evidence(shape):
    losses = np.arange(np.prod(shape), dtype=float).reshape(shape)
    assert kruskal_wallis_test(losses) == NO_EVIDENCE
    expected = [NO_EVIDENCE] * max(shape[0] - 1, 0)
    assert list(kruskal_wallis_prefixes(losses)) == expected


@pytest.mark.parametrize("value", [0.0, np.inf])
def test_if_all_losses_are_equal_there_is_no_evidence(value):
    losses = np.full((4, 6), value)
    assert kruskal_wallis_test(losses) == NO_EVIDENCE
    assert list(kruskal_wallis_prefixes(losses)) == [NO_EVIDENCE] * 3


def test_far_tail_is_tiny_and_not_nan():
    losses = np.arange(40 * 1000.0).reshape(40, 1000)
    for result in (kruskal_wallis_test(losses), *kruskal_wallis_prefixes(losses)):
        assert 0.0 <= result.p_value < 1e-300


def test_unread_prefixes_cost_nothing():
    """Rows beyond the prefix asked for are not looked at: they may still change."""
    losses = np.random.default_rng(3).random((300, 20))
    prefixes = kruskal_wallis_prefixes(losses)
    expected = kruskal_wallis_test(losses[:2])
    losses[2:] = 0.0
    assert next(prefixes) == expected
