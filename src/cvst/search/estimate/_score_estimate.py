"""What the winner, fitted on all rows, will score on new ones: a value, an interval.

``best_score_`` errs twice. It is the best of many on the rows that chose it, and it
belongs to models that were trained on a part of the rows. The estimate corrects both
(docs/user_guide/estimate.md):

    value = best_score_ - optimism + growth.

The optimism is that of a bootstrap over the values of all rows and all configurations
that met the winner; the growth follows from the winner's looks at fewer rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

import numpy as np

from cvst._typing import FloatArray
from cvst.race import RaceState, meetings
from cvst.search.estimate._growth import LookAgain, growth_of
from cvst.search.estimate._table import Table
from cvst.statistics import (
    corrected_best,
    mean_interval,
    share_interval,
    standard_error_of_mean,
)

__all__ = ["ScoreEstimate", "score_estimate"]

LEVEL = 0.9

# The error of a cross-validated score is larger than its rows say: models of different
# folds share rows, and the score is that of other models than the final one. Chosen on
# the tuning problems of benchmarks/estimate.
WIDENING = 1.15

# How far the optimism may be off, as a share of itself.
DOUBT = 0.5


@dataclass(frozen=True, slots=True)
class ScoreEstimate:
    """A score to expect on new rows, in the units and with the sign of ``best_score_``.

    Attributes
    ----------
    value : float
        The estimate for the winner fitted on all rows.
    low, high : float
        Ends of the interval.
    level : float
        How often such intervals should hold the score.
    optimism : float
        What was taken off ``best_score_``, because the best of many was chosen.
    growth : float
        What was added, because the final model has more rows to learn from.
    n_configurations : int
        How many were compared on the same rows as the winner, itself included.
    method : str
        How it was found, in a few words.

    Examples
    --------
    >>> ScoreEstimate(0.91, 0.88, 0.94, 0.9, 0.01, 0.002, 12, "bootstrap")
    <ScoreEstimate 0.91, 90 % interval 0.88 to 0.94>
    """

    value: float
    low: float
    high: float
    level: float
    optimism: float
    growth: float
    n_configurations: int
    method: str
    # What the interval is made of, for studies of it.
    errors: dict[str, float] = field(default_factory=dict, repr=False, compare=False)

    @property
    def text(self) -> str:
        """The value with its interval."""
        return (
            f"{self.value:.4g}, {100 * self.level:.0f} % interval {self.low:.4g} to "
            f"{self.high:.4g}"
        )

    def __repr__(self) -> str:
        return f"<ScoreEstimate {self.text}>"

    def _repr_html_(self) -> str:
        """Return the value, its interval and what it corrects, for notebooks."""
        return (
            f"<p><b>{self.value:.4g}</b> expected on new rows "
            f"({100 * self.level:.0f} %: {self.low:.4g} to {self.high:.4g}), after "
            f"taking off {self.optimism:.2g} for the choice among "
            f"{self.n_configurations:,} and adding {self.growth:.2g} for the rows of "
            f"the final fit, by {escape(self.method)}</p>"
        )


def score_estimate(
    state: RaceState,
    chosen: int,
    weights: FloatArray | None = None,
    look_again: LookAgain | None = None,
) -> ScoreEstimate | None:
    """Estimate the score of a configuration that is fitted on all rows.

    Parameters
    ----------
    state : RaceState
        The race.
    chosen : int
        The winner.
    weights : ndarray of shape (n_rows,), optional
        Weights of the rows in the scores, in race order.
    look_again : callable, optional
        Takes another look, at the winner alone, if it has none at fewer rows.

    Returns
    -------
    ScoreEstimate or None
        None where the winner has no pointwise losses, no score, or one row.
    """
    found = [
        table
        for meeting in meetings(state, chosen)
        if (table := Table.of(state, meeting, weights)) is not None
        and chosen in table.members
    ]
    if not found:
        return None
    # The last folds decide, but most configurations were compared before a final.
    deciding, widest = found[0], max(found, key=lambda table: len(table.members))
    best = corrected_best(*widest.cells(), seed=state.problem.seed)
    mine = deciding.row_of(chosen)
    score = float(deciding.scores[mine].mean())
    # One that was not chosen for its score owes less to chance.
    behind = float(best.mean - widest.scores[widest.row_of(chosen)].mean())
    optimism = max(0.0, best.optimism - max(0.0, behind))
    growth = growth_of(state, chosen, deciding, optimism, look_again)
    value = score - optimism + growth.value
    cells, shares = deciding.cells()
    error, freedom = standard_error_of_mean(cells[mine], shares)
    if not np.isfinite([value, error]).all():
        return None
    others = growth.error**2 + (DOUBT * optimism) ** 2
    if deciding.binary:
        ends = _share_ends(value, score, error, others, freedom)
    else:
        whole = float(np.sqrt((WIDENING * error) ** 2 + others))
        ends = mean_interval(value, whole, freedom, LEVEL)
    return ScoreEstimate(
        value,
        *ends,
        LEVEL,
        optimism,
        growth.value,
        len(widest.members),
        "bootstrap bias correction",
        {"rows": error, "growth": growth.error, "freedom": freedom},
    )


def _share_ends(
    value: float, score: float, error: float, others: float, freedom: float
) -> tuple[float, float]:
    """Return the ends for losses of 0 and 1, where spread and mean go together."""
    # The losses are 0 and 1, so that a score of minus them lies one below.
    shift = 0.0 if score >= 0 else 1.0
    share = min(1.0, max(0.0, value + shift))
    spread = share * (1 - share)
    n_cells = freedom + 1
    # Rows of a group are fewer than they seem; so are all of them by what else is open.
    known = (score + shift) * (1 - score - shift)
    if known > 0 and error > 0:
        n_cells = known / ((WIDENING * error) ** 2 + others)
    elif spread > 0 and others > 0:
        n_cells = 1 / (WIDENING**2 / n_cells + others / spread)
    low, high = share_interval(share, n_cells, LEVEL)
    return low - shift, high - shift
