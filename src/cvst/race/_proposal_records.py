"""What a race that proposes knows: families, looks at them, and rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

import numpy as np

from cvst._typing import Configuration, IntArray
from cvst.race._families import FamilyKeys, Record, most_rounds, record_of
from cvst.race._folds import largest_first
from cvst.race._problem import Problem
from cvst.race._proposal_parts import Source, Trial
from cvst.race._state import RaceState
from cvst.race._strategy import Strategy

__all__ = ["GROWTH", "ProposalRecords", "rounds_in"]

# Each rung has this many times the training rows of the one below.
GROWTH = 4


class ProposalRecords(Strategy):
    """Knows what was seen of families, what is under way, and on which rows.

    The parameters are those of :class:`ProposeAndConfirm`.
    """

    _is_aside = False
    _known: tuple[RaceState, Record] | None = None

    def __init__(
        self,
        source: Source,
        n_iter: int | None = None,
        n_folds: int = 5,
        n_confirmed: int = 10,
        confirm_share: float = 0.3,
        min_rows: int = 500,
        max_test: int = 10_000,
        level: float = 0.05,
        batch: int = 1,
        screen_rounds: int | None = None,
        refits: bool = True,
        n_members: int = 0,
        rounds: Collection[str] = (),
        own_rounds: int = 0,
        exponent: float = 1.0,
        steepest: float = 1.0,
    ) -> None:
        self.source = source
        self.n_iter = n_iter
        self.n_folds = n_folds
        self.n_confirmed = n_confirmed
        self.confirm_share = confirm_share
        self.min_rows = min_rows
        self.max_test = max_test
        self.level = level
        self.batch = batch
        self.screen_rounds = screen_rounds
        self.refits = refits
        self.n_members = n_members
        self.rounds = rounds
        self.own_rounds = own_rounds
        self.exponent = exponent
        self.steepest = steepest
        self._keys = FamilyKeys(rounds)

    def _fidelity(self, state: RaceState, rung: int) -> float:
        """Return the share of all folds; minus their number stands for other folds."""
        sizes, n_folds = self._sizes(state.problem), len(self._folds(state.problem))
        return (1 - rung if rung < 0 else sizes[rung] / sizes[0]) / n_folds

    def _trials(self, state: RaceState) -> list[Trial]:
        """Return all looks of the screening, in order."""
        record, known = self._record(state), getattr(self, "_told", None)
        # The first look is taken back when it is repeated, so all before is made anew.
        if known is None or known[0] is not record or len(known[1]) <= 1:
            fresh: list[Trial] = []
            known = self._told = (record, fresh)
        trials: list[Trial] = known[1]
        configurations = state.configurations
        # Without a clock nothing may depend on how fast the machine is.
        clock = state.problem.seconds is not None
        for number, rung, one in record.seen[len(trials) :]:
            first = record.families[number].members[0]
            seconds = one.seconds * _times_the_rounds(state, first, one.largest)
            trials.append(
                Trial(
                    configurations[first],
                    one.loss,
                    self._fidelity(state, rung),
                    seconds if clock else 1.0,
                )
            )
        return trials

    def _trials_of_size(self, state: RaceState, rung: int) -> list[Trial]:
        """Return the looks on a rung: the same list until there are others."""
        trials, fidelity = self._trials(state), self._fidelity(state, rung)
        known = getattr(self, "_alike", None)
        if known is None or known[0] is not trials or known[1] != (len(trials), rung):
            alike = [one for one in trials if one.fidelity == fidelity]
            known = self._alike = (trials, (len(trials), rung), alike)
        chosen: list[Trial] = known[2]
        return chosen

    def _supposed(self, state: RaceState) -> list[Trial]:
        """Return looks under way at new families, as if they had come out middling.

        What is proposed beside them is something else then, and a model expects little
        of their surroundings without taking them for failures.
        """
        record, sizes = self._record(state), self._sizes(state.problem)
        supposed = []
        for look in state.pending:
            numbers = {record.family_of[n] for n in look.configurations.tolist()}
            unseen = [n for n in sorted(numbers) if n in record.waiting]
            rung = 0 if look.fold else sizes.index(look.n_train)
            known = record.order.get(rung)
            if not unseen or not known:
                continue
            middle = known[len(known) // 2][0]
            seconds = float(np.median(record.seconds[rung]))
            for number in unseen:
                first = state.configurations[record.families[number].members[0]]
                share = self._fidelity(state, rung)
                supposed.append(Trial(first, middle, share, seconds))
        return supposed

    def _under_way(self, state: RaceState, fold: int | None = None) -> set[int]:
        """Return the families of looks that are not over, or of those at a fold."""
        family_of = self._record(state).family_of
        looks = [one for one in state.pending if fold is None or one.fold == fold]
        return {family_of[n] for look in looks for n in look.configurations.tolist()}

    def _waiting(self, state: RaceState) -> list[int]:
        """Return the families that no look has seen, or is about to see."""
        busy = self._under_way(state)
        return [number for number in self._record(state).waiting if number not in busy]

    def _leader(self, state: RaceState) -> int:
        """Return the family that would win now, found once for each state."""
        known = getattr(self, "_first", None)
        if known is None or known[0] is not state:
            known = self._first = (state, self._fresh_leader(state))
        leader: int = known[1]
        return leader

    def _fresh_leader(self, state: RaceState) -> int:
        record = self._record(state)
        confirmed = {record.family_of[n] for n in record.fold_losses}
        left = [n for n in confirmed if self._is_left(state, n)]
        if left:
            means = {
                n: min(record.mean_fold_loss(one) for one in record.families[n].members)
                for n in left
            }
            return min(left, key=lambda n: (*means[n], n))
        for rung in sorted(record.order):
            for number in record.on_rung(rung):
                if self._is_left(state, number):
                    return number
        return 0

    def _is_left(self, state: RaceState, number: int) -> bool:
        members = self._record(state).families[number].members
        return bool(state.active[members].any())

    def n_screened(self, state: RaceState) -> int:
        """Return how many families have been looked at."""
        record = self._record(state)
        return len(record.families) - len(record.waiting)

    def _record(self, state: RaceState) -> Record:
        # Each decision asks for it a hundred times, and the state rarely changes.
        known = self._known
        if known is None or known[0] is not state:
            before = None if known is None else known[1]
            if before is not None and self._is_aside and before.follows(state):
                record = before.supposing(state)
            else:
                before = None if self._is_aside else before
                sizes = self._sizes(state.problem)
                record = record_of(state, self.rounds, sizes, before, self._keys)
            known = self._known = (state, record)
        return known[1]

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """Let states be asked about that are not next; what is known stays known."""
        before = self._known, self._is_aside
        self._is_aside = True
        try:
            yield
        finally:
            self._known, self._is_aside = before

    def _folds(self, problem: Problem) -> list[tuple[IntArray, IntArray]]:
        return self._rows(problem)[0]

    def _sizes(self, problem: Problem) -> list[int]:
        """Return the training rows of the rungs, those of the whole fold first."""
        return self._rows(problem)[1]

    def _rows(
        self, problem: Problem
    ) -> tuple[list[tuple[IntArray, IntArray]], list[int]]:
        """Return folds and sizes, worked out once: each decision asks for them."""
        known = getattr(self, "_split", None)
        if known is None or known[0] is not problem:
            folds = self._fresh_folds(problem)
            sizes = [len(folds[0][0])]
            fewest = max(self.min_rows, problem.min_rows)
            while sizes[-1] // GROWTH >= fewest:
                sizes.append(sizes[-1] // GROWTH)
            known = self._split = (problem, (folds, sizes))
        rows: tuple[list[tuple[IntArray, IntArray]], list[int]] = known[1]
        return rows

    def _fresh_folds(self, problem: Problem) -> list[tuple[IntArray, IntArray]]:
        if problem.n_validation:
            train, test = problem.prefix(problem.n_samples)
            rows = np.arange(problem.n_samples + problem.n_validation)
            return [(rows[train], rows[test])]
        return list(largest_first(problem.folds[self.n_folds]))


def _times_the_rounds(state: RaceState, number: int, other: int) -> float:
    """Return how many times the rounds of another member one has, at least 1."""
    mine, others = (rounds_in(state, state.configurations[n]) for n in (number, other))
    return max(1.0, mine / others) if others else 1.0


def rounds_in(state: RaceState, configuration: Configuration) -> float:
    """Return the rounds of a configuration, 0 if it does not say."""
    return most_rounds(configuration, state.problem.covered)
