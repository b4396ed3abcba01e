"""A race without fits has the looks of one between configurations that are alike."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.race import (
    CVST,
    CrossValidation,
    Look,
    LookLosses,
    Problem,
    RaceState,
    Strategy,
    Verdict,
    race,
)
from cvst.race._rehearsal import MOST_LOOKS, rehearse


class Same(Strategy):
    """Look at the same rows again and again; each test is told by a function."""

    def __init__(self, n_looks=None, judged=None):
        self.n_looks = n_looks
        self.judged = judged

    def stop_reason(self, state):
        return "over" if state.n_looks == self.n_looks else None

    def next_look(self, state):
        return Look(slice(0, 10), slice(10, 30), 10, np.flatnonzero(state.active))

    def judge(self, state, look, seen):
        if self.judged is not None:
            self.judged(state, seen)
        n_looked = len(look.configurations)
        return Verdict(np.ones(n_looked, dtype=bool), np.full(n_looked, np.nan))


def folds(n_folds, n_samples):
    rows = np.arange(n_samples)
    return tuple(
        (np.delete(rows, test), test) for test in np.array_split(rows, n_folds)
    )


def test_it_has_the_looks_that_a_strategy_plans_itself():
    problem = Problem(7, 103, folds={5: folds(5, 103)})
    strategy = CrossValidation(5)
    assert rehearse(strategy, problem) == strategy.planned_looks(problem)


def test_it_has_the_looks_of_a_real_race_between_equals():
    """Losses that all configurations share come from outside."""

    class Shared:
        def admit(self, configurations):
            raise AssertionError

        def observe(self, look):
            row = np.random.default_rng(look.n_train).uniform(size=look.n_test)
            losses = np.tile(row, (len(look.configurations), 1))
            seconds = np.zeros(len(losses))
            return LookLosses(losses, losses.mean(axis=1), seconds, seconds)

    problem, strategy = Problem(6, 500), CVST(stopping="never")
    *_, last = race(RaceState(problem), Shared(), strategy)
    seen = [
        (one.look.n_train, len(one.look.configurations)) for one in last.observations
    ]
    planned = rehearse(strategy, problem)
    assert [(one.n_train, one.max_configurations) for one in planned] == seen
    assert len(seen) == 10


def test_a_race_without_an_end_is_planned_up_to_a_limit():
    assert len(rehearse(Same(), Problem(3, 30))) == MOST_LOOKS


def test_a_strategy_that_fails_is_planned_up_to_there(caplog):
    def judged(state, seen):
        assert state.n_looks < 2, "too many"

    with caplog.at_level("INFO", "cvst"):
        assert len(rehearse(Same(9, judged), Problem(3, 30))) == 2
    assert "planned up to look 2" in caplog.text
    assert "AssertionError: too many" in caplog.text


def test_a_strategy_that_fails_at_once_has_its_first_look():
    def judged(state, seen):
        raise ZeroDivisionError

    (look,) = rehearse(Same(9, judged), Problem(3, 30))
    assert (look.n_train, look.n_test, look.max_configurations) == (10, 20, 3)


def test_an_error_of_the_first_look_is_told():
    class Broken(Same):
        def next_look(self, state):
            raise KeyError("rows")

    with pytest.raises(KeyError, match="rows"):
        Broken(1).planned_looks(Problem(3, 30))


def test_the_strategy_itself_is_not_asked():
    """What it keeps, though it should not, is as before."""

    class Keeping(Same):
        seen = ()

        def judge(self, state, look, seen):
            self.seen = (*self.seen, state.n_looks)
            return super().judge(state, look, seen)

    strategy = Keeping(3)
    assert len(strategy.planned_looks(Problem(3, 30))) == 3
    assert strategy.seen == ()


def test_large_looks_are_rehearsed_on_fewer_rows():
    sizes = []

    class Large(Same):
        def next_look(self, state):
            return Look(slice(0, 10), slice(10, 10**9), 10, np.arange(1000))

    def judged(state, seen):
        sizes.append(seen.losses.size)

    (look,) = rehearse(Large(1, judged), Problem(1000, 10**9))
    assert look.n_test == 10**9 - 10
    assert max(sizes, default=0) <= 200_000


def test_a_race_that_is_over_at_once_has_its_first_look():
    (look,) = rehearse(Same(0), Problem(3, 30))
    assert look.max_configurations == 3
