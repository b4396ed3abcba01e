"""Losses of 0 and 1 as bits: what is read is what was kept."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from cvst import RaceGridSearchCV
from cvst.race import Problem
from cvst.race._bits import BitTable, compact
from cvst.race._leader_tests import Excesses, excess_p_values


@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_bits_read_like_the_losses_themselves(seed):
    """Row by row, some rows, all of them, and after a pickle."""
    rng = np.random.default_rng(seed)
    losses = rng.integers(0, 2, size=rng.integers(1, 20, size=2)).astype(float)
    losses[rng.random(len(losses)) < 0.2] = np.nan
    table = pickle.loads(pickle.dumps(compact(losses)))
    assert isinstance(table, BitTable)
    np.testing.assert_array_equal(table, losses)
    np.testing.assert_array_equal(list(table), losses)
    np.testing.assert_array_equal(table[::2], losses[::2])
    np.testing.assert_array_equal(table[[0, -1]], losses[[0, -1]])
    assert (len(table), table.shape, table[0].dtype) == (
        len(losses),
        losses.shape,
        np.float64,
    )


def test_bits_take_a_sixty_fourth():
    losses = np.ones((50, 6400))
    assert 60 * compact(losses).nbytes < losses.nbytes


@pytest.mark.parametrize("odd", [0.5, 2.0, -1.0, np.inf, np.nan])
def test_other_losses_stay_as_they_are(odd):
    losses = np.zeros((3, 4))
    losses[2, 1] = odd
    assert compact(losses) is losses


@pytest.mark.parametrize("binary", [True, False])
def test_tests_in_blocks_equal_those_of_the_whole(binary, monkeypatch):
    """To the last bit, whatever the size of a block."""
    rng = np.random.default_rng(1)
    losses = rng.random((9, 300)) + np.linspace(0, 0.3, 9)[:, None]
    losses = (losses > 0.5).astype(float) if binary else losses
    losses[4] = np.nan
    losses[5] = losses[0]
    whole = excess_p_values(list(losses - losses[0]))
    for size in (1, 500, 700, 10_000):
        monkeypatch.setattr("cvst.race._leader_tests.LARGEST_BLOCK", size)
        np.testing.assert_array_equal(excess_p_values(Excesses(losses, 0)), whole)
    assert np.isfinite(whole).sum() == 6


@pytest.mark.parametrize("strategy", ["track_and_confirm", "cvst"])
def test_a_look_has_no_more_losses_than_the_memory_holds(strategy, monkeypatch):
    """Looks at subsets test fewer rows, as planned; folds test all of theirs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = X[:, 0] + rng.normal(size=600)
    monkeypatch.setattr("cvst.race._problem.LARGEST_LOOK", 4000)
    monkeypatch.setattr("cvst.race._problem.FEWEST_TESTED", 50)
    grid = {"alpha": np.logspace(-3, 3, 40)}
    search = RaceGridSearchCV(Ridge(), grid, strategy=strategy, random_state=0)
    looks = [one.look for one in search.fit(X, y).race_.observations]
    subsets = [look for look in looks if not look.is_fold]
    assert subsets[0].n_test == 100
    assert all(
        look.n_test <= max(50, 4000 // len(look.configurations)) for look in subsets
    )
    planned = search.strategy_.planned_looks(search.race_.problem)
    assert planned[0].n_test == 100
    folds = [look for look in looks if look.is_fold]
    assert all(look.n_test in (60, 120) for look in folds)


def test_shuffled_subsets_are_bounded_too():
    problem = Problem(10_000, 400_000, orders=(np.arange(400_000)[::-1],))
    train, test = problem.bounded_prefix(1000, 10_000, problem.orders[0])
    assert (len(train), len(test)) == (1000, 2000)
    assert problem.bounded_prefix(1000, 2) == problem.prefix(1000)
