"""Kernel matrices for the compiled solver of support vector machines."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from cvst._typing import FloatArray, IntArray
from cvst.evaluation.svm.compiled._pairs import TAU
from cvst.evaluation.svm.compiled._state import LANES, addresses, workspace

__all__ = ["Pair", "PreparedKernel"]

# Single precision has no smaller curvatures than about 1e-38.
LARGEST_SCALE = 1e15

# A curvature is a difference of doubles. Above this value on the diagonal it is not
# positive, or larger than 1e-29, and no scale need be looked at.
LARGE_DIAGONAL = 1e-12


class Pair(NamedTuple):
    """Variables of two classes.

    Attributes
    ----------
    rows, points : ndarray of shape (n_variables,)
        Training row and point of each variable.
    signs : ndarray of shape (n_variables,)
        1 in the first class, -1 in the second one.
    n_first : int
        Size of the first class.
    """

    rows: IntArray
    points: IntArray
    signs: FloatArray
    n_first: int


class PreparedKernel:
    """Kernel matrices as the solver wants them: class by class, each filled up.

    One at a time, one fit at a time, and never in another process: the solver gets
    addresses.

    Parameters
    ----------
    n_train : int
        Number of training rows.
    labels : ndarray of shape (n_train,) or None
        The place of each row's label among all; None for a regression.

    Attributes
    ----------
    members : list of ndarray
        Rows of each class; all rows for a regression.
    arrays : Room
        The matrix, and room for the solver.
    room : Room
        Their addresses.
    """

    def __init__(self, n_train: int, labels: IntArray | None = None) -> None:
        self.members = [np.arange(n_train)]
        if labels is not None:
            n_classes = labels.max() + 1
            self.members = [np.flatnonzero(labels == k) for k in range(n_classes)]
        # Classes begin at whole vectors, so that no vector has variables of both signs.
        lengths = [-(-len(rows) // LANES) * LANES for rows in self.members]
        self._firsts = [sum(lengths[:k]) for k in range(len(lengths))]
        self._sources = np.full(sum(lengths), -1)
        for first, rows in zip(self._firsts, self.members, strict=True):
            self._sources[first : first + len(rows)] = rows
        n_variables = 2 * n_train if labels is None else n_train
        self.arrays = workspace(self.n_points, n_variables)
        self.room = addresses(self.arrays)
        self._pairs: dict[tuple[int, int], Pair] = {}

    @classmethod
    def of(
        cls, matrix: FloatArray, labels: IntArray | None = None
    ) -> PreparedKernel | None:
        """Prepare a matrix; None if curvatures are too small for the solver."""
        kernel = cls(len(matrix), labels)
        return kernel if kernel.load(matrix) else None

    def load(self, matrix: FloatArray) -> bool:
        """Put a matrix in the place of the one before.

        Parameters
        ----------
        matrix : ndarray of shape (n_train, at least n_train)
            Kernel matrix; what follows is not looked at.

        Returns
        -------
        bool
            Whether the solver can work on it: curvatures may be too small.
        """
        values, scales, diagonal = self.arrays.matrix
        known = self._sources >= 0
        # With zeros in the padding, every diagonal would look small below.
        diagonal[:] = np.where(known, matrix.diagonal()[self._sources], 1.0)
        _prepare(matrix, self._sources, diagonal, TAU, values, scales)
        is_large = diagonal.min() > LARGE_DIAGONAL
        return bool(is_large or scales.max() <= LARGEST_SCALE)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self._sources)

    @property
    def n_classes(self) -> int:
        """Number of classes; one for a regression."""
        return len(self.members)

    def pair(self, a: int, b: int) -> Pair:
        """Return two classes side by side; in a regression the same one twice."""
        # All penalties of a look ask for the same pairs.
        if (a, b) not in self._pairs:
            rows = np.concatenate([self.members[a], self.members[b]])
            ends = np.cumsum([len(self.members[a]), len(self.members[b])])
            points = np.arange(ends[1]) + self._firsts[a]
            points[ends[0] :] += self._firsts[b] - self._firsts[a] - ends[0]
            signs = np.where(np.arange(ends[1]) < ends[0], 1.0, -1.0)
            self._pairs[a, b] = Pair(rows, points, signs, int(ends[0]))
        return self._pairs[a, b]


@njit(nogil=True, cache=True, error_model="numpy")
def _prepare(
    matrix: FloatArray,
    sources: Any,
    diagonal: FloatArray,
    tau: float,
    values: Any,
    scales: Any,
) -> None:
    """Put a kernel matrix in order, rounded to single precision, with curvatures.

    Parameters
    ----------
    matrix : ndarray of shape (n_train, at least n_train)
        Kernel matrix; what follows is not looked at.
    sources : ndarray of shape (n_points,), intp
        Row of each point; -1 where there is none.
    diagonal : ndarray of shape (n_points,)
        Diagonal in the new order.
    tau : float
        Stands for a curvature that is not positive.
    values, scales : ndarray of shape (n_points, n_points)
        The matrix, and one over the root of the curvature along each pair; both are
        overwritten.
    """
    for p in range(sources.size):
        source = sources[p]
        for q in range(sources.size):
            other = sources[q]
            known = source >= 0 and other >= 0
            # libsvm rounds rows of the kernel to single precision, but not its
            # diagonal.
            values[p, q] = np.float32(matrix[source, other]) if known else 0.0
        for q in range(sources.size):
            curvature = diagonal[p] + diagonal[q] - 2.0 * np.float64(values[p, q])
            single = np.float32(curvature if curvature > 0 else tau)
            scales[p, q] = np.float32(1) / np.sqrt(single)
