"""Time: what looks cost, which race fits, and a clock that ends it."""

from cvst.search.budget._choice import (
    expected_seconds,
    race_seconds,
    refit_range,
    refit_seconds,
)
from cvst.search.budget._clock import TimeBudget, Within
from cvst.search.budget._costs import Allowance, measure_costs
from cvst.search.budget._expected import Expected, expected_looks
from cvst.search.budget._fewer import balanced_order
from cvst.search.budget._final_fit import warn_of_long_final_fit
from cvst.search.budget._growth import early_exponent, steep_exponent
from cvst.search.budget._legs import in_legs, waiting_in
from cvst.search.budget._model import CostModel
from cvst.search.budget._resume import resumed_budget, told_budget
from cvst.search.budget._start import budget_settings, start_again, start_budget
from cvst.search.budget._watch import undisturbed_seconds
from cvst.search.budget._workers import with_workers

__all__ = [
    "Allowance",
    "CostModel",
    "Expected",
    "TimeBudget",
    "Within",
    "balanced_order",
    "budget_settings",
    "early_exponent",
    "expected_looks",
    "expected_seconds",
    "in_legs",
    "measure_costs",
    "race_seconds",
    "refit_range",
    "refit_seconds",
    "resumed_budget",
    "start_again",
    "start_budget",
    "steep_exponent",
    "told_budget",
    "undisturbed_seconds",
    "waiting_in",
    "warn_of_long_final_fit",
    "with_workers",
]
