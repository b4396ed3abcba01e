"""What a race will look like: who is expected in which step, and how long it takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvst._typing import FloatArray
from cvst.race import CVST, PlannedLook, Problem, Strategy
from cvst.search._cost_model import CostModel
from cvst.statistics import SpicerTest, WaldTest
from cvst.theory import expected_active, first_drop

__all__ = [
    "SURVIVAL_RATE",
    "expected_configurations",
    "expected_looks",
    "race_seconds",
    "sequential_test",
]

# Share of the configurations that outlives the safety zone. The paper asks the user
# for it; grids over several powers of ten lose more than that, hard problems less.
SURVIVAL_RATE = 0.2


def sequential_test(strategy: Any) -> WaldTest | SpicerTest | None:
    """Return the test that drops losers, None if another rule does."""
    return strategy.sequential_test if isinstance(strategy, CVST) else None


def expected_configurations(strategy: Strategy, problem: Problem) -> FloatArray:
    """Return how many configurations each planned look is expected to see.

    All of them in the safety zone and a fixed share beyond it, where the zone is
    known; elsewhere as many as can take part at most.
    """
    looks = strategy.planned_looks(problem)
    test = sequential_test(strategy)
    if test is None:
        return np.array([look.max_configurations for look in looks], dtype=float)
    # Nobody is dropped before the second step, however short the zone.
    zone = max(1, first_drop(test) - 1)
    return expected_active(
        problem.n_configurations,
        len(looks),
        safety_zone=zone,
        survival_rate=SURVIVAL_RATE,
    )


def expected_looks(strategy: Strategy, problem: Problem) -> int:
    """Return how many looks a race is expected to have.

    All that are planned, or those until the survivors have had two chances to end it
    by behaving alike: of the races that can end so, most end at one of these.
    """
    n_planned = len(strategy.planned_looks(problem))
    if not isinstance(strategy, CVST) or strategy.stopping == "never":
        return n_planned
    return min(n_planned, strategy.window + 2)


def race_seconds(
    model: CostModel, looks: tuple[PlannedLook, ...], n_configurations: FloatArray
) -> FloatArray:
    """Return the seconds of each look."""
    return np.array(
        [
            model.look(look.n_train, look.n_test, count)
            for look, count in zip(looks, n_configurations, strict=True)
        ]
    )
