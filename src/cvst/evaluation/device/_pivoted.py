"""Pivoted Cholesky decompositions of several matrices at once, block by block.

One column after the other would keep a card waiting for the host. Here a round takes
the largest entries left on the diagonal, one from each part of the rows, and the host
picks those that tell something new: of the small matrix between them it makes a
pivoted decomposition of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from cvst._typing import FloatArray, IntArray
from cvst.evaluation.device._arrays import Arrays

__all__ = ["Pivoted"]

# Rows among which pivots of a round are chosen, and most of them.
N_TRIED = 128
MOST_PIVOTS = 64
LOWER = np.tri(MOST_PIVOTS)

# A pivot is at least this part of the largest entry that is left.
SMALLEST_SHARE = 0.02

# A matrix of which this much of the diagonal is left, on average, after this share of
# the columns it may take, will not be done in time.
HOPELESS_LEFT = 0.5
HOPELESS_SHARE = 0.25


class Pivoted:
    """Decompositions of matrices with ones on the diagonal, and how far they are.

    Parameters
    ----------
    arrays : Arrays
        Where they live.
    n_matrices, n_rows : int
        How many, and how large. Those of low rank come first, as far as that is known:
        what is done can then be left behind without a copy.
    columns : callable
        ``columns(matrices, pivots)`` returns columns of some matrices, as an array of
        shape (n_asked, n_pivots, n_rows) that may be written to. The arguments are
        numbers of matrices, and numbers of rows of shape (n_asked, n_pivots).
    enough : float
        A decomposition is done once no entry of the diagonal is off by more.
    most_bytes : float
        What features may take. Matrices for which there is no room are given up.
    """

    def __init__(
        self,
        arrays: Arrays,
        n_matrices: int,
        n_rows: int,
        columns: Callable[[Any, Any], Any],
        enough: float,
        most_bytes: float = float("inf"),
    ) -> None:
        self._arrays = arrays
        self._columns = columns
        self._enough = enough
        self._most_bytes = most_bytes
        self._members = np.arange(n_matrices)
        self._factors = arrays.empty(n_matrices, 0, n_rows)
        n_parts = min(N_TRIED, n_rows)
        length = -(-n_rows // n_parts)
        # Beyond the last row there is nothing left to tell.
        self._left = arrays.zeros(n_matrices, n_parts, length)
        self._left.reshape(n_matrices, -1)[:, :n_rows] += 1.0
        self._starts = arrays.put(np.arange(n_parts) * length)
        self._ranks = np.zeros(n_matrices, dtype=np.intp)
        # Features of those that are done, of shape (rank, n_rows).
        self.done: dict[int, Any] = {}

    def extend(self, limit: int) -> None:
        """Add columns until all are done, have as many as the limit or give up."""
        if len(self._members) == 0 or limit <= self._ranks.min():
            return
        while len(self._members):
            tried = self._tried_rows()
            if self._settle(tried.heights, limit):
                continue
            if self._ranks.min() >= limit:
                break
            if self._makes_room(int(self._ranks.max()) + MOST_PIVOTS):
                self._add(tried, limit)
            else:
                # Those that took most will take most.
                self._keep(np.flatnonzero(self._ranks < self._ranks.max()))

    def give_up(self) -> None:
        """Leave behind what is not done, with the memory it takes."""
        self._keep(np.empty(0, dtype=np.intp))
        self._factors, self._left = self._factors[:, :0] + 0.0, self._left + 0.0

    def _makes_room(self, needed: int) -> bool:
        """Have room for as many columns; False if that takes too much memory."""
        n_matrices, before, n_rows = self._factors.shape
        if needed <= before:
            return True
        # Twice as much each time: wide matrices are done before the narrow need more.
        after = max(needed, 2 * before)
        n_columns = sum(map(len, self.done.values())) + n_matrices * (before + after)
        if 8.0 * n_columns * n_rows > self._most_bytes:
            return False
        # Zeros beyond the rank of each, so that all can be multiplied alike.
        longer = self._arrays.zeros(n_matrices, after, n_rows)
        longer[:, :before] = self._factors
        self._factors = longer
        return True

    def _tried_rows(self) -> _TriedRows:
        xp, n_rows = self._arrays.xp, self._factors.shape[2]
        heights = xp.amax(self._left, axis=2)
        rows = xp.argmax(self._left, axis=2) + self._starts
        return _TriedRows(xp.clip(rows, 0, n_rows - 1), self._arrays.fetch(heights))

    def _settle(self, heights: FloatArray, limit: int) -> bool:
        """Leave behind what is done, and what will not be; True if there was any."""
        stays = heights.max(axis=1) > self._enough
        for place in np.flatnonzero(~stays).tolist():
            # A copy: a view would keep the memory of all the others.
            features = self._factors[place, : int(self._ranks[place])] + 0.0
            self.done[int(self._members[place])] = features
        if self._ranks.max() >= HOPELESS_SHARE * limit:
            n_rows = self._factors.shape[2]
            left = self._arrays.fetch(self._left.reshape(len(stays), -1).sum(axis=1))
            late = self._ranks >= HOPELESS_SHARE * limit
            stays &= ~(late & (left > HOPELESS_LEFT * n_rows))
        if stays.all():
            return False
        self._keep(np.flatnonzero(stays))
        return True

    def _keep(self, places: IntArray) -> None:
        self._members, self._ranks = self._members[places], self._ranks[places]
        adjacent = len(places) == 0 or places[-1] - places[0] == len(places) - 1
        if adjacent:
            start = int(places[0]) if len(places) else 0
            kept: Any = slice(start, start + len(places))
        else:
            kept = self._arrays.put(places)
        self._factors = self._factors[kept]
        self._left = self._left[kept]

    def _add(self, tried: _TriedRows, limit: int) -> None:
        arrays, rank = self._arrays, int(self._ranks.max())
        n_matrices, _, n_rows = self._factors.shape
        rows = tried.rows
        everyone = arrays.put(np.arange(n_matrices))[:, None]
        columns = self._columns(arrays.put(self._members), rows)
        if rank:
            known = self._factors[:, :rank]
            weights = known[everyone, :, rows]
            arrays.subtract_product(columns, weights, known)
        between = arrays.fetch(columns.swapaxes(1, 2)[everyone, rows])
        most = np.clip(limit - self._ranks, 0, MOST_PIVOTS)
        mixtures, counts = _mixtures(
            between, tried.heights, self._enough, most.tolist()
        )
        features = arrays.put(mixtures) @ columns
        left = self._left.reshape(n_matrices, -1)[:, :n_rows]
        left -= (features * features).sum(axis=1)
        # Rows that hold nothing new but rounding errors are done: without this
        # they would come back in each round.
        stuck = np.flatnonzero((counts == 0) & (most > 0))
        if len(stuck):
            stuck = arrays.put(stuck)
            left[stuck[:, None], rows[stuck]] = 0.0
        # Rows of zeros behind those of a matrix are overwritten in the next round.
        places = arrays.put(self._ranks[:, None] + np.arange(features.shape[1]))
        self._factors[everyone, places] = features
        self._ranks = self._ranks + counts


class _TriedRows(NamedTuple):
    """Rows that may be pivots, on the device, and what is left of their diagonals."""

    rows: Any
    heights: FloatArray


def _mixtures(
    between: FloatArray, heights: FloatArray, enough: float, most: list[int]
) -> tuple[FloatArray, IntArray]:
    """Choose pivots among the tried rows, and how their columns become features.

    Parameters
    ----------
    between : ndarray of shape (n_matrices, n_tried, n_tried)
        What is left of the matrices between these rows.
    heights : ndarray of shape (n_matrices, n_tried)
        Its diagonals; places without a row have 0.
    enough : float
        Smaller entries do not matter.
    most : list of int
        Most pivots of each matrix.

    Returns
    -------
    mixtures : ndarray of shape (n_matrices, n_pivots, n_tried)
        Features are these times the columns of the tried rows; zeros where a
        matrix has fewer pivots than others.
    counts : ndarray of shape (n_matrices,)
        How many pivots each matrix has.
    """
    n_matrices, n_tried, _ = between.shape
    mixtures = np.zeros((n_matrices, MOST_PIVOTS, n_tried))
    counts = np.zeros(n_matrices, dtype=np.intp)
    for place in np.flatnonzero(most).tolist():
        own = heights[place]
        least = max(enough, SMALLEST_SHARE * float(own.max()))
        real = np.flatnonzero(own > least)
        factor, pivots, rank, _ = lapack.dpstrf(
            between[place][real][:, real], tol=least, lower=1
        )
        count = min(int(rank), most[place])
        inverse = lapack.dtrtri(factor[:count, :count], lower=1)[0]
        inverse *= LOWER[:count, :count]
        mixtures[place, :count, real[pivots[:count] - 1]] = inverse.T
        counts[place] = count
    return mixtures[:, : max(1, int(counts.max()))], counts
