"""What to do next: ranges to widen, parameters to leave alone, more time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvst._text import value_text
from cvst._typing import Configuration
from cvst.displays import (
    ImportanceDisplay,
    IncumbentDisplay,
    ParameterAxis,
    parameter_axis,
)
from cvst.report._allowed import Allowed

__all__ = ["advice"]

# Nearer to an end than this share of the range counts as being there.
NEAR = 0.03

# Shares of the usual step at which a value may lie that is not beyond what is possible.
NEARER = (1.0, 0.5, 0.25)

# A whole number of these is a count, and 1.0, which forests begin with, is a share.
COUNTS_OR_SHARES = ("max_df", "max_features", "max_samples")

# Counts of columns: there are no more than the data have.
OF_COLUMNS = ("k", "max_features", "n_components", "n_features_to_select")

# Where an estimator does not say what it takes: what ends at 1 in boosters and their
# like, and counts that begin at 2.
SHARES = (
    "bagging_fraction",
    "colsample",
    "colsample_bylevel",
    "colsample_bynode",
    "colsample_bytree",
    "drop_rate",
    "feature_fraction",
    "feature_fraction_bynode",
    "l1_ratio",
    "momentum",
    "neg_bagging_fraction",
    "other_rate",
    "pos_bagging_fraction",
    "rate_drop",
    "rsm",
    "skip_drop",
    "subsample",
    "top_rate",
)
FROM_TWO = (
    "border_count",
    "max_bin",
    "max_bins",
    "max_leaf_nodes",
    "max_leaves",
    "min_samples_split",
    "num_leaves",
)

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
    allowed: Allowed | None = None,
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
    allowed : Allowed, optional
        Which values it takes, where it is known.
    """
    own, allowed = defaults or {}, allowed or Allowed()
    idle = _idle(importance)
    sentences = []
    for name in dict.fromkeys(name for one in configurations for name in one):
        # A wider range of what hardly matters would not help.
        if name not in idle and name in configurations[winner]:
            sentences += _edge(name, configurations, winner, own.get(name), allowed)
    if idle:
        sentences.append(_idle_sentence(idle, importance))
    # A race that ended by itself would end there with more time, too.
    if stop_reason == "time_budget":
        sentences += _late(incumbent)
    return sentences


def _edge(
    name: str,
    configurations: Sequence[Configuration],
    winner: int,
    own: Any,
    allowed: Allowed,
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
    beyond = [_beyond(axis, levels, upper, share) for share in NEARER]
    tried = [one.get(name) for one in configurations]
    is_real = _is_real(name, tried, own)
    example = _example(name, axis, beyond, is_real, allowed)
    if example is None:
        return []
    end = "upper" if upper else "lower"
    where = f"{value_text(axis.low)} to {value_text(axis.high)}"
    sentence = (
        f"{name} = {value_text(value)} is at the {end} end of what was tried "
        f"({where}): try {'larger' if upper else 'smaller'} values{example}."
    )
    return [sentence]


def _beyond(axis: ParameterAxis, levels: Any, upper: bool, share: float) -> float:
    """Return a value as far outside as the values of a grid, or a tenth, are apart.

    Or nearer, by a share of that.
    """
    step = max(0.1, float(np.median(np.diff(levels))) if len(levels) < 20 else 0.1)
    step *= share
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


def _example(
    name: str,
    axis: ParameterAxis,
    beyond: Sequence[float],
    is_real: bool,
    allowed: Allowed,
) -> str | None:
    """Name the first value beyond an end of a range that a parameter may have.

    None if there is none, and no words where one cannot be checked.
    """
    for number in beyond:
        # Rounding may lead back to the end, and below 0 there is nothing.
        if axis.low <= number <= axis.high or number < 0.0 == axis.low:
            continue
        if not (is_real or number.is_integer()):
            continue
        value = number if is_real else int(number)
        known = allowed.allows(name, value)
        if not (_may_be(name, axis, value) if known is None else known):
            continue
        if value > axis.high and not is_real and name.rpartition("__")[2] in OF_COLUMNS:
            n_columns = allowed.n_columns(name)
            if n_columns is None:  # nobody knows how many a text or an encoder makes
                return ""
            if n_columns <= axis.high:
                return None
            value = min(value, n_columns)
        return f", such as {value_text(value)}"
    return None


def _may_be(name: str, axis: ParameterAxis, value: float) -> bool:
    """Return whether a parameter may have a value, by its name and range alone."""
    own = name.rpartition("__")[2]
    if own in SHARES:
        return 0 <= value <= 1
    if own in FROM_TWO:
        return value >= 2
    # A range from 0 or more to 1 is one of shares, unless it spans decades.
    ends_at_1 = axis.low >= 0 and axis.high in (0.999, 1.0) and axis.scale != "log"
    return value < axis.low or not ends_at_1


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
