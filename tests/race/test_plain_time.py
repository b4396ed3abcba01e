"""The time of a plain search, from what a race has measured."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.race import (
    Look,
    LookLosses,
    Problem,
    RaceState,
    Verdict,
    plain_search_seconds,
)

N_ROWS = 1000


def raced(looks, cost, exponent, predict=0.0):
    """Return a race whose fits take ``cost[i] * (n / N)**exponent`` seconds."""
    state = RaceState(Problem(n_configurations=len(cost), n_samples=N_ROWS))
    for n_train, members in looks:
        members = np.array(members)
        look = Look(slice(0, n_train), slice(n_train, N_ROWS), n_train, members)
        n = len(members)
        seen = LookLosses(
            losses=np.zeros((n, 1)),
            mean_losses=np.zeros(n),
            fit_seconds=np.array(cost)[members] * (n_train / N_ROWS) ** exponent,
            score_seconds=np.full(n, predict * (N_ROWS - n_train)),
        )
        state = state.observe(look, seen, Verdict(np.ones(n, bool), np.ones(n)))
    return state


@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("n_folds", [5, 10])
def test_power_laws_are_recovered(exponent, n_folds):
    """By hand: the sum of all costs on the rows of a fold, and all predictions."""
    cost = [0.5, 2.0, 1.0, 8.0]
    looks = [(200, [0, 1, 2, 3]), (400, [0, 1, 3]), (800, [0, 1]), (800, [1])]
    state = raced(looks, cost, exponent, predict=1e-4)
    share = 1 - 1 / n_folds
    exact = n_folds * sum(cost) * share**exponent + 4 * 1e-4 * N_ROWS
    for alone in (None, cost[1]):
        found = plain_search_seconds(state, 1, n_folds, alone=alone)
        assert found == pytest.approx(exact, rel=0.05)


def test_rows_of_the_timed_fit_count():
    """A fit that was timed on the rows of a fold needs no growth."""
    state = raced([(800, [0, 1])], [1.0, 1.0], 2.0)
    assert plain_search_seconds(state, 0, 10, alone=3.0, rows=900) == 60.0


def test_a_typical_fit_stands_for_all():
    """Timed all over the grid: what the race says of single costs plays no part."""
    state = raced([(800, [0, 1, 2])], [1.0, 2.0, 30.0], 1.0)
    found = plain_search_seconds(state, 0, 10, alone=3.0, rows=900, typical=True)
    assert found == pytest.approx(90.0)


def test_what_never_met_the_winner_counts_as_the_others():
    """Three of four are known; the fourth has their mean cost."""
    state = raced([(800, [0, 1, 2])], [1.0, 2.0, 3.0, 9.0], 1.0)
    known = plain_search_seconds(state, 0, 10, alone=1.0, rows=900)
    assert known == pytest.approx(10 * (1 + 2 + 3 + 2))


def test_a_failed_fit_has_no_part_in_it():
    """NaN seconds are no zero and no NaN in the sum."""
    state = raced([(800, [0, 1])], [1.0, np.nan], 1.0)
    found = plain_search_seconds(state, 0, 10, alone=1.0, rows=900)
    assert found == pytest.approx(20.0)
