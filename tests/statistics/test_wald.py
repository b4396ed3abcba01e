"""Wald's open test; witnesses: the R package, Lemma 1, and simulated error rates."""

from __future__ import annotations

from math import log, log2

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError, TooFewStepsError
from cvst.statistics import WaldTest, minimal_steps
from cvst.statistics._wald import wald_lines


def test_constants_agree_with_r(r_sequential):
    n_valid = 0
    for case in r_sequential["cvst"]:
        if not case["valid"]:
            continue
        test = WaldTest(case["steps"], case["beta"], case["alpha"])
        actual = [
            test.loser_probability,
            test.winner_probability,
            test.intercept,
            test.winner_intercept,
            test.slope,
            test.safety_zone,
        ]
        expected = [case[name] for name in ("pi0", "pi1", "a0", "a1", "b", "s_safe")]
        np.testing.assert_allclose(actual, expected, rtol=1e-12)
        n_valid += 1
    assert n_valid >= 20


def test_verdicts_agree_with_r(r_sequential):
    n_losers = 0
    for case in r_sequential["cvst"]:
        if not case["valid"]:
            continue
        test = WaldTest(case["steps"], case["beta"], case["alpha"])
        for trace, verdict in zip(case["traces"], case["verdicts"], strict=True):
            wins = np.array([[character == "1" for character in trace]])
            assert test.is_loser(wins).tolist() == [verdict == -1]
            # A constant winner ends on the line itself, where rounding decides.
            lead = wins.sum() - test.winner_boundary(len(trace))
            assert abs(lead) < 1e-9 or (lead > 0) == (verdict == 1)
            n_losers += verdict == -1
    assert n_losers > 20


def test_lines_for_any_two_probabilities_agree_with_r(r_sequential):
    for case in r_sequential["wald"]:
        lines = wald_lines(case["pi0"], case["pi1"], case["beta"], case["alpha"])
        expected = [case["b"], case["a0"], case["a1"]]
        np.testing.assert_allclose(lines, expected, rtol=1e-12)


def test_smallest_number_of_steps_agrees_with_r(r_sequential):
    """Except where the paper's formula admits a winner that wins with certainty."""
    for case in r_sequential["cvst"]:
        needed = minimal_steps(case["beta"], case["alpha"])
        boundary_case = log2((1 - case["beta"]) / case["alpha"]).is_integer()
        assert needed == case["min_steps"] + boundary_case
        WaldTest(needed, case["beta"], case["alpha"])
        with pytest.raises(TooFewStepsError, match=f"at least {needed} steps"):
            WaldTest(needed - 1, case["beta"], case["alpha"])


@pytest.mark.parametrize(("max_steps", "printed"), [(10, 0.27), (20, 0.39)])
def test_safety_zone_has_the_size_quoted_in_the_paper(max_steps, printed):
    zone = WaldTest(max_steps, loser_level=0.1, winner_level=0.01).safety_zone
    assert zone / max_steps == pytest.approx(printed, abs=0.005)
    root = (0.9 / 0.01) ** (1 / max_steps)
    assert zone == pytest.approx(log(0.1 / 0.99) / log(2 - root))


@pytest.mark.parametrize("max_steps", [10, 20, 50])
def test_a_constant_loser_falls_right_after_the_safety_zone(max_steps):
    test = WaldTest(max_steps)
    first_drop = int(test.safety_zone) + 1
    assert not test.is_loser(np.zeros((1, first_drop - 1), dtype=bool)).any()
    assert test.is_loser(np.zeros((1, first_drop), dtype=bool)).all()


@pytest.mark.parametrize("max_steps", [7, 10, 20, 50])
def test_a_constant_winner_is_accepted_in_the_last_step(max_steps):
    """Equation (2) is solved for exactly this."""
    test = WaldTest(max_steps)
    assert test.winner_boundary(max_steps) == pytest.approx(max_steps)


def test_boundaries_take_arrays_of_steps():
    test = WaldTest(10)
    steps = np.arange(1, 11)
    expected = [test.loser_boundary(step) for step in range(1, 11)]
    np.testing.assert_allclose(test.loser_boundary(steps), expected)
    gap = test.winner_boundary(steps) - test.loser_boundary(steps)
    np.testing.assert_allclose(gap, test.intercept + test.winner_intercept)


def test_none_is_dropped_before_the_first_step():
    assert WaldTest(10).is_loser(np.zeros((3, 0), dtype=bool)).tolist() == [False] * 3


def test_winners_are_dropped_no_more_often_than_the_level_says():
    """Simulated over the whole race for configurations that win with pi_1."""
    test = WaldTest(20)
    rng = np.random.default_rng(0)
    traces = rng.random((20_000, 20)) < test.winner_probability
    boundary = test.loser_boundary(np.arange(1, 21))
    dropped = (traces.cumsum(axis=1) <= boundary).any(axis=1)
    assert dropped.mean() <= test.loser_level


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 2.0, float("nan")])
@pytest.mark.parametrize("name", ["loser_level", "winner_level"])
def test_impossible_levels_are_refused(name, level):
    with pytest.raises(InvalidInputError, match=f"{name}="):
        WaldTest(10, **{name: level})


def test_levels_too_small_for_a_number_are_refused():
    with pytest.raises(InvalidInputError, match="winner_level=5e-324 is too small"):
        minimal_steps(0.1, 5e-324)
    assert minimal_steps(0.1, 1e-300) == 997
    assert WaldTest(997, 5e-324, 1e-300).slope < 1


def test_steps_that_leave_no_difference_are_refused():
    with pytest.raises(InvalidInputError, match=f"max_steps={10**30} is too many"):
        WaldTest(10**30)


def test_levels_must_leave_room_for_a_decision():
    with pytest.raises(InvalidInputError, match="add up to less than 1"):
        WaldTest(10, loser_level=0.6, winner_level=0.4)


@pytest.mark.parametrize("max_steps", [0, -3, 6])
def test_too_few_steps_are_refused_with_the_number_needed(max_steps):
    with pytest.raises(TooFewStepsError, match=f"max_steps={max_steps} .* least 7"):
        WaldTest(max_steps)
