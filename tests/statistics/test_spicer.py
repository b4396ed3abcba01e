"""Spicer's closed test; witnesses: the paper's recurrence, enumeration, simulation."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import comb

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError, TooFewStepsError
from cvst.statistics import SpicerTest, WaldTest, ruin_probabilities


@pytest.mark.parametrize("win_probability", [0.0, 0.3, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(
    ("fortune", "opponent_fortune", "stake"), [(2, 3, 1), (3.7, 5.2, 1.3), (0.5, 9, 2)]
)
def test_ruin_follows_the_papers_recurrence(
    win_probability, fortune, opponent_fortune, stake
):
    """Written down as in Section 7.2, with 1 won from the opponent."""

    @lru_cache
    def f(n, own, other):
        if own <= 0 or (n == 0) != (other <= 0):
            return 0.0
        if n == 0:
            return 1.0
        won = f(n - 1, own + 1, other - 1)
        lost = f(n - 1, own - stake, other + stake)
        return win_probability * won + (1 - win_probability) * lost

    game = ruin_probabilities(12, win_probability, fortune, opponent_fortune, stake)
    expected = [f(n, fortune, opponent_fortune) for n in range(1, 13)]
    np.testing.assert_allclose(game.opponent, expected, atol=1e-15)


def test_the_players_are_interchangeable_at_even_stakes():
    game = ruin_probabilities(15, 0.3, fortune=3, opponent_fortune=4, stake=1)
    mirror = ruin_probabilities(15, 0.7, fortune=4, opponent_fortune=3, stake=1)
    np.testing.assert_allclose(game.own, mirror.opponent)
    np.testing.assert_allclose(game.opponent, mirror.own)


def test_a_long_fair_game_is_the_classical_gamblers_ruin():
    """Chance to ruin the opponent: own fortune over the sum of both."""
    game = ruin_probabilities(4000, 0.5, fortune=3, opponent_fortune=7, stake=1)
    assert game.opponent.sum() == pytest.approx(0.3)
    assert game.own.sum() == pytest.approx(0.7)


def all_walks(n_steps):
    return np.array(list(product([0, 1], repeat=n_steps)))


@pytest.mark.parametrize(
    ("max_steps", "loser_level", "winner_level"),
    [(10, 0.1, 0.01), (8, 0.2, 0.05), (12, 0.05, 0.05), (7, 0.1, 0.01)],
)
def test_levels_hold_exactly_over_all_possible_traces(
    max_steps, loser_level, winner_level
):
    """Every 0/1 trace is written out and weighted; no recurrence involved."""
    test = SpicerTest(max_steps, loser_level, winner_level)
    walks = all_walks(max_steps)
    wins = walks.cumsum(axis=1)
    steps = np.arange(1, max_steps + 1)
    dropped = (wins <= test.loser_boundary(steps)).any(axis=1)
    n_wins = wins[:, -1]
    pi = test.winner_probability
    weights = pi**n_wins * (1 - pi) ** (max_steps - n_wins)
    assert weights.sum() == pytest.approx(1)
    assert weights[dropped].sum() <= loser_level

    low = wins <= test.loser_boundary(steps)
    high = wins >= test.winner_boundary(steps)
    first_low = np.where(low.any(axis=1), low.argmax(axis=1), max_steps)
    first_high = np.where(high.any(axis=1), high.argmax(axis=1), max_steps)
    assert np.mean(first_high < first_low) <= winner_level


@pytest.mark.parametrize("max_steps", [8, 10, 12])
def test_no_smaller_fortune_keeps_the_loser_level(max_steps):
    """With one outcome less to lose, too many winners are dropped: by enumeration."""
    test = SpicerTest(max_steps)
    wins = all_walks(max_steps).cumsum(axis=1)
    losses = np.arange(1, max_steps + 1) - wins
    ruin = np.max(test.stake * losses - wins, axis=1)
    n_wins = wins[:, -1]
    pi = test.winner_probability
    weights = pi**n_wins * (1 - pi) ** (max_steps - n_wins)
    worst_survivor = ruin[ruin < test.fortune].max()
    assert weights[ruin >= test.fortune].sum() <= test.loser_level
    assert weights[ruin >= worst_survivor].sum() > test.loser_level


def test_probability_of_a_drop_agrees_with_simulation():
    test = SpicerTest(20)
    rng = np.random.default_rng(0)
    n_traces = 40_000
    traces = rng.random((n_traces, 20)) < 0.5
    boundary = test.loser_boundary(np.arange(1, 21))
    simulated = (traces.cumsum(axis=1) <= boundary).any(axis=1).mean()
    exact = ruin_probabilities(20, 0.5, test.fortune, np.inf, test.stake).own.sum()
    assert simulated == pytest.approx(exact, abs=4 * np.sqrt(0.25 / n_traces))


@pytest.mark.parametrize("max_steps", [7, 10, 20, 50, 100])
def test_is_more_aggressive_than_the_open_test(max_steps):
    """Section 7.2 finds it quicker and less forgiving: what that one drops, this drops.

    The lines are parallel, so one comparison says it for every trace.
    """
    closed, open_ = SpicerTest(max_steps), WaldTest(max_steps)
    assert closed.slope == open_.slope
    assert closed.winner_probability == open_.winner_probability
    assert 0 < closed.safety_zone < open_.safety_zone


@pytest.mark.parametrize("max_steps", [7, 10, 20, 50])
def test_a_constant_loser_falls_right_after_the_safety_zone(max_steps):
    test = SpicerTest(max_steps)
    first_drop = int(test.safety_zone) + 1
    assert not test.is_loser(np.zeros((1, first_drop - 1), dtype=bool)).any()
    assert test.is_loser(np.zeros((1, first_drop), dtype=bool)).all()


def test_lines_are_the_fortunes_in_disguise():
    """A trace is ruined exactly if what it lost exceeds its fortune."""
    test = SpicerTest(12)
    walks = all_walks(12).astype(bool)
    for step in range(1, 13):
        traces = walks[:, :step]
        wins = traces.sum(axis=1)
        ruined = test.stake * (step - wins) - wins >= test.fortune
        np.testing.assert_array_equal(test.is_loser(traces), ruined)
    assert test.safety_zone == pytest.approx(test.fortune / test.stake)


def test_if_no_run_of_wins_is_convincing_none_is_accepted():
    """Three wins out of three happen to a loser with probability 1/8 > 0.1."""
    test = SpicerTest(3, loser_level=0.5, winner_level=0.1)
    assert test.winner_boundary(3) > 3
    assert comb(3, 3) / 2**3 > 0.1


def test_too_few_steps_are_refused_with_the_number_needed():
    with pytest.raises(TooFewStepsError, match=r"max_steps=6 .* at least 7 steps"):
        SpicerTest(6)


def test_impossible_levels_are_refused():
    with pytest.raises(InvalidInputError, match="loser_level=1"):
        SpicerTest(10, loser_level=1)


@pytest.mark.parametrize(
    "change", [{"fortune": 0}, {"opponent_fortune": -1}, {"stake": 0}]
)
def test_impossible_games_are_refused(change):
    rules = {"fortune": 2, "opponent_fortune": 2, "stake": 1} | change
    with pytest.raises(InvalidInputError, match="must be positive"):
        ruin_probabilities(5, 0.5, **rules)


@pytest.mark.parametrize("win_probability", [-0.1, 1.1, float("nan")])
def test_impossible_win_probabilities_are_refused(win_probability):
    with pytest.raises(InvalidInputError, match="between 0 and 1"):
        ruin_probabilities(5, win_probability, 2, 2, 1)
