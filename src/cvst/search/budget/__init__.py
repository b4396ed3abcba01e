"""Time: what looks cost, which race fits, and a clock that ends it."""

from cvst.search.budget._choice import race_seconds
from cvst.search.budget._clock import (
    TimeBudget,
    Within,
    budget_settings,
    start_budget,
)
from cvst.search.budget._costs import CostModel, measure_costs

__all__ = [
    "CostModel",
    "TimeBudget",
    "Within",
    "budget_settings",
    "measure_costs",
    "race_seconds",
    "start_budget",
]
