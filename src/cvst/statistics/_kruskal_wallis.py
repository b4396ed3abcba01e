"""Kruskal and Wallis' rank sum test: Friedman's test without the pairing.

The unpaired variant of Section 6.2 of the paper: losses are ranked over all points and
configurations together, and which loss belongs to which point is ignored. As in
Friedman's test only comparisons matter, and all sums are sums of integers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from cvst._typing import FloatArray, IntArray
from cvst.statistics._result import (
    NO_EVIDENCE,
    Significance,
    chi_square_significance,
)
from cvst.statistics._tables import as_losses, rankable

__all__ = ["kruskal_wallis_prefixes", "kruskal_wallis_test"]


def kruskal_wallis_test(losses: npt.ArrayLike) -> Significance:
    """Test whether all configurations draw their losses from the same distribution.

    Parameters
    ----------
    losses : array-like of shape (n_configurations, n_points)
        One sample of losses per configuration. Infinite losses are ranked like others,
        NaN is refused.

    Returns
    -------
    Significance
        Tie-corrected statistic and its chi-square p-value; 0 and 1 if there is nothing
        to compare: fewer than two configurations, no point, or all losses equal.

    Examples
    --------
    >>> round(kruskal_wallis_test([[1, 3, 5], [2, 4, 6]]).p_value, 3)
    0.513
    """
    table = as_losses(losses)
    n_configurations, n_points = table.shape
    if n_configurations < 2 or n_points == 0:
        return NO_EVIDENCE
    doubled_ranks = 2 * rankdata(rankable(table)) - (table.size + 1)
    _, counts = np.unique(table, return_counts=True)
    ties = sum(int(count) ** 3 - int(count) for count in counts[counts > 1])
    lead = doubled_ranks.reshape(table.shape).sum(axis=1)
    return _significance(lead, n_points, ties)


def kruskal_wallis_prefixes(losses: npt.ArrayLike) -> Iterator[Significance]:
    """Test the first 2, 3, ..., K configurations, one after the other.

    The losses so far are kept in order and each new configuration is merged in, so the
    k-th costs O(k n_points), and nothing is computed beyond the prefixes asked for.

    Parameters
    ----------
    losses : array-like of shape (n_configurations, n_points)
        Configurations in the order in which they join, usually by mean loss.

    Returns
    -------
    iterator of Significance
        ``kruskal_wallis_test(losses[:k])`` for k = 2, 3, ..., K.

    Examples
    --------
    >>> losses = [[1, 3, 5], [2, 4, 6], [7, 8, 9]]
    >>> [round(prefix.p_value, 3) for prefix in kruskal_wallis_prefixes(losses)]
    [0.513, 0.061]
    """
    return _walk(as_losses(losses))


def _walk(losses: FloatArray) -> Iterator[Significance]:
    n_configurations, n_points = losses.shape
    lead = np.zeros(n_configurations, dtype=np.int64)
    pool = np.empty(0)
    owners = np.empty(0, dtype=np.int64)
    ties = 0
    for k in range(n_configurations):
        newcomer = np.sort(losses[k])
        first = np.searchsorted(pool, newcomer, side="left")
        last = np.searchsorted(pool, newcomer, side="right")
        # For each pooled loss, the newcomer's losses below it minus those above it: a
        # staircase that climbs by one where a loss of the newcomer is no longer above,
        # and by one more where it is below.
        climbs = np.sort(np.concatenate([first, last]))
        lengths = np.diff(climbs, prepend=0, append=len(pool))
        gain = np.repeat(np.arange(-n_points, n_points + 1.0), lengths)
        # Sums of integers, hence exact.
        gains = np.bincount(owners, weights=gain, minlength=k).astype(np.int64)
        lead[:k] += gains
        lead[k] = -gains.sum()
        ties += _additional_ties(newcomer, last - first)
        pool = np.insert(pool, last, newcomer)
        owners = np.insert(owners, last, k)
        if k:
            yield _significance(lead[: k + 1], n_points, ties)


def _additional_ties(newcomer: FloatArray, pooled: IntArray) -> int:
    """Return by how much the sum of t^3 - t over all ties grows.

    ``pooled[j]`` is the number of pooled losses equal to ``newcomer[j]``.
    """
    _, index, counts = np.unique(newcomer, return_index=True, return_counts=True)
    before = pooled[index]
    tied = before + counts > 1
    growth = 0
    # Python's integers: a cube of all losses may be too large for 64 bits.
    for old, new in zip(before[tied].tolist(), counts[tied].tolist(), strict=True):
        growth += (old + new) ** 3 - old**3 - new
    return growth


def _significance(
    lead: FloatArray | IntArray, n_points: int, ties: int
) -> Significance:
    """Return the test for sums of doubled centred ranks and the sum of t^3 - t."""
    n_configurations = len(lead)
    n_losses = n_configurations * n_points
    spread = n_losses**3 - n_losses - ties
    if spread == 0:
        return NO_EVIDENCE
    explained = float(np.sum(np.square(lead, dtype=np.float64))) / n_points
    statistic = 3 * explained * ((n_losses - 1) / spread)
    return chi_square_significance(statistic, n_configurations)
