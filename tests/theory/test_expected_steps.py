from math import log

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.statistics import WaldTest
from cvst.theory import expected_steps, safety_zone


def exact_expected_steps(test, win_probability):
    """Follow the number of wins until either boundary; a witness without Wald."""
    lowest, mass = 0, np.ones(1)
    expected, step = 0.0, 0
    while mass.sum() > 1e-9:
        expected += mass.sum()
        step += 1
        mass = np.convolve(mass, [1 - win_probability, win_probability])
        wins = lowest + np.arange(len(mass))
        undecided = wins > test.loser_boundary(step)
        undecided &= wins < test.winner_boundary(step)
        lowest, mass = int(wins[undecided][0]), mass[undecided]
    return expected


@pytest.mark.parametrize("max_steps", [7, 10, 20, 100])
def test_the_ends_are_the_safety_zone_and_the_last_step(max_steps):
    """Appendix D: the winner's probability is chosen such that ASN(1) = S."""
    assert expected_steps(1.0, max_steps) == pytest.approx(max_steps)
    assert expected_steps(0.0, max_steps) == pytest.approx(safety_zone(max_steps))


@pytest.mark.parametrize(("loser_level", "winner_level"), [(0.1, 0.01), (0.05, 0.2)])
def test_both_hypotheses_have_walds_textbook_values(loser_level, winner_level):
    """Under the hypotheses the chances of both decisions are the levels themselves."""
    test = WaldTest(20, loser_level, winner_level)
    upper = log((1 - loser_level) / winner_level)
    lower = log(loser_level / (1 - winner_level))
    for probability, loses in [
        (0.5, 1 - winner_level),
        (test.winner_probability, loser_level),
    ]:
        drift = probability * log(2 * test.winner_probability)
        drift += (1 - probability) * log(2 * (1 - test.winner_probability))
        expected = (loses * lower + (1 - loses) * upper) / drift

        actual = expected_steps(probability, 20, loser_level, winner_level)

        assert actual == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("win_probability", [0.05, 0.4, 0.5, 0.53, 0.6, 0.95])
def test_small_steps_agree_with_the_exact_chain(win_probability):
    """With many steps the overshoot is small, and so is what Wald neglects."""
    exact = exact_expected_steps(WaldTest(60), win_probability)

    assert expected_steps(win_probability, 60) == pytest.approx(exact, rel=0.04)


def test_the_fair_game_joins_its_neighbours():
    """Where the drift vanishes Wald's formula is 0/0; its limit has to fit in."""
    fair = WaldTest(10).slope

    around = [expected_steps(fair + shift, 10) for shift in (-1e-5, 0, 1e-5)]

    assert around[1] == pytest.approx((around[0] + around[2]) / 2, rel=1e-6)


def test_extreme_chances_do_not_overflow():
    assert expected_steps(1e-300, 1000) == pytest.approx(safety_zone(1000))
    assert expected_steps(1 - 1e-16, 1000) == pytest.approx(1000)


def test_a_chance_above_one_is_refused():
    with pytest.raises(InvalidInputError, match=r"win_probability=1\.5"):
        expected_steps(1.5, 10)
