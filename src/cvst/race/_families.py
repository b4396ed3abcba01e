"""Configurations that one fit serves, and what a race has seen of them.

A family is what shares a fit: a drawn configuration and, where a learner has rounds,
the same with fewer of them. Families are looked at on *rungs*: rung 0 is the first fold
with all of its training rows, rung 1 the same fold with a part of them, and so on.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cvst._typing import Configuration
from cvst.race._look import Observation
from cvst.race._state import RaceState

__all__ = ["Family", "Record", "Sight", "record_of"]


@dataclass(frozen=True, slots=True)
class Sight:
    """What was seen of a family in one look.

    Attributes
    ----------
    loss : float
        Smallest mean loss of its members, infinite if all fits failed.
    best : int
        The member that reached it.
    seconds : float
        What the fit and the predictions took.
    fit_seconds : float
        What the fit alone took.
    look : int
        Which look, from 0.
    """

    loss: float
    best: int
    seconds: float
    fit_seconds: float
    look: int


@dataclass(slots=True)
class Family:
    """Configurations that share a fit.

    Attributes
    ----------
    members : list of int
        Their numbers, ascending.
    rungs : dict of int to Sight
        What was seen on the first fold, by rung.
    folds : dict of int to Sight
        What was seen on the other folds, by fold.
    """

    members: list[int]
    rungs: dict[int, Sight] = field(default_factory=dict)
    folds: dict[int, Sight] = field(default_factory=dict)

    @property
    def is_seen(self) -> bool:
        """Whether it took part in any look."""
        return bool(self.rungs)

    @property
    def highest(self) -> int:
        """The rung with most rows that it has been on."""
        return min(self.rungs)


class Record:
    """All families of a race, kept up to date look by look."""

    def __init__(self, covered: Mapping[str, str], sizes: Sequence[int]) -> None:
        self.families: list[Family] = []
        self.family_of: list[int] = []
        self.last: Observation | None = None
        self.n_looks = 0
        self._covered = covered
        self._rung_of = {size: rung for rung, size in enumerate(sizes)}
        self._numbers: dict[Hashable, int] = {}

    def update(self, state: RaceState) -> None:
        """Take note of what is new in a state."""
        known = len(self.family_of)
        if state.n_configurations > known:
            for number, one in enumerate(state.configurations[known:], start=known):
                self._add(number, one)
        for place in range(self.n_looks, state.n_looks):
            self._see(state.observations[place], place)
        self.n_looks = state.n_looks
        self.last = state.observations[-1] if state.observations else None

    def follows(self, state: RaceState) -> bool:
        """Return whether a state is a later one of the race that is recorded."""
        if self.n_looks > state.n_looks or len(self.family_of) > state.n_configurations:
            return False
        return self.n_looks == 0 or state.observations[self.n_looks - 1] is self.last

    def unseen(self) -> list[int]:
        """Return the families that no look has seen."""
        return [n for n, family in enumerate(self.families) if not family.is_seen]

    def on_rung(self, rung: int) -> list[int]:
        """Return the families seen on a rung, the best first."""
        seen = [n for n, one in enumerate(self.families) if rung in one.rungs]
        return sorted(seen, key=lambda n: self.families[n].rungs[rung].loss)

    def _add(self, number: int, configuration: Configuration) -> None:
        key = tuple(
            (name, repr(value))
            for name, value in sorted(configuration.items())
            if name not in self._covered
        )
        place = self._numbers.setdefault(key, len(self.families))
        if place == len(self.families):
            self.families.append(Family([]))
        self.families[place].members.append(number)
        self.family_of.append(place)

    def _see(self, observation: Observation, place: int) -> None:
        look = observation.look
        families = np.array([self.family_of[n] for n in look.configurations.tolist()])
        for number in np.unique(families).tolist():
            mine = np.flatnonzero(families == number)
            losses = observation.mean_losses[mine]
            losses = np.where(np.isfinite(losses), losses, np.inf)
            first = mine[int(np.argmin(losses))]
            fit = float(observation.fit_seconds[mine].sum())
            sight = Sight(
                float(losses.min()),
                int(look.configurations[first]),
                fit + float(observation.score_seconds[mine].sum()),
                fit,
                place,
            )
            family = self.families[number]
            if look.fold:
                family.folds[look.fold] = sight
            else:
                family.rungs[self._rung_of[look.n_train]] = sight


def record_of(state: RaceState, sizes: Sequence[int], known: Record | None) -> Record:
    """Return the record of a state; one that is known is only brought up to date.

    Parameters
    ----------
    state : RaceState
        The race.
    sizes : sequence of int
        Training rows of the rungs, rung 0 first.
    known : Record or None
        A record that may be of the same race.
    """
    if known is None or not known.follows(state):
        known = Record(state.problem.covered, sizes)
    known.update(state)
    return known
