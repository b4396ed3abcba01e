"""One order for all: survivors, then those dropped, then those that failed."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.race import Look, LookLosses, Problem, RaceState, Verdict
from cvst.race._ranking import rank_all
from cvst.race.machinery import as_much_as, evidence

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


def folds_of(state, stage, folds, drops=None):
    """Return the race after looks at folds: each a mean loss by configuration."""
    for number, means in enumerate(folds):
        who = np.array(sorted(means))
        losses = np.array([means[one] for one in who.tolist()])
        zeros = np.zeros(len(who))
        seen = LookLosses(losses[:, None], losses, zeros, zeros)
        dropped = dict.fromkeys((drops or {}).get(number, ()), "paired test")
        verdict = Verdict(np.isfinite(losses), zeros + NAN, dropped)
        # The same folds of the same rows for all stages.
        test = slice(80 + 5 * number, 85 + 5 * number)
        look = Look(slice(0, 80), test, 80, who, stage, is_fold=True)
        state = state.observe(look, seen, verdict)
    return state


def confirmed_and_climbing():
    """Return two that were confirmed, and two neighbours that ran the folds later.

    3 fell in its first fold, and 1 after the last; 2 beat it on the very same folds.
    """
    state = RaceState(Problem(n_configurations=4, n_samples=100))
    state = folds_of(state, "confirm", [{0: 0.1, 1: 0.4}, {0: 0.1, 1: 0.4}], {1: [1]})
    climb = [{2: 0.2, 3: 0.2}, {2: 0.2}]
    return folds_of(state, "climb 1", climb, {0: [3], 1: [2]})


@pytest.mark.parametrize("by_mean", [True, False])
def test_the_same_folds_in_another_look_are_the_same_evidence(by_mean):
    """The mean decides there, and fewer folds come after, however late they were."""
    state = confirmed_and_climbing()
    assert evidence(state)[0].tolist() == [2, 2, 2, 1]
    assert evidence(state)[1].tolist() == [80] * 4
    assert rank_all(state, np.array([0]), by_mean=by_mean).tolist() == [1, 3, 2, 4]


def test_survivors_with_less_evidence_rank_behind_where_means_rank():
    """3 is left after one fold, 1 and 2 fell after two."""
    state = RaceState(Problem(n_configurations=4, n_samples=100))
    three = {0: 0.1, 1: 0.4, 2: 0.3}
    state = folds_of(state, "confirm", [three, three], {1: [1, 2]})
    state = folds_of(state, "climb 1", [{3: 0.05}])
    left = np.array([0, 3])
    assert rank_all(state, left, by_mean=True).tolist() == [1, 3, 2, 4]
    assert rank_all(state, left).tolist() == [1, 4, 3, 2]


@pytest.mark.parametrize("by_mean", [True, False])
def test_those_never_looked_at_rank_last(by_mean):
    """They are not dropped, and still behind all that have a score."""
    state = state_of([[0.1, 0.5, 0.3]], [[1]]).admit([{"joined": 1}])
    left = np.array([0, 3, 2])
    assert rank_all(state, left, by_mean=by_mean).tolist() == [1, 3, 2, 4]


def test_a_broken_off_final_is_no_evidence():
    """As it makes no scores, those that entered it have no more folds than others."""
    state = RaceState(Problem(n_configurations=2, n_samples=100))
    state = folds_of(state, "confirm", [{0: 0.1, 1: 0.2}] * 2)
    look = Look(
        slice(0, 90), slice(90, 99), 90, np.array([0, 1]), "final", is_fold=True,
        fewest_folds=2,
    )  # fmt: skip
    means = np.array([0.3, 0.1])
    seen = LookLosses(means[:, None], means, np.zeros(2), np.zeros(2))
    begun = state.observe(look, seen, Verdict(means > 0, means + NAN))
    assert [one.tolist() for one in evidence(begun)] == [[2, 2], [80, 80]]
    assert as_much_as(begun, 0)[0].tolist() == [True, True]
