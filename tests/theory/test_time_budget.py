from math import floor

import pytest

from cvst.exceptions import BudgetTooSmallError, InvalidInputError
from cvst.theory import steps_for_time_budget, time_of_race

KNOWN = [
    {"survival_rate": 0.1, "safety_rate": 0.3, "complexity": 3.0},
    {"survival_rate": 0.5, "safety_rate": 0.25, "complexity": 1.0},
    {"survival_rate": 0.02, "safety_rate": 0.6, "complexity": 2.0},
    {
        "survival_rate": 0.2,
        "safety_rate": 0.29,
        "complexity": 1.5,
        "predict_time": 0.3,
        "predict_complexity": 1.0,
    },
]


def counted_time(max_steps, full_fit_time, n_configurations, known):
    """Add up the fits and predictions of all steps, with no array in sight."""
    time = 0.0
    n_everyone = floor(round(known["safety_rate"] * max_steps, 9)) + 1
    for step in range(1, max_steps + 1):
        train = step / (max_steps + 1)
        fit = full_fit_time * train ** known["complexity"]
        predictions = known.get("predict_time", 0.0) * (1 - train)
        predictions *= train ** known.get("predict_complexity", 0.0)
        share = 1 if step <= n_everyone else known["survival_rate"]
        time += n_configurations * share * (fit + predictions)
    return time


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("max_steps", [1, 7, 10, 100])
def test_the_time_is_that_of_all_fits_and_predictions(known, max_steps):
    actual = time_of_race(max_steps, 2.0, 50, **known)

    assert actual == pytest.approx(counted_time(max_steps, 2.0, 50, known))


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("time_budget", [200.0, 777.0, 3000.0])
def test_the_steps_are_the_most_that_fit(known, time_budget):
    """Witness: the counted times of every number of steps up to 150."""
    fitting = [
        steps
        for steps in range(1, 151)
        if counted_time(steps, 2.0, 50, known) <= time_budget
    ]

    actual = steps_for_time_budget(time_budget, 2.0, 50, max_steps=150, **known)

    assert actual == fitting[-1]


def test_a_budget_too_small_names_the_smallest_that_would_do():
    with pytest.raises(BudgetTooSmallError, match=r"time_budget=1 .* about 96.6 even"):
        steps_for_time_budget(1, 2.0, 50, min_steps=7, **KNOWN[3])

    assert steps_for_time_budget(96.6, 2.0, 50, min_steps=7, **KNOWN[3]) == 7
    with pytest.raises(BudgetTooSmallError):
        steps_for_time_budget(96.5, 2.0, 50, min_steps=7, **KNOWN[3])


def test_a_large_budget_is_named_without_powers_of_ten():
    """In whatever unit, rounded up to three digits."""
    known = {"survival_rate": 0.1, "safety_rate": 0.3, "complexity": 2.0}
    assert 4070 < counted_time(8, 2.0, 5000, known) < 4080
    with pytest.raises(BudgetTooSmallError, match=r"about 4,080 even with 8 steps"):
        steps_for_time_budget(1, 2.0, 5000, min_steps=7, **known)


def test_bad_input_is_refused():
    with pytest.raises(InvalidInputError, match="time_budget=0"):
        steps_for_time_budget(0, 2.0, 50, **KNOWN[0])
    with pytest.raises(InvalidInputError, match="full_fit_time=-1"):
        steps_for_time_budget(10, -1, 50, **KNOWN[0])
    with pytest.raises(InvalidInputError, match=r"min_steps=9 .* max_steps=5"):
        steps_for_time_budget(10, 1.0, 50, min_steps=9, max_steps=5, **KNOWN[0])
    with pytest.raises(InvalidInputError, match=r"safety_rate=1\.2"):
        time_of_race(10, 1.0, 5, survival_rate=0.1, safety_rate=1.2, complexity=1)
