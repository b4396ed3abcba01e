"""Configurations that one fit serves, and what a race has seen of them.

A family is what shares a fit: a drawn configuration and, where a learner has rounds,
the same with fewer of them. Families are looked at on *rungs*: rung 0 is the first fold
with all of its training rows, rung 1 the same fold with a part of them, and so on.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Hashable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np

from cvst._typing import Configuration, FloatArray
from cvst._values import exact_text
from cvst.race._look import Look, Observation
from cvst.race._state import RaceState

__all__ = [
    "CONFIRM",
    "Family",
    "FamilyKeys",
    "Record",
    "Sight",
    "count_screened",
    "is_final",
    "most_rounds",
    "record_of",
]


# The stage whose looks confirm.
CONFIRM = "confirm"


def is_final(look: Look) -> bool:
    """Return whether a look is of the race among the best few.

    Others ran some of its folds before, on their way to it; their losses were let go.
    """
    return look.stage == CONFIRM and look.keep_losses


@dataclass(frozen=True, slots=True)
class Sight:
    """What was seen of a family in one look.

    Attributes
    ----------
    loss : float
        Smallest mean loss of its members, infinite if all fits failed.
    best : int
        The member that reached it.
    largest : int
        The member with most rounds that took part; the seconds are those of its fit.
    seconds : float
        What the fit and the predictions took.
    fit_seconds : float
        What the fit alone took.
    look : int
        Which look, from 0.
    """

    loss: float
    best: int
    largest: int
    seconds: float
    fit_seconds: float
    look: int


@dataclass(slots=True)
class Family:
    """Configurations that share a fit.

    Attributes
    ----------
    members : list of int
        Their numbers, those with most rounds first.
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


