"""Losses that differ by rounding are ties, wherever ranks are taken."""

from __future__ import annotations

from itertools import pairwise
from math import isfinite

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvst.race import LookLosses
from cvst.race._rounding import RESOLUTION, without_rounding
from cvst.race._similarity import PrefixSimilarity
from cvst.race._winner import MeanRank


def plainly(column, scale):
    """Chain what is close, one value after the other; NaN comes last."""
    merged = column.copy()
    places = sorted(
        range(len(column)), key=lambda place: (np.isnan(column[place]), column[place])
    )
    for before, place in pairwise(places):
        if not (isfinite(column[before]) and isfinite(column[place])):
            continue
        gap = column[place] - column[before]
        if gap <= RESOLUTION * max(scale, abs(column[before])):
            merged[place] = merged[before]
    return merged


def plainly_merged(losses, pooled=False):
    """Merge a table, column after column."""
    with np.errstate(invalid="ignore"):
        means = np.abs(losses.mean(axis=1))
    scale = min(means[np.isfinite(means)], default=0.0)
    columns = [losses.ravel()] if pooled else losses.T
    merged = np.array([plainly(column, scale) for column in columns]).T
    return merged.reshape(losses.shape)


@given(seed=st.integers(0, 2**32 - 1), pooled=st.booleans(), odd=st.booleans())
def test_the_fast_way_equals_the_plain_one(seed, pooled, odd):
    """Witness: a loop over sorted values, with noise from none to visible."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 6), rng.integers(1, 9)
    noise = 10.0 ** rng.integers(-16, -7, size=shape) * rng.integers(0, 2, size=shape)
    losses = rng.integers(-1, 3, size=shape) + noise * rng.random(shape)
    if odd:
        values = rng.choice([np.nan, np.inf, -np.inf, 0.0, 1e300], size=shape)
        losses = np.where(rng.random(shape) < 0.2, values, losses)
    np.testing.assert_array_equal(
        without_rounding(losses, pooled), plainly_merged(losses, pooled)
    )


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 1.0])
def test_columns_with_close_losses_are_found_among_many(share):
    """None, few, half or all of the columns, of more than are sorted at a time."""
    rng = np.random.default_rng(0)
    losses = rng.random((4, 10_000))
    is_close = rng.random(10_000) < share
    losses[2] = np.where(is_close, losses[0] * (1 + 1e-12), losses[2])
    losses[3, ::7] = losses[1, ::7]  # ties, which need no merging
    merged = without_rounding(losses)
    np.testing.assert_array_equal(merged, plainly_merged(losses))
    assert np.sum(merged != losses) >= is_close.sum()
    assert (merged is losses) == (share == 0)


def test_what_is_not_close_stays_itself():
    losses = np.array([[0.0, np.inf, 1.0], [1e-3, np.inf, -np.inf]])
    assert without_rounding(losses) is losses


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
