"""What the winner, fitted on all rows, will score on new ones: a value, an interval.

``best_score_`` errs twice. It is the best of many on the rows that chose it, and it
belongs to models that were trained on a part of the rows. The estimate corrects both
(docs/user_guide/estimate.md):

    value = best_score_ - optimism + growth.

The optimism is that of a bootstrap over the values of all rows and all configurations
that ran a fold of the winner's; the growth follows from its looks at fewer rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from math import inf

import numpy as np

from cvst._typing import FloatArray
from cvst.race import RaceState
from cvst.race.machinery import meetings
from cvst.search.estimate._growth import Growth, LookAgain, growth_of
from cvst.search.estimate._table import Table
from cvst.statistics import (
    corrected_best,
    mean_interval,
    share_interval,
    standard_error_of_mean,
)

__all__ = ["Evidence", "ScoreEstimate", "score_estimate"]

LEVEL = 0.9

# Both were chosen on the tuning races of benchmarks/estimate. The error of a
# cross-validated score is larger than its rows say, since folds share training rows and
# the final model is another one.
WIDENING = 1.2

# How far the optimism may be off, as a share of itself.
DOUBT = 0.75

# A share of the variance. Of two blocks neither has more than half of it.
NEARLY_ALL = 0.9

# A variance of less than this is rounding.
ALIKE = 1e-12


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an estimate is made from.

    Attributes
    ----------
    score : float
        Score of the winner over the looks that decided.
    optimism : float
        What the bootstrap takes off for the choice.
    growth : Growth
        What the winner gained by more rows.
    error, freedom : float
        Standard error of the score by its rows, and degrees of freedom.
    top : float or None
        Score of a row without loss if losses are 0 and 1, else None.
    lowest, highest : float
        Between which numbers every score lies.
    """

    score: float
    optimism: float
    growth: Growth
    error: float
    freedom: float
    top: float | None
    lowest: float = -inf
    highest: float = inf

    @property
    def grown(self) -> float:
        """What is added for the rows of the final fit."""
        return self.growth.value(self.optimism)

    @property
    def value(self) -> float:
        """The estimate."""
        return self._possible(self.score - self.optimism + self.grown)

    @property
    def ends(self) -> tuple[float, float]:
        """The interval."""
        others = self.growth.error**2 + (DOUBT * self.optimism) ** 2
        if self.top is not None:
            return self._share_ends(self.top - 1, others)
        whole = float(np.sqrt((WIDENING * self.error) ** 2 + others))
        low, high = mean_interval(self.value, whole, self.freedom, LEVEL)
        return self._possible(low), self._possible(high)

    def _possible(self, score: float) -> float:
        return min(max(score, self.lowest), self.highest)

    def _share_ends(self, bottom: float, others: float) -> tuple[float, float]:
        """Return the ends for losses of 0 and 1: spread and mean go together there."""
        share, known = (
            min(1.0, max(0.0, score - bottom)) for score in (self.value, self.score)
        )
        n_rows = self.freedom + 1
        # Rows of a group are fewer than they seem, which the error tells unless all
        # rows are alike.
        if known * (1 - known) > ALIKE and self.error > 0:
            n_rows = known * (1 - known) / self.error**2
        spread = max(share * (1 - share), 1 / n_rows)
        n_rows = spread / (WIDENING**2 * spread / n_rows + others)
        low, high = share_interval(share, n_rows, LEVEL)
        return low + bottom, high + bottom


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
        How many ran a fold of the winner's, itself included.
    method : str
        How it was found, in a few words.
    evidence : Evidence or None
        What it was made from.

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
    evidence: Evidence | None = field(default=None, repr=False)

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
    explains_variance: bool = False,
    score_range: tuple[float, float] = (-inf, inf),
    is_asked: bool = False,
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
    explains_variance : bool
        Whether the score is the share of a variance that is explained.
    score_range : tuple of (lowest, highest)
        Between which numbers every score lies: there the estimate ends.
    is_asked : bool
        Whether the score is known by its value on blocks of rows alone.

    Returns
    -------
    ScoreEstimate or None
        None where the winner has no pointwise losses, no score, or one row, and where a
        score that is asked has no value on the blocks of some look.
    """
    found = [
        table
        for meeting in meetings(state, chosen)
        if (table := Table.of(state, meeting, weights, chosen)) is not None
    ]
    if not found:
        return None
    # The last folds decide, but most configurations were compared before a final.
    deciding, widest = found[0], max(found, key=lambda table: table.n_met)
    if is_asked and _spread_is_unknown(deciding, deciding.row_of(chosen)):
        return None
    best = corrected_best(*widest.cells(), seed=state.problem.seed)
    mine = deciding.row_of(chosen)
    score = float(deciding.scores[mine].mean())
    if explains_variance:
        score += _of_many_rows(deciding, mine)
    # One that was not chosen for its score owes less to chance.
    behind = float(best.mean - widest.scores[widest.row_of(chosen)].mean())
    optimism = max(0.0, best.optimism - max(0.0, behind))
    cells, shares = deciding.cells()
    error, freedom = standard_error_of_mean(cells[mine], shares)
    growth = growth_of(state, chosen, deciding, look_again, error)
    known = Evidence(
        score, optimism, growth, error, freedom, deciding.top, *score_range
    )
    if not np.isfinite([known.value, error]).all():
        return None
    return ScoreEstimate(
        known.value,
        *known.ends,
        LEVEL,
        known.optimism,
        known.grown,
        widest.n_met,
        "bootstrap bias correction",
        known,
    )


def _spread_is_unknown(deciding: Table, mine: int) -> bool:
    """Return whether single rows stand for all, where blocks of rows have no score."""
    centred = deciding.values[mine] - deciding.scores[mine].mean()
    spread = (deciding.shares * centred) ** 2
    n_looks = len(deciding.looks)
    most = float(np.sort(spread)[-n_looks:].sum())
    # A row that stands for n of them has all of their variance but one part in n.
    share = max(NEARLY_ALL, 1 - 2 * n_looks / len(spread))
    return 0 < share * float(spread.sum()) < most


def _of_many_rows(deciding: Table, mine: int) -> float:
    """Return by how much r2 of few rows is too low.

    Their variance is too small by a row, and it varies: the mean of a ratio is not the
    ratio of the means. The latter is as for normal numbers, where errors and targets
    vary together the more, the less is explained.
    """
    n_points = np.array([look.n_test for look in deciding.looks])
    explained = np.clip(deciding.scores[mine].mean(), 0.0, 1.0)
    return float(np.mean((1 - deciding.scores[mine]) / n_points) * (1 + 2 * explained))