@dataclass(frozen=True)
class FamilyKeys:
    """Tells families apart: by all hyper-parameters but their rounds.

    Parameters
    ----------
    rounds : collection of str
        Hyper-parameters in which the members of a family differ.

    Examples
    --------
    >>> key = FamilyKeys(["max_iter"])
    >>> key({"max_iter": 20, "depth": 3}) == key({"depth": 3, "max_iter": 50})
    True
    """

    rounds: Collection[str]
    _texts: dict[int, tuple[Any, str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __call__(self, configuration: Configuration) -> Hashable:
        """Return what the members of a family have in common."""
        return tuple(
            (name, self._text(value))
            for name, value in sorted(configuration.items())
            if name not in self.rounds
        )

    def _text(self, value: Any) -> str:
        if isinstance(value, str | int | float | None):
            return exact_text(value)
        # That of an estimator takes as long as a short fit. It is kept with the
        # value, whose address may be that of another one in another process.
        known = self._texts.get(id(value))
        if known is None or known[0] is not value:
            known = self._texts[id(value)] = value, exact_text(value)
        return known[1]


class Record:
    """All families of a race, kept up to date look by look.

    Attributes
    ----------
    families : list of Family
        In the order in which they joined.
    family_of : list of int
        Family of each configuration.
    waiting : dict
        Families that no look has seen, in order; the values say nothing.
    order : dict of int to list of (loss, family)
        Families seen on each rung, the best first.
    seconds : dict of int to list of float
        What fits on each rung took.
    seen : list of (int, int, Sight)
        Family, rung and what was seen, for each look at a rung, in order. With other
        folds, minus their number stands for the rung, and all of them were seen.
    fold_losses : dict of int to dict
        Mean losses of a configuration by fold, of those that ran others than the first.
    first_losses : dict of int to float
        Mean loss of a configuration on the whole first fold.
    levels : dict of int to list of (loss, family)
        Families that have run the first fold and this many others, the best first, by
        the mean over these folds.
    leaders : dict of int to int
        By look at a rung, the configuration that was the best on it so far, if any.
    final : int or None
        Which look was the first of the race among the best few.
    worked, spent : float
        Seconds of fits and predictions, and what they took on the clock, without the
        first look.
    promoted_seconds : float
        Seconds of other folds than the first, on the way to the final.
    """

    def __init__(
        self, rounds: Collection[str], sizes: Sequence[int], keys: FamilyKeys
    ) -> None:
        self.families: list[Family] = []
        self.family_of: list[int] = []
        self.waiting: dict[int, None] = {}
        self.order: dict[int, list[tuple[float, int]]] = {}
        self.seconds: dict[int, list[float]] = {}
        self.seen: list[tuple[int, int, Sight]] = []
        self.fold_losses: dict[int, dict[int, float]] = {}
        self.first_losses: dict[int, float] = {}
        self.levels: dict[int, list[tuple[float, int]]] = {}
        self.leaders: dict[int, int] = {}
        self.final: int | None = None
        self.worked = self.spent = self.promoted_seconds = 0.0
        self.n_looks = 0
        self._last: Observation | None = None
        self._rounds = rounds
        self._key = keys
        self._rung_of = {size: rung for rung, size in enumerate(sizes)}
        self._numbers: dict[Hashable, int] = {}
        self._n_rounds: list[float] = []

    def update(self, state: RaceState) -> None:
        """Take note of what is new in a state."""
        known = len(self.family_of)
        if state.n_configurations > known:
            for number, one in enumerate(state.configurations[known:], start=known):
                self._add(number, one)
        for place in range(self.n_looks, state.n_looks):
            self._see(state.observations[place], place)
        self.n_looks = state.n_looks
        self._last = state.observations[-1] if state.observations else None

    def follows(self, state: RaceState) -> bool:
        """Return whether a state is a later one of the race that is recorded."""
        if self.n_looks > state.n_looks or len(self.family_of) > state.n_configurations:
            return False
        # By identity: later states of one race hold the very same observations.
        return self.n_looks == 0 or state.observations[self.n_looks - 1] is self._last

    def supposing(self, state: RaceState) -> Record:
        """Return the record of a later state without a change to this one.

        To make it anew would take as long as the race has looks, and a fold is judged
        by what would be if it was.
        """
        new = state.observations[self.n_looks :]
        numbers = {n for one in new for n in one.look.configurations.tolist()}
        families, losses = list(self.families), self.fold_losses
        for number in {self.family_of[n] for n in numbers}:
            one = families[number]
            families[number] = Family(one.members, dict(one.rungs), dict(one.folds))
        other = copy(self)
        # Nothing joins with a look, so what is known of each number stays shared.
        vars(other).update(
            families=families,
            fold_losses=losses | {n: dict(losses[n]) for n in numbers & set(losses)},
            waiting=dict(self.waiting),
            first_losses=dict(self.first_losses),
            leaders=dict(self.leaders),
            seen=list(self.seen),
            order={rung: list(those) for rung, those in self.order.items()},
            seconds={rung: list(those) for rung, those in self.seconds.items()},
            levels={level: list(those) for level, those in self.levels.items()},
        )
        other.update(state)
        return other

    def on_rung(self, rung: int) -> list[int]:
        """Return the families seen on a rung, the best first."""
        return [number for _, number in self.order.get(rung, [])]

    def on_level(self, n_others: int) -> list[int]:
        """Return the families that ran this many other folds, the best first."""
        if n_others == 0:
            return self.on_rung(0)
        return [number for _, number in self.levels.get(n_others, [])]

    def new_leader(self, look: Look, mean_losses: FloatArray) -> int | None:
        """Return which configuration of a look is now the best on its rung, if any."""
        if np.isnan(mean_losses).all():
            return None
        best = int(np.nanargmin(mean_losses))
        ranked = self.order.get(self._rung_of[look.n_train])
        known = ranked[0][0] if ranked else inf
        return int(look.configurations[best]) if mean_losses[best] < known else None

    def mean_seconds(self) -> dict[int, float]:
        """Return the mean seconds of a fit on each rung that was looked at."""
        return {rung: sum(x) / len(x) for rung, x in sorted(self.seconds.items())}

    def mean_fold_loss(self, number: int) -> tuple[int, float]:
        """Return minus the folds that a configuration confirmed on, and its mean."""
        losses = self.fold_losses.get(number)
        if not losses:
            return 0, inf
        return -len(losses), sum(losses.values()) / len(losses)

    def _add(self, number: int, configuration: Configuration) -> None:
        key = self._key(configuration)
        place = self._numbers.setdefault(key, len(self.families))
        if place == len(self.families):
            self.families.append(Family([]))
            self.waiting[place] = None
        self._n_rounds.append(most_rounds(configuration, self._rounds))
        # What you start with may be of one family, and come in any order.
        insort(self.families[place].members, number, key=self._by_rounds)
        self.family_of.append(place)

    def _by_rounds(self, number: int) -> tuple[float, int]:
        return -self._n_rounds[number], number

    def _see(self, observation: Observation, place: int) -> None:
        look = observation.look
        numbers = look.configurations.tolist()
        places: dict[int, list[int]] = {}
        for where, number in enumerate(numbers):
            places.setdefault(self.family_of[number], []).append(where)
        means = observation.mean_losses
        losses = np.where(np.isfinite(means), means, inf).tolist()
        by_number = dict(zip(numbers, losses, strict=True))
        if look.fold:
            for number, loss in by_number.items():
                self.fold_losses.setdefault(number, {})[look.fold] = loss
        elif self._rung_of[look.n_train] == 0:
            self.first_losses |= by_number
        leader = None if look.fold else self.new_leader(look, means)
        self.leaders |= {} if leader is None else {place: leader}
        fits = observation.fit_seconds.tolist()
        scores = observation.score_seconds.tolist()
        for number, mine in places.items():
            best = min(mine, key=losses.__getitem__)
            fit = sum(fits[where] for where in mine)
            sight = Sight(
                losses[best],
                numbers[best],
                min((numbers[where] for where in mine), key=self._by_rounds),
                fit + sum(scores[where] for where in mine),
                fit,
                place,
            )
            self._see_family(number, sight, look)
        # The first look pays for imports and the like.
        if place > 0:
            self.worked += float(np.nansum(observation.fit_seconds))
            self.worked += float(np.nansum(observation.score_seconds))
            self.spent += observation.seconds
        if self.final is None and is_final(look):
            self.final = place

    def _see_family(self, number: int, sight: Sight, look: Look) -> None:
        family = self.families[number]
        self.waiting.pop(number, None)
        if look.fold:
            family.folds[look.fold] = sight
            self.promoted_seconds += 0.0 if is_final(look) else sight.seconds
            self._reach(number, family, sight)
            return
        rung = self._rung_of[look.n_train]
        if rung in family.rungs:
            # The first look of all is taken twice: what is done once slows it down, or
            # others on the machine slow down the second. The shorter one counts.
            first = family.rungs[rung]
            self.order[rung].remove((first.loss, number))
            self.seconds[rung].remove(first.seconds)
            self.seen.remove((number, rung, first))
            sight = replace(
                sight,
                seconds=min(sight.seconds, first.seconds),
                fit_seconds=min(sight.fit_seconds, first.fit_seconds),
            )
        family.rungs[rung] = sight
        insort(self.order.setdefault(rung, []), (sight.loss, number))
        self.seconds.setdefault(rung, []).append(sight.seconds)
        self.seen.append((number, rung, sight))

    def _reach(self, number: int, family: Family, last: Sight) -> None:
        """Enter a family on its level, and as a look at all of its folds."""
        means = {
            one: (self.first_losses[one] + sum(others.values())) / (1 + len(others))
            for one in family.members
            if one in self.first_losses
            and len(others := self.fold_losses.get(one, {})) == len(family.folds)
        }
        if not means:
            return
        best = min(means, key=lambda one: (means[one], one))
        sights = [family.rungs[0], *family.folds.values()]
        seconds = sum(sight.seconds for sight in sights)
        fitting = sum(sight.fit_seconds for sight in sights)
        level = len(family.folds)
        largest = sights[0].largest
        whole = Sight(means[best], best, largest, seconds, fitting, last.look)
        insort(self.levels.setdefault(level, []), (whole.loss, number))
        self.seen.append((number, -level, whole))


def record_of(
    state: RaceState,
    rounds: Collection[str],
    sizes: Sequence[int],
    known: Record | None,
    keys: FamilyKeys | None = None,
) -> Record:
    """Return the record of a state; one that is known is only brought up to date.

    Parameters
    ----------
    state : RaceState
        The race.
    rounds : collection of str
        Hyper-parameters in which the members of a family differ.
    sizes : sequence of int
        Training rows of the rungs, rung 0 first.
    known : Record or None
        A record that may be of the same race.
    keys : FamilyKeys or None
        Tells families apart; one that has done so before is quicker.
    """
    if known is None or not known.follows(state):
        known = Record(rounds, sizes, keys or FamilyKeys(rounds))
    known.update(state)
    return known


def count_screened(state: RaceState, rounds: Collection[str]) -> int:
    """Return how many families a race has looked at.

    Parameters
    ----------
    state : RaceState
        The race.
    rounds : collection of str
        Hyper-parameters in which the members of a family differ.
    """
    looked = {n for one in state.observations for n in one.look.configurations.tolist()}
    known, key = state.configurations, FamilyKeys(rounds)
    return len({key(known[number]) for number in looked})


def most_rounds(configuration: Configuration, rounds: Collection[str]) -> float:
    """Return the rounds of a configuration, 0 if it does not say.

    Parameters
    ----------
    configuration : dict
        A configuration.
    rounds : collection of str
        Hyper-parameters that count rounds.

    Examples
    --------
    >>> most_rounds({"max_iter": 20, "learning_rate": 0.1}, ["max_iter"])
    20.0
    """
    values = [configuration[name] for name in rounds if name in configuration]
    return float(max((n for n in values if isinstance(n, int | np.integer)), default=0))
