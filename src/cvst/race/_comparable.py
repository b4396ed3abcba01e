"""One number for each configuration, freed from the rows that it was seen on."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvst._typing import FloatArray
from cvst.race._state import RaceState

__all__ = ["comparable_means"]

# Alternations between the two kinds of numbers; they settle after a few.
N_SWEEPS = 20


def comparable_means(state: RaceState, table: FloatArray | None = None) -> FloatArray:
    """Return a mean for each configuration, as if all had been seen on the same rows.

    Those that were dropped early have been seen on few rows only, so their losses are
    higher than they would be; those that went on tell by how much. A number for each
    configuration plus one for each set of rows is fitted to all looks. The set that
    most configurations have seen counts 0.

    Parameters
    ----------
    state : RaceState
        The race.
    table : ndarray of shape (n_configurations, n_looks), optional
        What was seen, such as scores; mean losses by default.

    Returns
    -------
    ndarray of shape (n_configurations,)
        NaN for those that were never seen, or failed.
    """
    table = state.mean_losses if table is None else table
    names: dict[tuple[Any, ...], int] = {}
    parts: list[FloatArray] = []
    for place, seen in enumerate(state.observations):
        look = seen.look
        key: tuple[Any, ...] = (
            look.n_train,
            look.fold,
            look.stage if look.fold is None else "",
        )
        # Without a number of their own, the folds of a stage are its looks.
        if look.is_fold and look.fold is None:
            key = (*key, len(parts))
        who = look.configurations
        where = np.full(len(who), names.setdefault(key, len(names)))
        parts.append(np.column_stack([who, where, table[who, place]]))
    means = np.full(state.n_configurations, np.nan)
    rows = np.vstack([np.empty((0, 3)), *parts])
    rows = rows[np.isfinite(rows[:, 2])]
    if not len(rows):
        return means
    who, where, values = rows[:, 0].astype(int), rows[:, 1].astype(int), rows[:, 2]
    shifts = np.zeros(len(names))
    reference = int(np.bincount(where, minlength=len(names)).argmax())
    for _ in range(N_SWEEPS):
        counts = np.bincount(who, minlength=len(means))
        sums = np.bincount(who, values - shifts[where], minlength=len(means))
        np.divide(sums, counts, out=means, where=counts > 0)
        excess = values - means[who]
        shifts = np.array([_middle(excess[where == n]) for n in range(len(names))])
        shifts -= shifts[reference]
    return means


def _middle(values: FloatArray) -> float:
    return float(np.median(values)) if len(values) else 0.0
