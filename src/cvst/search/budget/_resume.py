"""What a time budget chose, as plain values, and the same choice again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from cvst.exceptions import CheckpointError
from cvst.race import Problem, Strategy
from cvst.search._options import SearchOptions
from cvst.search._setup import Setup
from cvst.search.budget._clock import TimeBudget
from cvst.search.budget._fewer import with_configurations
from cvst.search.budget._in_turn import in_turn
from cvst.search.budget._model import CostModel
from cvst.search.budget._start import growth_of_source
from cvst.theory import PowerCurve

__all__ = ["resumed_budget", "told_budget"]


def told_budget(
    numbers: Mapping[int, int], setup: Setup, budget: TimeBudget | None
) -> dict[str, Any] | None:
    """Return the choice of a budget, None without one.

    Parameters
    ----------
    numbers : mapping of int to int
        Number of each configuration of the search, by its ``id``.
    setup : Setup
        The race that was chosen.
    budget : TimeBudget or None
        Its clock, before the first look.
    """
    if setup.listed is not None:
        every = [*setup.listed.first, *setup.listed.flat]
        return {"in_turn": [numbers[id(one)] for one in every]}
    if budget is None:
        return None
    return {
        "raced": [numbers[id(one)] for one in setup.problem.configurations],
        "left_out": [numbers[id(one)] for one in budget.left_out],
        "strategy": repr(setup.strategy),
        "model": asdict(budget.model),
    }


def resumed_budget(
    options: SearchOptions, setup: Setup, started: float, told: dict[str, Any] | None
) -> tuple[Setup, TimeBudget | None]:
    """Return the race that was chosen, and a clock that has run for some time.

    Parameters
    ----------
    options : SearchOptions
        What the user set.
    setup : Setup
        The race as it would be without a budget.
    started : float
        Reading of the clock when the budget began.
    told : dict or None
        What :func:`told_budget` returned.
    """
    if told is None:
        return setup, None
    if "in_turn" in told:
        order = np.asarray(told["in_turn"], dtype=np.intp)
        # Those it had when it began: the state says how many of them are over.
        return in_turn(options, setup, float(setup.problem.seconds or 0), order), None
    every = setup.problem.configurations
    chosen: Setup | None = setup
    if len(told["raced"]) < len(every):
        chosen = with_configurations(setup, np.asarray(told["raced"], dtype=np.intp))
    if chosen is None:
        raise _another_race()
    strategy = _strategy(chosen, told["strategy"])
    chosen = replace(chosen, strategy=strategy)
    budget = TimeBudget(
        float(options.time_budget or 0),
        started,
        options.clock,
        _model(told["model"]),
        bool(options.refit),
        growth_of_source(chosen),
    )
    budget.leave_out([every[number] for number in told["left_out"]])
    return chosen, budget


def _strategy(setup: Setup, text: str) -> Strategy:
    """Return the variant that is written so."""
    first = setup.strategy
    for one in (first, *_variants(first, setup.problem)):
        # By their text: the file holds no objects.
        if repr(one) == text:
            return one
    # A race that began anew has a variant of a variant.
    for variant in _variants(first, setup.problem):
        for one in _variants(variant, setup.problem):
            if repr(one) == text:
                return one
    raise _another_race()


def _variants(strategy: Strategy, problem: Problem) -> Iterator[Strategy]:
    for group in strategy.variants(problem):
        yield from group


def _another_race() -> CheckpointError:
    return CheckpointError(
        "The race that the time budget of the checkpoint had chosen cannot be run any "
        "more. Name another file to begin anew."
    )


def _model(values: dict[str, Any]) -> CostModel:
    curves = {name: PowerCurve(**values[name]) for name in ("fit", "predict", "alone")}
    plausible = tuple(PowerCurve(**curve) for curve in values["plausible"])
    return CostModel(**{**values, **curves, "plausible": plausible})
