"""Means freed from the rows that each configuration was seen on."""

from __future__ import annotations

import numpy as np

from cvst.race import Look, LookLosses, Problem, RaceState, Verdict
from cvst.race.machinery import comparable_means

OWN = np.array([0.1, 0.2, 0.4, 0.6])


def raced(looks):
    """Return a race whose losses are a number of the configuration plus one of rows."""
    state = RaceState(Problem(n_configurations=5, n_samples=1000))
    for n_train, members, shift in looks:
        members = np.array(members)
        n = len(members)
        losses = OWN[members] + shift
        seen = LookLosses(losses[:, None], losses, np.ones(n), np.ones(n))
        look = Look(slice(0, n_train), slice(n_train, 1000), n_train, members)
        state = state.observe(look, seen, Verdict(np.ones(n, bool), np.ones(n)))
    return state


def test_numbers_of_configurations_are_found_again():
    """Up to the rows that most have seen, whose number counts 0."""
    state = raced([(100, [0, 1, 2, 3], 0.3), (200, [0, 1, 2], 0.1), (400, [0, 1], 0.0)])
    means = comparable_means(state)
    np.testing.assert_allclose(means[:4], OWN + 0.3)
    assert np.isnan(means[4])


def test_other_tables_are_treated_alike():
    """Scores of 1 - loss have means of 1 - mean."""
    state = raced([(100, [0, 1, 2, 3], 0.3), (200, [0, 2, 3], 0.1)])
    means = comparable_means(state, 1 - state.mean_losses)
    np.testing.assert_allclose(means[:4], 1 - comparable_means(state)[:4])


def test_nothing_is_known_before_the_first_look():
    state = RaceState(Problem(n_configurations=5, n_samples=1000))
    assert np.isnan(comparable_means(state)).all()
