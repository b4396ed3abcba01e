"""A fit that fails on a subset may succeed on more rows: a bounded second chance."""

from __future__ import annotations

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.race._ranking import failed_last
from cvst.race._space import SearchSpace
from cvst.race._state import RaceState

__all__ = ["known_losses", "second_chances"]


def known_losses(state: RaceState) -> FloatArray | None:
    """Return the mean losses of the last look in which any fit succeeded, or None."""
    for place in reversed(range(state.n_looks)):
        losses = state.column("mean_losses", place)
        if np.isfinite(losses).any():
            return losses
    return None


def second_chances(state: RaceState, most: int) -> IntArray:
    """Return configurations whose last fit failed, up to a number of fits.

    A fit that fails on a subset for want of rows (more neighbours or components than
    there are rows, a class without enough of them) need not fail on all. Where there
    are too many they are taken evenly along the grid.

    Parameters
    ----------
    state : RaceState
        The race so far.
    most : int
        Most fits; siblings that one fit serves count once.
    """
    failed = np.flatnonzero(failed_last(state))
    return evenly(state.problem.space, failed, most)


def evenly(space: SearchSpace | None, chosen: IntArray, most: int) -> IntArray:
    """Return the configurations of a limited number of fits, spread along the grid.

    Examples
    --------
    >>> evenly(None, np.arange(10, 20), 3)
    array([10, 14, 19])
    """
    if most < 1 or not len(chosen):
        return np.empty(0, dtype=np.intp)
    fits = chosen if space is None else space.fits[chosen]
    # Fits in the order of their first configuration, which is that of the grid.
    numbers = fits[np.sort(np.unique(fits, return_index=True)[1])]
    # Failures lie together on a grid; the first few would all be alike.
    places = np.linspace(0, len(numbers) - 1, min(most, len(numbers))).astype(np.intp)
    return chosen[np.isin(fits, numbers[places])]
