"""What to do next: ranges to widen, parameters to leave alone, more time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvst._text import value_text
from cvst._typing import Configuration
from cvst.displays import ImportanceDisplay, IncumbentDisplay, parameter_axis

__all__ = ["advice"]

# Nearer to an end than this share of the range counts as being there.
NEAR = 0.03

# A whole number of these is a count, and 1.0, which forests begin with, is a share.
COUNTS_OR_SHARES = ("max_df", "max_features", "max_samples")

# A parameter hardly matters if even the upper end of its interval is below this.
HARDLY = 0.1

# With the leader changed in this last share of a race, more time may well change it.
LATE = 0.1
LATE_CHANGE = (
    "The leader changed shortly before the time was up: more time may find a better "
    "one."
)


def advice(
    configurations: Sequence[Configuration],
    winner: int,
    importance: ImportanceDisplay,
    incumbent: IncumbentDisplay,
    stop_reason: str | None = None,
    defaults: Configuration | None = None,
) -> list[str]:
    """Return sentences that say what to do next.

    Parameters
    ----------
    configurations : sequence of dict
        Those that were looked at.
    winner : int
        Place of the winner among them.
    importance : ImportanceDisplay
        What matters.
    incumbent : IncumbentDisplay
        Which led when.
    stop_reason : str, optional
        Why the race is over.
    defaults : dict, optional
        Values that the estimator has itself, where these are known.
    """
    own = defaults or {}
    idle = _idle(importance)
    sentences = []
    for name in dict.fromkeys(name for one in configurations for name in one):
        # A wider range of what hardly matters would not help.
        if name not in idle and name in configurations[winner]:
            sentences += _edge(name, configurations, winner, own.get(name))
    if idle:
        sentences.append(_idle_sentence(idle, importance))
    # A race that ended by itself would end there with more time, too.
    if stop_reason == "time_budget":
        sentences += _late(incumbent)
    return sentences


def _edge(
    name: str, configurations: Sequence[Configuration], winner: int, own: Any
) -> list[str]:
    axis = parameter_axis(name, configurations)
    value = configurations[winner][name]
    place = float(axis.positions[winner])
    # Below 0 stand words and None, which have no end of a range.
    if axis.scale == "categories" or place < 0 or not axis.high > axis.low:
        return []
    levels = np.unique(axis.positions[axis.positions >= 0])
    # Of two values one is always at an end.
    if len(levels) < 3 or NEAR < place < 1 - NEAR:
        return []
    upper = place > 0.5
    beyond = _beyond(axis, levels, upper)
    tried = [one.get(name) for one in configurations]
    if not _is_possible(axis, upper, is_real=_is_real(name, tried, own)):
        return []
    end = "upper" if upper else "lower"
    where = f"{value_text(axis.low)} to {value_text(axis.high)}"
    sentence = (
        f"{name} = {value_text(value)} is at the {end} end of what was tried "
        f"({where}): try {'larger' if upper else 'smaller'} values, such as "
        f"{value_text(beyond)}."
    )
    return [sentence]


def _beyond(axis: Any, levels: Any, upper: bool) -> float:
    """Return a value as far outside as the values of a grid, or a tenth, are apart."""
    step = max(0.1, float(np.median(np.diff(levels))) if len(levels) < 20 else 0.1)
    number = axis.number_at(1 + step if upper else -step)
    if number <= 0 < axis.low:
        # Below 0 there may be nothing; there is room between it and the end.
        number = axis.low / 2
    # Advice, not arithmetic: 31.6 is written as 32.
    rounded = float(f"{number:.2g}")
    if float(axis.low).is_integer() and float(axis.high).is_integer():
        whole = round(number)
        return float(f"{whole:.2g}") if abs(whole) >= 1 else rounded
    return rounded


def _is_possible(axis: Any, upper: bool, is_real: bool) -> bool:
    """Return whether a range can go on: shares end at 1, counts begin at 1."""
    if upper:
        return not (axis.low >= 0 and axis.high in (0.999, 1.0) and axis.scale != "log")
    return axis.low != 0.0 and (is_real or axis.low != 1.0)


def _is_real(name: str, tried: Sequence[Any], own: Any) -> bool:
    """Return whether a parameter is a real number, also if it was tried at 1 and 10."""
    if name.rpartition("__")[2] not in COUNTS_OR_SHARES:
        tried = [*tried, own]
    return any(isinstance(value, float | np.floating) for value in tried)


def _idle(importance: ImportanceDisplay) -> list[str]:
    # The sentence says to search the others more finely, so there must be others.
    if importance.too_few or len(importance.names) < 2:
        return []
    highs = importance.intervals[:, 1]
    return [
        name
        for name, high in zip(importance.names, highs.tolist(), strict=True)
        if high < HARDLY
    ]


def _idle_sentence(idle: Sequence[str], importance: ImportanceDisplay) -> str:
    highs = dict(zip(importance.names, importance.intervals[:, 1], strict=True))
    most = max(float(highs[name]) for name in idle)
    names = ", ".join(idle[:-1]) + f" and {idle[-1]}" if len(idle) > 1 else idle[0]
    verb, them = ("matter", "them") if len(idle) > 1 else ("matters", "it")
    return (
        f"{names} hardly {verb} here (at most {most:.0%} of the variation of the "
        f"loss): fix {them} and search the others more finely."
    )


def _late(incumbent: IncumbentDisplay) -> list[str]:
    changes = np.flatnonzero(np.diff(incumbent.incumbents)) + 1
    if not len(changes):
        return []
    last = float(incumbent.times[changes[-1]])
    if last < (1 - LATE) * float(incumbent.times[-1]):
        return []
    return [LATE_CHANGE]
