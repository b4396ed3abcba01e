"""Elections among tied neighbours: which of them another choice could change.

Of the rows tied at the k-th distance some are taken and some are not; which of them
depends on the search. Each class has the votes of the nearer rows for sure, and of the
tied ones a least and a largest number. If one class wins in any case, there is nothing
to settle.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.evaluation.neighbours._lists import NeighbourLists

__all__ = ["elections_in_doubt"]


def elections_in_doubt(
    lists: NeighbourLists,
    rows: IntArray,
    k: int,
    outputs: Sequence[IntArray],
    by_distance: bool,
) -> IntArray:
    """Return those of some tied rows whose elected class depends on the choice.

    Parameters
    ----------
    lists : NeighbourLists
        At least k + 1 neighbours of each test row, or all.
    rows : ndarray of int
        Test rows whose k-th and next distance are equal.
    k : int
        Number of neighbours that vote.
    outputs : sequence of ndarray of shape (n_train,), int
        The place of each training row's label among the classes, for each output.
    by_distance : bool
        Whether a vote weighs the inverse distance.
    """
    distances, indices = lists.distances[rows], lists.indices[rows]
    last = distances[:, k - 1, None]
    nearer, tied = distances < last, distances == last
    weights, tied_weight = _weights(distances, last[:, 0], by_distance)
    n_open = k - nearer.sum(axis=1)
    # More rivals may follow where the list ends among them: anything may be taken.
    ends_open = tied[:, -1] & (not lists.is_complete)
    doubt = np.isnan(distances[:, : k + 1]).any(axis=1)
    for labels in outputs:
        seen = labels[indices]
        sure = _votes(seen, np.where(nearer, weights, 0.0), labels)
        rivals = _votes(seen, tied.astype(float), labels)
        others = rivals.sum(axis=1, keepdims=True) - rivals
        at_most = np.minimum(n_open[:, None], rivals)
        at_least = np.maximum(n_open[:, None] - others, 0.0)
        at_most[ends_open] = n_open[ends_open, None]
        at_least[ends_open] = 0.0
        weight = tied_weight[:, None]
        # Sums in another order may differ by rounding; whole votes do not.
        rounding = 8 * k * np.finfo(float).eps if by_distance else 0.0
        slack = rounding * (sure.sum(axis=1) + n_open * tied_weight)
        doubt |= ~_has_winner(sure + weight * at_least, sure + weight * at_most, slack)
    return rows[doubt]


def _weights(
    distances: FloatArray, last: FloatArray, by_distance: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the weight of each neighbour, and that of the tied ones."""
    if not by_distance:
        return np.ones_like(distances), np.ones(len(distances))
    with np.errstate(divide="ignore"):
        weights, tied_weight = 1.0 / distances, 1.0 / last
    # Rows at distance zero have all the weight there is.
    hits = np.isinf(weights)
    is_hit = hits.any(axis=1)
    weights[is_hit] = hits[is_hit]
    tied_weight[is_hit] = last[is_hit] == 0
    return weights, tied_weight


def _votes(seen: IntArray, weights: FloatArray, labels: IntArray) -> FloatArray:
    """Return the summed weights of each class, one row per test row."""
    n_rows, n_classes = len(seen), int(labels.max()) + 1
    places = seen + n_classes * np.arange(n_rows)[:, None]
    sums = np.bincount(places.ravel(), weights.ravel(), minlength=n_rows * n_classes)
    return np.asarray(sums, dtype=float).reshape(n_rows, n_classes)


def _has_winner(
    at_least: FloatArray, at_most: FloatArray, slack: FloatArray
) -> BoolArray:
    """Return whether some class wins whatever is taken; the first wins a draw."""
    everyone = np.arange(len(at_least))
    favourite = np.argmax(at_least, axis=1)
    margins = at_least[everyone, favourite][:, None] - at_most
    # A class before the favourite must have less, one after it may have as much.
    comes_first = np.arange(at_least.shape[1]) < favourite[:, None]
    beaten = np.where(comes_first, margins > 0, margins >= 0)
    beaten &= (margins > slack[:, None]) | (slack[:, None] == 0)
    beaten[everyone, favourite] = True
    won: BoolArray = beaten.all(axis=1)
    return won
