"""Configurations that are listed beforehand and join a race in turn."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cvst._typing import Configuration, FloatArray
from cvst.proposals import Cost
from cvst.race.machinery import FamilyKeys, Trial, most_rounds, space_of

__all__ = ["Listed"]

# Among this many at the head of a list the one with fewest rounds is the first.
NEXT = 10


@dataclass
class Listed:
    """A source that proposes what is listed, in order.

    Parameters
    ----------
    first : list of dict
        Configurations with which the race begins.
    waiting : list of list of dict
        Families that follow: what one fit serves.
    covered : mapping of str to str
        Hyper-parameters of which one fit serves several values.
    """

    first: list[Configuration]
    waiting: list[list[Configuration]]
    covered: Mapping[str, str] = field(default_factory=dict)
    _points: dict[int, FloatArray] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, configurations: Sequence[Configuration], covered: Mapping[str, str]
    ) -> Listed:
        """Return a source of some configurations, at least one."""
        families = _families(configurations, covered)
        # Few rounds first: they are cheap, and the race learns what rounds cost.
        rounds = [max(most_rounds(one, covered) for one in f) for f in families[:NEXT]]
        first = families.pop(rounds.index(min(rounds)))
        return cls(first, families, covered)

    def extend(self, configurations: Sequence[Configuration]) -> None:
        """Go on with others after those that wait."""
        self.waiting += _families(configurations, self.covered)
        self._points = {}

    @property
    def flat(self) -> list[Configuration]:
        """All that wait, in the order in which they join."""
        return [one for family in self.waiting for one in family]

    def propose(
        self, trials: Sequence[Trial], count: int, seed: Sequence[int]
    ) -> list[list[Configuration]]:
        """Return the next families, fewer if there are no more."""
        del trials
        # The seed counts those in the race: what was not taken comes again.
        taken = seed[-1] - len(self.first)
        place = 0
        while taken > 0:
            taken -= len(self.waiting[place])
            place += 1
        return self.waiting[place : place + count]

    def enlarge(self, n_members: int) -> None:
        """Leave them as they were listed."""

    def seconds(
        self, configurations: Sequence[Configuration], trials: Sequence[Trial]
    ) -> FloatArray:
        """Forecast the seconds of a look at configurations that none has seen."""
        known = self._coordinates([one.configuration for one in trials])
        times = np.array([one.seconds for one in trials])
        cost = Cost.fitted((0,) * known.shape[1], known, times)
        return np.exp(cost.log_seconds(self._coordinates(configurations)))

    def _coordinates(self, configurations: Sequence[Configuration]) -> FloatArray:
        """Return the places of values among all that are listed, from 0 to 1."""
        if not self._points:
            every = [*self.first, *self.flat]
            space = space_of(every)
            axes = () if space is None else space.axes
            levels = [axis.codes / max(1, axis.n_levels - 1) for axis in axes]
            points = np.column_stack([np.empty((len(every), 0)), *levels])
            self._points = {id(one): points[n] for n, one in enumerate(every)}
        return np.stack([self._points[id(one)] for one in configurations])


def _families(
    configurations: Sequence[Configuration], covered: Mapping[str, str]
) -> list[list[Configuration]]:
    """Return configurations that share a fit together, at the place of the first."""
    families: dict[Hashable, list[Configuration]] = {}
    key = FamilyKeys(tuple(covered))
    for one in configurations:
        families.setdefault(key(one), []).append(one)
    return list(families.values())
