"""The paper's stage: subsets that grow step by step (Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cvst._text import ShortRepr
from cvst._typing import BoolArray, IntArray
from cvst.race._look import Look, LookLosses, Verdict
from cvst.race._planned import PlannedLook, planned_prefix
from cvst.race._problem import Problem
from cvst.race._rules import EliminationRule, SimilarityRule, StoppingRule
from cvst.race._stage import Chooser, Stage, survivors
from cvst.race._state import RaceState

__all__ = ["SENTENCES", "GrowingSteps"]

# What its reasons to end and to drop mean.
SENTENCES = {
    "max_steps": "all steps are done",
    "one_survivor": "one configuration is left",
    "similar_performance": "the survivors behave alike",
    "sequential test": "it was flop so often that the sequential test calls it a loser",
    "fit failed": "its fit failed",
}


@dataclass(frozen=True, repr=False)
class GrowingSteps(ShortRepr, Stage):
    """Look at growing subsets, drop losers, stop when the survivors behave alike.

    Parameters
    ----------
    sizes : sequence of int
        Training rows of the steps.
    similarity : SimilarityRule
        Step 1: separates top from flop.
    elimination : EliminationRule
        Step 2: finds losers by their traces.
    stopping : StoppingRule
        Step 3: ends the stage early.
    shuffled : bool
        Whether each step has an order of its own, out of ``problem.orders``.
    name : str
        Name of the stage.
    enter : callable
        Given the state, returns the configurations that take part in the next step;
        those that join the race take part from then on.
    """

    sizes: Sequence[int]
    similarity: SimilarityRule
    elimination: EliminationRule
    stopping: StoppingRule
    shuffled: bool = False
    name: str = "race"
    enter: Chooser = survivors

    @property
    def sentences(self) -> Mapping[str, str]:
        """What its reasons mean."""
        return SENTENCES

    def end(self, state: RaceState) -> str | None:
        """Say why the stage is over, or None while it is not."""
        traces = self._traces(state)
        if traces.shape[1] >= len(self.sizes):
            return "max_steps"
        if traces.shape[1] == 0:
            return None
        active = state.active
        # The R package goes on with a single survivor until the window is full. It
        # has won already, so we stop.
        if active.sum() == 1:
            return "one_survivor"
        return (
            "similar_performance" if self.stopping.should_stop(traces[active]) else None
        )

    def members(self, state: RaceState) -> IntArray:
        """Return the configurations of the next step."""
        return self.enter(state)

    def look(self, state: RaceState, n_looks: int, members: IntArray) -> Look | None:
        """Look at the next larger subset with the survivors."""
        if self.end(state) is not None:
            return None
        n_train = self.sizes[n_looks]
        order = state.problem.orders[n_looks] if self.shuffled else None
        train, test = state.problem.bounded_prefix(n_train, len(members), order)
        look = Look(train, test, n_train, members, self.name)
        n_losses = len(members) * look.n_test * len(self.sizes)
        return replace(look, keep_losses=state.problem.may_keep(n_losses))

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Call top and flop, and drop significant losers."""
        comparison = self.similarity.compare(seen)
        # Looks of other stages do not count: their tests are different ones.
        before = self._traces(state)[look.configurations]
        traces = np.column_stack([before, comparison.top])
        drops: dict[int, str] = {}
        # The paper tests from the first step, the R package from the second; they
        # differ only where the safety zone is shorter than one step.
        if traces.shape[1] > 1:
            losers = self.elimination.is_loser(traces)
            drops = dict.fromkeys(
                look.configurations[losers].tolist(), "sequential test"
            )
        if traces.shape[1] == len(self.sizes):
            # Only at the end: a fit that fails on few rows may succeed on more.
            drops |= dict.fromkeys(seen.failures, "fit failed")
        return Verdict(comparison.top, comparison.p_values, drops)

    def planned_looks(self, problem: Problem, most: int) -> tuple[PlannedLook, ...]:
        """Return one look per step; all may stay to the end."""
        return tuple(
            planned_prefix(problem, n_train, self.name, most, problem.most_tested(most))
            for n_train in self.sizes
        )

    def _traces(self, state: RaceState) -> BoolArray:
        """Return top or flop in the looks of this stage."""
        stages = [seen.look.stage == self.name for seen in state.observations]
        return state.traces[:, np.array(stages, dtype=bool)]
