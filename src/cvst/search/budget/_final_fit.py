"""A final fit that takes longer than the time that is left."""

from __future__ import annotations

import warnings

from cvst._text import about_seconds, seconds_text
from cvst._users_line import users_line
from cvst.exceptions import FallbackWarning
from cvst.race import RaceState, Strategy

__all__ = ["warn_of_long_final_fit"]

# Later than that share of the budget, and than that many seconds, is worth a word.
# Forecasts from few rows err, and nobody should be warned for nothing.
LATE, LEAST = 0.5, 1.0


def warn_of_long_final_fit(strategy: Strategy, state: RaceState) -> None:
    """Say that the final fit will go on after the time is up, before it begins.

    Fits cannot be cut. Where the estimator is dear, a single one on all rows may take
    longer than the whole budget.
    """
    seconds, needed = state.problem.seconds, strategy.refit_seconds(state)
    if seconds is None or needed is None:
        return
    left = max(0.0, seconds - state.elapsed)
    if needed - left <= max(LATE * seconds, LEAST):
        return
    rest = f"only {seconds_text(left)} of the time budget are left"
    warnings.warn(
        f"The final fit will take {about_seconds(needed)}, but "
        f"{rest if left else 'the time budget is used up'}, and a fit cannot be cut "
        "short. Interrupt it to keep the race without best_estimator_, allow more "
        "time, or set refit=False.",
        FallbackWarning,
        stacklevel=users_line(),
    )
