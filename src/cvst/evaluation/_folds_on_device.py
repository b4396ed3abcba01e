"""Folds that come next, done on a device together with the present one.

A device takes hardly longer for a fold with a few configurations more, but each fold
by itself waits for the host and for a chain of short steps. What a configuration
answers in a fold does not depend on the others there, so those that are left find
their answers when the race asks for that fold; those of configurations that were
dropped in between are let go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cvst.evaluation._ahead import fold_of
from cvst.evaluation._scored import ScoredTable, Scores, numbers_of
from cvst.evaluation._work import Work, scored_folds
from cvst.race import Folds, Look

__all__ = ["FoldsOnDevice"]


@dataclass(slots=True)
class FoldsOnDevice:
    """What is known of folds that the race has not asked for.

    Parameters
    ----------
    folds : mapping of int to Folds
        The folds of the race by their number.
    """

    folds: Mapping[int, Folds]
    _stage: tuple[str, int | None] = field(default=("", None), init=False)
    _asked: set[tuple[int, int]] = field(default_factory=set, init=False)
    _known: dict[tuple[int, int], list[Scores]] = field(
        default_factory=dict, init=False
    )

    def take(self, look: Look) -> list[Scores]:
        """Return the results of a look if they are there, else nothing."""
        place = fold_of(self.folds, look)
        stage = look.stage, look.rounds
        if place is None or stage != self._stage:
            self._stage, self._asked, self._known = stage, set(), {}
        if place is None:
            return []
        self._asked.add(place)
        found = self._known.pop(place, None)
        return [] if found is None else _those_of(found, look.configurations.tolist())

    def with_later(self, work: Work, at: Callable[[Look], Work]) -> Callable[..., Any]:
        """Return what does a look, with folds to come where that costs no time.

        Parameters
        ----------
        work : Work
            The present look.
        at : callable
            Returns another look as workers get it.
        """
        own = getattr(work.evaluator, "evaluate_folds", None)
        looks = [] if own is None else self._coming(work.look)
        if not looks:
            return work

        def do(groups: list[list[int]], rows: Any = None) -> list[Scores]:
            del groups, rows  # a device takes the whole look
            present, *others = scored_folds(work, (at(look) for look in looks))
            # All of them, or none.
            for look, scored in zip(looks, others, strict=False):
                self._keep(look, scored)
            return present

        return do

    def _coming(self, look: Look) -> list[Look]:
        """Return looks at the folds of the stage that were not asked for."""
        place = fold_of(self.folds, look)
        if place is None:
            return []
        count, _ = place
        return [
            replace(look, train=train, test=test, n_train=len(train))
            for number, (train, test) in enumerate(self.folds[count])
            if (count, number) not in self._asked
        ]

    def _keep(self, look: Look, scored: list[Scores]) -> None:
        place = fold_of(self.folds, look)
        if place is not None:
            self._known[place] = scored


def _those_of(results: list[Scores], numbers: list[int]) -> list[Scores]:
    """Return the results of some configurations; nothing if one is missing."""
    wanted, found = set(numbers), list[Scores]()
    for one in results:
        own = wanted.intersection(numbers_of(one))
        if isinstance(one, ScoredTable):
            found += [one.only(own)] if own else []
        elif own:
            found.append(one)
    n_found = sum(len(numbers_of(one)) for one in found)
    return found if n_found == len(wanted) else []
