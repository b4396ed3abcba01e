from dataclasses import replace
from math import floor, pi

import pytest

from cvst.exceptions import BudgetTooSmallError, InvalidInputError
from cvst.theory import PaperTimeBudget, steps_for_time_budget

BUDGET = PaperTimeBudget(
    time_budget=300,
    full_fit_time=0.5,
    n_configurations=610,
    survival_rate=0.1,
    safety_rate=0.3,
    complexity=3,
)


def summed_time(budget, parts, n_steps):
    """Sum the model of Appendix E directly: subsets of s N / parts, n_steps of them."""
    n_everyone = floor(round(budget.safety_rate * parts, 9))
    total = 0.0
    for step in range(1, n_steps + 1):
        share = 1 if step <= n_everyone else budget.survival_rate
        total += share * (step / parts) ** budget.complexity
    return total * budget.full_fit_time * budget.n_configurations


@pytest.mark.parametrize("complexity", [1, 2, 3])
@pytest.mark.parametrize("survival_rate", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("safety_rate", [0.25, 0.5])
@pytest.mark.parametrize("parts", [8, 12, 40, 100])
@pytest.mark.parametrize("printed", ["section", "appendix"])
def test_each_printed_formula_solves_its_own_schedule(
    complexity, survival_rate, safety_rate, parts, printed
):
    """Witness: the sums themselves. The signs differ because the schedules do."""
    budget = replace(
        BUDGET,
        complexity=complexity,
        survival_rate=survival_rate,
        safety_rate=safety_rate,
        printed=printed,
    )
    n_steps = parts - 1 if printed == "section" else parts
    time = summed_time(budget, parts, n_steps)
    # Time is about proportional to the number of steps.
    half_a_step = time / n_steps / 2

    assert replace(budget, time_budget=time + half_a_step).steps == n_steps
    assert replace(budget, time_budget=time - half_a_step).steps == n_steps - 1


def test_the_sum_with_whole_steps_is_close_to_the_section():
    """All also run in the step that drops, so ours is never much more."""
    ours = steps_for_time_budget(
        300, 0.5, 610, survival_rate=0.1, safety_rate=0.3, complexity=3
    )

    assert abs(ours - BUDGET.steps) <= 1


@pytest.mark.parametrize("printed", ["section", "appendix"])
@pytest.mark.parametrize("complexity", [2, 3, 5])
def test_the_smallest_budget_is_where_the_conditions_begin_to_hold(printed, complexity):
    budget = replace(BUDGET, printed=printed, complexity=complexity)
    smallest = budget.smallest_budget

    below = replace(budget, time_budget=smallest * (1 - 1e-9))
    above = replace(budget, time_budget=smallest * (1 + 1e-9))

    assert not all(condition.holds for condition in below.conditions[:2])
    assert all(condition.holds for condition in above.conditions[:2])


def test_condition_1_is_explained():
    budget = replace(BUDGET, time_budget=5, printed="appendix")

    (condition,) = budget.conditions

    assert not condition.holds
    need = 0.5 * 610 * (0.9 * 0.3**3 + 0.1)
    assert f"2T = 10 must not be below tK((1-r)s_r^m + r) = {need:.4g}" in (
        condition.explanation
    )
    with pytest.raises(BudgetTooSmallError, match="Condition 1"):
        _ = budget.steps


def test_condition_2_is_explained():
    """Between conditions 1 and 2 the quadratic has no real solution."""
    first = 0.5 * 610 * (0.9 * 0.3**3 + 0.1) / 2
    budget = replace(BUDGET, time_budget=first * 1.01, printed="appendix")

    assert [condition.holds for condition in budget.conditions] == [True, False]
    with pytest.raises(BudgetTooSmallError, match=r"Condition 2: a\^2 = .* Raise"):
        _ = budget.steps


def test_condition_3_is_explained():
    """A zone shorter than m/(2 pi) steps: the bound on power sums does not hold."""
    budget = replace(BUDGET, safety_rate=0.01, complexity=6, survival_rate=0.1)
    *held, third = budget.conditions

    assert all(condition.holds for condition in held)
    assert not third.holds
    assert f"m/(2 pi) = {6 / (2 * pi):.4g}" in third.explanation
    with pytest.raises(InvalidInputError, match=r"Condition 3: s_r S = .* safety_rate"):
        _ = budget.steps


def test_less_than_a_step_is_refused():
    """Section 5.2 with S = 1 stands for no step at all."""
    budget = replace(
        BUDGET, time_budget=60, survival_rate=0.9, safety_rate=0.9, complexity=1
    )
    with pytest.raises(BudgetTooSmallError, match="not suffice for a single step"):
        _ = budget.steps


def test_bad_input_is_refused():
    with pytest.raises(InvalidInputError, match="printed='text'"):
        replace(BUDGET, printed="text")
    with pytest.raises(InvalidInputError, match="time_budget=-3"):
        replace(BUDGET, time_budget=-3)
