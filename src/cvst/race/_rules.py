"""The protocols of a race: what a strategy, its parts and a source of losses do.

There is nothing to inherit from and nothing to register: an object with the method
is the rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.race._planned import PlannedLook
from cvst.race._state import Look, LookLosses, Problem, RaceState, Verdict

__all__ = [
    "Comparison",
    "EliminationRule",
    "LookCutError",
    "LossSource",
    "Schedule",
    "SimilarityRule",
    "StoppingRule",
    "Strategy",
    "WinnerRule",
]


class LookCutError(Exception):
    """A look was ended before all of its configurations were done."""


@runtime_checkable
class LossSource(Protocol):
    """Trains and tests configurations."""

    def observe(self, look: Look) -> LookLosses:
        """Return the pointwise losses of a look.

        Raises
        ------
        LookCutError
            If there was no time to finish; the look counts for nothing then.
        """
        ...


@runtime_checkable
class Strategy(Protocol):
    """Decides where to look next, who is dropped, when to end and who wins."""

    @property
    def fold_counts(self) -> tuple[int, ...]:
        """Numbers of folds that ``problem.folds`` must offer."""
        ...

    @property
    def n_orders(self) -> int:
        """Number of fresh permutations that ``problem.orders`` must offer."""
        ...

    @property
    def needs_residuals(self) -> bool:
        """Whether looks must report signed residuals."""
        ...

    @property
    def rescales(self) -> bool:
        """Whether ``rescale="auto"`` lets hyper-parameters follow the subset size."""
        ...

    def check(self, problem: Problem) -> None:
        """Raise an error that explains why this race cannot be run, if so."""
        ...

    def planned_looks(self, problem: Problem) -> tuple[PlannedLook, ...]:
        """Return the looks of the longest race, and who can take part at most."""
        ...

    def stop_reason(self, state: RaceState) -> str | None:
        """Say why the race is over, or None while it is not."""
        ...

    def next_look(self, state: RaceState) -> Look:
        """Return where to look next; asked only while the race is not over."""
        ...

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Call top and flop, and drop."""
        ...

    def ranking(self, state: RaceState) -> IntArray:
        """Return the survivors, the winner first."""
        ...


@dataclass(frozen=True, slots=True)
class Comparison:
    """Outcome of a similarity rule, over the configurations of a look."""

    top: BoolArray
    p_values: FloatArray


@runtime_checkable
class SimilarityRule(Protocol):
    """Step 1: separates top from flop configurations within a look."""

    def compare(self, seen: LookLosses) -> Comparison:
        """Return who is top; configurations that failed are not."""
        ...


@runtime_checkable
class EliminationRule(Protocol):
    """Step 2: finds losers over the race."""

    def is_loser(self, traces: BoolArray) -> BoolArray:
        """Judge traces of shape (n_active, n_steps)."""
        ...


@runtime_checkable
class StoppingRule(Protocol):
    """Step 3: ends the race early."""

    def should_stop(self, traces: BoolArray) -> bool:
        """Judge the traces of the survivors, of shape (n_active, n_steps)."""
        ...


@runtime_checkable
class Schedule(Protocol):
    """Sizes of the growing subsets."""

    def n_train(self, step: int, problem: Problem) -> int:
        """Return the training rows of a step (from 1)."""
        ...


@runtime_checkable
class WinnerRule(Protocol):
    """Orders the survivors."""

    def scores(self, mean_losses: FloatArray) -> FloatArray:
        """Score survivors by their losses of shape (n_active, n_steps); low is good."""
        ...
