"""The race itself: ask for a look, take it, judge it, repeat."""

from __future__ import annotations

from collections.abc import Iterator

from cvst.race._rules import LossSource
from cvst.race._state import RaceState
from cvst.race._strategy import Decider

__all__ = ["race"]


def race(state: RaceState, source: LossSource, decider: Decider) -> Iterator[RaceState]:
    """Run a race and yield the state after each look.

    To watch, save or plot a race, iterate over it; to resume it, pass an old state. To
    limit it, wrap the strategy: see :class:`AtMost`.

    Parameters
    ----------
    state : RaceState
        Where to begin.
    source : LossSource
        Trains and tests configurations.
    decider : Decider
        A strategy, or one that is wrapped.
    """
    # The decider judges the state, not the look just made, so that a resumed race
    # ends where the interrupted one would have ended.
    while decider.stop_reason(state) is None:
        proposed = decider.propose(state)
        if proposed:
            source.admit(proposed)
            state = state.admit(proposed)
        look = decider.next_look(state)
        seen = source.observe(look)
        state = state.observe(look, seen, decider.judge(state, look, seen))
        yield state
