"""The time of a plain search, from what a race has measured."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.race import Look, LookLosses, Problem, RaceState, Verdict
from cvst.race.machinery import plain_search_seconds

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
    for shared in (False, True):
        found = plain_search_seconds(state, 1, n_folds, alone=cost[1], shared=shared)
        assert found == pytest.approx(exact, rel=0.05)


def around(n_fits):
    """Return the little that a plain search does around each fit."""
    return 0.0015 * n_fits


def test_a_shared_kernel_counts_as_the_final_fit():
    """Shares are small; alone the winner takes 3 s, the other twice as long."""
    state = raced([(900, [0, 1])], [0.1, 0.2], 1.0)
    found = plain_search_seconds(state, 0, 10, alone=3.0, rows=900, shared=True)
    assert found == pytest.approx(10 * (3 + 6) + around(20))
    # Without sharing, the times of the race are those of single fits.
    found = plain_search_seconds(state, 0, 10, alone=3.0, rows=900)
    assert found == pytest.approx(10 * (0.09 + 0.18) + around(20))


def test_a_race_on_few_rows_leaves_growth_to_the_final_fit():
    """All looks on a fifth of the rows: nothing there says that fits grow steeply."""
    state = raced([(200, [0, 1])], [1.0, 2.0], 3.0)
    found = plain_search_seconds(state, 0, 10, alone=1.0, rows=900)
    assert found == pytest.approx(10 * (1 + 2) + around(20))


def covering(seconds, covered, configurations):
    """Return a race of one look on all rows of a fold, with such shares."""
    problem = Problem(
        n_configurations=len(seconds),
        n_samples=N_ROWS,
        covered=covered,
        configurations=tuple(configurations),
    )
    n = len(seconds)
    look = Look(slice(0, 900), slice(900, N_ROWS), 900, np.arange(n))
    seen = LookLosses(np.zeros((n, 1)), np.zeros(n), np.array(seconds), np.zeros(n))
    verdict = Verdict(np.ones(n, bool), np.ones(n))
    return RaceState(problem).observe(look, seen, verdict)


def test_sizes_that_one_fit_covered_take_their_part_of_it():
    """100 trees took 4 s and gave 50 and 25 besides: shares of 4/3 s each.

    Another family was fitted one by one, as unequal times say.
    """
    sizes = [{"depth": 2, "trees": trees} for trees in (25, 50, 100)]
    others = [{"depth": 9, "trees": trees} for trees in (25, 100)]
    seconds = [4 / 3] * 3 + [1.0, 4.5]
    state = covering(seconds, {"trees": "smaller"}, sizes + others)
    found = plain_search_seconds(state, 0, 10)
    assert found == pytest.approx(10 * (1 + 2 + 4 + 1 + 4.5) + around(50))


def test_neighbours_take_more_than_a_share_and_less_than_the_whole():
    configurations = [{"k": k} for k in (1, 5, 9, 20)]
    state = covering([0.5] * 4, {"k": "all"}, configurations)
    found = plain_search_seconds(state, 0, 10)
    assert 10 * 4 * 0.5 < found < 10 * 4 * 2.0
    assert found == pytest.approx(10 * 4 * 1.0 + around(40))


def test_what_was_never_fitted_counts_as_the_others():
    """Three of four are known; the fourth has their mean cost."""
    state = raced([(900, [0, 1, 2])], [1.0, 2.0, 3.0, 9.0], 1.0)
    known = plain_search_seconds(state, 0, 10)
    assert known == pytest.approx(10 * 0.9 * (1 + 2 + 3 + 2) + around(40))


def test_a_failed_fit_has_no_part_in_it():
    """NaN seconds count neither as zero nor as NaN in the sum."""
    state = raced([(900, [0, 1])], [1.0, np.nan], 1.0)
    found = plain_search_seconds(state, 0, 10)
    assert found == pytest.approx(10 * 0.9 * 2 + around(20))
