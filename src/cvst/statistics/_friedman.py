"""Friedman's test for losses of paired configurations (Appendix C).

Rows are configurations and columns are data points; ranks are taken within a point.
Only comparisons matter: twice the centred rank of a loss is the number of smaller
losses on its point minus the number of larger ones. All sums below are sums of such
integers, so the test of a table and the test of a prefix give the same digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from cvst.statistics._result import (
    NO_EVIDENCE,
    Significance,
    chi_square_significance,
)
from cvst.statistics._tables import as_losses, rankable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvst._typing import BoolArray, FloatArray, IntArray

__all__ = ["friedman_prefixes", "friedman_test"]

# Columns compared at a time: 255 words of eight flags, so that a byte can count them.
_BLOCK = 8 * 255


def friedman_test(losses: npt.ArrayLike) -> Significance:
    """Test whether all configurations suffer the same losses.

    Parameters
    ----------
    losses : array-like of shape (n_configurations, n_points)
        ``losses[i, j]`` is the loss of configuration ``i`` on data point ``j``. Any
        monotone transformation gives the same answer; infinite losses are ranked like
        others, NaN is refused.

    Returns
    -------
    Significance
        Tie-corrected statistic and its chi-square p-value; 0 and 1 if there is nothing
        to compare: fewer than two configurations, no point, or all tied on every point.

    Examples
    --------
    >>> import numpy as np
    >>> round(friedman_test(np.array([[0.1, 0.2, 0.1], [0.5, 0.6, 0.7]])).p_value, 3)
    0.083
    """
    table = as_losses(losses)
    n_configurations = len(table)
    if n_configurations < 2 or table.shape[1] == 0:
        return NO_EVIDENCE
    doubled_ranks = 2 * rankdata(rankable(table), axis=0) - (n_configurations + 1)
    spread = int(3 * np.sum(doubled_ranks**2))
    return _significance(doubled_ranks.sum(axis=1), spread)


def friedman_prefixes(losses: npt.ArrayLike) -> Iterator[Significance]:
    """Test the first 2, 3, ..., K configurations, one after the other.

    Each configuration is compared once with those before it and never ranked again, so
    the k-th costs O(k n_points), and nothing is computed beyond the prefixes asked for.

    Parameters
    ----------
    losses : array-like of shape (n_configurations, n_points)
        Configurations in the order in which they join, usually by mean loss.

    Returns
    -------
    iterator of Significance
        ``friedman_test(losses[:k])`` for k = 2, 3, ..., K.

    Examples
    --------
    >>> losses = [[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]]
    >>> [round(prefix.p_value, 3) for prefix in friedman_prefixes(losses)]
    [0.046, 0.018]
    """
    return _walk(as_losses(losses))


def _walk(losses: FloatArray) -> Iterator[Significance]:
    n_configurations, n_points = losses.shape
    lead = np.zeros(n_configurations, dtype=np.int64)
    ties = 0
    for k in range(1, n_configurations):
        above, below = _n_above_and_below(losses[:k], losses[k])
        lead[:k] += above - below
        lead[k] = np.sum(below - above)
        # Ties are rare among losses: most rows are spared a third comparison, and
        # most points the counting.
        has_ties = above + below < n_points
        if has_ties.any():
            equal = losses[np.argmax(has_ties) : k] == losses[k]
            tied = equal[:, equal.any(axis=0)].sum(axis=0, dtype=np.int64)
            # A tie of t losses lowers the spread by t^3 - t; one more loss, by 3t(t+1).
            ties += int(np.sum(3 * tied * (tied + 1)))
        spread = n_points * k * (k + 1) * (k + 2) - ties
        yield _significance(lead[: k + 1], spread)


def _significance(lead: FloatArray | IntArray, spread: int) -> Significance:
    """Return the test for sums of doubled centred ranks; `spread` is 3 sum(rank^2)."""
    if spread == 0:
        return NO_EVIDENCE
    explained = float(np.sum(np.square(lead, dtype=np.float64)))
    n_configurations = len(lead)
    statistic = 3 * (n_configurations - 1) * explained / spread
    return chi_square_significance(statistic, n_configurations)


def _n_above_and_below(
    losses: FloatArray, newcomer: FloatArray
) -> tuple[IntArray, IntArray]:
    """Count for each row the points where it is above and below the newcomer."""
    above = np.zeros(len(losses), dtype=np.int64)
    below = np.zeros(len(losses), dtype=np.int64)
    for start in range(0, len(newcomer), _BLOCK):
        block = losses[:, start : start + _BLOCK]
        rival = newcomer[start : start + _BLOCK]
        # Rounded up to whole words; the columns beyond the block stay False.
        flags = np.zeros((len(losses), -(-len(rival) // 8) * 8), dtype=np.bool_)
        np.greater(block, rival, out=flags[:, : len(rival)])
        above += _n_true(flags)
        np.less(block, rival, out=flags[:, : len(rival)])
        below += _n_true(flags)
    return above, below


def _n_true(flags: BoolArray) -> IntArray:
    """Count the flags of each row, eight at a time.

    Adding words of eight one-byte flags adds the bytes separately as long as no byte
    exceeds 255. Twice as fast as `count_nonzero` along an axis, and this is where the
    time of a long prefix goes.
    """
    words = flags.view(np.uint64).sum(axis=1)
    counts: IntArray = words.view(np.uint8).reshape(-1, 8).sum(axis=1, dtype=np.int64)
    return counts
