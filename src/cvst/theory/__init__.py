"""What can be known before a race: Sections 5 and 7.2, Appendices D and E."""

from cvst.statistics import minimal_steps
from cvst.theory._cost import (
    cross_validation_cost,
    expected_active,
    linear_train_shares,
    race_cost,
    speedup_ceiling,
)
from cvst.theory._error_bound import drop_error_bound, steady_steps, surviving_paths
from cvst.theory._expected_steps import expected_steps
from cvst.theory._false_negatives import (
    FalseNegatives,
    false_negative_rate,
    simulate_false_negatives,
)
from cvst.theory._paper_budget import BudgetCondition, PaperTimeBudget
from cvst.theory._power_curve import PowerCurve
from cvst.theory._safety_zone import loser_level_for_safety_zone, safety_zone
from cvst.theory._speed_gain import SpeedGain, simulate_speed_gain
from cvst.theory._survival import (
    SequentialTest,
    first_drop,
    loser_boundaries,
    survival_probabilities,
)
from cvst.theory._time_budget import steps_for_time_budget, time_of_race

__all__ = [
    "BudgetCondition",
    "FalseNegatives",
    "PaperTimeBudget",
    "PowerCurve",
    "SequentialTest",
    "SpeedGain",
    "cross_validation_cost",
    "drop_error_bound",
    "expected_active",
    "expected_steps",
    "false_negative_rate",
    "first_drop",
    "linear_train_shares",
    "loser_boundaries",
    "loser_level_for_safety_zone",
    "minimal_steps",
    "race_cost",
    "safety_zone",
    "simulate_false_negatives",
    "simulate_speed_gain",
    "speedup_ceiling",
    "steady_steps",
    "steps_for_time_budget",
    "survival_probabilities",
    "surviving_paths",
    "time_of_race",
]
