"""Smooth kernels have low rank: a few columns tell the whole matrix.

A Cholesky decomposition that pivots over all rows of a race, and stops once no entry
of the matrix is off by more than a few roundings, turns the kernel into the inner
product of a few features per row. Fitting on any subset of the rows then takes the
time of a linear model.
"""

from __future__ import annotations

import math
import threading

import numpy as np

from cvst._typing import FloatArray
from cvst.evaluation.kernels._functions import Kernel
from cvst.evaluation.kernels._rows import DenseRows, PairedRows

__all__ = ["low_rank_features"]

# No entry of the matrix is off by more. The backward error of the factorisation that
# scikit-learn solves with is bounded by as many roundings as there are rows.
LARGEST_RESIDUAL = 64 * float(np.finfo(float).eps)

# Ratio of widths from which on the order of their ranks is beyond doubt.
CLEARLY_NARROWER = 1.1

# All features of a race together.
LARGEST_CACHE_BYTES = 2**27


class _GaussianFactor:
    """Pivoted Cholesky decomposition of a Gaussian kernel, column by column."""

    def __init__(self, rows: DenseRows, gamma: float) -> None:
        # One product gives the exponents of a column: -gamma (|a|² + |b|² - 2 ab).
        self._left = np.column_stack([rows.X, rows.squared_norms, np.ones(len(rows.X))])
        self._right = np.column_stack(
            [2 * rows.X, -np.ones(len(rows.X)), -rows.squared_norms]
        )
        self._right *= gamma
        self._factor = np.empty((0, len(rows.X)))
        self._residual = np.ones(len(rows.X))
        self._lock = threading.Lock()
        self.rank = 0

    def extend(self, limit: int) -> FloatArray | None:
        """Add columns up to a limit; return all of them if they are enough."""
        with self._lock:
            if len(self._factor) < limit:
                longer = np.empty((limit, len(self._residual)))
                longer[: self.rank] = self._factor[: self.rank]
                self._factor = longer
            pivot = int(self._residual.argmax())
            while self._residual[pivot] > LARGEST_RESIDUAL:
                if self.rank >= limit:
                    return None
                self._add_column(pivot)
                pivot = int(self._residual.argmax())
            return self._factor[: self.rank]

    def _add_column(self, pivot: int) -> None:
        known = self._factor[: self.rank]
        column = self._factor[self.rank]
        np.matmul(self._left, self._right[pivot], out=column)
        np.minimum(column, 0.0, out=column)
        np.exp(column, out=column)
        column -= known[:, pivot] @ known
        column /= math.sqrt(self._residual[pivot])
        self._residual -= column * column
        self._residual[pivot] = 0.0
        self.rank += 1

    @property
    def n_bytes(self) -> int:
        """Memory taken; columns that are not there yet take none."""
        return 8 * self.rank * self._factor.shape[1]


class _Factors:
    """Decompositions of a race, one per width."""

    def __init__(self, rows: DenseRows, limit: int) -> None:
        self._rows = rows
        self._limit = limit
        self._factors: dict[float, _GaussianFactor] = {}
        # Widths whose rank is known to be higher than a number.
        self._ranks_above: dict[float, int] = {}
        self._lock = threading.Lock()

    def features(self, gamma: float, limit: int) -> FloatArray | None:
        """Return features of all rows, as columns, unless there are too many."""
        if self._is_hopeless(gamma, limit):
            return None
        with self._lock:
            factor = self._factors.get(gamma)
        if factor is None:
            factor = _GaussianFactor(self._rows, gamma)
        features = factor.extend(limit)
        with self._lock:
            if features is None:
                self._ranks_above[gamma] = limit
            taken = sum(known.n_bytes for known in self._factors.values())
            if taken + factor.n_bytes <= self._limit:
                self._factors[gamma] = factor
        return features

    def _is_hopeless(self, gamma: float, limit: int) -> bool:
        # A narrower kernel on the same rows has a higher rank. Clearly narrower, since
        # the outcome must not depend on which of two widths comes first.
        with self._lock:
            return any(
                width * CLEARLY_NARROWER <= gamma and rank >= limit
                for width, rank in self._ranks_above.items()
            )


def low_rank_features(
    rows: PairedRows, kernel: Kernel, highest_rank: int
) -> FloatArray | None:
    """Return features of all rows whose inner products are the kernel.

    Parameters
    ----------
    rows : PairedRows
        Rows of a look.
    kernel : Kernel
        Gaussian or linear; others have no features here.
    highest_rank : int
        Number of features beyond which they do not pay.

    Returns
    -------
    ndarray of shape (n_features, n_rows) or None
        Features of all rows of the race in its columns; None if there are too many.
    """
    if kernel.name == "linear":
        features = rows.rows.X.T
        return features if len(features) <= highest_rank else None
    if kernel.name != "rbf" or highest_rank == 0:
        return None
    limit = rows.scratch.room(LARGEST_CACHE_BYTES)
    factors = rows.scratch.get("low-rank kernels", lambda: _Factors(rows.rows, limit))
    return factors.features(kernel.gamma, highest_rank)
