from itertools import product

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.statistics import SpicerTest, WaldTest
from cvst.theory import (
    drop_error_bound,
    false_negative_rate,
    first_drop,
    simulate_false_negatives,
)


@pytest.mark.parametrize("max_steps", [10, 20])
def test_nothing_is_lost_inside_the_safety_zone(max_steps):
    """Lemma 1: not one of the simulated configurations, and a rate of exactly zero."""
    test = WaldTest(max_steps)
    inside = range(1, first_drop(test))

    result = simulate_false_negatives(test, change_points=inside)

    assert np.all(result.rates == 0)
    for change_point, before in product(inside, (0.0, 0.1, 0.5)):
        assert false_negative_rate(test, change_point, before) == 0


def test_some_are_lost_right_after_the_safety_zone():
    result = simulate_false_negatives(WaldTest(10), change_points=[3])

    assert np.all(result.rates > 0.1)


@pytest.mark.parametrize("max_steps", [10, 20])
@pytest.mark.parametrize("after", [1.0, 0.9])
@pytest.mark.parametrize("make_test", [WaldTest, SpicerTest])
def test_the_simulation_agrees_with_the_computed_rates(make_test, max_steps, after):
    """Witness: the chain of probabilities, within four standard errors."""
    test = make_test(max_steps)

    result = simulate_false_negatives(test, win_probability_after=after)

    assert result.rates.shape == (5, max_steps - 1)
    for row, before in enumerate(result.win_probabilities_before):
        for column, change in enumerate(result.change_points):
            exact = false_negative_rate(test, int(change), before, after)
            error = np.sqrt(exact * (1 - exact) / result.n_resamples)
            assert abs(result.rates[row, column] - exact) <= 4 * error + 1e-12


def test_the_computed_rate_is_the_weight_of_the_dropped_traces():
    """Witness: all traces of eight steps, judged by the test of the race itself."""
    test = WaldTest(8)
    traces = np.array(list(product([False, True], repeat=8)))
    chances = np.where(np.arange(8) < 5, 0.3, 0.8)
    weights = np.prod(np.where(traces, chances, 1 - chances), axis=1)
    dropped = np.zeros(len(traces), dtype=bool)
    for step in range(1, 9):
        dropped |= test.is_loser(traces[:, :step])

    assert false_negative_rate(test, 5, 0.3, 0.8) == pytest.approx(
        weights[dropped].sum()
    )


def test_the_bound_dominates_the_simulated_rate():
    """Theorem 1 takes the worst that can happen in the zone, so chance does better."""
    for chance in (0.9, 0.95, 0.99):
        result = simulate_false_negatives(
            WaldTest(10), change_points=[1, 2], win_probability_after=chance
        )

        assert np.all(result.rates < drop_error_bound(chance, 10))


@pytest.mark.parametrize("max_steps", [10, 20])
def test_the_closed_test_loses_more_than_the_open_one(max_steps):
    """Section 7.2: the price of its speed."""
    closed = simulate_false_negatives(SpicerTest(max_steps), n_resamples=2000).rates
    opened = simulate_false_negatives(WaldTest(max_steps), n_resamples=2000).rates

    assert np.all(closed >= opened)
    assert np.any(closed > opened + 0.3)


def test_losses_grow_with_the_change_point_and_shrink_with_the_chance_before():
    """Common random numbers make both hold exactly, not on average only."""
    rates = simulate_false_negatives(WaldTest(20), n_resamples=2000).rates

    assert np.all(np.diff(rates, axis=1) >= 0)
    assert np.all(np.diff(rates, axis=0) <= 0)


def test_a_seed_fixes_the_simulation():
    first, again, other = (
        simulate_false_negatives(WaldTest(10), n_resamples=500, seed=seed).rates
        for seed in (1, 1, 2)
    )

    np.testing.assert_array_equal(first, again)
    assert np.any(first != other)


def test_bad_input_is_refused():
    with pytest.raises(InvalidInputError, match="change_point=11"):
        false_negative_rate(WaldTest(10), 11, 0.1)
    with pytest.raises(InvalidInputError, match="change_point=-1"):
        simulate_false_negatives(WaldTest(10), change_points=[2, -1])
    with pytest.raises(InvalidInputError, match="n_resamples=0"):
        simulate_false_negatives(WaldTest(10), n_resamples=0)
    with pytest.raises(InvalidInputError, match=r"win probability=1\.5"):
        simulate_false_negatives(WaldTest(10), win_probabilities_before=[1.5])
