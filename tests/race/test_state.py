"""Looks, observations and what a race knows."""

from __future__ import annotations

import pickle
from copy import copy
from dataclasses import fields, replace
from itertools import combinations

import numpy as np
import pytest

from cvst.race import Look, LookLosses, Observation, Problem, RaceState, Verdict
from cvst.race.machinery import shared_deciding_looks


def seen(means):
    means = np.array(means, dtype=float)
    return LookLosses(means[:, None], means, np.zeros(len(means)), np.zeros(len(means)))


def look(configurations, n_train=10, **options):
    rows = slice(0, n_train), slice(n_train, 100)
    return Look(*rows, n_train, np.array(configurations), **options)


def verdict(n, drops=()):
    top = np.ones(n, dtype=bool)
    return Verdict(top, np.full(n, np.nan), dict.fromkeys(drops, "test"))


@pytest.fixture
def state():
    return RaceState(Problem(n_configurations=4, n_samples=100))


def test_dropped_configuration_can_come_back(state):
    """Taking part in a later look revives a configuration."""
    state = state.observe(look([0, 1, 2, 3]), seen([1, 2, 3, 4]), verdict(4, [2, 3]))
    assert state.active.tolist() == [True, True, False, False]
    assert state.dropped_at.tolist() == [0, 0, 1, 1]
    assert state.drop_reasons == {2: "test", 3: "test"}

    state = state.observe(look([0, 3], 20), seen([1, 0.5]), verdict(2, [0]))
    assert state.active.tolist() == [False, True, False, True]
    assert state.dropped_at.tolist() == [2, 0, 1, 0]
    assert state.drop_reasons == {0: "test", 2: "test"}


def test_absence_is_no_drop(state):
    """What is not looked at keeps its place and has no loss there."""
    state = state.observe(look([1, 2]), seen([1, 2]), verdict(2))
    assert state.active.all()
    np.testing.assert_array_equal(state.present[:, 0], [False, True, True, False])
    np.testing.assert_array_equal(state.mean_losses[:, 0], [np.nan, 1, 2, np.nan])
    assert not state.traces[0, 0]


def test_none_is_dropped_where_all_fits_failed(state):
    """A rule that drops everyone then has nothing to go by."""
    means = [np.nan, np.nan]
    state = state.observe(look([1, 2]), seen([1, 2]), verdict(2, [1]))
    state = replace(state).observe(look([0, 3]), seen([1, 2]), verdict(2, [0, 3]))
    state = state.observe(look([2, 3], 20), seen(means), verdict(2, [2, 3]))
    assert state.active.tolist() == [False, False, True, True]
    assert state.drop_reasons == {0: "test", 1: "test"}


def test_last_configurations_cannot_be_dropped_together(state):
    """A rule that drops everyone leaves the best of the look."""
    means = [3, np.nan, 1, 2]
    state = state.observe(look([0, 1, 2, 3]), seen(means), verdict(4, [0, 1, 2, 3]))
    assert state.active.tolist() == [False, False, True, False]


def test_states_are_values(state):
    """Observing returns a new state and leaves the old one as it was."""
    state.observe(look([0, 1]), seen([1, 2]), verdict(2, [0]))
    assert state.n_looks == 0
    assert state.active.all()


def test_the_active_follow_from_the_looks_alone(state):
    """A state made of the same looks, as after a resumed race, has the same active."""
    state = state.observe(look([0, 1, 2, 3]), seen([1, 2, 3, 4]), verdict(4, [2, 3]))
    state = state.observe(look([0, 3], 20), seen([1, 0.5]), verdict(2, [0]))
    again = RaceState(state.problem, state.observations)
    np.testing.assert_array_equal(state.active, again.active)


def test_the_active_cannot_be_written_into(state):
    """They are computed once and handed out often, so the array is read-only."""
    after = state.observe(look([0, 1]), seen([1, 2]), verdict(2, [0]))
    for some in (state, after):
        with pytest.raises(ValueError, match="read-only"):
            some.active[0] = False


def test_losses_are_kept_only_on_demand(state):
    """Pointwise losses stay out of the state unless the look asks for them."""
    plain = state.observe(look([0, 1]), seen([1, 2]), verdict(2))
    kept = state.observe(look([0, 1], keep_losses=True), seen([1, 2]), verdict(2))
    assert plain.observations[0].losses is None
    np.testing.assert_array_equal(kept.observations[0].losses, [[1.0], [2.0]])


def test_standard_errors_stand_where_the_source_knew_them(state):
    """NaN in looks without them, and for configurations that were absent."""
    known = replace(seen([1, 2]), standard_errors=np.array([0.1, 0.2]))
    state = state.observe(look([0, 1]), seen([1, 2]), verdict(2))
    state = state.observe(look([1, 3]), known, verdict(2))

    expected = np.full((4, 2), np.nan)
    expected[[1, 3], 1] = 0.1, 0.2
    np.testing.assert_array_equal(state.standard_errors, expected)


@pytest.mark.parametrize(("wanted", "cut"), [(1, 7), (9, 7), (12, 15), (99, 30)])
def test_cuts_move_to_the_nearest_group_boundary(wanted, cut):
    """A subset never ends inside a group."""
    problem = Problem(1, 40, boundaries=np.array([7, 15, 30]))
    assert problem.cut(wanted) == cut


