"""Folds that come next, worked on where the present one leaves workers idle.

Configurations that share work go to one worker: all k of k-NN, all sizes of a forest,
all penalties of a ridge regression. A fold then has fewer groups than there are
workers, or so few that most workers wait for the last ones. A race takes folds one
after the other, since each may drop configurations; but what a group answers in a fold
does not depend on what happens in another. So idle workers go on with the same groups
in the folds to come, the best ones first, and a group whose members have all stayed
finds its answer there, the same to the last bit. One that has lost a member is worked
on anew.

Where every configuration takes every fold, as in plain cross-validation, nothing that
is done ahead of time is lost. Fits that are longer than a worker's share of a fold,
which would make each fold wait for them, go out for all folds at once there.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import Any, TypeAlias

from cvst._typing import IntArray
from cvst.evaluation._scored import Scored, Scores, numbers_of
from cvst.evaluation._work import Work
from cvst.race import Folds, Look

__all__ = ["Ahead", "Plan", "SeveralLooks", "fold_of", "slowest_first"]

# As many parts of equal length would keep workers busy to the end. Where more are cut
# off, what they share is computed too often.
PARTS_PER_WORKER = 2

# A fold of the race: how many there are, which one it is, and most rounds.
Place: TypeAlias = tuple[int, int, "int | None"]
Owner: TypeAlias = tuple["Place | None", tuple[int, ...]]
# A group in a fold to come, with the rows to train and to test on.
Coming: TypeAlias = tuple[tuple[Place, tuple[int, ...]], Any]


@dataclass(frozen=True, slots=True)
class SeveralLooks:
    """Several looks at the same configurations, as every worker gets them.

    Configuration ``n`` of the look at place ``p`` has the number ``p * stride + n``, so
    that groups, failures and results go the same way as those of a single look.
    """

    works: tuple[Work, ...]
    stride: int

    def __call__(self, groups: list[list[int]], rows: Any = None) -> list[Scores]:
        """Evaluate some groups, of whichever look."""
        results: list[Scores] = []
        for place, some in groupby(groups, key=lambda group: group[0] // self.stride):
            shift = place * self.stride
            own = [[number - shift for number in group] for group in some]
            results += [
                replace(one, configuration=one.configuration + shift)
                for one in self.works[place](own, rows)
                if isinstance(one, Scored)
            ]
        return results


@dataclass(frozen=True, slots=True)
class Plan:
    """Later folds that go out with a look.

    Attributes
    ----------
    looks : tuple of Look
        The looks at them.
    groups : list of list of int
        Their groups, numbered as in :class:`SeveralLooks`.
    n_first : int
        How many of them go out before the groups of the present look.
    in_the_dark : bool
        Whether nobody knows what fits take.
    owners : mapping of int to tuple
        The place and the group of each number.
    """

    looks: tuple[Look, ...] = ()
    groups: list[list[int]] = field(default_factory=list)
    owners: dict[int, Owner] = field(default_factory=dict)
    n_first: int = 0
    in_the_dark: bool = False

    def in_order(
        self,
        present: list[list[int]],
        cut: Callable[[list[list[int]]], Iterable[list[list[int]]]],
        finished: Set[int],
        stride: int,
    ) -> Iterable[list[list[int]]]:
        """Return chunks of the present look and of those to come, in their order.

        Parameters
        ----------
        present : list of list of int
            Groups of the present look.
        cut : callable
            Returns chunks of groups.
        finished : set of int
            Configurations that are done in the present look; it grows meanwhile.
        stride : int
            As in :class:`SeveralLooks`.
        """
        if self.in_the_dark:
            return chain(
                cut(present), slowest_first(cut(self.groups), finished, stride)
            )
        first, later = self.groups[: self.n_first], self.groups[self.n_first :]
        return cut([*first, *present, *later])


class Ahead:
    """What is known of folds that the race has not asked for.

    Parameters
    ----------
    folds : mapping of int to Folds
        The folds of the race by their number.
    independent : bool
        Whether two or more of a group answer alike when others are missing.
    all_stay : bool
        Whether every configuration takes every fold, whatever comes out.
    """

    def __init__(
        self,
        folds: Mapping[int, Folds],
        independent: bool = False,
        all_stay: bool = False,
    ) -> None:
        self._folds = folds
        self._independent = independent
        self._all_stay = all_stay
        self._known: dict[Owner, list[Scored]] = {}
        self._stage: str | None = None
        self._asked: set[int] = set()
        self._seconds: dict[int, float] = {}
        self._losses: dict[int, float] = {}
        self._cuts: dict[tuple[tuple[int, ...], ...], tuple[list[list[int]], bool]] = {}

    def take(
        self, look: Look, groups: Sequence[list[int]]
    ) -> tuple[list[Scored], list[list[int]]]:
        """Return the results that are there, and the groups that are not."""
        place = self._place(look)
        if look.stage != self._stage:
            self._stage, self._asked = look.stage, set()
        if place is not None:
            self._asked.add(place[1])
        results: list[Scored] = []
        left = []
        for group in groups:
            found = self._found(place, group)
            if found:
                results += found
            else:
                left.append(group)
        return results, left

    def split(
        self,
        look: Look,
        groups: list[list[int]],
        cut: Callable[[list[list[int]], Look], list[list[int]]],
    ) -> tuple[list[Scores], list[list[int]], list[list[int]]]:
        """Return what is there, what is left to do, and all groups as they are cut.

        Whole groups are looked for first: what is known is not cut and done anew.
        """
        early, left = self.take(look, groups)
        unknown = {number for group in left for number in group}
        parts = cut(groups, look)
        more, left = self.take(
            look, [part for part in parts if not unknown.isdisjoint(part)]
        )
        return [*early, *more], left, parts

    def _found(self, place: Place | None, group: Sequence[int]) -> list[Scored]:
        """Return the results of a group, or none."""
        key = self._covering(place, group)
        if key is None:
            return []
        wanted = set(group)
        found = [one for one in self._known[key] if one.configuration in wanted]
        n_good = sum(one.error is None for one in found)
        # What is left alone is fitted alone, which may round otherwise.
        alike = len(key[1]) == len(group) or n_good > 1
        return found if len(found) == len(group) and alike else []

    def _covering(self, place: Place | None, group: Sequence[int]) -> Owner | None:
        """Return where the results of a group are kept, if they are."""
        if (place, tuple(group)) in self._known:
            return place, tuple(group)
        if not self._independent:
            return None
        keys = (key for key in self._known if key[0] == place)
        return next((key for key in keys if set(key[1]) >= set(group)), None)

    def hear(
        self, results: Iterable[Scores], configurations: Sequence[int], losses: Any
    ) -> None:
        """Remember what a look took and gave, to guess at the next one."""
        for result in results:
            seconds = result.fit_seconds + result.score_seconds
            self._seconds.update(dict.fromkeys(numbers_of(result), seconds))
        self._losses.update(zip(configurations, losses, strict=True))

    def longest_first(self, groups: Sequence[list[int]]) -> list[list[int]]:
        """Sort groups, so that the last worker does not begin with a long one."""
        return sorted(groups, key=self._expected, reverse=True)

    def cut(
        self,
        groups: Sequence[list[int]],
        n_workers: int,
        look: Look | None = None,
    ) -> list[list[int]]:
        """Cut groups that would outlast the others; all of them, if they are few.

        What they share is computed once more for each part, so others stay whole.
        Where all configurations stay, groups are cut as before if that was done by
        their times or is how the look at hand was done ahead: other parts would be
        worked on anew.
        """
        key = tuple(map(tuple, groups))
        parts, by_time = self._cuts.get(key, ([], False))
        if by_time or (look is not None and parts and not self.take(look, parts)[1]):
            return parts
        most = sum(map(self._expected, groups)) / (PARTS_PER_WORKER * n_workers)
        parts = []
        for group in groups:
            n_parts = max(1, min(len(group), math.ceil(self._expected(group) / most)))
            parts += [group[start::n_parts] for start in range(n_parts)]
        if self._all_stay:
            self._cuts = {key: (parts, bool(self._seconds))}
        return parts

    def _expected(self, group: Sequence[int]) -> float:
        """Return the seconds of a group the last time; as good a guess as any, if not.

        Looks of a fold take about as long as each other, and only ratios matter here.
        """
        known = [self._seconds[n] for n in group if n in self._seconds]
        return sum(known) * len(group) / len(known) if known else float(len(group))

    def _best_first(self, groups: Sequence[list[int]]) -> list[list[int]]:
        """Sort groups by their best member: it is the most likely to stay."""
        worst = float("inf")
        return sorted(
            groups, key=lambda group: min(self._losses.get(n, worst) for n in group)
        )

    def plan(
        self,
        look: Look,
        groups: Sequence[list[int]],
        left: Sequence[list[int]],
        n_workers: int,
        stride: int,
    ) -> Plan:
        """Return as much of the folds to come as idle workers can take.

        Parameters
        ----------
        look : Look
            The present look, a fold or not.
        groups : sequence of list of int
            All its groups.
        left : sequence of list of int
            Those of them that are not known yet.
        n_workers : int
            Number of workers.
        stride : int
            A number above those of all configurations.
        """
        place = self._place(look)
        if place is None or not left or n_workers < 2:
            return Plan()
        self._forget(groups)
        coming = list(self._coming(place, groups))
        # What is done ahead is kept, and a strategy says whether there is room for it.
        sure = self._all_stay and look.keep_losses and coming
        chosen = self._sure(coming, left, n_workers) if sure else []
        if chosen and not self._seconds:
            return replace(_planned(look, chosen, 0, stride), in_the_dark=True)
        n_first = len(chosen)
        taken = {key for key, _ in chosen}
        idle = _Idle(
            map(self._expected, [*(list(key[1]) for key, _ in chosen), *left]),
            n_workers,
        )
        shortest = min(map(self._expected, groups))
        for key, pair in coming:
            if not idle.has_room(shortest):
                break
            # A shorter one may fit where this one does not.
            if key not in taken and idle.takes(self._expected(key[1])):
                chosen.append((key, pair))
        return _planned(look, chosen, n_first, stride)

    def _sure(
        self, coming: Sequence[Coming], left: Sequence[list[int]], n_workers: int
    ) -> list[Coming]:
        """Return what goes out now where nothing is dropped, idle workers or not.

        The next fold, while nobody knows which fits are long; then fits that are
        longer than a worker's share of this one.
        """
        if not self._seconds:
            return [one for one in coming if one[0][0] == coming[0][0][0]]
        share = sum(map(self._expected, left)) / n_workers
        long = [one for one in coming if self._expected(one[0][1]) > share]
        return sorted(long, key=lambda one: self._expected(one[0][1]), reverse=True)

    def _coming(self, place: Place, groups: Sequence[list[int]]) -> Iterator[Coming]:
        """Yield what is not known of the folds to come, one fold after the other."""
        count, _, rounds = place
        best_first = self._best_first(groups)
        # A stage takes all its folds, in whichever order.
        for index, pair in enumerate(self._folds[count]):
            for group in best_first if index not in self._asked else ():
                key = (count, index, rounds), tuple(group)
                if self._covering(*key) is None:
                    yield key, pair

    def _forget(self, groups: Sequence[list[int]]) -> None:
        """Let go of folds that were asked for, and of groups that have changed."""
        wanted = {
            self._covering(place, group)
            for place in {key[0] for key in self._known}
            for group in groups
            if place is not None and place[1] not in self._asked
        }
        self._known = {key: self._known[key] for key in self._known if key in wanted}

    def present(self, plan: Plan, stride: int, results: list[Scores]) -> list[Scores]:
        """Return the results of the present look, and keep those of later ones."""
        now: list[Scores] = []
        for result in results:
            number = numbers_of(result)[0]
            if number in plan.owners and isinstance(result, Scored):
                found = self._known.setdefault(plan.owners[number], [])
                found.append(replace(result, configuration=number % stride))
            else:
                now.append(result)
        return now

    def _place(self, look: Look) -> Place | None:
        place = fold_of(self._folds, look)
        return None if place is None else (*place, look.rounds)


def fold_of(folds: Mapping[int, Folds], look: Look) -> tuple[int, int] | None:
    """Return which fold a look is at, and of how many; None if it is none of them."""
    for count, pairs in folds.items():
        for index, (train, test) in enumerate(pairs):
            # The same arrays: a strategy may well cut rows off a fold.
            if look.train is train and look.test is test:
                return count, index
    return None


def slowest_first(
    chunks: Iterable[list[list[int]]], finished: Set[int], stride: int
) -> Iterator[list[list[int]]]:
    """Yield chunks of a later fold, first those that this fold is still at.

    Parameters
    ----------
    chunks : iterable of list of list of int
        Groups, numbered as in :class:`SeveralLooks`.
    finished : set of int
        Configurations that are done in the present fold; it grows meanwhile.
    stride : int
        As in :class:`SeveralLooks`.
    """
    waiting = list(chunks)
    while waiting:
        slow = (
            place
            for place, chunk in enumerate(waiting)
            if any(
                number % stride not in finished for group in chunk for number in group
            )
        )
        yield waiting.pop(next(slow, 0))


def _planned(look: Look, chosen: Sequence[Coming], n_first: int, stride: int) -> Plan:
    """Return a plan, its groups numbered by the looks at them."""
    looks: dict[Place, Look] = {}
    plan = Plan(n_first=n_first)
    for key, pair in chosen:
        looks.setdefault(key[0], _at(look, *pair))
        shift = stride * (1 + list(looks).index(key[0]))
        plan.groups.append([number + shift for number in key[1]])
        plan.owners.update(dict.fromkeys(plan.groups[-1], key))
    return replace(plan, looks=tuple(looks.values()))


def _at(look: Look, train: IntArray, test: IntArray) -> Look:
    return replace(look, train=train, test=test, n_train=len(train))


class _Idle:
    """The time in which workers would wait for the last of them."""

    def __init__(self, seconds: Iterable[float], n_workers: int) -> None:
        self._busy_until = [0.0] * n_workers
        for one in seconds:
            heapq.heapreplace(self._busy_until, self._busy_until[0] + one)
        # Sums of the same numbers in another order are not quite the same.
        self._end = max(self._busy_until) * (1 + 1e-9)

    def has_room(self, seconds: float) -> bool:
        """Return whether somebody can do this before the last one is done."""
        return self._busy_until[0] + seconds <= self._end

    def takes(self, seconds: float) -> bool:
        """Give work to the worker that is free first, unless all would wait for it."""
        if not self.has_room(seconds):
            return False
        heapq.heapreplace(self._busy_until, self._busy_until[0] + seconds)
        return True
