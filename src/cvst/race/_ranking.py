"""Everybody in one order, also those who fell along the way."""

from __future__ import annotations

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.race._state import RaceState

__all__ = ["rank_all"]


def rank_all(state: RaceState, ranking: IntArray) -> IntArray:
    """Rank all configurations: survivors as given, then by how late they fell.

    Parameters
    ----------
    state : RaceState
        The race.
    ranking : ndarray of int
        Survivors, the winner first.

    Returns
    -------
    ndarray of shape (n_configurations,)
        Ranks from 1, each once. Among those who fell at the same look the lower last
        loss is better; who never had a loss comes last.
    """
    last_loss = _last_finite(state.mean_losses)
    others = np.setdiff1d(np.arange(state.problem.n_configurations), ranking)
    keys = (
        others,
        np.nan_to_num(last_loss[others], nan=np.inf),
        -state.dropped_at[others],
        np.isnan(last_loss[others]),
    )
    order = np.concatenate([ranking, others[np.lexsort(keys)]])
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


def _last_finite(values: FloatArray) -> FloatArray:
    last = np.full(len(values), np.nan)
    for column in values.T:
        last = np.where(np.isfinite(column), column, last)
    return last
