from __future__ import annotations

import json
import re
from math import ceil, floor

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from cvst import CVST, RaceGridSearchCV
from cvst.statistics import WaldTest
from cvst.theory import drop_error_bound

CUBIC = ["--n-configurations", 610, "--full-fit-time", "1s", "--complexity", 3]


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
    """A trace with the printed number of wins is a loser's; one more win is not."""
    plan = json.loads(cvst("plan", "--max-steps", "20", "--json").out)
    test = WaldTest(20, 0.1, 0.01)
    for step, wins in enumerate(plan["dropped_with_wins_up_to"], start=1):
        assert wins <= test.loser_boundary(step) < wins + 1


def test_the_text_says_it_too(cvst):
    text = cvst("plan", "--n-configurations", 610, "--full-fit-time", "1s").out
    assert "Nothing is dropped before the end of step 3 (safety zone of 2.73" in text
    assert "610 configurations, 1.0 s for a fit on all rows" in text


def counted_seconds(steps, level, *, n=610, complexity=3, survival=0.2):
    """Add up one-second fits until a race can stop early, and the final fit."""
    safe = max(2, ceil(WaldTest(steps, level, 0.01).safety_zone))
    last = min(steps, safe + CVST(max_steps=steps).window)
    fits = [(step / (steps + 1)) ** complexity for step in range(1, last + 1)]
    return 1 + n * (sum(fits[:safe]) + survival * sum(fits[safe:]))


@pytest.mark.parametrize("seconds", [60, 90, 150, 200, 300, 100_000])
def test_a_budget_chooses_the_most_steps_that_fit(cvst, seconds):
    """Up to 20, without 9, 11 and 13, as the search does; the levels stay."""
    plan = json.loads(cvst("plan", *CUBIC, "--time-budget", seconds, "--json").out)
    allowed = {*range(7, 21)} - {9, 11, 13}
    fitting = [s for s in allowed if counted_seconds(s, 0.1) <= seconds]

    assert plan["steps"] == max(fitting)
    assert plan["loser_level"] == 0.1
    time = plan["time"]["early_end_seconds"] + plan["time"]["final_fit_seconds"]
    assert time == pytest.approx(counted_seconds(plan["steps"], 0.1))


def test_the_steps_are_those_that_the_search_chooses_from(cvst):
    """With all the time in the world, both take the most there is."""
    plan = json.loads(cvst("plan", *CUBIC, "--time-budget", "9d", "--json").out)
    search = RaceGridSearchCV(
        DecisionTreeRegressor(),
        {"max_depth": [1, 2, 3]},
        strategy="cvst",
        time_budget=1e5,
    )
    rows = np.arange(400.0)
    search.fit(rows[:, None], rows % 7)

    assert plan["steps"] == search.strategy_.max_steps
    assert plan["loser_level"] == search.strategy_.loser_level


def test_the_text_says_what_was_chosen_and_what_was_left_out(cvst):
    text = cvst("plan", *CUBIC, "--time-budget", "5m").out
    assert text.startswith("Chosen for 5 min, final fit included: the most steps,")
    assert "lost more easily there: 9, 11, 13." in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_scarce_budget_raises_the_level_and_the_smallest_is_named(cvst):
    """Witness: the named budget does, and a slightly shorter one does not."""
    error = cvst("plan", *CUBIC, "--time-budget", "1s").err
    smallest = float(re.search(r"take (\S+) s at least", error)[1])
    options = "plan", *CUBIC, "--json", "--time-budget"
    plan = json.loads(cvst(*options, smallest).out)

    assert plan["loser_level"] == 0.5
    assert plan["budget"]["level_raised"]
    assert cvst(*options, smallest - 0.2).code == 2


def test_a_long_race_has_a_short_table(cvst):
    """Dozens of rows are too many to read; the last one is named."""
    text = cvst("plan", "--max-steps", 200).out
    wins = floor(WaldTest(200, 0.1, 0.01).loser_boundary(200))
    assert f"and so on, up to {wins} from step" in text
    assert len(text.splitlines()) < 40


def test_none_is_dropped_in_the_first_step(cvst):
    """At seven steps the zone is shorter than one, but races judge from the second."""
    plan = json.loads(cvst("plan", "--max-steps", 7, "--json").out)
    assert plan["safety_zone"] < 1
    assert plan["first_drop"] == 2
    assert plan["dropped_with_wins_up_to"][:2] == [-1, 0]
    assert plan["speedup_ceiling"]["linear"] == pytest.approx(9 / (3 / 8))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--max-steps", 4], "max_steps=4 is too few"),
        (["--loser-level", 2], "loser_level=2"),
        (
            ["--time-budget", "5m"],
            "--time-budget needs --n-configurations and --full-fit-time",
        ),
        (
            ["--full-fit-time", "1s"],
            "needs both --n-configurations and --full-fit-time",
        ),
        (["--n-configurations", 9, "--full-fit-time", "soon"], "'soon' is not a time"),
        (["--max-steps", "ten"], "invalid int value: 'ten'"),
    ],
)
def test_bad_plans_end_with_one_sentence(options, words, cvst):
    result = cvst("plan", *options)
    assert result.code == 2
    assert words in result.err
    assert result.err.count("\n") == 1
    assert result.out == ""


@pytest.mark.parametrize("number", [10**13, 10**30, 10**400], ids=["13", "30", "400"])
@pytest.mark.parametrize("option", ["--max-steps", "--n-folds", "--n-configurations"])
def test_numbers_beyond_all_plans_are_refused(cvst, option, number):
    """One sentence, at once, whatever the machine would have made of them."""
    result = cvst("plan", "--full-fit-time", "1s", f"{option}={number}")
    assert result.code == 2
    assert result.err.startswith(f"cvst plan: {option} 10000000")
    assert result.err.endswith(" at most.\n")
    assert len(result.err) < 150


def test_a_level_that_is_no_number_to_compute_with_is_refused(cvst):
    result = cvst("plan", "--winner-level", "5e-324")
    assert result.code == 2
    assert "winner_level=5e-324 is too small to compute with" in result.err
