"""Pointwise losses of several configurations on the very same rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.race._deciding import deciding_looks
from cvst.race._look import Look, Observation
from cvst.race._state import RaceState

__all__ = ["Meeting", "meetings", "rows_key"]

# What two looks share if they train on as many rows and test on the same.
Key = tuple[Any, ...]


def rows_key(look: Look) -> Key:
    """Return what tells the rows of a look from those of others.

    Examples
    --------
    >>> one = Look(slice(0, 5), slice(5, 9), 5, np.array([0]))
    >>> rows_key(one) == rows_key(Look(slice(0, 5), np.arange(5, 9), 5, np.array([7])))
    True
    """
    test = look.test
    if isinstance(test, slice):
        test = np.arange(test.start, test.stop)
    # A hash, since the rows themselves would be kept once more for each look.
    return look.n_train, hash(np.ascontiguousarray(test, dtype=np.int64).tobytes())


class Meeting:
    """Looks of one stage, and all that were seen on the rows of some of them.

    Parameters
    ----------
    looks : tuple of Observation
        The looks of one configuration in that stage.
    seen : mapping of int to mapping
        Looks at each configuration, with its place there, by the key of their rows.
    """

    def __init__(
        self,
        looks: tuple[Observation, ...],
        seen: Mapping[int, Mapping[Key, tuple[Observation, int]]],
    ) -> None:
        self.looks = looks
        keys = [rows_key(one.look) for one in looks]
        self._seen = {
            number: [known.get(key) for key in keys] for number, known in seen.items()
        }

    @property
    def members(self) -> IntArray:
        """Configurations with known losses on all these rows, ascending."""
        whole = [number for number, seen in self._seen.items() if None not in seen]
        return np.array(sorted(whole), dtype=np.intp)

    @property
    def guests(self) -> IntArray:
        """Configurations with known losses at one of these looks or more, ascending."""
        some = [number for number, seen in self._seen.items() if any(seen)]
        return np.array(sorted(some), dtype=np.intp)

    def met(self, number: int) -> list[int]:
        """Return at which of these looks a configuration has known losses."""
        return [n for n, one in enumerate(self._seen[number]) if one is not None]

    def places(self, number: int) -> list[tuple[Observation, int]]:
        """Return the looks at a configuration, and its place among their arrays."""
        return [
            (one[0], int(one[0].look.places(np.array([number]))[0]))
            for one in self._seen[number]
            if one is not None
        ]

    def losses(self, number: int) -> list[FloatArray]:
        """Return the losses of a configuration, look by look."""
        known = [one for one in self._seen[number] if one is not None]
        return [np.asarray(seen.losses[row]) for seen, row in known]  # type: ignore[index]


def meetings(state: RaceState, number: int) -> list[Meeting]:
    """Return where others met a configuration: the folds of each stage, the last first.

    Before them comes the stage that decides, if the last one was broken off. Where
    there are no folds it is the last look. Looks whose losses were not kept are left
    out, and configurations that failed there.

    Parameters
    ----------
    state : RaceState
        The race.
    number : int
        The configuration.
    """
    mine = [
        seen
        for seen in state.observations
        if seen.losses is not None and number in seen.kept
    ]
    if not mine:
        return []
    folds: dict[str, list[Observation]] = {}
    for one in mine:
        if one.look.is_fold:
            folds.setdefault(one.look.stage, []).append(one)
    stages = list(folds.values())[::-1] or [mine[-1:]]
    seen = _seen(state.observations, {rows_key(o.look) for s in stages for o in s})
    decided = deciding_looks(state, np.flatnonzero(state.present[number]))
    stage = state.observations[decided[-1]].look.stage
    # Sorting leaves the others in their order.
    ordered = sorted(stages, key=lambda one: one[0].look.stage != stage)
    return [Meeting(tuple(looks), seen) for looks in ordered]


def _seen(
    observations: Iterable[Observation], keys: set[Key]
) -> dict[int, dict[Key, tuple[Observation, int]]]:
    """Return the looks at each configuration on the rows that are asked for."""
    known: dict[int, dict[Key, tuple[Observation, int]]] = {}
    for seen in observations:
        if seen.losses is None or rows_key(seen.look) not in keys:
            continue
        key = rows_key(seen.look)
        means = seen.mean_losses[seen.look.places(seen.kept)]
        for row, number in enumerate(seen.kept.tolist()):
            if np.isfinite(means[row]):
                known.setdefault(number, {})[key] = seen, row
    return known
