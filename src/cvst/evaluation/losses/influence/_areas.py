"""Areas under curves: ROC AUC by DeLong's components, and average precision.

Each function takes the values of the rows, and their :class:`Kinds`. It
returns the area and the influence value of each row. As in scikit-learn, ROC AUC is NaN
if all rows are of one kind, and average precision is 0 without a positive row; then no
row has an influence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray

__all__ = ["Kinds", "average_precision", "kinds_of", "roc_area"]


class Kinds(NamedTuple):
    """Positive and negative rows, the same for all models on these rows.

    Attributes
    ----------
    up, down : ndarray of int
        The positive and the negative rows.
    weights_up, weights_down : ndarray
        Their weights.
    above, below, total : float
        The sums of both, and of all weights.
    positive : ndarray of bool, shape (n_points,)
        Which rows are positive.
    weights : ndarray of shape (n_points,)
        The weights of all rows.
    """

    up: IntArray
    down: IntArray
    weights_up: FloatArray
    weights_down: FloatArray
    above: float
    below: float
    total: float
    positive: BoolArray
    weights: FloatArray


def kinds_of(positive: BoolArray, weights: FloatArray) -> Kinds:
    """Take rows apart by their kind."""
    up, down = np.flatnonzero(positive), np.flatnonzero(~positive)
    total, above = float(weights.sum()), float(weights[up].sum())
    return Kinds(
        up=up,
        down=down,
        weights_up=weights[up],
        weights_down=weights[down],
        above=above,
        below=total - above,
        total=total,
        positive=positive,
        weights=weights,
    )


def roc_area(values: FloatArray, kinds: Kinds) -> tuple[float, FloatArray]:
    """Return the chance that a positive row has the larger value; ties count half.

    The structural component of a positive row is the share of the negative rows below
    it, that of a negative row the share of the positive rows above it. Components minus
    the area, over the share of their kind, are the influence values.

    Examples
    --------
    >>> values, positive = np.array([1.0, 2.0, 3.0]), np.array([False, True, True])
    >>> roc_area(values, kinds_of(positive, np.ones(3)))
    (1.0, array([0., 0., 0.]))
    """
    above, below, total = kinds.above, kinds.below, kinds.total
    if above <= 0 or below <= 0:
        return float("nan"), np.zeros(len(values))
    places, n_places = _places(values)
    places_up, places_down = places[kinds.up], places[kinds.down]
    up = np.bincount(places_up, kinds.weights_up, n_places)
    down = np.bincount(places_down, kinds.weights_down, n_places)
    # Weight of the negative rows below a place, and of the positive rows above it.
    lower = np.cumsum(down) - down / 2
    upper = above - np.cumsum(up) + up / 2
    area = float(up @ lower / (above * below))
    influence = np.empty(len(values))
    influence[kinds.up] = ((lower / below)[places_up] - area) / (above / total)
    influence[kinds.down] = ((upper / above)[places_down] - area) / (below / total)
    return area, influence


def average_precision(values: FloatArray, kinds: Kinds) -> tuple[float, FloatArray]:
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
    >>> round(average_precision(values, kinds_of(positive, np.ones(3)))[0], 4)
    0.8333
    """
    shares = kinds.weights / kinds.total
    positive_share = float(shares @ kinds.positive.astype(float))
    if positive_share <= 0:
        return 0.0, np.zeros(len(values))
    places, n_places = _places(values)
    places_up = places[kinds.up]
    up = np.bincount(places_up, shares[kinds.up], n_places)
    rows = np.bincount(places, shares, n_places)
    reached, hits = _from_the_top(rows), _from_the_top(up)
    # At the top there may be only rows without weight.
    inverse = np.divide(1.0, reached, out=np.zeros(n_places), where=reached > 0)
    precision = hits * inverse
    area = float(up @ precision / positive_share)
    gain, cost = np.cumsum(up * inverse), np.cumsum(up * inverse * precision)
    moved = 0.0 - cost[places]
    moved[kinds.up] = (precision + gain)[places_up] - cost[places_up] - area
    influence = moved / positive_share
    # Zero but for rounding, and the losses must have the score as their mean.
    return area, influence - shares @ influence


def _places(values: FloatArray) -> tuple[IntArray, int]:
    """Return the place of each row from the lowest value up, and their number.

    Rows with equal values share a place, so their order does not matter. These are the
    inverse indices of ``numpy.unique``, in half its time: each model is ranked anew.
    """
    order = values.argsort()
    ranked = values[order]
    differ = ranked[1:] != ranked[:-1]
    n_places = int(np.count_nonzero(differ)) + 1
    steps = np.arange(len(values))
    if n_places < len(values):
        np.cumsum(differ, out=steps[1:])
    places = np.empty(len(values), dtype=np.intp)
    places[order] = steps
    return places, n_places


def _from_the_top(values: FloatArray | IntArray) -> FloatArray:
    return np.asarray(np.cumsum(values[::-1])[::-1])
