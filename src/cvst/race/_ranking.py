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
    last_loss = last_finite(state.mean_losses)
    others = np.setdiff1d(np.arange(state.n_configurations), ranking)
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
    for present, losses in zip(state.present.T, state.mean_losses.T, strict=True):
        failed = np.where(present, np.isnan(losses), failed)
    return failed


def last_finite(values: FloatArray) -> FloatArray:
    """Return the last finite value of each row, NaN where there is none."""
    last = np.full(len(values), np.nan)
    for column in values.T:
        last = np.where(np.isfinite(column), column, last)
    return last
