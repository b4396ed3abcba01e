import numpy as np
import pytest

from cvst.exceptions import InvalidInputError, TooFewStepsError
from cvst.statistics import WaldTest
from cvst.theory import first_drop, loser_level_for_safety_zone, safety_zone


@pytest.mark.parametrize(
    ("max_steps", "winner_level", "loser_level", "expected"),
    [
        (5, 0.05, 0.05, 1.81822493417459),
        (5, 0.1, 0.2, 2.07434649299603),
        (10, 0.01, 0.1, 2.72926178377305),
        (10, 0.05, 0.05, 7.02516308320785),
        (10, 0.001, 0.1, 0.628293660302176),
    ],
)
def test_the_zone_is_that_of_the_r_package(
    max_steps, winner_level, loser_level, expected
):
    """Witness: the intercept over the slope in the authors' R package."""
    actual = safety_zone(max_steps, loser_level, winner_level)

    assert actual == pytest.approx(expected, rel=1e-12)


def test_the_zone_is_the_one_quoted_in_the_paper():
    """Section 5.1: 0.27 of 10 steps and 0.39 of 20."""
    assert safety_zone(10) / 10 == pytest.approx(0.27, abs=0.005)
    assert safety_zone(20) / 20 == pytest.approx(0.39, abs=0.005)


@pytest.mark.parametrize("max_steps", [7, 8, 10, 20, 57, 100])
def test_the_first_drop_is_that_of_a_constant_loser(max_steps):
    """Witness: the verdicts of the test itself on longer and longer rows of flops."""
    test = WaldTest(max_steps)
    dropped = [
        bool(test.is_loser(np.zeros((1, step), dtype=bool))[0])
        for step in range(1, max_steps + 1)
    ]

    assert first_drop(test) == dropped.index(True) + 1
    assert first_drop(test) == np.ceil(test.safety_zone)


def test_a_test_that_never_drops_says_so():
    level = loser_level_for_safety_zone(10, max_steps=10)

    assert first_drop(WaldTest(10, level)) == 11


@pytest.mark.parametrize("max_steps", [7, 10, 20, 100, 1000])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.77, 1.0])
@pytest.mark.parametrize("winner_level", [0.01, 0.05])
def test_the_level_is_the_largest_that_has_the_zone(max_steps, share, winner_level):
    """Witness: a scan of the levels up to the largest one allowed."""
    zone = share * max_steps

    level = loser_level_for_safety_zone(zone, max_steps, winner_level)

    assert safety_zone(max_steps, level, winner_level) >= zone
    if level < 0.5:
        assert safety_zone(max_steps, level, winner_level) == pytest.approx(zone)
        for higher in np.geomspace(level * (1 + 1e-6), 0.5, 500):
            assert safety_zone(max_steps, higher, winner_level) < zone


def test_the_level_comes_back_from_its_zone():
    for level in (0.01, 0.1, 0.3):
        zone = safety_zone(20, level, 0.02)

        actual = loser_level_for_safety_zone(zone, 20, 0.02)

        assert actual == pytest.approx(level, rel=1e-8)


@pytest.mark.parametrize("zone", [1, 2, 4, 9, 10])
def test_flops_up_to_a_whole_zone_are_survived(zone):
    """A zone of four steps lets four flops pass; rounding must not spoil it."""
    level = loser_level_for_safety_zone(zone, max_steps=10)

    assert not WaldTest(10, level).is_loser(np.zeros((1, zone), dtype=bool))[0]


def test_a_short_zone_gives_the_largest_level_allowed():
    assert loser_level_for_safety_zone(1, max_steps=100) == 0.5
    assert loser_level_for_safety_zone(1, max_steps=100, max_level=0.3) == 0.3


def test_few_steps_with_their_rising_and_falling_zone():
    """With 6 steps and level 0.01 the zone rises before it falls: witness a scan."""
    level = loser_level_for_safety_zone(0.25, 6, 0.01, max_level=0.98)

    above = np.linspace(level + 1e-6, 0.98, 1000)
    assert safety_zone(6, level, 0.01) == pytest.approx(0.25)
    assert max(safety_zone(6, higher, 0.01) for higher in above) < 0.25


def test_a_zone_out_of_reach_is_refused_with_the_steps_it_needs():
    with pytest.raises(TooFewStepsError, match=r"zone=2 .* Take 7 steps or more"):
        loser_level_for_safety_zone(2, max_steps=6)
    assert safety_zone(7, loser_level_for_safety_zone(2, max_steps=7)) >= 2
    with pytest.raises(TooFewStepsError, match="no sequential test exists"):
        loser_level_for_safety_zone(1, max_steps=3)


@pytest.mark.parametrize("zone", [-1, 10.5, float("nan")])
def test_a_zone_longer_than_the_race_is_refused(zone):
    with pytest.raises(InvalidInputError, match=r"zone=.* between 0 and max_steps=10"):
        loser_level_for_safety_zone(zone, max_steps=10)


def test_levels_out_of_range_are_refused():
    with pytest.raises(InvalidInputError, match=r"max_level=0.995"):
        loser_level_for_safety_zone(3, 10, 0.01, max_level=0.995)
    with pytest.raises(InvalidInputError, match="max_steps=0"):
        safety_zone(0)
