"""Losses that differ by rounding only are equal: ranks must not depend on it.

Shared work and work of its own give the same prediction up to rounding, and so do two
machines. A rank would make as much of the last bit of a loss as of its first.
"""

from __future__ import annotations

import numpy as np

from cvst._typing import FloatArray, IntArray

__all__ = ["gaps", "without_rounding"]

# Differences up to this share of a loss (or of the mean loss of the best) are rounding.
# Sums over a million rows are off by some 1e-13; models that differ do so by far more.
RESOLUTION = 1e-10

# Columns sorted at a time, so that a large look needs no second copy in one piece.
BLOCK = 4096


def without_rounding(losses: FloatArray, pooled: bool = False) -> FloatArray:
    """Return the losses with those of a column that differ by rounding made equal.

    Of losses that are close to each other, each to the next, all get the smallest.

    Parameters
    ----------
    losses : ndarray of shape (n_configurations, n_points)
        Losses; infinite ones stay as they are, and so does NaN.
    pooled : bool
        Whether losses of different columns are compared too.

    Returns
    -------
    ndarray of the same shape
        The given one itself where nothing is close.

    Examples
    --------
    >>> without_rounding(np.array([[1.0, 2.0], [1.0 + 1e-14, 3.0]]))
    array([[1., 2.],
           [1., 3.]])
    """
    if not losses.size:
        return losses
    with np.errstate(invalid="ignore", over="ignore"):  # infinite losses
        means = losses.mean(axis=1)
    scale = float(np.min(np.abs(means), where=np.isfinite(means), initial=np.inf))
    scale = scale if np.isfinite(scale) else 0.0
    table = losses.reshape(-1, 1) if pooled else losses
    merged = table
    for start in range(0, table.shape[1], BLOCK):
        places, values = _merged(table[:, start : start + BLOCK], scale)
        if len(places):
            merged = table.copy() if merged is table else merged
            merged[:, start + places] = values
    return losses if merged is table else merged.reshape(losses.shape)


def _merged(block: FloatArray, scale: float) -> tuple[IntArray, FloatArray]:
    """Return the places of columns with close losses, and these columns merged."""
    # Values side by side are sorted many times as fast.
    columns = np.ascontiguousarray(block.T)
    ascending = np.sort(columns, axis=1)
    # Few columns have close losses, if any. The smallest gap of a column shows that it
    # has none; the others, and those with infinite losses, are looked at one by one.
    with np.errstate(invalid="ignore", over="ignore"):
        smallest = np.diff(ascending, axis=1).min(axis=1, initial=np.inf)
    largest = np.abs(ascending[:, [0, -1]]).max(axis=1)
    is_far = smallest > RESOLUTION * np.maximum(scale, largest)
    places = np.flatnonzero(~is_far)
    columns, ascending = columns[places], ascending[places]
    with np.errstate(
        invalid="ignore", over="ignore"
    ):  # infinite ones are equal already
        gaps = np.diff(ascending, axis=1)
    close = gaps <= RESOLUTION * np.maximum(scale, np.abs(ascending[:, :-1]))
    close &= np.isfinite(gaps)
    if not np.any(close & (gaps > 0)):
        return places[:0], block[:, :0]
    # The smallest of a run of close losses stands for all of them.
    begins = np.hstack([np.ones_like(close[:, :1]), ~close])
    first = np.maximum.accumulate(np.where(begins, ascending, -np.inf), axis=1)
    merged = np.empty_like(columns)
    # Equal losses are in one run, so any order of theirs will do.
    np.put_along_axis(merged, np.argsort(columns, axis=1), first, axis=1)
    return places, merged.T


def gaps(losses: np.ndarray, others: np.ndarray) -> FloatArray:
    """Return losses minus others; equal ones differ by nothing, infinite ones too.

    Examples
    --------
    >>> gaps(np.array([1.0, np.inf, np.inf]), np.array([3.0, np.inf, 1.0]))
    array([-2.,  0., inf])
    """
    with np.errstate(invalid="ignore"):
        found: FloatArray = np.subtract(losses, others, dtype=float)
    # A scorer may give infinity to two, and infinity less infinity is NaN.
    is_odd = np.isnan(found)
    if is_odd.any():
        found[is_odd & (np.asarray(losses) == others)] = 0.0
    return found
