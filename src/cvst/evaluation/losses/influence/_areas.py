"""Areas under curves: ROC AUC by DeLong's components, and average precision.

Each function takes the values of the rows, which of them are positive, and weights. It
returns the area and the influence value of each row. As in scikit-learn, ROC AUC is NaN
if all rows are of one kind, and average precision is 0 without a positive row; then no
row has an influence.
"""

from __future__ import annotations

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray

__all__ = ["average_precision", "roc_area"]


def roc_area(
    values: FloatArray, positive: BoolArray, weights: FloatArray
) -> tuple[float, FloatArray]:
    """Return the chance that a positive row has the larger value; ties count half.

    The structural component of a positive row is the share of the negative rows below
    it, that of a negative row the share of the positive rows above it. Components minus
    the area, over the share of their kind, are the influence values.

    Examples
    --------
    >>> values, positive = np.array([1.0, 2.0, 3.0]), np.array([False, True, True])
    >>> roc_area(values, positive, np.ones(3))
    (1.0, array([0., 0., 0.]))
    """
    total = weights.sum()
    above = weights[positive].sum()
    below = total - above
    if above <= 0 or below <= 0:
        return float("nan"), np.zeros(len(values))
    places, n_places = _places(values)
    up = np.bincount(places[positive], weights[positive], n_places)
    down = np.bincount(places[~positive], weights[~positive], n_places)
    # Weight of the negative rows below a place, and of the positive rows above it.
    lower = np.cumsum(down) - down / 2
    upper = above - np.cumsum(up) + up / 2
    area = float(up @ lower / (above * below))
    components = np.where(positive, (lower / below)[places], (upper / above)[places])
    kinds = np.where(positive, above, below) / total
    return area, (components - area) / kinds


def average_precision(
    values: FloatArray, positive: BoolArray, weights: FloatArray
) -> tuple[float, FloatArray]:
    """Return the mean precision at the values of the positive rows.

    With the precision P(v) among the rows of value v or more, their share B(v) and the
    share a of positive rows, the area is the mean of P over the positive rows. A row
    with y = 1 if it is positive, else 0, counts by itself, by changing P at every value
    up to its own, and by changing a. Its influence value, with n rows, is y P(v), plus
    the sum of (y - P(u)) / (n B(u)) over the positive rows u <= v, minus y times the
    area, all over a.

    Examples
    --------
    >>> values, positive = np.array([1.0, 2.0, 3.0]), np.array([True, False, True])
    >>> round(average_precision(values, positive, np.ones(3))[0], 4)
    0.8333
    """
    shares = weights / weights.sum()
    kind = positive.astype(float)
    positive_share = float(shares @ kind)
    if positive_share <= 0:
        return 0.0, np.zeros(len(values))
    places, n_places = _places(values)
    up = np.asarray(np.bincount(places, shares * kind, n_places), dtype=float)
    rows = np.asarray(np.bincount(places, shares, n_places), dtype=float)
    reached, hits = _from_the_top(rows), _from_the_top(up)
    # At the top there may be only rows without weight.
    inverse = np.divide(1.0, reached, out=np.zeros(n_places), where=reached > 0)
    precision = hits * inverse
    area = float(up @ precision / positive_share)
    gain, cost = np.cumsum(up * inverse), np.cumsum(up * inverse * precision)
    moved = kind * (precision + gain)[places] - cost[places]
    influence = (moved - area * kind) / positive_share
    # Zero but for rounding, and the losses must have the score as their mean.
    return area, influence - shares @ influence


def _places(values: FloatArray) -> tuple[IntArray, int]:
    """Return the place of each row from the lowest value up, and their number.

    Rows with equal values share a place, so their order does not matter. These are the
    inverse indices of ``numpy.unique``, in half its time: each model is ranked anew.
    """
    order = values.argsort()
    ranked = values[order]
    steps = np.zeros(len(values), dtype=np.intp)
    np.not_equal(ranked[1:], ranked[:-1], out=steps[1:], casting="unsafe")
    steps = steps.cumsum()
    places = np.empty(len(values), dtype=np.intp)
    places[order] = steps
    return places, int(steps[-1]) + 1


def _from_the_top(values: FloatArray) -> FloatArray:
    return np.asarray(np.cumsum(values[::-1])[::-1])
