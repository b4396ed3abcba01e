"""What the loop of a race asks of a strategy, or of one that is wrapped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from cvst._typing import Configuration
from cvst.race._look import Look, LookLosses, Verdict
from cvst.race._state import RaceState

__all__ = ["Decider"]


@runtime_checkable
class Decider(Protocol):
    """Decides what the loop of a race does next."""

    def stop_reason(self, state: RaceState) -> str | None:
        """Say why the race is over, or None while it is not."""
        ...

    def propose(self, state: RaceState) -> Sequence[Configuration]:
        """Return configurations that join the race now."""
        ...

    def next_look(self, state: RaceState) -> Look:
        """Return where to look next; asked only while the race is not over."""
        ...

    def looks_alone(self, state: RaceState) -> bool:
        """Say whether the next look has to wait for those under way."""
        ...

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Call top and flop, and drop."""
        ...
