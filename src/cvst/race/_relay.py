"""A race in legs: where time is left, the winner meets fresh configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from cvst._typing import Configuration, FloatArray, IntArray, Rows
from cvst.race._axes import space_of
from cvst.race._look import Look, LookLosses, Observation, Verdict
from cvst.race._planned import PlannedLook
from cvst.race._problem import Problem
from cvst.race._state import RaceState
from cvst.race._strategy import Strategy

__all__ = ["Relay"]


class Relay(Strategy):
    """Several races by the same strategy, each with the winner of the one before.

    A leg that was not run to its end decides nothing: its configurations rank after
    those of the leg before.

    All that :class:`Strategy` asks is answered by the strategy within, but for what is
    true of a single race alone. Its sequential test starts anew in each leg, so that
    no such test, first drop or error bound holds for the legs together. Its variants
    would have legs of other sizes, and so would a race in turn. Which leg is next is
    known only when the looks under way are over, so that looks are never side by side.

    Parameters
    ----------
    strategy : Strategy
        Decides within a leg.
    sizes : tuple of int
        How many configurations join in each leg.
    more : callable or None
        Returns the configurations of another leg, none to end the race. It is asked
        after each leg, with the state.
    """

    _asked: tuple[RaceState, list[Configuration]] | None = None

    def __init__(
        self,
        strategy: Strategy,
        sizes: tuple[int, ...],
        more: Callable[[RaceState], Sequence[Configuration]] | None = None,
    ) -> None:
        self.strategy = strategy
        self.sizes = sizes
        self.more = more

    def settled(self) -> Strategy:
        """Return the legs as they were, which asks for nothing more."""
        if len(self.sizes) == 1:
            return self.strategy
        legs = Relay(self.strategy, self.sizes)
        vars(legs)["_winners"] = dict(vars(self).get("_winners", {}))
        return legs

    def repeatable(self, problem: Problem) -> Strategy | None:
        """Return the legs, which a race without a clock would not have."""
        del problem
        return Relay(self.strategy, self.sizes)

    # The race -----------------------------------------------------------------------

    def stop_reason(self, state: RaceState) -> str | None:
        """Say why the last leg is over, or None while there is another."""
        leg = self._current(state)
        reason = self.strategy.stop_reason(self._part(state, leg))
        if reason is None:
            return None
        return None if self._ask(state) else reason

    def propose(self, state: RaceState) -> Sequence[Configuration]:
        """Return the configurations of the next leg, once one is over."""
        # A race that goes on may have those of the next leg, but no look at them yet.
        between = self._current(state) == self._leg_of_last_look(state)
        waiting = self._ask(state) if between and self._is_over(state) else []
        self._asked = None
        if waiting:
            self.sizes = (*self.sizes, len(waiting))
        return waiting

    def next_look(self, state: RaceState) -> Look:
        """Return the next look of the leg."""
        members = self._members(state, self._current(state))
        look = self.strategy.next_look(self._part(state, self._current(state)))
        return replace(look, configurations=members[look.configurations])

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Judge within the leg."""
        leg = self._current(state)
        members = self._members(state, leg)
        own = np.searchsorted(members, look.configurations)
        failures = _renamed(seen.failures, members, back=True)
        verdict = self.strategy.judge(
            self._part(state, leg),
            replace(look, configurations=own),
            replace(seen, failures=failures),
        )
        return replace(verdict, drops=_renamed(verdict.drops, members))

    def ranking(self, state: RaceState) -> IntArray:
        """Return the survivors, those of the last leg that was run to its end first."""
        last, *before = range(self._leg_of_last_look(state), -1, -1)
        part = self._part(state, last)
        ranked = [
            self._members(state, leg)[self.strategy.ranking(self._part(state, leg))]
            for leg in before
        ]
        own = self._members(state, last)[self.strategy.ranking(part)]
        is_first = not before or self.strategy.stop_reason(part) is not None
        ranked.insert(0 if is_first else len(ranked), own)
        # The winner stays first even if a leg that was cut has dropped it.
        winner, *others = np.concatenate(ranked).tolist()
        left = [number for number in others if state.active[number]]
        return np.array(list(dict.fromkeys([winner, *left])), dtype=np.intp)

    def ranks_by_mean(self, state: RaceState) -> bool:
        """Return what the strategy says of a single leg; legs stay in their order."""
        return self._leg_of_last_look(state) == 0 and self.strategy.ranks_by_mean(state)

    # What it needs: what the strategy needs, in each leg ------------------------------

    @property
    def level(self) -> float:  # type: ignore[override] # nothing sets it here
        """The level of the strategy."""
        return self.strategy.level

    @property
    def confirming_reason(self) -> str | None:  # type: ignore[override] # as the level
        """The reason of the strategy."""
        return self.strategy.confirming_reason

    @property
    def fold_counts(self) -> tuple[int, ...]:
        """Ask for the folds of the strategy."""
        return self.strategy.fold_counts

    @property
    def n_orders(self) -> int:
        """As many permutations as the strategy needs: the legs share them."""
        return self.strategy.n_orders

    @property
    def keeps_order(self) -> bool:
        """Whether the strategy does."""
        return self.strategy.keeps_order

    @property
    def takes_all_folds(self) -> bool:
        """Whether the strategy does."""
        return self.strategy.takes_all_folds

    @property
    def most_rows(self) -> int | None:
        """Most rows that the strategy finds worth racing."""
        return self.strategy.most_rows

    @property
    def proposes(self) -> bool:
        """Whether the strategy does: that legs may follow is no reason to race one."""
        return self.strategy.proposes

    @property
    def needs_residuals(self) -> bool:
        """Whether the strategy needs them."""
        return self.strategy.needs_residuals

    @property
    def binary_test(self) -> str | None:
        """The test of the strategy that compares losses of 0 and 1 only."""
        return self.strategy.binary_test

    @property
    def row_test(self) -> str | None:
        """The test of the strategy that needs losses of single rows."""
        return self.strategy.row_test

    @property
    def bounds_run(self) -> bool:
        """Whether the level of the strategy is to hold for a whole race."""
        return self.strategy.bounds_run

    @property
    def rescales(self) -> bool:
        """Whether the strategy rescales."""
        return self.strategy.rescales

    def check(self, problem: Problem) -> None:
        """Let the strategy raise an error if it cannot run a leg on these data."""
        self.strategy.check(problem)

    # What can be known beforehand: the first leg ------------------------------------

    def planned_looks(self, problem: Problem) -> tuple[PlannedLook, ...]:
        """Return the looks of the first leg."""
        return self.strategy.planned_looks(problem)

    @property
    def rehearses(self) -> bool:
        """Whether the strategy does."""
        return self.strategy.rehearses

    def subset_sizes(self, problem: Problem) -> Sequence[int]:
        """Return the training rows of the looks on first rows, alike in all legs."""
        return self.strategy.subset_sizes(problem)

    def subsets(self, problem: Problem) -> list[tuple[Rows, Rows]]:
        """Return the training and test rows of these looks."""
        return self.strategy.subsets(problem)

    def expected_configurations(self, problem: Problem) -> FloatArray:
        """Return how many configurations the looks of the first leg will see."""
        return self.strategy.expected_configurations(problem)

    def expected_looks(self, problem: Problem) -> int:
        """Return how many looks the first leg is expected to have."""
        return self.strategy.expected_looks(problem)

    def look_chances(self, problem: Problem) -> FloatArray:
        """Return how probable it is that each look of the first leg is made."""
        return self.strategy.look_chances(problem)

    def fewest_looks(self, problem: Problem) -> int:
        """Return after how many looks a lucky first leg may be over."""
        return self.strategy.fewest_looks(problem)

    def may_stop_early(self, problem: Problem) -> bool:
        """Return whether the first leg can be over before its last look."""
        return self.strategy.may_stop_early(problem)

    def refit_seconds(self, state: RaceState) -> float | None:
        """Return what the strategy expects of the final fit of the winner."""
        return self.strategy.refit_seconds(self._deciding_part(state))

    def ensemble_members(self, state: RaceState) -> Sequence[tuple[int, float]]:
        """Return who may be in an ensemble, by the leg that decides."""
        return self.strategy.ensemble_members(self._deciding_part(state))

    # What to say about it: what the strategy says -----------------------------------

    @property
    def window(self) -> int:
        """The window of the strategy."""
        return self.strategy.window

    @property
    def sentences(self) -> Mapping[str, str]:
        """What the reasons of the strategy mean."""
        return self.strategy.sentences

    def remarks(self, problem: Problem) -> Sequence[str]:
        """Return what the strategy makes of these data."""
        return self.strategy.remarks(problem)

    def criterion(self, state: RaceState) -> str:
        """Say by what the winner ranks first in its leg."""
        return self.strategy.criterion(self._deciding_part(state))

    # Legs ---------------------------------------------------------------------------

    def _ask(self, state: RaceState) -> list[Configuration]:
        """Ask for more once per state."""
        if self.more is None:
            return []
        if self._asked is None or self._asked[0] is not state:
            self._asked = (state, list(self.more(state)))
        return self._asked[1]

    def _is_over(self, state: RaceState) -> bool:
        """Return whether the leg of the last look has come to its own end."""
        part = self._part(state, self._leg_of_last_look(state))
        return self.strategy.stop_reason(part) is not None

    def _deciding_part(self, state: RaceState) -> RaceState:
        """Return the leg that decides about the winner: the last one that is over."""
        leg = self._leg_of_last_look(state)
        return self._part(state, leg if self._is_over(state) else max(0, leg - 1))

    def _starts(self) -> IntArray:
        """Return the number of the first configuration that joins in each leg."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.intp)

    def _legs(self, state: RaceState) -> IntArray:
        """Return the leg of each look: all of a leg take part in its first look."""
        highest = [int(one.look.configurations.max()) for one in state.observations]
        so_far = np.maximum.accumulate(np.array(highest, dtype=np.intp))
        return np.searchsorted(self._starts(), so_far, side="right") - 1

    def _leg_of_last_look(self, state: RaceState) -> int:
        return int(self._legs(state)[-1]) if state.observations else 0

    def _current(self, state: RaceState) -> int:
        """Return the leg of the next look."""
        leg = self._leg_of_last_look(state)
        another = leg + 1 < len(self.sizes)
        if another and state.n_configurations >= sum(self.sizes[: leg + 2]):
            return leg + self._is_over(state)
        return leg

    def _members(self, state: RaceState, leg: int) -> IntArray:
        """Return the configurations of a leg: those that join, and the last winner."""
        start = int(self._starts()[leg])
        fresh = np.arange(start, start + self.sizes[leg])
        if not leg:
            return fresh
        # Ascending, as looks want it: the winner joined before all of these.
        return np.concatenate([[self._winner(state, leg - 1)], fresh]).astype(np.intp)

    def _winner(self, state: RaceState, leg: int) -> int:
        """Return the winner of a leg that is over, which no later look changes."""
        # Not an argument of __init__, so that a clone begins without it.
        known = vars(self).setdefault("_winners", {})
        if leg not in known:
            members = self._members(state, leg)
            place = self.strategy.ranking(self._part(state, leg))[0]
            known[leg] = int(members[place])
        return int(known[leg])

    def _part(self, state: RaceState, leg: int) -> RaceState:
        """Return a leg as a race of its own."""
        members = self._members(state, leg)
        chosen = [state.configurations[number] for number in members]
        problem = replace(
            state.problem,
            n_configurations=len(chosen),
            configurations=tuple(chosen),
            space=space_of(chosen, dict(state.problem.covered)),
        )
        legs = self._legs(state).tolist() if state.observations else []
        seen = [
            _own(observation, members)
            for observation, of_leg in zip(state.observations, legs, strict=True)
            if of_leg == leg
        ]
        return RaceState(problem, tuple(seen))


def _renamed(
    reasons: Mapping[int, str], members: IntArray, back: bool = False
) -> dict[int, str]:
    """Return reasons by the number in the race, or back by that in the leg."""
    if back:
        return {int(np.searchsorted(members, one)): why for one, why in reasons.items()}
    return {int(members[one]): why for one, why in reasons.items()}


def _own(observation: Observation, members: IntArray) -> Observation:
    """Return a look under the numbers of its leg."""
    look = observation.look
    own = np.searchsorted(members, look.configurations)
    return replace(
        observation,
        look=replace(look, configurations=own),
        drops=_renamed(observation.drops, members, back=True),
        failures=_renamed(observation.failures, members, back=True),
        kept=np.searchsorted(members, observation.kept),
    )
