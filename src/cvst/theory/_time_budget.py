"""Number of steps that fills a time budget (Section 5.2, Appendix E).

The paper sums the cost of all steps, bounds the power sums and solves a quadratic. We
sum for the schedule that is really used, :math:`n_s = sN/(S+1)`, and try the numbers
of steps one by one, so neither a bound nor its conditions are needed.
"""

from __future__ import annotations

import numpy as np

from cvst.exceptions import BudgetTooSmallError, InvalidInputError
from cvst.theory._cost import expected_active, linear_train_shares, race_cost
from cvst.theory._validation import check_count, check_positive, check_share

__all__ = ["steps_for_time_budget", "time_of_race"]


def time_of_race(
    max_steps: int,
    full_fit_time: float,
    n_configurations: int,
    *,
    survival_rate: float,
    safety_rate: float,
    complexity: float,
    predict_time: float = 0.0,
    predict_complexity: float = 0.0,
) -> float:
    """Forecast the time of a race that runs through all its steps.

    Parameters
    ----------
    max_steps : int
        Number of steps, the paper's :math:`S`.
    full_fit_time : float
        Time :math:`t` to train one configuration on the whole data.
    n_configurations : int
        Configurations at the start, the paper's :math:`K`.
    survival_rate : float
        Share :math:`r` of the configurations that outlives the safety zone.
    safety_rate : float
        Share :math:`s_r` of the steps that belongs to the safety zone.
    complexity : float
        Exponent :math:`m` of the training time.
    predict_time : float
        Time to predict all rows with a model trained on all of them.
    predict_complexity : float
        Exponent with which predicting a row slows down as training rows are added.

    Returns
    -------
    float
        Time, in the unit of the times given.

    Examples
    --------
    >>> round(time_of_race(10, full_fit_time=1.0, n_configurations=610,
    ...                    survival_rate=0.1, safety_rate=0.273, complexity=3), 1)
    153.5
    """
    check_positive("full_fit_time", full_fit_time)
    check_positive("predict_time", predict_time, zero_allowed=True)
    check_share("safety_rate", safety_rate)
    return full_fit_time * race_cost(
        expected_active(
            n_configurations,
            max_steps,
            safety_zone=safety_rate * max_steps,
            survival_rate=survival_rate,
        ),
        linear_train_shares(max_steps),
        complexity=complexity,
        # Costs are counted in fits on the whole data.
        predict_cost=predict_time / full_fit_time,
        predict_complexity=predict_complexity,
    )


def steps_for_time_budget(
    time_budget: float,
    full_fit_time: float,
    n_configurations: int,
    *,
    survival_rate: float,
    safety_rate: float,
    complexity: float,
    predict_time: float = 0.0,
    predict_complexity: float = 0.0,
    min_steps: int = 1,
    max_steps: int = 1000,
) -> int:
    """Return the largest number of steps whose race fits into a time budget.

    Parameters
    ----------
    time_budget : float
        Time :math:`T` for the race, in the unit of the other times.
    full_fit_time, n_configurations, survival_rate, safety_rate, complexity,
    predict_time, predict_complexity
        As in :func:`time_of_race`.
    min_steps, max_steps : int
        Fewest and most steps to consider. The sequential test has a fewest of its own,
        :func:`minimal_steps`; more steps than rows make no sense.

    Returns
    -------
    int
        Number of steps :math:`S`; :func:`loser_level_for_safety_zone` then gives the
        level whose zone is ``safety_rate * S``.

    Raises
    ------
    BudgetTooSmallError
        If no allowed number of steps fits; the message holds the smallest budget that
        would do.

    Examples
    --------
    >>> steps_for_time_budget(300, full_fit_time=1.0, n_configurations=610,
    ...                       survival_rate=0.1, safety_rate=0.3, complexity=3)
    18
    """
    check_positive("time_budget", time_budget)
    check_count("min_steps", min_steps)
    check_count("max_steps", max_steps)
    if min_steps > max_steps:
        raise InvalidInputError(
            f"min_steps={min_steps} must not exceed max_steps={max_steps}."
        )
    step_counts = np.arange(min_steps, max_steps + 1)
    times = np.array(
        [
            time_of_race(
                int(steps),
                full_fit_time,
                n_configurations,
                survival_rate=survival_rate,
                safety_rate=safety_rate,
                complexity=complexity,
                predict_time=predict_time,
                predict_complexity=predict_complexity,
            )
            for steps in step_counts
        ]
    )
    # More steps need not take longer: as long as the zone gains no whole step, a finer
    # schedule makes its subsets smaller. So look at all, not for the first misfit.
    fitting = step_counts[times <= time_budget]
    if not len(fitting):
        cheapest = int(times.argmin())
        raise BudgetTooSmallError(
            f"time_budget={time_budget:g} is too small: a race of {n_configurations} "
            f"configurations takes about {_round_up(times[cheapest])} even with "
            f"{step_counts[cheapest]} steps. Allow that much, or race fewer "
            "configurations or rows."
        )
    return int(fitting[-1])


def _round_up(time: float) -> str:
    """Write a time with three digits, never less than it is."""
    # Rounded down, the message would ask for a budget that is too small again.
    digit = 10.0 ** (np.floor(np.log10(time)) - 2)
    enough = np.ceil(time / digit) * digit
    # The unit is the user's, so that it stays a number; not 1.24e+03, though.
    return f"{enough:,.0f}" if digit >= 1 else f"{enough:.3g}"
