"""A stage that cross-validates, fold by fold, and drops what falls behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cvst._text import ShortRepr
from cvst._typing import FloatArray, IntArray, count_rows
from cvst.race._folds import FoldRecord, bounded_folds, largest_first
from cvst.race._leader_tests import TEST_SENTENCES, drop_worse, tested
from cvst.race._look import Look, LookLosses, Verdict
from cvst.race._planned import PlannedLook, planned_folds, planned_prefix
from cvst.race._problem import Folds, Problem
from cvst.race._stage import Chooser, Stage, nothing, survivors
from cvst.race._state import RaceState

__all__ = ["FoldRace"]


@dataclass(frozen=True, repr=False)
class FoldRace(ShortRepr, Stage):
    """Race over the folds of a cross-validation.

    After each fold all are tested against the leader on all rows of the folds they have
    in common. A separate test set takes the place of the folds: then there is one look.

    Parameters
    ----------
    n_folds : int
        Number of folds.
    name : str
        Name of the stage.
    enter : callable
        Given the state, returns the configurations that enter.
    set_aside : callable
        Given the state after a fold, returns configurations that passed the test but do
        not go on.
    level : float
        Bound, for each fold, on the chance that the best configuration is dropped by
        the test; approximate, since folds share rows.
    fewest : int
        Fewer configurations than this are not worth a fold.
    together : tuple of str
        Stages with the same folds whose losses count together; only this one if empty.
    may_fail : bool
        Whether the race can go on if every fit fails in a fold.
    n_sharing : int
        If not 0, the level is that of a whole run, shared by this many looks. Then each
        fold is tested by itself, because no test of several is exact, and losses may
        have any tails (docs/theory/guarantee.md).
    max_test : int or None
        Most test rows of a fold; None for all.
    fewest_folds : int
        Fewer folds than this decide nothing, as :class:`Look` has it.
    """

    n_folds: int = 5
    name: str = "folds"
    enter: Chooser = survivors
    set_aside: Chooser = nothing
    level: float = 0.05
    fewest: int = 1
    together: tuple[str, ...] = ()
    may_fail: bool = False
    n_sharing: int = 0
    max_test: int | None = None
    fewest_folds: int = 1

    @property
    def fold_counts(self) -> tuple[int, ...]:
        """Ask for its folds."""
        return (self.n_folds,)

    @property
    def sentences(self) -> Mapping[str, str]:
        """What its reasons to drop mean."""
        return TEST_SENTENCES

    def look(self, state: RaceState, n_looks: int, members: IntArray) -> Look | None:
        """Look at the next fold."""
        problem = state.problem
        # With a separate test set: all rows for training, and one look.
        pairs = [problem.prefix(problem.n_samples)]
        if not problem.n_validation:
            pairs = [*self._folds(problem)]
        if n_looks == len(pairs):
            return None
        train, test = pairs[n_looks]
        is_fold = not problem.n_validation
        return Look(
            *(train, test, count_rows(train), members, self.name),
            keep_losses=True,
            is_fold=is_fold,
            may_fail=self.may_fail,
            fewest_folds=self.fewest_folds,
        )

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Test all against the leader, on all rows seen in this stage so far."""
        if self._is_last(state, look):
            # It leads, and nothing is left to test against it.
            p_values, worse = np.full(1, np.nan), np.zeros(1, dtype=bool)
        else:
            p_values, worse = tested(
                self._differences(state, look, seen),
                *(self.level, self.n_sharing, state.n_configurations),
            )
        # To look at the race after the drops is needless if nothing can come of it.
        aside = None if self.set_aside is nothing else self.set_aside
        return drop_worse(state, look, seen, p_values, worse, aside)

    def planned_looks(self, problem: Problem, most: int) -> tuple[PlannedLook, ...]:
        """Return one look per fold, or one at the separate test set."""
        if problem.n_validation:
            return (planned_prefix(problem, problem.n_samples, self.name, most),)
        return planned_folds(self._folds(problem), self.name, most)

    def _folds(self, problem: Problem) -> Folds:
        return bounded_folds(largest_first(problem.folds[self.n_folds]), self.max_test)

    @staticmethod
    def _is_last(state: RaceState, look: Look) -> bool:
        """Return whether a look sees the only configuration that is left."""
        return len(look.configurations) == 1 == np.count_nonzero(state.active)

    def _differences(
        self, state: RaceState, look: Look, seen: LookLosses
    ) -> list[FloatArray]:
        """Return losses minus the leader's, on the rows that are tested."""
        all_top = np.ones(len(look.configurations), dtype=bool)
        unknown = np.full(len(all_top), np.nan)
        # The leader is the best including this fold, so the fold must be on record.
        after = state.observe(look, seen, Verdict(all_top, unknown))
        record = FoldRecord.of(after, self.together or (self.name,))
        if self.n_sharing:
            record = record.only(record.folds[-1])
        leader = int(record.ranking(np.flatnonzero(record.seen & after.active))[0])
        return record.differences(look.configurations, leader)
