"""What a time budget does with time that is left: others race against the winner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cvst._typing import Configuration
from cvst.race import RaceState, Relay
from cvst.race.machinery import space_of
from cvst.search._setup import Setup
from cvst.search.budget._choice import expected_seconds
from cvst.search.budget._clock import LOOK_MARGIN, TimeBudget
from cvst.search.budget._fewer import smaller_numbers

__all__ = ["in_legs", "waiting_in"]

# Below that share of the budget there is no point in another leg.
WORTHWHILE = 0.15

# A leg has at most that many, or twice as many as the first.
LARGE_LEG = 20


def in_legs(
    setup: Setup,
    budget: TimeBudget | None,
    draws: Sequence[Configuration],
    joined: Sequence[int] = (),
) -> Setup:
    """Return a race that goes on with those left out while there is time.

    Parameters
    ----------
    setup : Setup
        The race of the first ones.
    budget : TimeBudget or None
        The clock; without one the race stays as it is.
    draws : sequence of dict
        What can be raced besides those left out.
    joined : sequence of int
        How many have joined in each leg of a race that goes on.
    """
    if setup.listed is not None:
        setup.listed.extend(draws)
        return setup
    if budget is None or setup.problem.n_configurations == 1:
        return setup
    waiting = [*budget.left_out, *draws][sum(joined) :]
    if not waiting and not joined:
        return setup
    strategy = setup.strategy

    def more(state: RaceState) -> list[Configuration]:
        if budget.left() < WORTHWHILE * budget.seconds:
            return []
        count = _how_many_more(setup, budget, state, waiting)
        fresh = waiting[:count]
        del waiting[:count]
        return fresh

    relay = Relay(strategy, (setup.problem.n_configurations, *joined), more)
    return replace(setup, strategy=relay)


def _how_many_more(
    setup: Setup, budget: TimeBudget, state: RaceState, waiting: list[Configuration]
) -> int:
    """Return how many can be raced against the winner in the time left, 0 for none."""
    # Its forecast does not depend on which one has won.
    winner = state.configurations[0]
    most = max(LARGE_LEG, 2 * setup.problem.n_configurations)
    for count in smaller_numbers(min(len(waiting), most) + 1):
        chosen = [winner, *waiting[:count]]
        problem = replace(
            setup.problem,
            n_configurations=len(chosen),
            configurations=tuple(chosen),
            space=space_of(chosen, dict(setup.problem.covered)),
        )
        leg = replace(setup, problem=problem)
        race = expected_seconds(leg, budget.model, with_refit=False)
        if LOOK_MARGIN * race <= budget.left():
            return count
    return 0


def waiting_in(
    setup: Setup, budget: TimeBudget | None, draws: Sequence[Configuration]
) -> list[Configuration]:
    """Return what is to join a race, where that is known beforehand.

    Parameters
    ----------
    setup : Setup
        The race, in legs or in turn.
    budget : TimeBudget or None
        Its clock.
    draws : sequence of dict
        What can be raced besides those left out.
    """
    if setup.listed is not None:
        return setup.listed.flat
    return [] if budget is None else [*budget.left_out, *draws]
