"""The first looks of a race against the clock, by a clock that is played here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from cvst.race import AtMost, LookLosses, Problem, RaceState, race
from cvst.race.machinery import ProposeAndConfirm

# Folds train on 32,000 of these, and the rungs below on 8,000, 2,000 and 500.
N_ROWS = 40_000


class Draws:
    """Proposes numbers by chance."""

    def propose(self, trials, count, seed):
        del trials
        rng = np.random.default_rng(list(seed))
        return [[{"x": float(x)}] for x in rng.random(count)]

    def seconds(self, configurations, trials):
        return np.full(len(configurations), trials[0].seconds)


@dataclass
class Played:
    """A worker whose fits take some seconds for a thousand rows, to some power.

    The first one takes some seconds more, for what is loaded.
    """

    per_thousand: float
    power: float = 1.0
    loading: float = 0.0
    now: float = 0.0
    waiting: list = field(default_factory=list)

    def admit(self, configurations):
        del configurations

    def has_room(self, n_pending):
        return not n_pending

    def begin(self, look, alone):
        del alone
        self.waiting.append(look)

    def take(self):
        look = self.waiting.pop()
        count = len(look.configurations)
        each = self.per_thousand * (look.n_train / 1000) ** self.power
        seconds = count * each + (self.loading if self.now == 0 else 0.0)
        self.now += seconds
        losses = np.ones((count, look.n_test)) + look.configurations[:, None]
        return look, LookLosses(
            losses,
            losses.mean(axis=1),
            np.full(count, seconds / count),
            np.zeros(count),
            seconds=seconds,
            elapsed=self.now,
        )


def run(seconds, worker, strategy, *, n_rows=N_ROWS, n_looks=6, start=({"x": 0.0},)):
    """Return the last state of a race that begins with some configurations."""
    rows = np.arange(n_rows)
    folds = tuple((rows[rows % 5 != k], rows[rows % 5 == k]) for k in range(5))
    problem = Problem(
        n_configurations=len(start),
        n_samples=n_rows,
        folds={5: folds},
        seconds=seconds,
        configurations=start,
    )
    *_, last = race(RaceState(problem), worker, AtMost(strategy, n_looks))
    return last


def sizes_looked_at(seconds, worker, n_rows=N_ROWS, **settings):
    """Return the training rows of the first looks, up to the first proposal."""
    strategy = ProposeAndConfirm(Draws(), refits=False, **settings)
    last = run(seconds, worker, strategy, n_rows=n_rows)
    looks = [one.look for one in last.observations]
    return [look.n_train for look in looks if look.stage == "warm up"]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        # .5 s for 500 rows, and so 2, 8 and 32 s for the others. Less than a hundredth
        # of the time: not repeated. Each may take a fifth of what is left.
        (400, [500, 2000, 8000, 32000]),
        # 32 s are more than a fifth of 100.
        (100, [500, 2000, 8000]),
        # Between 1 and 15 %, the first is repeated.
        (30, [500, 500, 2000]),
        # The second size may take half of the time, the third a fifth: 8 of 7 s.
        (10, [500, 500, 2000]),
        # 2 of 3 s would be more than half.
        (4, [500, 500]),
        # .5 s of 2 are repeated, since they are short: something was loaded, perhaps.
        (2, [500, 500]),
        # More than three tenths are not to be had twice.
        (1.2, [500]),
    ],
)
def test_growing_rows_while_that_is_cheap(seconds, expected):
    """Shares of the time decide about each size."""
    assert sizes_looked_at(seconds, Played(1.0)) == expected


def test_a_long_first_look_is_repeated_only_up_to_fifteen_hundredths():
    """What is loaded once takes some seconds at most: 5 s of 25 are no such thing."""
    assert sizes_looked_at(25, Played(10.0))[:2] != [500, 500]
    assert sizes_looked_at(40, Played(10.0))[:2] == [500, 500]


def test_what_was_loaded_once_does_not_count_twice():
    """Two seconds of imports in ten: the second look at 500 rows tells what they take.

    Without it 2,000 rows would seem to take four times as long, and more than there is.
    """
    assert sizes_looked_at(10, Played(0.1, loading=2.0)) == [500, 500, 2000, 8000]


def test_boosters_look_at_a_second_size_where_others_stop():
    """Of 8.2 s that are left it is forecast to take 3.0 s, and not 5.3."""
    assert sizes_looked_at(11, Played(2.0, 0.6), exponent=0.6)[-1] == 2000
    assert sizes_looked_at(11, Played(2.0, 0.6))[-1] == 500


def test_the_last_size_may_take_less_of_the_time_than_one_before():
    """The whole fold as the second size: three tenths and not a half."""
    # Half a second, twice, then two.
    assert sizes_looked_at(7.8, Played(1.0), n_rows=2500) == [500, 500, 2000]
    assert sizes_looked_at(7.4, Played(1.0), n_rows=2500) == [500, 500]


@pytest.mark.parametrize(("steepest", "expected"), [(1.0, 8000), (2.0, 2000)])
def test_a_steep_growth_is_believed_where_it_is_known(steepest, expected):
    """Fits with the square of the rows: .25, 4 and 64 s for the first three sizes.

    Where it is not believed, 8,000 rows seem to take 16 s of 140, and take 64.
    """
    worker = Played(1.0, power=2.0)
    found = sizes_looked_at(140, worker, steepest=steepest)
    assert max(found) == expected


def test_the_final_fit_of_a_steep_learner_is_forecast_as_one():
    """40,000 rows take 1,600 s: far more than four times those of 8,000."""

    def forecast(steepest):
        strategy = ProposeAndConfirm(Draws(), steepest=steepest)
        last = run(4000.0, Played(1.0, 2.0), strategy, n_looks=3)
        return strategy.refit_seconds(last)

    assert forecast(2.0) == pytest.approx(1280, rel=0.01)
    assert forecast(1.0) < 400


def test_a_final_fit_that_is_late_in_any_case_leaves_half_of_the_time():
    """1,600 s of 140: the search would end at once, and be late by as much."""
    worker = Played(1.0, 2.0)
    strategy = ProposeAndConfirm(Draws(), steepest=2.0)
    last = run(140.0, worker, strategy, n_looks=1000)
    assert strategy.refit_seconds(last) > 140
    assert last.n_configurations > 10
    assert 60 < last.elapsed <= 70


def test_a_final_fit_that_can_be_in_time_is():
    """8,000 rows and a power of one: 10 s of 40 for the final fit."""
    strategy = ProposeAndConfirm(Draws())
    last = run(40.0, Played(1.0), strategy, n_rows=10_000, n_looks=1000)
    assert last.elapsed + 10 <= 40
    assert last.n_configurations > 5


@dataclass
class Boosted(Played):
    """Rounds for which one fit serves, the fewest of them the best."""

    def take(self):
        look, seen = super().take()
        count = len(look.configurations)
        self.now -= (1 - 1 / count) * seen.seconds
        return look, replace(
            seen,
            losses=seen.losses[::-1],
            mean_losses=seen.mean_losses[::-1],
            fit_seconds=seen.fit_seconds / count,
            seconds=seen.seconds / count,
            elapsed=self.now,
        )


@pytest.mark.parametrize(("rounds", "share"), [((100, 50, 20), 0.2), ((100, 1), 0.1)])
def test_the_final_fit_has_the_rounds_that_are_best(rounds, share):
    """Looks have the most of them, and the final fit a tenth of these or more."""
    members = tuple({"rounds": n, "x": 0.0} for n in rounds)
    strategy = ProposeAndConfirm(Draws(), rounds=["rounds"])
    several, one = (
        strategy.refit_seconds(
            run(4000.0, Boosted(1.0), strategy, n_looks=3, start=start)
        )
        for start in (members, members[:1])
    )
    assert several == pytest.approx(share * one)


class Averages(Draws):
    """Hears how many members its proposals should have."""

    def __init__(self):
        self.told = []

    def enlarge(self, n_members):
        self.told.append(n_members)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        # A fold takes 32 s with 50 members. Four are confirmed on four more folds, the
        # fewer the more folds they have: 9.2 fits, 1.15 times as long to be safe. They
        # have three tenths of 4,000 s.
        ({"refits": False}, 50 * 1200 / (1.15 * 32 * 9.2)),
        # The final fit has five quarters of the rows.
        ({}, 50 * 1200 / (1.15 * 32 * (9.2 + 1.25))),
        # All of 20 were there.
        ({"refits": False, "own_rounds": 20}, 20 * 1200 / (1.15 * 32 * 9.2)),
    ],
)
def test_averages_have_as_many_members_as_there_is_time_for(settings, expected):
    source = Averages()
    settings = {"screen_rounds": 50, "own_rounds": 100, **settings}
    run(4000.0, Played(1.0), ProposeAndConfirm(source, **settings))
    assert source.told[0] == int(expected)
