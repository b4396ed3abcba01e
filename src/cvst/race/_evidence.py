"""On how much each configuration was judged: folds first, then training rows."""

from __future__ import annotations

import numpy as np

from cvst._typing import BoolArray, IntArray
from cvst.race._deciding import shared_deciding_looks
from cvst.race._same_rows import rows_key
from cvst.race._state import RaceState

__all__ = ["as_much_as", "evidence"]


def evidence(state: RaceState) -> tuple[IntArray, IntArray]:
    """Return how many folds count for each configuration, and its training rows.

    The same rows at another look are the same evidence: neighbours that join later run
    the folds again that others ran, and configurations that are proposed the subset.

    Parameters
    ----------
    state : RaceState
        The race.

    Returns
    -------
    n_folds : ndarray of shape (n_configurations,)
        Different folds that it ran, of all stages up to the one that decides.
    n_train : ndarray of shape (n_configurations,)
        Most training rows of the looks that decide; 0 for those never looked at.

    Examples
    --------
    >>> from cvst.race import Problem
    >>> evidence(RaceState(Problem(n_configurations=2, n_samples=100)))
    (array([0, 0]), array([0, 0]))
    """
    n_folds, n_train = np.zeros((2, state.n_configurations), dtype=np.intp)
    sizes = state.subset_sizes
    keys = {
        place: rows_key(seen.look)
        for place, seen in enumerate(state.observations)
        if seen.look.is_fold
    }
    for members, looks, deciding in shared_deciding_looks(state):
        # Later folds, if any, are those of a stage that was broken off.
        counted = looks[looks <= deciding[-1]].tolist()
        n_folds[members] = len({keys[place] for place in counted if place in keys})
        n_train[members] = sizes[deciding].max()
    return n_folds, n_train


def as_much_as(state: RaceState, number: int) -> tuple[BoolArray, bool]:
    """Return which have as much evidence as one, and whether that is of folds.

    Parameters
    ----------
    state : RaceState
        The race.
    number : int
        The one to compare with.

    Returns
    -------
    as_much : ndarray of shape (n_configurations,), bool
        As many folds, and as many training rows.
    by_folds : bool
        False where it ran no fold, so that rows alone are compared.
    """
    n_folds, n_train = evidence(state)
    as_much = (n_folds >= n_folds[number]) & (n_train >= n_train[number])
    return as_much, bool(n_folds[number])
