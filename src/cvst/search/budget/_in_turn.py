"""Configurations that are taken in turn, where there is no time for a look at all.

A look at all of them that is cut counts for nothing, and how many could be raced would
have to be guessed beforehand. Taken in turn, each look is as large as the time allows.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from cvst._typing import IntArray
from cvst._users_line import users_line
from cvst.exceptions import FallbackWarning
from cvst.parallel import effective_n_jobs
from cvst.race import RaceState
from cvst.race.machinery import ProposeAndConfirm
from cvst.search._listed import Listed
from cvst.search._options import SearchOptions
from cvst.search._setup import Setup
from cvst.search.budget._fewer import with_configurations
from cvst.search.budget._growth import early_exponent, steep_exponent

__all__ = ["in_turn", "warn_of_turns"]

# Rows on which configurations are screened at first, or as many as the first look of
# the race in their place would have.
FEWEST_ROWS = 500

# A race whose time is over has its first look all the same, and divides by its time.
LEAST_SECONDS = 1e-6


def in_turn(
    options: SearchOptions, setup: Setup, seconds: float, order: IntArray
) -> Setup:
    """Return a race that takes configurations in turn until the time is up.

    Parameters
    ----------
    options : SearchOptions
        What the user set.
    setup : Setup
        The race of all.
    seconds : float
        What the race may take, final fit included; none left is next to none.
    order : ndarray of int
        The configurations in the order in which they are taken.
    """
    problem = setup.problem
    covered = {name: how for name, how in problem.covered.items() if how == "smaller"}
    listed = Listed.of([problem.configurations[number] for number in order], covered)
    numbers = {id(one): number for number, one in enumerate(problem.configurations)}
    strategy = ProposeAndConfirm(
        listed,
        n_folds=setup.strategy.fold_counts[0],
        min_rows=min(FEWEST_ROWS, setup.strategy.next_look(RaceState(problem)).n_train),
        batch=effective_n_jobs(options.n_jobs),
        refits=bool(options.refit),
        rounds=tuple(covered),
        exponent=early_exponent(options.estimator),
        steepest=steep_exponent(options.estimator),
    )
    setup = replace(
        setup,
        strategy=strategy,
        problem=replace(problem, seconds=max(seconds, LEAST_SECONDS)),
        listed=listed,
    )
    first = np.sort([numbers[id(one)] for one in listed.first])
    race = with_configurations(setup, first)
    assert race is not None  # the rows allow a first look on more of them
    return race


def warn_of_turns(seconds: float, n_all: int) -> None:
    """Say once that perhaps not all configurations are raced."""
    warnings.warn(
        f"time_budget={seconds:g} seconds are too few for all {n_all} configurations: "
        "they are raced in turn until the time is up. Allow more time to race more of "
        "them.",
        FallbackWarning,
        stacklevel=users_line(),
    )
