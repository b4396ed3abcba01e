"""What is worth another look: survivors, representatives, leaders and neighbours.

Ranks count fits, not configurations: those that one fit serves take part for free.
"""

from __future__ import annotations

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.race._problem import Problem
from cvst.race._space import SearchSpace

__all__ = [
    "best_fits",
    "most_confirmed_and_climbing",
    "most_siblings",
    "n_fits",
    "neighbours_of",
    "ranked",
    "with_siblings",
    "worth_a_late_look",
    "worth_confirming",
]

# A representative may be worse than the leader by this many times the lead of the
# leader over a constant prediction; beyond that it has shown nothing at all.
LARGEST_EXCESS = 3.0

# Without a constant prediction to compare with: as many times the leader's loss.
LARGEST_RATIO = 10.0


def n_fits(problem: Problem) -> int:
    """Return how many fits serve all configurations once."""
    if problem.space is None:
        return problem.n_configurations
    return problem.space.n_fits


def ranked(losses: FloatArray) -> IntArray:
    """Return the configurations with a finite loss, best first."""
    order = np.argsort(losses, kind="stable")
    return order[np.isfinite(losses[order])]


def best_fits(space: SearchSpace | None, order: IntArray, count: int) -> IntArray:
    """Return the best of each of the first fits in an order, in that order.

    Examples
    --------
    >>> best_fits(None, np.array([4, 2, 7]), 2)
    array([4, 2])
    """
    if space is None or not any(axis.covered for axis in space.axes):
        return order[:count]
    first = np.unique(space.fits[order], return_index=True)[1]
    return order[np.sort(first)[:count]]


def with_siblings(problem: Problem, chosen: IntArray) -> IntArray:
    """Return the chosen and all others that their fits serve too, ascending."""
    if problem.space is None or not len(chosen):
        return np.unique(chosen).astype(np.intp)
    return problem.space.with_siblings(np.unique(chosen))


def neighbours_of(problem: Problem, chosen: IntArray, distance: int) -> IntArray:
    """Return the neighbours of some configurations, ascending."""
    if problem.space is None:
        return np.empty(0, dtype=np.intp)
    around = [problem.space.neighbours(index, distance) for index in chosen.tolist()]
    return np.unique(np.concatenate([np.empty(0, dtype=np.intp), *around]))


def worth_a_late_look(
    problem: Problem, losses: FloatArray, survivors: IntArray, promising: BoolArray
) -> IntArray:
    """Return survivors and a representative of every level of every axis.

    Parameters
    ----------
    problem : Problem
        What is known before.
    losses : ndarray of shape (n_configurations,)
        Mean losses of the first look.
    survivors : ndarray of int
        Configurations that take part in any case.
    promising : ndarray of shape (n_configurations,), bool
        Where a representative is promising, its neighbours take part too.
    """
    if problem.space is None:
        return survivors
    allowed = _not_hopeless(problem, losses)
    chosen = problem.space.representatives(losses, allowed)
    near = neighbours_of(problem, chosen[promising[chosen]], 1)
    chosen = np.union1d(chosen, near[allowed[near]])
    return with_siblings(problem, np.union1d(survivors, chosen))


def worth_confirming(
    problem: Problem,
    losses: FloatArray,
    n_tracked: int,
    n_leaders: int,
    n_hedges: int,
) -> IntArray:
    """Return the best of a look, neighbours of its leaders and a best of each part."""
    order = ranked(losses)
    best = best_fits(problem.space, order, n_tracked)
    # Siblings of one fit could fill all places by rank, so the best fits enter too.
    chosen = [order[:n_tracked], best]
    if problem.space is not None:
        leaders = best_fits(problem.space, order, n_leaders)
        chosen.append(neighbours_of(problem, leaders, 2))
        if n_hedges:
            allowed = _not_hopeless(problem, losses)
            chosen.append(problem.space.representatives(losses, allowed, n_hedges))
    return with_siblings(problem, np.concatenate(chosen))


def most_siblings(problem: Problem) -> int:
    """Return how many configurations one fit serves at most."""
    return 1 if problem.space is None else int(np.bincount(problem.space.fits).max())


def most_confirmed_and_climbing(
    problem: Problem, n_tracked: int, n_leaders: int, n_hedges: int
) -> tuple[int, int]:
    """Return how many can be tracked at most, and how many one climb can add."""
    space = problem.space
    if space is None:
        return n_tracked, 0
    tracked = n_tracked + n_leaders * space.most_neighbours(2)
    if n_hedges:
        tracked += sum(
            # Categories are never merged into bins.
            min(axis.n_levels, n_hedges) if axis.ordered else axis.n_levels
            for axis in space.axes
        )
    siblings = most_siblings(problem)
    return tracked * siblings, space.most_neighbours(1) * siblings


def _not_hopeless(problem: Problem, losses: FloatArray) -> BoolArray:
    leader = np.nanmin(losses)
    constant = problem.constant_loss
    if constant is not None and constant > leader:
        limit = leader + LARGEST_EXCESS * (constant - leader)
    else:
        limit = leader + (LARGEST_RATIO - 1) * abs(leader)
    return np.nan_to_num(losses, nan=np.inf) <= limit
