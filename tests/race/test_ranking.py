"""One order for all: survivors, then those dropped, then those that failed."""

from __future__ import annotations

import numpy as np

from cvst.race import Look, LookLosses, Problem, RaceState, Verdict
from cvst.race.machinery import rank_all

NAN = np.nan


def state_of(columns, drops):
    """Return a race with these mean losses by look, and drops by look."""
    state = RaceState(Problem(n_configurations=len(columns[0]), n_samples=100))
    for column, dropped in zip(columns, drops, strict=True):
        who = np.flatnonzero(state.active)
        means = np.array(column)[who]
        seen = LookLosses(means[:, None], means, np.zeros(len(who)), np.zeros(len(who)))
        verdict = Verdict(
            np.isfinite(means),
            np.full(len(who), NAN),
            dict.fromkeys(dropped, "sequential test"),
        )
        look = Look(slice(0, 10), slice(10, 100), 10, who)
        state = state.observe(look, seen, verdict)
    return state


def test_late_drops_rank_before_early_ones_and_low_losses_before_high():
    """Survivors as given; 3 was dropped last; of the first, 5 lost less than 2."""
    columns = [
        [0.3, 0.2, 0.9, 0.5, 0.1, 0.8],
        [0.3, 0.2, NAN, 0.4, 0.1, NAN],
    ]
    state = state_of(columns, [[2, 5], [3]])
    assert rank_all(state, np.array([1, 4, 0])).tolist() == [3, 1, 6, 4, 2, 5]


def test_those_without_a_score_rank_last():
    """2 failed at the largest size: it lasted longest, but it has no score there."""
    columns = [
        [0.3, 0.9, 0.2, NAN],
        [0.3, NAN, 0.2, NAN],
        [0.3, NAN, NAN, NAN],
    ]
    state = state_of(columns, [[1], [], [2, 3]])
    assert rank_all(state, np.array([0])).tolist() == [1, 2, 3, 4]


def test_ties_keep_the_order_of_the_grid():
    """Equal losses, equal fate."""
    state = state_of([[0.1, 0.5, 0.5, 0.5]], [[3, 1, 2]])
    assert rank_all(state, np.array([0])).tolist() == [1, 2, 3, 4]
