"""All configurations in one order, those dropped along the way too."""

from __future__ import annotations

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.race._state import RaceState

__all__ = ["failed_last", "last_finite", "rank_all"]


def rank_all(state: RaceState, ranking: IntArray) -> IntArray:
    """Rank all configurations: survivors as given, then by how late they were dropped.

    Parameters
    ----------
    state : RaceState
        The race.
    ranking : ndarray of int
        Survivors, the winner first.

    Returns
    -------
    ndarray of shape (n_configurations,)
        Ranks from 1, each once. Among those dropped at the same look the lower last
        loss is better. Those whose last fit failed, and thus have no score, come next,
        and last those that never had a loss.

    Examples
    --------
    >>> from cvst.race import Problem
    >>> state = RaceState(Problem(n_configurations=3, n_samples=100))
    >>> rank_all(state, np.array([2, 0, 1]))
    array([2, 3, 1])
    """
    last_loss = last_finite(state)
    others = np.setdiff1d(np.arange(state.n_configurations), ranking)
    # The last key weighs most, as ``lexsort`` has it.
    keys = (
        others,
        np.nan_to_num(last_loss[others], nan=np.inf),
        -state.dropped_at[others],
        failed_last(state)[others],
        np.isnan(last_loss[others]),
    )
    order = np.concatenate([ranking, others[np.lexsort(keys)]])
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


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
