from __future__ import annotations

import json

import pytest

from cvst.statistics import WaldTest
from cvst.theory import drop_error_bound, steps_for_time_budget


def test_the_plan_tells_the_numbers_of_the_paper(cvst):
    """Lemma 1 gives 2.73 steps for S = 10, and NOTES' ceilings are 16.5, 70, 270."""
    plan = json.loads(cvst("plan", "--json").out)
    assert plan["safety_zone"] == pytest.approx(2.73, abs=0.005)
    assert plan["first_drop"] == 3
    ceilings = [plan["speedup_ceiling"][n] for n in ("linear", "quadratic", "cubic")]
    assert ceilings == pytest.approx([16.5, 70.0, 269.5], abs=0.1)
    for row in plan["win_probabilities"]:
        bound = drop_error_bound(row["win_probability"], 10)
        assert row["drop_bound"] == pytest.approx(bound)


def test_drops_follow_the_boundary_of_the_test(cvst):
    """A trace of so many wins and no more is a loser's, one win more is not."""
    plan = json.loads(cvst("plan", "--steps", "20", "--json").out)
    test = WaldTest(20, 0.1, 0.01)
    for step, wins in enumerate(plan["dropped_with_wins_up_to"], start=1):
        assert wins <= test.loser_boundary(step) < wins + 1


def test_the_text_says_it_too(cvst):
    text = cvst("plan", "--configurations", 610, "--fit-time", "1s").out
    assert "Nobody is dropped before the end of step 3 (safety zone of 2.73" in text
    assert "610 configurations, 1.0 s for a fit on all rows" in text


def test_a_budget_chooses_the_steps(cvst):
    options = ["--configurations", 610, "--fit-time", "1s", "--complexity", 3]
    plan = json.loads(cvst("plan", *options, "--budget", "5m", "--json").out)
    zone_share = WaldTest(10, 0.1, 0.01).safety_zone / 10
    expected = steps_for_time_budget(
        300,
        1,
        610,
        survival_rate=0.1,
        safety_rate=zone_share,
        complexity=3,
        min_steps=7,
    )
    assert plan["steps"] == expected
    assert plan["safety_zone"] == pytest.approx(zone_share * expected)
    assert plan["time"]["race_seconds"] <= 300


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--steps", 4], "max_steps=4 is too few"),
        (["--loser-level", 2], "loser_level=2"),
        (["--budget", "5m"], "--budget needs --configurations and --fit-time"),
        (["--fit-time", "1s"], "needs both --configurations and --fit-time"),
        (["--configurations", 9, "--fit-time", "soon"], "'soon' is no time"),
        (["--steps", "ten"], "invalid int value: 'ten'"),
    ],
)
def test_bad_plans_end_with_one_sentence(options, words, cvst):
    result = cvst("plan", *options)
    assert result.code == 2
    assert words in result.err
    assert result.err.count("\n") == 1
    assert result.out == ""
