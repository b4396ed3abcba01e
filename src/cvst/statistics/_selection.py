"""What the best of many is worth: bootstrap bias correction, and an interval.

The best mean of many is too high, because chance helped to choose it. Tsamardinos,
Greasidou and Borboudakis (2018) choose again and again on resampled rows, in the *bag*,
and judge the choice by the rows left *out of the bag*, which took no part in it. No
model is fitted for that: the values of the rows are known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from cvst._typing import FloatArray
from cvst.exceptions import InvalidInputError

__all__ = [
    "CorrectedBest",
    "corrected_best",
    "mean_interval",
    "share_interval",
    "standard_error_of_mean",
]

# More cells are pooled into this many, and of more configurations the best are taken:
# both change the result far less than the draw of the rows does.
MOST_CELLS, MOST_CONFIGURATIONS = 2000, 200

# Cells that are drawn at a time: blocks of this size stay in the cache, and a table of
# all draws would take most of its time to be given memory.
BLOCK = 1 << 14

# Digits of a mean in units of the spread; what is behind them is rounding.
DIGITS = 10


@dataclass(frozen=True, slots=True)
class CorrectedBest:
    """The best mean of many configurations, and what remains without luck.

    Attributes
    ----------
    best : int
        The configuration with the highest mean.
    mean : float
        That mean.
    optimism : float
        How much of it is owed to the choice, not below zero.
    value : float
        The mean without the optimism.

    Examples
    --------
    >>> CorrectedBest(best=0, mean=0.75, optimism=0.25).value
    0.5
    """

    best: int
    mean: float
    optimism: float

    @property
    def value(self) -> float:
        """The mean without the optimism."""
        return self.mean - self.optimism


def corrected_best(
    values: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    *,
    n_resamples: int = 400,
    seed: int = 0,
) -> CorrectedBest:
    """Return the highest mean of several configurations, corrected for the choice.

    Parameters
    ----------
    values : array-like of shape (n_configurations, n_cells)
        Higher is better. A cell is a row, or a group of rows that belong together, with
        their mean.
    weights : array-like of shape (n_cells,), optional
        Weight of each cell in the means; all alike by default.
    n_resamples : int
        How often the cells are drawn.
    seed : int
        Seed of the draws.

    Returns
    -------
    CorrectedBest
        Without correction where there is one configuration or one cell.

    Examples
    --------
    Fifty configurations that are nothing but noise: the best seems to be good.

    >>> noise = np.random.default_rng(0).normal(size=(50, 100))
    >>> found = corrected_best(noise)
    >>> bool(found.mean > 0.15), bool(abs(found.value) < 0.1)
    (True, True)
    """
    table, shares = _checked(values, weights)
    means = table @ shares
    best = int(np.argmax(means))
    mean = float(means[best])
    if min(table.shape) < 2:
        return CorrectedBest(best, mean, 0.0)
    # Back in their order, so that of equal means the first is chosen, as above.
    members = np.sort(np.argsort(-means, kind="stable")[:MOST_CONFIGURATIONS])
    table, shares = _dealt(table[members], shares)
    place = int(np.searchsorted(members, best))
    rng = np.random.default_rng(seed)
    lost = _lost_by_choice(table, shares, place, n_resamples, rng)
    if not len(lost):
        return CorrectedBest(best, mean, 0.0)
    return CorrectedBest(best, mean, max(0.0, float(lost.mean())))


def _lost_by_choice(
    table: FloatArray,
    shares: FloatArray,
    place: int,
    n_resamples: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return by how much the choice of each bag falls behind the best out of the bag.

    Out of the bag the best itself has, over all draws, its own mean. To compare with it
    draw by draw leaves less to chance than to average what was chosen. Draws in which
    nothing is left out, or nothing with weight, judge nothing and are not returned.
    """
    n_cells = len(shares)
    centre, scale = float(table[place] @ shares), float(table.std()) or 1.0
    weighed = shares[:, np.newaxis] * ((table - centre) / scale).T
    # With the shares in the last column, one product gives sums and their weight.
    unscaled = shares[:, np.newaxis] * np.column_stack([table.T, np.ones(n_cells)])
    size = max(1, BLOCK // n_cells)
    found = []
    for start in range(0, n_resamples, size):
        counts = _drawn(rng, n_cells, min(size, n_resamples - start))
        inside = counts @ weighed
        outside = np.equal(counts, 0, out=counts, casting="unsafe") @ unscaled
        judging = outside[:, -1] > 0
        outside = outside[judging]
        judged = outside[:, :-1] / outside[:, -1:]
        # Equal means are equal, however they add up: then the first is chosen.
        chosen = np.argmax(np.round(inside[judging], DIGITS), axis=1)
        found.append(judged[:, place] - judged[np.arange(len(chosen)), chosen])
    return np.concatenate(found)


def _drawn(rng: np.random.Generator, n_cells: int, n_resamples: int) -> FloatArray:
    """Return how often each cell is in each bag of as many cells.

    That is a multinomial draw. To count drawn cells takes a quarter of its time.
    """
    cells = rng.integers(n_cells, size=(n_resamples, n_cells))
    cells += n_cells * np.arange(n_resamples)[:, np.newaxis]
    counts = np.bincount(cells.ravel(), minlength=n_resamples * n_cells)
    return counts.reshape(n_resamples, n_cells).astype(float)


def _checked(
    values: npt.ArrayLike, weights: npt.ArrayLike | None
) -> tuple[FloatArray, FloatArray]:
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all():
        raise InvalidInputError(
            f"values of shape {table.shape} must be a table of finite numbers, a row "
            "per configuration. Leave out configurations that failed."
        )
    n_cells = table.shape[1]
    given = np.ones(n_cells) if weights is None else np.asarray(weights, dtype=float)
    if given.shape != (n_cells,) or np.any(given < 0) or not given.sum() > 0:
        raise InvalidInputError(
            f"weights of shape {given.shape} must be numbers of at least 0, not all 0, "
            f"one for each of the {n_cells} cells."
        )
    return table, given / given.sum()


def _dealt(table: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Deal the cells out to fewer, like cards, if there are too many."""
    n_cells = len(shares)
    if n_cells <= MOST_CELLS:
        return table, shares
    starts = np.arange(0, n_cells, -(-n_cells // MOST_CELLS))
    # Any cells may go together: their order carries no meaning.
    totals = np.add.reduceat(shares, starts)
    sums = np.add.reduceat(table * shares, starts, axis=1)
    known = totals > 0
    return sums[:, known] / totals[known], totals[known]


def standard_error_of_mean(
    values: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> tuple[float, float]:
    """Return the standard error of a weighted mean over cells, and its freedom.

    Parameters
    ----------
    values : array-like of shape (n_cells,)
        A value per row, or the mean of a group of rows.
    weights : array-like of shape (n_cells,), optional
        Weight of each cell; all alike by default.

    Returns
    -------
    error : float
        Infinite for a single cell.
    freedom : float
        Degrees of freedom: cells of equal weight less one.

    Examples
    --------
    >>> standard_error_of_mean([1.0, 2.0, 3.0, 4.0])
    (0.6454972243679028, 3.0)
    """
    table, shares = _checked(np.asarray(values, dtype=float)[np.newaxis], weights)
    n_cells = np.count_nonzero(shares)
    if n_cells < 2:
        return float("inf"), 0.0
    centred = table[0] - table[0] @ shares
    variance = float(np.sum((shares * centred) ** 2)) * n_cells / (n_cells - 1)
    return float(np.sqrt(variance)), float(1 / np.sum(shares**2) - 1)


def mean_interval(
    value: float, error: float, freedom: float, level: float
) -> tuple[float, float]:
    """Return Student's interval around a mean.

    Examples
    --------
    >>> low, high = mean_interval(2.5, 0.6454972243679028, 3.0, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.4457, 4.5543)
    """
    if not np.isfinite(error) or freedom <= 0:
        return -np.inf, np.inf
    width = float(stdtrit(freedom, 0.5 + level / 2)) * error
    return value - width, value + width


def share_interval(share: float, n_cells: float, level: float) -> tuple[float, float]:
    """Return Wilson's interval of a share among a number of cells.

    It keeps within 0 and 1, and has a width where all cells are alike.

    Examples
    --------
    >>> low, high = share_interval(0.9, 50, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.7864, 0.9565)
    """
    if n_cells <= 0:
        return 0.0, 1.0
    share = min(1.0, max(0.0, share))
    square = float(ndtri(0.5 + level / 2)) ** 2 / n_cells
    centre = (share + square / 2) / (1 + square)
    width = np.sqrt(square * share * (1 - share) + square**2 / 4) / (1 + square)
    return max(0.0, float(centre - width)), min(1.0, float(centre + width))
