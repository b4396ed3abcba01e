"""The race itself: ask the strategy, look, judge, repeat."""

from __future__ import annotations

from collections.abc import Iterator

from cvst.race._rules import LossSource, Strategy
from cvst.race._state import Look, RaceState

__all__ = ["race", "take_look"]


def race(
    state: RaceState, source: LossSource, strategy: Strategy
) -> Iterator[RaceState]:
    """Run a race and yield the state after each look.

    To watch, save or plot a race, iterate over it; to resume it, pass an old state.

    Parameters
    ----------
    state : RaceState
        Where to begin.
    source : LossSource
        Trains and tests configurations.
    strategy : Strategy
        Decides.
    """
    # The strategy judges the state, not the look just made, so that a resumed race
    # ends where the interrupted one would have ended.
    while strategy.stop_reason(state) is None:
        state = take_look(state, strategy.next_look(state), source, strategy)
        yield state


def take_look(
    state: RaceState, look: Look, source: LossSource, strategy: Strategy
) -> RaceState:
    """Return the state after one look, for whoever wants to know of it before.

    Parameters
    ----------
    state : RaceState
        The race so far.
    look : Look
        Where to look.
    source : LossSource
        Trains and tests configurations.
    strategy : Strategy
        Judges.
    """
    seen = source.observe(look)
    return state.observe(look, seen, strategy.judge(state, look, seen))
