"""Pivoted Cholesky decompositions of several matrices at once, column by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cvst._typing import IntArray
from cvst.evaluation.device._arrays import Arrays

__all__ = ["Pivoted"]

# Columns between two questions to the device: each makes the host wait for it.
COLUMNS_BETWEEN = 32

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
        ``columns(matrices, pivots)`` returns a column of each matrix, as an array of
        shape (n_asked, n_rows); the first argument says which matrices are asked.
    enough : float
        A decomposition is done once no entry of the diagonal is off by more.
    """

    def __init__(
        self,
        arrays: Arrays,
        n_matrices: int,
        n_rows: int,
        columns: Callable[[Any, Any], Any],
        enough: float,
    ) -> None:
        self._arrays = arrays
        self._columns = columns
        self._enough = enough
        self._members = np.arange(n_matrices)
        # On the device: sending them with each column would make the host wait.
        self._numbers = arrays.put(self._members)
        self._factors = arrays.empty(n_matrices, 0, n_rows)
        self._residuals = arrays.zeros(n_matrices, n_rows) + 1.0
        self._everyone = self._numbers
        self._rank = 0
        # Features of those that are done, of shape (rank, n_rows).
        self.done: dict[int, Any] = {}

    def extend(self, limit: int) -> None:
        """Add columns until all are done, have as many as the limit or give up."""
        if limit <= self._rank or len(self._members) == 0:
            return
        self._make_room(limit)
        while self._rank < limit and len(self._members):
            for _ in range(min(COLUMNS_BETWEEN, limit - self._rank)):
                self._add_column()
            self._settle(limit)
        # Columns beyond those that were filled in are not kept.
        self._factors = self._factors[:, : self._rank]

    def _make_room(self, limit: int) -> None:
        n_matrices, rank, n_rows = self._factors.shape
        longer = self._arrays.empty(n_matrices, limit, n_rows)
        longer[:, :rank] = self._factors
        self._factors = longer

    def _add_column(self) -> None:
        xp, rank = self._arrays.xp, self._rank
        everyone = self._everyone
        pivots = xp.argmax(self._residuals, axis=1)
        heights = self._residuals[everyone, pivots]
        column = self._columns(self._numbers, pivots)
        if rank:
            known = self._factors[:, :rank]
            weights = known[everyone, :, pivots][:, None]
            self._arrays.subtract_product(column[:, None], weights, known)
        # What is done already gets columns of zeros until it leaves.
        matters = heights > self._enough
        column *= (xp.where(matters, heights, 1.0) ** -0.5 * matters)[:, None]
        self._residuals -= column * column
        self._residuals[everyone, pivots] = 0.0
        self._factors[:, rank] = column
        self._rank += 1

    def _settle(self, limit: int) -> None:
        """Leave behind what is done, and what will not be."""
        arrays = self._arrays
        largest = arrays.fetch(arrays.xp.amax(self._residuals, axis=1))
        stays = largest > self._enough
        for place in np.flatnonzero(~stays).tolist():
            self.done[int(self._members[place])] = self._factors[place, : self._rank]
        if self._rank >= HOPELESS_SHARE * limit:
            stays &= arrays.fetch(self._residuals.mean(axis=1)) <= HOPELESS_LEFT
        if not stays.all():
            self._keep(np.flatnonzero(stays))

    def _keep(self, places: IntArray) -> None:
        self._members = self._members[places]
        self._numbers = self._arrays.put(self._members)
        self._everyone = self._arrays.put(np.arange(len(places)))
        adjacent = len(places) == 0 or places[-1] - places[0] == len(places) - 1
        if adjacent:
            start = int(places[0]) if len(places) else 0
            kept: Any = slice(start, start + len(places))
        else:
            kept = self._arrays.put(places)
        self._factors = self._factors[kept]
        self._residuals = self._residuals[kept]
