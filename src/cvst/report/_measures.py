"""What a page shows of configurations: the scores that were asked for, or losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cvst._text import score_text
from cvst._typing import FloatArray
from cvst._values import finite_or_none
from cvst.displays import IncumbentDisplay
from cvst.race import RaceState
from cvst.race.machinery import comparable_means, deciding_mean

__all__ = ["Measure", "measure_values", "measures_of"]

# Scores that differ from 1 - loss by rounding alone have the loss's standard error.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Measure:
    """One score in every look, as people say it.

    Attributes
    ----------
    name : str
        Without the ``neg_`` of scikit-learn.
    source : {"losses", "scores", "other_scores"}
        Which values of a configuration's record these are.
    key : str
        Name among the other scores.
    lower : bool
        Whether less is better.
    table : ndarray of shape (n_configurations, n_looks)
        The values; errors are positive.
    has_errors : bool
        Whether the standard errors of the losses are those of these values.
    """

    name: str
    source: str
    key: str
    lower: bool
    table: FloatArray
    has_errors: bool


def measures_of(
    state: RaceState, scores: FloatArray | None, scoring: str | None
) -> list[Measure]:
    """Return the score that the race was run for, and those recorded besides.

    Parameters
    ----------
    state : RaceState
        The race.
    scores : ndarray of shape (n_configurations, n_looks) or None
        Scores with scikit-learn's sign.
    scoring : str or None
        Name of the score.

    Returns
    -------
    list of Measure
        The loss alone where no score is known.
    """
    if scores is None or scoring is None or not np.isfinite(scores).any():
        losses = state.mean_losses
        return [Measure("loss", "losses", "", True, losses, True)]
    found = [_measure(state, scoring, scores, "scores")]
    besides = [name for seen in state.observations for name in seen.other_scores]
    for name in dict.fromkeys(besides):
        table = state.scores_named(name)
        if np.isfinite(table).any():
            found.append(_measure(state, name, table, "other_scores"))
    return found


def _measure(state: RaceState, name: str, scores: FloatArray, source: str) -> Measure:
    shown, _ = score_text(name, 0.0)
    # People hear of errors without their neg_, and less of an error is better.
    lower = shown != name
    table = -scores if lower else scores
    losses = state.mean_losses if lower else -state.mean_losses
    gaps = (table - losses)[np.isfinite(table) & np.isfinite(losses)]
    # A constant gap, as between accuracy and the share of errors, changes no spread.
    same = len(gaps) > 0 and float(np.ptp(gaps)) <= ROUNDING * (1 + np.abs(gaps).max())
    return Measure(shown, source, name, lower, table, bool(same))


def measure_values(
    measure: Measure, state: RaceState, incumbent: IncumbentDisplay | None
) -> dict[str, Any]:
    """Return a measure as plain values: the leader's over time, and comparable ones.

    Parameters
    ----------
    measure : Measure
        What to show.
    state : RaceState
        The race.
    incumbent : IncumbentDisplay or None
        Which led when; None before the first look.
    """
    leaders = [] if incumbent is None else incumbent.incumbents.tolist()
    seen = np.flatnonzero(state.present.any(axis=1))
    return {
        "name": measure.name,
        "source": measure.source,
        "key": measure.key,
        "lower": measure.lower,
        "has_errors": measure.has_errors,
        "leader": [
            finite_or_none(deciding_mean(state, leader, measure.table, place))
            for place, leader in enumerate(leaders, start=1)
        ],
        "comparable": [
            finite_or_none(value)
            for value in comparable_means(state, measure.table)[seen].tolist()
        ],
    }