@pytest.mark.parametrize("seed", range(10))
def test_growing_sizes_move_as_little_as_possible_and_still_grow(seed):
    """Brute force over all choices of boundaries; equal to the nearest if distinct."""
    rng = np.random.default_rng(seed)
    boundaries = np.sort(rng.choice(np.arange(1, 100), size=7, replace=False))
    problem = Problem(1, 100, boundaries=boundaries)
    sizes = [20, 40, 60, 80]
    cuts = problem.cuts(sizes)
    moved = [
        np.abs(np.subtract(choice, sizes)).sum()
        for choice in combinations(boundaries.tolist(), 4)
    ]
    assert np.all(np.diff(cuts) > 0)
    assert np.abs(np.subtract(cuts, sizes)).sum() == min(moved)


def test_all_groups_may_train_where_other_rows_test():
    """A separate test set leaves no group out of the last subset."""
    boundaries = np.array([30, 60])
    assert Problem(1, 90, boundaries=boundaries).cuts([30, 89]) == [30, 60]
    problem = Problem(1, 90, n_validation=5, boundaries=boundaries)
    assert problem.cuts([30, 60, 90]) == [30, 60, 90]


def test_prefix_rows_are_views_unless_shuffled():
    """Contiguous subsets are slices; a separate test set comes behind the rows."""
    problem = Problem(1, 10, n_validation=3)
    assert problem.prefix(4) == (slice(0, 4), slice(10, 13))
    order = np.arange(10)[::-1]
    train, test = Problem(1, 10).prefix(4, order)
    assert train.tolist() == [9, 8, 7, 6]
    assert test.tolist() == [5, 4, 3, 2, 1, 0]


def test_reprs_are_short_whatever_the_race():
    """What a notebook prints of a race is a line for each look, not its rows."""
    many, rows = np.arange(99), np.arange(1_000)
    look = Look(rows[:288], rows[288:], 288, many, "first look")
    losses = LookLosses(np.ones((99, 712)), *np.ones((3, 99)), failures={3: "it broke"})
    verdict = Verdict(np.ones(99, dtype=bool), np.ones(99), dict.fromkeys(many[:60]))
    seen = Observation.of(look, losses, verdict)
    problem = Problem(
        99,
        1_000,
        folds={5: ((rows[:800], rows[800:]),) * 5},
        orders=(rows,),
        configurations=({"C": 1.0},) * 99,
        n_validation=50,
        seconds=20.0,
    )
    assert repr(look) == "<Look: stage 'first look', 288 rows, 99 configurations>"
    assert repr(replace(look, fold=2)).startswith("<Look: stage 'first look', fold 2, ")
    assert repr(losses) == "<LookLosses: 99 configurations, 1 failed>"
    assert repr(verdict) == "<Verdict: 99 configurations, 99 top, 60 dropped>"
    assert repr(seen) == (
        "<Observation: stage 'first look', 288 rows, 99 configurations, 60 dropped, "
        "1 failed>"
    )
    assert repr(problem) == (
        "<Problem: 99 configurations, 1,000 rows and 50 to test on, 20.0 s>"
    )
    assert repr(Problem(1, 1)) == "<Problem: 1 configuration, 1 row>"


def test_what_is_printed_shortly_still_compares_and_copies():
    one = Look(slice(0, 5), slice(5, 9), 5, np.arange(1))
    assert one == replace(one)
    assert one != replace(one, n_train=6)
    assert Problem(3, 10) == Problem(3, 10) != Problem(3, 11)
    assert [f.name for f in fields(one)][:2] == ["train", "test"]


def test_what_is_made_of_a_state_is_made_once_and_not_passed_on(state):
    calls = []

    def count(one):
        calls.append(one)
        return one.n_looks

    assert [state.once(count), state.once(count), len(calls)] == [0, 0, 1]
    others = [
        state.observe(look([0, 1]), seen([1, 2]), verdict(2)),
        pickle.loads(pickle.dumps(state)),
        copy(state),
    ]
    assert [one.once(count) for one in others] == [1, 0, 0]
    assert calls[1:] == others


def test_looks_that_decide_cannot_be_written_to(state):
    """They are kept with the state, as its tables are."""
    state = state.observe(look([0, 1]), seen([1, 2]), verdict(2))
    (members, looks, deciding), *_ = shared_deciding_looks(state)
    for numbers in (members, looks, deciding):
        with pytest.raises(ValueError, match="read-only"):
            numbers[0] = 3
    assert next(shared_deciding_looks(state))[0] is members


def test_those_left_were_looked_at(state):
    """What joins and waits for its first look is counted apart."""
    assert (state.n_left, state.n_waiting) == (4, 0)
    state = state.observe(look([0, 1, 2, 3]), seen([1, 2, 3, 4]), verdict(4, [2, 3]))
    state = state.admit([{"late": n} for n in range(3)])
    assert (state.n_left, state.n_waiting) == (2, 3)
    state = state.observe(look([1, 5]), seen([2, 1]), verdict(2, [1]))
    assert state.left_after.tolist() == [2, 2]
    assert (state.n_left, state.n_waiting) == (2, 2)
    assert state.n_left + state.n_waiting == state.active.sum()
    assert "2 left, 2 not yet looked at" in repr(state)
    # One that was dropped comes back with a later look.
    state = state.observe(look([2, 4, 6]), seen([1, 1, 1]), verdict(3))
    assert (state.left_after.tolist(), state.n_waiting) == ([2, 2, 5], 0)
    assert "looked at" not in repr(state)
