"""All configurations in one order, those dropped along the way too."""

from __future__ import annotations

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.race._deciding import shared_deciding_looks
from cvst.race._state import RaceState

__all__ = ["failed_last", "last_finite", "rank_all", "within_equal_looks"]


def rank_all(
    state: RaceState,
    ranking: IntArray,
    means: FloatArray | None = None,
    by_mean: bool = False,
) -> IntArray:
    """Rank all configurations: survivors as given, then by how far they came.

    Parameters
    ----------
    state : RaceState
        The race.
    ranking : ndarray of int
        Survivors, the winner first.
    means : ndarray of shape (n_configurations,), optional
        What to compare those with equal looks by, low is good; by default the mean of
        their losses over the looks that decide (:func:`mean_deciding_losses`).
    by_mean : bool
        Whether survivors too, but for the winner, rank by that mean among all that
        were judged by the same looks; one that a test dropped at the very end may then
        rank before one that it could not tell from the winner.

    Returns
    -------
    ndarray of shape (n_configurations,)
        Ranks from 1, each once. What was last seen at a later look ranks first; among
        equals more folds come first, then the lower mean. Those whose last fit failed,
        and thus have no score, come next, and last those that never had a loss.

    Examples
    --------
    >>> from cvst.race import Problem
    >>> state = RaceState(Problem(n_configurations=3, n_samples=100))
    >>> rank_all(state, np.array([2, 0, 1]))
    array([2, 3, 1])
    """
    means = mean_deciding_losses(state) if means is None else means
    others = np.setdiff1d(np.arange(state.n_configurations), ranking)
    last, count = np.full((2, state.n_configurations), -1)
    for members, looks, deciding in shared_deciding_looks(state):
        last[members], count[members] = looks[-1], len(deciding)
    # The last key weighs most, as ``lexsort`` has it.
    keys = (
        others,
        np.nan_to_num(means[others], nan=np.inf),
        -count[others],
        -last[others],
        failed_last(state)[others],
        np.isnan(last_finite(state)[others]),
    )
    order = np.concatenate([ranking, others[np.lexsort(keys)]])
    if by_mean:
        order[1:] = within_equal_looks(state, order[1:], means)
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


def within_equal_looks(
    state: RaceState, order: IntArray, means: FloatArray
) -> IntArray:
    """Sort configurations that were judged by the same looks among themselves.

    Parameters
    ----------
    state : RaceState
        The race.
    order : ndarray of int
        Some configurations. The places of those with the same looks are dealt to them
        anew; failed fits keep theirs.
    means : ndarray of shape (n_configurations,)
        What to sort by, low first; equals keep their order.
    """
    order = order.copy()
    together: dict[tuple[int, ...], list[int]] = {}
    for members, _, deciding in shared_deciding_looks(state):
        together.setdefault(tuple(deciding.tolist()), []).extend(members.tolist())
    sortable = np.isfinite(means) & ~failed_last(state)
    for alike_members in together.values():
        places = np.flatnonzero(np.isin(order, alike_members) & sortable[order])
        alike = order[places]
        order[places] = alike[np.argsort(means[alike], kind="stable")]
    return order


def mean_deciding_losses(state: RaceState) -> FloatArray:
    """Return each one's mean loss over the looks that decide, NaN without any."""
    means = np.full(state.n_configurations, np.nan)
    losses = state.mean_losses
    for members, _, deciding in shared_deciding_looks(state):
        means[members] = losses[np.ix_(members, deciding)].mean(axis=1)
    return means


def failed_last(state: RaceState) -> BoolArray:
    """Return which configurations failed in the last look they took part in."""
    failed = np.zeros(state.n_configurations, dtype=bool)
    for seen in state.observations:
        failed[seen.look.configurations] = np.isnan(seen.mean_losses)
    return failed


def last_finite(state: RaceState) -> FloatArray:
    """Return the last finite mean loss of each configuration, NaN without one."""
    last = np.full(state.n_configurations, np.nan)
    for seen in state.observations:
        # A later failure does not wipe out what was known before.
        finite = np.isfinite(seen.mean_losses)
        last[seen.look.configurations[finite]] = seen.mean_losses[finite]
    return last
