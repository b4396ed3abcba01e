"""Configurations that are taken in turn, where there is no time for a look at all.

A look at all of them that is cut counts for nothing, and how many could be raced would
have to be guessed beforehand. Taken in turn, each look is as large as the time allows.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cvst._typing import Configuration, FloatArray, IntArray
from cvst.exceptions import FallbackWarning
from cvst.parallel import effective_n_jobs
from cvst.proposals import Cost
from cvst.race import ProposeAndConfirm, Trial, family_key, space_of
from cvst.search._options import SearchOptions
from cvst.search._setup import Setup
from cvst.search.budget._fewer import with_configurations

__all__ = ["Listed", "in_turn", "listed_of", "warn_of_turns"]


@dataclass
class Listed:
    """A source that proposes what is listed, in order.

    Parameters
    ----------
    first : list of dict
        Configurations with which the race begins.
    waiting : list of list of dict
        Families that follow: what one fit serves.
    covered : mapping of str to str
        Hyper-parameters of which one fit serves several values.
    """

    first: list[Configuration]
    waiting: list[list[Configuration]]
    covered: Mapping[str, str] = field(default_factory=dict)
    _points: dict[int, FloatArray] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, configurations: Sequence[Configuration], covered: Mapping[str, str]
    ) -> Listed:
        """Return a source of some configurations, at least one."""
        first, *waiting = _families(configurations, covered)
        return cls(first, waiting, covered)

    def extended(self, configurations: Sequence[Configuration]) -> Listed:
        """Return a source that goes on with others."""
        more = _families(configurations, self.covered)
        return Listed(self.first, [*self.waiting, *more], self.covered)

    @property
    def flat(self) -> list[Configuration]:
        """All that wait, in the order in which they join."""
        return [one for family in self.waiting for one in family]

    def propose(
        self, trials: Sequence[Trial], count: int, seed: Sequence[int]
    ) -> list[list[Configuration]]:
        """Return the next families, fewer if there are no more."""
        del trials
        # The seed counts those in the race: what was proposed and not taken comes again.
        taken = seed[-1] - len(self.first)
        place = 0
        while taken > 0:
            taken -= len(self.waiting[place])
            place += 1
        return self.waiting[place : place + count]

    def seconds(
        self, configurations: Sequence[Configuration], trials: Sequence[Trial]
    ) -> FloatArray:
        """Forecast the seconds of a look at configurations that none has seen."""
        known = self._coordinates([one.configuration for one in trials])
        times = np.array([one.seconds for one in trials])
        cost = Cost.fitted((0,) * known.shape[1], known, times)
        return np.exp(cost.log_seconds(self._coordinates(configurations)))

    def _coordinates(self, configurations: Sequence[Configuration]) -> FloatArray:
        """Return the places of values among all that are listed, from 0 to 1."""
        if not self._points:
            every = [*self.first, *self.flat]
            space = space_of(every)
            axes = () if space is None else space.axes
            levels = [axis.codes / max(1, axis.n_levels - 1) for axis in axes]
            points = np.column_stack([np.empty((len(every), 0)), *levels])
            self._points = {id(one): points[n] for n, one in enumerate(every)}
        return np.stack([self._points[id(one)] for one in configurations])


def in_turn(
    options: SearchOptions, setup: Setup, started: float, order: IntArray
) -> Setup:
    """Return a race that takes configurations in turn until the time is up.

    Parameters
    ----------
    options : SearchOptions
        What the user set.
    setup : Setup
        The race of all.
    started : float
        Reading of the clock when the budget began.
    order : ndarray of int
        The configurations in the order in which they are taken.
    """
    problem = setup.problem
    covered = {name: how for name, how in problem.covered.items() if how == "smaller"}
    listed = Listed.of([problem.configurations[number] for number in order], covered)
    numbers = {id(one): number for number, one in enumerate(problem.configurations)}
    seconds = float(options.time_budget or 0) - (options.clock() - started)
    strategy = ProposeAndConfirm(
        listed,
        n_folds=setup.strategy.fold_counts[0],
        batch=effective_n_jobs(options.n_jobs),
        refits=bool(options.refit),
        rounds=tuple(covered),
    )
    setup = replace(
        setup,
        strategy=strategy,
        problem=replace(problem, seconds=max(seconds, 0.0)),
    )
    first = np.sort([numbers[id(one)] for one in listed.first])
    race = with_configurations(setup, first)
    assert race is not None  # the rows allow a first look on more of them
    return race


def listed_of(setup: Setup) -> Listed | None:
    """Return what a race takes in turn, None if it does not."""
    source = getattr(setup.strategy, "source", None)
    return source if isinstance(source, Listed) else None


def warn_of_turns(seconds: float, n_all: int) -> None:
    """Say once that perhaps not all configurations are raced."""
    warnings.warn(
        f"time_budget={seconds:g} seconds are too few for all {n_all} configurations: "
        "they are raced in turn until the time is up. Allow more time to race more of "
        "them.",
        FallbackWarning,
        stacklevel=6,
    )


def _families(
    configurations: Sequence[Configuration], covered: Mapping[str, str]
) -> list[list[Configuration]]:
    """Return configurations that share a fit together, at the place of the first."""
    families: dict[Hashable, list[Configuration]] = {}
    for one in configurations:
        families.setdefault(family_key(one, covered), []).append(one)
    return list(families.values())
