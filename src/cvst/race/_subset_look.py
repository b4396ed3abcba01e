"""A stage that trains on the first rows and tests on the others, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cvst._text import ShortRepr
from cvst._typing import IntArray
from cvst.race._leader_tests import TEST_SENTENCES, Excesses, drop_worse, tested
from cvst.race._look import Look, LookLosses, Verdict
from cvst.race._planned import PlannedLook, planned_prefix
from cvst.race._problem import Problem
from cvst.race._stage import Chooser, Stage, nothing, survivors
from cvst.race._state import RaceState

__all__ = ["SubsetLook"]


@dataclass(frozen=True, repr=False)
class SubsetLook(ShortRepr, Stage):
    """Look once at a subset, and drop what is significantly worse than the leader.

    Parameters
    ----------
    rows : int or float
        Training rows, or their share of all rows.
    name : str
        Name of the stage.
    enter : callable
        Given the state, returns the configurations that enter.
    set_aside : callable
        Given the state after the look, returns configurations that passed the test but
        do not go on.
    level : float
        Bound on the chance that the configuration with the smallest expected loss here
        is dropped by the test.
    n_sharing : int
        If not 0, the level is that of a whole run, shared by this many looks, and
        losses may have any tails (docs/theory/guarantee.md).
    max_test : int or None
        Most test rows; None for as many as the memory allows.
    """

    rows: int | float = 0.2
    name: str = "subset"
    enter: Chooser = survivors
    set_aside: Chooser = nothing
    level: float = 0.05
    n_sharing: int = 0
    max_test: int | None = None

    @property
    def sentences(self) -> Mapping[str, str]:
        """What its reasons to drop mean."""
        return TEST_SENTENCES

    def look(self, state: RaceState, n_looks: int, members: IntArray) -> Look | None:
        """Look at the first rows, once."""
        if n_looks:
            return None
        n_train = self.n_train(state.problem)
        train, test = state.problem.bounded_prefix(
            n_train, len(members), limit=self.max_test
        )
        return Look(train, test, n_train, members, self.name, may_fail=True)

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Test all against the leader of the look."""
        if np.isnan(seen.mean_losses).all():
            # Nothing to compare: all go on, and more rows may help.
            return Verdict(np.zeros(len(seen.losses), dtype=bool), seen.mean_losses)
        leader = int(np.nanargmin(seen.mean_losses))
        p_values, worse = tested(
            Excesses(seen.losses, leader, seen.on_device),
            *(self.level, self.n_sharing, state.n_configurations),
        )
        return drop_worse(state, look, seen, p_values, worse, self.set_aside)

    def planned_looks(self, problem: Problem, most: int) -> tuple[PlannedLook, ...]:
        """Return the one look."""
        n_train = self.n_train(problem)
        n_test = problem.most_tested(most, self.max_test)
        return (planned_prefix(problem, n_train, self.name, most, n_test),)

    def n_train(self, problem: Problem) -> int:
        """Return the training rows, moved so that no group is split."""
        rows = self.rows
        share = isinstance(rows, float)
        return problem.cut(int(rows * problem.n_samples if share else rows))
