"""Which looks make the score of a configuration: its last one, or its last folds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.race._state import RaceState

__all__ = [
    "deciding_looks",
    "deciding_losses",
    "deciding_mean",
    "deciding_means",
    "shared_deciding_looks",
    "stage_decides",
]


def deciding_looks(
    state: RaceState, looks: IntArray, n_looks: int | None = None
) -> IntArray:
    """Return those of some looks that decide: the last one, with its sister folds.

    One fold is chance, so the folds of a stage count together. Those of a stage that
    was broken off before it says anything are left out, if there are others.

    Parameters
    ----------
    state : RaceState
        The race.
    looks : ndarray of int
        Looks that a configuration took part in, from 0, ascending; at least one.
    n_looks : int, optional
        As it was after this many looks of the race; by default after all.
    """
    while True:
        last = state.observations[looks[-1]].look
        if not last.is_fold:
            return looks[-1:]
        stages = [state.observations[look].look.stage for look in looks.tolist()]
        alike = np.array([stage == last.stage for stage in stages])
        is_enough = last.fewest_folds <= 1 or alike.all()
        if is_enough or stage_decides(state, last.stage, n_looks):
            return np.asarray(looks[alike])
        looks = looks[~alike]


def stage_decides(state: RaceState, stage: str, n_looks: int | None = None) -> bool:
    """Return whether a stage decides: not before it began, nor if it was broken off.

    Parameters
    ----------
    state : RaceState
        The race.
    stage : str
        Its name.
    n_looks : int, optional
        As it was after this many looks of the race; by default after all.
    """
    seen = [one for one in state.observations[:n_looks] if one.look.stage == stage]
    if not seen or len(seen) >= seen[0].look.fewest_folds:
        return bool(seen)
    # With one left there is nothing more to decide.
    left = set(seen[0].look.configurations.tolist())
    return len(left.difference(*(one.drops for one in seen))) <= 1


def deciding_mean(
    state: RaceState, number: int, table: FloatArray, n_looks: int | None = None
) -> float:
    """Return the mean of a configuration over the looks that decide about it.

    Parameters
    ----------
    state : RaceState
        The race.
    number : int
        The configuration.
    table : ndarray of shape (n_configurations, n_looks)
        Losses or scores of all looks.
    n_looks : int, optional
        As it was after this many looks; by default after all.

    Returns
    -------
    float
        NaN if it took part in none of them, or failed.
    """
    looks = np.flatnonzero(state.present[number, :n_looks])
    if not len(looks):
        return float("nan")
    return float(table[number, deciding_looks(state, looks, n_looks)].mean())


def deciding_losses(state: RaceState) -> FloatArray:
    """Return the mean loss of each configuration over the looks that decide about it.

    Returns
    -------
    ndarray of shape (n_configurations,)
        NaN for those that took part in none, or failed.
    """
    return deciding_means(state, state.mean_losses)


def deciding_means(state: RaceState, table: FloatArray) -> FloatArray:
    """Return the same of a table of losses or scores of all looks."""
    means = np.full(state.n_configurations, np.nan)
    for members, _, looks in shared_deciding_looks(state):
        # The mean of one look is its value to the last bit.
        means[members] = table[np.ix_(members, looks)].mean(axis=1)
    return means


def shared_deciding_looks(
    state: RaceState,
) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Yield configurations with the same looks, these looks, and which of them decide.

    Configurations without a look are left out.
    """
    # A race that is over is asked several times.
    yield from state.once(_shared)


def _shared(state: RaceState) -> list[tuple[IntArray, IntArray, IntArray]]:
    looks_of: dict[int, list[int]] = {}
    for place, seen in enumerate(state.observations):
        for number in seen.look.configurations.tolist():
            looks_of.setdefault(number, []).append(place)
    # Most share their looks, so that callers can average all of them at once.
    together: dict[tuple[int, ...], list[int]] = {}
    for number in sorted(looks_of):
        together.setdefault(tuple(looks_of[number]), []).append(number)
    shared = []
    for looks, members in together.items():
        places = np.array(looks)
        shared.append((np.array(members), places, deciding_looks(state, places)))
        for numbers in shared[-1]:
            numbers.flags.writeable = False
    return shared
