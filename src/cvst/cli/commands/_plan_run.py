"""What ``cvst plan`` says of a race before any data is touched."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import asdict
from math import floor
from typing import Any

from cvst._text import counted, seconds_text, shortened
from cvst.cli.commands._plan_budget import choose_race, race_times
from cvst.cli.results import plain
from cvst.cli.terminal import table
from cvst.exceptions import InvalidInputError
from cvst.statistics import WaldTest
from cvst.theory import (
    cross_validation_cost,
    drop_error_bound,
    first_drop,
    loser_boundaries,
    minimal_steps,
    speedup_ceiling,
    survival_probabilities,
)

__all__ = ["run_plan"]

WIN_PROBABILITIES = (0.3, 0.5, 0.7, 0.9, 0.95, 0.99)
LONGEST_TABLE = 12
# A plan of more steps takes minutes; more of the others is a slip of the pen, and at
# some point no number for the machine.
MOST = {"max_steps": 10_000, "n_folds": 10**9, "n_configurations": 10**12}
COMPLEXITIES = {"linear": 1.0, "quadratic": 2.0, "cubic": 3.0}


def run_plan(options: Namespace) -> str:
    """Return the plan."""
    _check_sizes(options)
    steps, loser_level, choice = options.max_steps, options.loser_level, None
    if options.time_budget is not None:
        choice = choose_race(options)
        steps, loser_level = choice.steps, choice.loser_level
    plan = _plan(steps, loser_level, options.winner_level, options.n_folds)
    if choice is not None:
        plan["budget"] = asdict(choice)
    if options.n_configurations is not None and options.full_fit_time is not None:
        plan["time"] = _times(options, plan)
    elif options.n_configurations is not None or options.full_fit_time is not None:
        raise InvalidInputError(
            "The time of a race needs both --n-configurations and --full-fit-time."
        )
    if options.json:
        return json.dumps(plain(plan), indent=2)
    text = _text(plan, options)
    return text if choice is None else f"{choice}\n\n{text}"


def _check_sizes(options: Namespace) -> None:
    for name, most in MOST.items():
        value = getattr(options, name)
        if value is not None and value > most:
            raise InvalidInputError(
                f"--{name.replace('_', '-')} {shortened(str(value), 30)} is more than "
                f"a plan can be made for. Give {most:,} at most."
            )


def _plan(
    steps: int, loser_level: float, winner_level: float, folds: int
) -> dict[str, Any]:
    levels = (loser_level, winner_level)
    test = WaldTest(steps, *levels)
    # Wins are whole numbers, so only the floor of a boundary counts.
    bounds = [floor(boundary) for boundary in loser_boundaries(test)]
    return {
        "steps": steps,
        "loser_level": loser_level,
        "winner_level": winner_level,
        "minimal_steps": minimal_steps(*levels),
        "safety_zone": test.safety_zone,
        # A race judges from the second step on, however short the safety zone.
        "first_drop": max(2, first_drop(test)),
        # None has -1 wins, so none is dropped in the first step.
        "dropped_with_wins_up_to": [min(-1, bounds[0]), *bounds[1:]],
        "win_probabilities": [
            {
                "win_probability": chance,
                "survives": float(survival_probabilities(test, chance)[-1]),
                "drop_bound": drop_error_bound(chance, steps, *levels),
            }
            for chance in WIN_PROBABILITIES
        ],
        "speedup_ceiling": {
            name: speedup_ceiling(
                steps,
                exponent,
                folds,
                loser_level=loser_level,
                winner_level=winner_level,
            )
            for name, exponent in COMPLEXITIES.items()
        },
        "folds": folds,
    }


def _times(options: Namespace, plan: dict[str, Any]) -> dict[str, float]:
    fit_time = options.full_fit_time
    early, race = race_times(options, plan["steps"], plan["loser_level"])
    full = fit_time * cross_validation_cost(
        options.n_configurations, options.n_folds, complexity=options.complexity
    )
    return {
        "early_end_seconds": early,
        "race_seconds": race,
        "final_fit_seconds": fit_time,
        "cross_validation_seconds": full,
    }


def _text(plan: dict[str, Any], options: Namespace) -> str:
    chances = table(
        ["top in a step", "survives", "dropped at most"],
        [
            [f"{row['win_probability']:.0%}", row["survives"], row["drop_bound"]]
            for row in plan["win_probabilities"]
        ],
    )
    text = f"""\
A race of up to {plan["steps"]} steps, with loser level {plan["loser_level"]:.4g} and \
winner level {plan["winner_level"]:.4g}.
These levels take {plan["minimal_steps"]} steps at least.
{_zone_sentence(plan)}

A configuration is dropped once it has been top in no more steps than this:
{_boundary_table(plan)}

Chances of a configuration that is top in each step with some probability:
{chances}
The last column allows for flops all through the safety zone.

{_ceiling_sentence(plan)}"""
    return f"{text}\n\n{_time_sentence(plan, options)}" if "time" in plan else text


def _zone_sentence(plan: dict[str, Any]) -> str:
    zone = plan["safety_zone"]
    if plan["first_drop"] > plan["steps"]:
        return (
            f"The safety zone of {zone:.2f} steps covers all of them: no configuration "
            "is ever dropped."
        )
    return (
        f"Nothing is dropped before the end of step {plan['first_drop']} "
        f"(safety zone of {zone:.2f} steps)."
    )


def _boundary_table(plan: dict[str, Any]) -> str:
    bounds = plan["dropped_with_wins_up_to"]
    changes = [
        (step, wins)
        for step, wins in enumerate(bounds, start=1)
        # A boundary below zero drops none.
        if wins >= 0 and (step == 1 or bounds[step - 2] != wins)
    ]
    if not changes:
        return "  (never)"
    text = table(["from step", "top in"], changes[:LONGEST_TABLE])
    if len(changes) <= LONGEST_TABLE:
        return text
    step, wins = changes[-1]
    return f"{text}\nand so on, up to {wins} from step {step}; --json has them all."


def _ceiling_sentence(plan: dict[str, Any]) -> str:
    factors = [f"{value:.3g}" for value in plan["speedup_ceiling"].values()]
    return (
        f"Over {plan['folds']}-fold cross-validation it saves at most a factor of\n"
        f"{', '.join(factors)} for learners of {', '.join(COMPLEXITIES)} cost. Work "
        "that\nconfigurations share comes on top."
    )


def _time_sentence(plan: dict[str, Any], options: Namespace) -> str:
    # In the order of ``_times``.
    early, race, _, full = plan["time"].values()
    fit_time = seconds_text(options.full_fit_time)
    count = counted(options.n_configurations, "configuration")
    return (
        f"{count}, {fit_time} for a fit on all rows, "
        f"n^{options.complexity:g} on n rows, {options.survival_rate:.0%} survive:\n"
        f"a race takes about {seconds_text(early)} if it stops early, "
        f"{seconds_text(race)} through all steps,\n"
        f"the final fit {fit_time}, {options.n_folds}-fold cross-validation "
        f"{seconds_text(full)}."
    )
