"""What a race remembers of its folds."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.race import Look, LookLosses, Problem, RaceState, Verdict
from cvst.race._folds import FoldRecord

STAGES = ("confirm", "climb 1")


def with_fold(state, stage, configurations, losses):
    members = np.array(configurations)
    nothing = np.full(len(members), np.nan)
    look = Look(slice(0, 5), slice(5, 9), 5, members, stage, keep_losses=True)
    seen = LookLosses(losses, losses.mean(axis=1), nothing, nothing)
    return state.observe(look, seen, Verdict(np.ones(len(members), bool), nothing))


@pytest.fixture
def state():
    """Two stages with three and two folds of unequal size, and one of no interest."""
    rng = np.random.default_rng(0)
    state = RaceState(Problem(n_configurations=9, n_samples=9))
    state = with_fold(state, "final", [0, 8], rng.random((2, 6)))
    state = with_fold(state, "confirm", [1, 2, 3, 5, 6], rng.random((5, 4)))
    second = rng.random((4, 7))
    second[3] = np.nan
    state = with_fold(state, "confirm", [1, 2, 3, 6], second)
    state = with_fold(state, "climb 1", [4, 7], rng.random((2, 4)))
    state = with_fold(state, "confirm", [1, 2], rng.random((2, 5)))
    return with_fold(state, "climb 1", [4], rng.random((1, 7)))


def losses_by_fold(state, index):
    """Return the losses of a configuration, found by going through all looks."""
    found = {}
    counts = dict.fromkeys(STAGES, 0)
    for observation in state.observations:
        look = observation.look
        if look.stage not in STAGES:
            continue
        where = look.configurations.tolist()
        if index in where:
            found[counts[look.stage]] = observation.losses[where.index(index)]
        counts[look.stage] += 1
    return found


def test_those_who_ran_folds_are_known(state):
    """Configurations that took part in the stages were seen, and no others."""
    seen = FoldRecord.of(state, STAGES).seen
    assert np.flatnonzero(seen).tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_more_folds_rank_first_then_lower_losses_over_all_rows(state):
    """The order is that of sorting by hand; a failed one is last of its equals."""
    configurations = np.array([0, 1, 2, 3, 4, 5, 6, 7])

    def key(index):
        folds = losses_by_fold(state, index)
        rows = np.concatenate([[], *folds.values()])
        mean = rows.mean() if len(rows) else np.inf
        return -len(folds), np.inf if np.isnan(mean) else mean, index

    ranking = FoldRecord.of(state, STAGES).ranking(configurations)
    assert ranking.tolist() == sorted(configurations.tolist(), key=key)


def test_differences_are_taken_on_common_folds(state):
    """Loss minus the leader's, fold by fold, also across stages."""
    members = np.array([1, 3, 4, 5])
    rows = FoldRecord.of(state, STAGES).differences(members, leader=2)
    leader = losses_by_fold(state, 2)
    for index, differences in zip(members.tolist(), rows, strict=True):
        own = losses_by_fold(state, index)
        expected = [own[fold] - leader[fold] for fold in sorted(own)]
        np.testing.assert_array_equal(differences, np.concatenate(expected))


def test_every_fold_weighs_the_same_in_the_ranking():
    """As in scikit-learn, where the score is the mean over folds, not over rows."""
    state = RaceState(Problem(n_configurations=2, n_samples=9))
    state = with_fold(state, "confirm", [0, 1], np.array([[0.0], [1.0]]))
    state = with_fold(state, "confirm", [0, 1], np.array([[0.9] * 8, [0.0] * 8]))
    ranking = FoldRecord.of(state, STAGES).ranking(np.array([0, 1]))
    assert ranking.tolist() == [0, 1]
