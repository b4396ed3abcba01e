"""Losses that differ by rounding are ties, wherever ranks are taken."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvst.race import LookLosses
from cvst.race._rounding import RESOLUTION, without_rounding
from cvst.race._similarity import PrefixSimilarity
from cvst.race._winner import MeanRank


def plainly(column, scale):
    """Chain what is close, one value after the other."""
    merged = column.copy()
    places = sorted(range(len(column)), key=lambda place: column[place])
    for before, place in pairwise(places):
        gap = column[place] - column[before]
        if gap <= RESOLUTION * max(scale, abs(column[before])):
            merged[place] = merged[before]
    return merged


@given(seed=st.integers(0, 2**32 - 1), pooled=st.booleans())
def test_the_fast_way_equals_the_plain_one(seed, pooled):
    """Witness: a loop over sorted values, with noise from none to visible."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 6), rng.integers(1, 9)
    noise = 10.0 ** rng.integers(-16, -7, size=shape)
    losses = rng.integers(0, 3, size=shape) + noise * rng.random(shape)
    merged = without_rounding(losses, pooled)
    scale = np.abs(losses.mean(axis=1)).min()
    columns = [losses.ravel()] if pooled else losses.T
    expected = np.array([plainly(column, scale) for column in columns]).T
    np.testing.assert_array_equal(merged, expected.reshape(losses.shape))


def test_what_is_not_close_stays_itself():
    losses = np.array([[0.0, np.inf, 1.0], [1e-3, np.inf, -np.inf]])
    assert without_rounding(losses) is losses


def test_many_columns_are_merged_like_few():
    rng = np.random.default_rng(0)
    losses = rng.integers(0, 2, size=(3, 10_000)) + 1e-13 * rng.random((3, 10_000))
    np.testing.assert_array_equal(
        without_rounding(losses)[:, 5000:5010] < 0.5, losses[:, 5000:5010] < 0.5
    )
    assert len(np.unique(np.round(without_rounding(losses)[:, 7], 9))) <= 2


@pytest.mark.parametrize("test", ["friedman", "kruskal_wallis"])
def test_a_rounding_does_not_make_a_flop(test):
    """One that is worse by a last bit on every point is as good as the other."""
    rng = np.random.default_rng(0)
    best = 1 + rng.random(500)
    losses = np.array([best, best * (1 + 9e-14), best + 1])
    seen = LookLosses(losses, losses.mean(axis=1), np.zeros(3), np.zeros(3))
    top = PrefixSimilarity(0.05, test).compare(seen).top
    assert top.tolist() == [True, True, False]


def test_the_order_of_equal_means_is_that_of_the_grid():
    """Also where rounding says otherwise."""
    means = np.array([[2.0, 1.0 + 1e-15], [2.0 + 1e-14, 1.0], [3.0, 3.0]])
    np.testing.assert_array_equal(MeanRank(2).scores(means), [1.5, 1.5, 3.0])
