"""``cvst plan --time-budget``: the race that the library chooses for a time."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import fill

from cvst._text import at_least_seconds, seconds_text
from cvst.exceptions import BudgetTooSmallError, InvalidInputError
from cvst.race import CVST, Problem
from cvst.race.machinery import fitting_variant
from cvst.theory import expected_active, linear_train_shares, race_cost

__all__ = ["BudgetChoice", "choose_race", "race_times"]


@dataclass(frozen=True, slots=True)
class BudgetChoice:
    """What was chosen, for the reader.

    Attributes
    ----------
    seconds : float
        The budget, final fit included.
    steps : int
        Number of steps.
    loser_level : float
        As asked for, or raised.
    considered : list of int
        Numbers of steps to choose from.
    level_raised : bool
        Whether the level asked for fits with no number of steps.
    """

    seconds: float
    steps: int
    loser_level: float
    considered: list[int]
    level_raised: bool

    def __str__(self) -> str:
        fewest, most = self.considered[0], self.considered[-1]
        left_out = sorted({*range(fewest, most)} - {*self.considered})
        jumps = ", ".join(map(str, left_out))
        time = seconds_text(self.seconds)
        texts = [
            (
                f"Chosen for {time}, final fit included: the most steps, of {fewest} "
                f"to {most}, with time to drop the losers and stop early."
            ),
            "In a search the clock ends a race that goes on.",
        ]
        if left_out:
            texts.append(
                "Left out, because good configurations are lost more easily there: "
                f"{jumps}."
            )
        if self.level_raised:
            texts.append(
                f"The loser level is raised to {self.loser_level:g}, so that losers "
                "are dropped early enough."
            )
        return "\n".join(fill(text, 80) for text in texts)


def choose_race(options: Namespace) -> BudgetChoice:
    """Return the race with most steps that fits into the budget.

    It fits if there is time until it can have dropped the losers and stopped early, as
    in the search, whose clock ends a race that goes on. Levels stay as they are if any
    number of steps fits; if none does, the loser level is raised.

    Raises
    ------
    BudgetTooSmallError
        If none fits even then; the message holds the smallest budget that does.
    """
    if options.n_configurations is None or options.full_fit_time is None:
        raise InvalidInputError(
            "--time-budget needs --n-configurations and --full-fit-time too, to tell "
            "how much fits into the time."
        )
    seconds = options.time_budget
    times: dict[CVST, float] = {}

    def cost(variant: CVST) -> float:
        early, _ = race_times(options, variant.max_steps, variant.loser_level)
        # The search fits the winner on all rows within its budget, so do we.
        times[variant] = options.full_fit_time + early
        return times[variant]

    chosen = fitting_variant(
        _groups(options), seconds, cost=cost, n_looks=lambda one: one.max_steps
    )
    if chosen is not None:
        level = chosen.loser_level
        considered = [one.max_steps for one in times if one.loser_level == level]
        raised = level > options.loser_level
        return BudgetChoice(seconds, chosen.max_steps, level, considered, raised)
    raise BudgetTooSmallError(
        f"--time-budget {seconds_text(options.time_budget)} is too small: a race of "
        f"{options.n_configurations:,} configurations and the final fit take "
        f"{at_least_seconds(min(times.values()))} at least. Allow that much, or race "
        "fewer configurations or rows."
    )


def race_times(
    options: Namespace, steps: int, loser_level: float
) -> tuple[float, float]:
    """Return the seconds of a race that stops early and of one through all its steps.

    The final fit is not among them.
    """
    strategy = _race(options, steps, loser_level)
    drop = strategy.first_drop
    assert drop is not None  # the open test has one
    active = expected_active(
        options.n_configurations,
        steps,
        safety_zone=drop - 1,
        survival_rate=options.survival_rate,
    )
    shares = linear_train_shares(steps)
    # No data are known. These rows are the fewest on which every step adds some.
    problem = Problem(options.n_configurations, n_samples=steps + 1)
    early, full = (
        race_cost(active[:n_steps], shares[:n_steps], complexity=options.complexity)
        for n_steps in (strategy.fewest_looks(problem), steps)
    )
    fit_time = options.full_fit_time
    return fit_time * early, fit_time * full


def _groups(options: Namespace) -> Iterator[list[CVST]]:
    """Yield the variants that the search chooses from, or the race as asked for."""
    asked = _race(options, options.max_steps, options.loser_level)
    problem = Problem(options.n_configurations, n_samples=options.max_steps + 1)
    groups = zip(asked.budget_levels, asked.variants(problem), strict=True)
    for level, group in groups:
        yield list(group) or [_race(options, options.max_steps, level)]


def _race(options: Namespace, steps: int, loser_level: float) -> CVST:
    return CVST(steps, loser_level=loser_level, winner_level=options.winner_level)
