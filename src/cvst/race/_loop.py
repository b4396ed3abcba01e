"""The race itself: ask for a look, take it, judge it, repeat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cvst._typing import Configuration
from cvst.race._decider import Decider
from cvst.race._look import Look, LookLosses, checked_look
from cvst.race._rules import LossSource, SeveralLooksSource
from cvst.race._state import RaceState

__all__ = ["race"]


def race(
    state: RaceState, source: LossSource | SeveralLooksSource, decider: Decider
) -> Iterator[RaceState]:
    """Run a race and yield the state after each look.

    To watch, save or plot a race, iterate over it; to resume it, pass an old state. To
    limit it, wrap the strategy: see :class:`AtMost`.

    Parameters
    ----------
    state : RaceState
        Where to begin.
    source : LossSource or SeveralLooksSource
        Trains and tests configurations, one look after the other or side by side.
    decider : Decider
        A strategy, or one that is wrapped.
    """
    looks = source if isinstance(source, SeveralLooksSource) else _InTurn(source)
    state = state.settled()
    while True:
        state = _with_more(state, looks, decider)
        if not state.pending:
            return
        look, seen = looks.take()
        state = state.observe(look, seen, decider.judge(state, look, seen))
        yield state


def _with_more(
    state: RaceState, source: SeveralLooksSource, decider: Decider
) -> RaceState:
    """Begin looks while there is room for them, and a reason."""
    # The decider judges the state, not the look just made, so that a resumed race
    # ends where the interrupted one would have ended.
    while source.has_room(len(state.pending)) and decider.stop_reason(state) is None:
        proposed = decider.propose(state)
        if proposed:
            source.admit(proposed)
            state = state.admit(proposed)
            # What has joined may be too dear to be looked at.
            if decider.stop_reason(state) is not None:
                break
        alone = decider.looks_alone(state)
        if alone and state.pending:
            break
        look = checked_look(decider.next_look(state))
        source.begin(look, alone)
        state = state.begin(look)
        if alone:
            break
    return state


class _InTurn:
    """A source that takes one look after the other."""

    def __init__(self, source: LossSource) -> None:
        self._source = source
        self._look: Look | None = None

    def admit(self, configurations: Sequence[Configuration]) -> None:
        self._source.admit(configurations)

    def has_room(self, n_pending: int) -> bool:
        return n_pending == 0

    def begin(self, look: Look, alone: bool) -> None:
        del alone
        self._look = look

    def take(self) -> tuple[Look, LookLosses]:
        assert self._look is not None
        return self._look, self._source.observe(self._look)
