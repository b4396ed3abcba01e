"""Limits around a strategy: the same decisions, but an earlier end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cvst._typing import Configuration
from cvst.race._decider import Decider
from cvst.race._look import Look, LookLosses, Verdict
from cvst.race._state import RaceState

__all__ = ["Alone", "AtMost", "Limit"]


@dataclass(frozen=True)
class Limit:
    """Leaves all decisions to another decider; what limits it comes on top.

    Parameters
    ----------
    decider : Decider
        What decides otherwise.
    """

    decider: Decider

    def stop_reason(self, state: RaceState) -> str | None:
        """Say why the race is over, or None while it is not."""
        return self.decider.stop_reason(state)

    def propose(self, state: RaceState) -> Sequence[Configuration]:
        """Return configurations that join the race now."""
        return self.decider.propose(state)

    def looks_alone(self, state: RaceState) -> bool:
        """Say whether the next look has to wait for those under way."""
        return self.decider.looks_alone(state)

    def next_look(self, state: RaceState) -> Look:
        """Return where to look next."""
        return self.decider.next_look(state)

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Call top and flop, and drop."""
        return self.decider.judge(state, look, seen)


@dataclass(frozen=True)
class AtMost(Limit):
    """End a race after a number of looks.

    Parameters
    ----------
    decider : Decider
        What decides otherwise.
    n_looks : int or None
        Most looks; None for no limit.

    Examples
    --------
    >>> from cvst.race import CVST, Problem
    >>> limited = AtMost(CVST(), n_looks=0)
    >>> limited.stop_reason(RaceState(Problem(5, 100)))
    'max_looks'
    """

    n_looks: int | None = None

    def stop_reason(self, state: RaceState) -> str | None:
        """Say why the race is over: by itself first, then by the limit."""
        # A race that ends by itself at the limit was not cut.
        reason = self.decider.stop_reason(state)
        begun = state.n_looks + len(state.pending)
        if reason is None and self.n_looks is not None and begun >= self.n_looks:
            return "max_looks"
        return reason


@dataclass(frozen=True)
class Alone(Limit):
    """Score a lone configuration: on all folds if there are any, else at one look.

    Parameters
    ----------
    decider : Decider
        Decides where to look.
    """

    def stop_reason(self, state: RaceState) -> str | None:
        """Stop after the first look, or after the folds that it belongs to."""
        reason = self.decider.stop_reason(state)
        if not state.observations:
            return reason
        on_folds = state.observations[-1].look.is_fold
        return None if on_folds and reason is None else "single_configuration"
