"""What is worth another look, and what else a fit serves."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.race import Axis, Problem, SearchSpace
from cvst.race._tracking import (
    best_fits,
    n_fits,
    neighbours_of,
    with_siblings,
    worth_a_late_look,
    worth_confirming,
)

N_RATES, N_TREES = 40, 5


def problem(covered="smaller"):
    rate, trees = np.divmod(np.arange(N_RATES * N_TREES), N_TREES)
    axes = Axis("rate", rate, True), Axis("trees", trees, True, covered)
    return Problem(N_RATES * N_TREES, 1000, space=SearchSpace(axes))


def test_fits_are_counted_once():
    """Forty rates are forty fits, however many trees are asked for."""
    assert n_fits(problem()) == N_RATES
    assert n_fits(problem("")) == N_RATES * N_TREES
    assert n_fits(Problem(7, 100)) == 7


@pytest.mark.parametrize(
    ("covered", "expected"), [("smaller", [10, 11, 12]), ("all", range(10, 15))]
)
def test_siblings_cost_nothing_more(covered, expected):
    """Fewer trees come with more, not more with fewer; neighbours all come along."""
    assert with_siblings(problem(covered), np.array([12])).tolist() == list(expected)


def test_best_fits_are_different_fits():
    """Brute force: walk down the order and skip siblings of those before."""
    space = problem().space
    order = np.random.default_rng(0).permutation(N_RATES * N_TREES)
    expected, known = [], set()
    for index in order.tolist():
        if index // N_TREES not in known:
            known.add(index // N_TREES)
            expected.append(index)
    assert best_fits(space, order, 7).tolist() == expected[:7]


def test_tracking_counts_fits():
    """Ten tracked means the best ten rates, though five of a rate are at the top."""
    losses = np.arange(N_RATES * N_TREES, dtype=float)
    chosen = worth_confirming(problem(), losses, 10, 1, 0)
    rates = set((chosen // N_TREES).tolist())
    assert rates == set(range(10))
    plain = worth_confirming(problem(""), losses, 10, 1, 0)
    assert set((plain // N_TREES).tolist()) <= {0, 1, 2}


def test_choices_are_closed_under_siblings():
    """A configuration that takes part brings those that its fit serves as well."""
    rng = np.random.default_rng(1)
    losses = rng.random(N_RATES * N_TREES)
    setting = problem()
    for chosen in (
        worth_confirming(setting, losses, 5, 2, 3),
        worth_a_late_look(setting, losses, np.array([7, 33]), losses < 0.5),
    ):
        np.testing.assert_array_equal(with_siblings(setting, chosen), chosen)
        assert len(np.unique(chosen)) == len(chosen)


def test_neighbours_of_the_promising_are_let_in():
    """Of each representative or of none, without those that have shown nothing."""
    losses = 1 + np.random.default_rng(1).random(N_RATES * N_TREES)
    losses[50:60] = 100.0
    setting = problem("")
    none, all_of_them = np.zeros(len(losses), bool), np.ones(len(losses), bool)
    survivors = np.array([7, 33])
    alone = worth_a_late_look(setting, losses, survivors, none)
    representatives = np.setdiff1d(alone, survivors)
    together = worth_a_late_look(setting, losses, survivors, all_of_them)
    near = neighbours_of(setting, representatives, 1)
    assert set(near[losses[near] < 2]) <= set(together.tolist())
    assert not set(together.tolist()) & set(range(50, 60))
    one = representatives[:1]
    promising = none.copy()
    promising[one] = True
    some = worth_a_late_look(setting, losses, survivors, promising)
    near = neighbours_of(setting, one, 1)
    expected = set(alone.tolist()) | set(near[losses[near] < 2].tolist())
    assert set(some.tolist()) == expected


def test_unknown_losses_are_never_tracked_by_rank():
    """A failed one is not among the best, even if all may be tracked."""
    losses = np.arange(N_RATES * N_TREES, dtype=float)
    losses[::2] = np.nan
    chosen = worth_confirming(problem(""), losses, 1000, 1, 0)
    far = chosen[chosen > 20]
    assert np.isfinite(losses[far]).all()
