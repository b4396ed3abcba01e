"""What failed on a subset gets a second chance on more rows."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.race import Axis, Look, LookLosses, Problem, RaceState, SearchSpace, Verdict
from cvst.race._second_chance import evenly, known_losses, second_chances

RATE, TREES = np.divmod(np.arange(24), 3)
SPACE = SearchSpace((Axis("rate", RATE, True), Axis("trees", TREES, True, "smaller")))


def looked(state, losses, configurations=None):
    losses = np.asarray(losses, dtype=float)
    if configurations is None:
        configurations = np.arange(len(losses))
    look = Look(slice(0, 9), slice(9, 10), 9, np.asarray(configurations))
    nothing = np.zeros(len(losses))
    seen = LookLosses(losses[:, None], losses, nothing, nothing)
    return state.observe(look, seen, Verdict(np.isfinite(losses), nothing))


def test_last_failures_return_and_recovered_ones_need_not():
    """What counts is the last look that a configuration took part in."""
    state = RaceState(Problem(5, 10))
    state = looked(state, [1, np.nan, np.nan, 2, np.nan])
    state = looked(state, [1, 3, np.nan], [0, 1, 2])
    np.testing.assert_array_equal(second_chances(state, 9), [2, 4])


@pytest.mark.parametrize("most", [0, 1, 3, 8, 99])
def test_chances_count_fits_and_are_spread_along_the_grid(most):
    """Siblings come together; the first and the last fit are among a few."""
    chosen = evenly(SPACE, np.arange(24), most)
    rates = np.unique(RATE[chosen])
    assert len(rates) == min(most, 8)
    assert len(chosen) == 3 * len(rates)
    if most > 1:
        assert {0, 7} <= set(rates.tolist())


def test_losses_of_a_look_without_any_fit_say_nothing():
    """The look before it is the last that is known."""
    state = RaceState(Problem(2, 10))
    assert known_losses(looked(state, [np.nan, np.nan])) is None
    state = looked(looked(state, [1, 2]), [np.nan, np.nan])
    np.testing.assert_array_equal(known_losses(state), [1, 2])
