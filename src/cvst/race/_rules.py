"""The protocols of a race: what a source of losses and the parts of a strategy do.

There is nothing to inherit from and nothing to register: an object with the method
is the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from cvst._typing import BoolArray, Configuration, FloatArray
from cvst.race._look import Look, LookLosses
from cvst.race._problem import Problem

__all__ = [
    "Comparison",
    "EliminationRule",
    "LookCutError",
    "LossSource",
    "Schedule",
    "SeveralLooksSource",
    "SimilarityRule",
    "StoppingRule",
    "WinnerRule",
]


class LookCutError(Exception):
    """A look was ended before all of its configurations were done."""


@runtime_checkable
class LossSource(Protocol):
    """Trains and tests configurations."""

    def admit(self, configurations: Sequence[Configuration]) -> None:
        """Take configurations that join the race, numbered after those known."""
        ...

    def observe(self, look: Look) -> LookLosses:
        """Return the pointwise losses of a look.

        Raises
        ------
        LookCutError
            If there was no time to finish; the look counts for nothing then.
        """
        ...


@runtime_checkable
class SeveralLooksSource(Protocol):
    """Trains and tests configurations of several looks at a time."""

    def admit(self, configurations: Sequence[Configuration]) -> None:
        """Take configurations that join the race, numbered after those known."""
        ...

    def has_room(self, n_pending: int) -> bool:
        """Return whether another look can begin beside those under way."""
        ...

    def begin(self, look: Look, alone: bool) -> None:
        """Begin a look; ``alone`` says that none will begin before it is over."""
        ...

    def take(self) -> tuple[Look, LookLosses]:
        """Wait for any of the looks that have begun, and return its losses."""
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
        """Return which configurations are top; those that failed are not."""
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
