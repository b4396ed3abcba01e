"""Kernel matrices for the compiled solver of support vector machines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from cvst._typing import FloatArray, IntArray
from cvst.evaluation._smo_pairs import TAU
from cvst.evaluation._smo_state import LANES, Active, Rows, State, workspace

__all__ = ["Pair", "PreparedKernel"]

# Single precision has no smaller curvatures than about 1e-38.
LARGEST_SCALE = 1e15

Room = tuple[State, Active, Rows]


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


@dataclass(frozen=True, slots=True)
class PreparedKernel:
    """A kernel matrix as the solver wants it: class by class, each filled up.

    Attributes
    ----------
    values : ndarray of shape (n_points * n_points,), float32
        The matrix, rounded as in libsvm.
    scales : ndarray of shape (n_points * n_points,), float32
        One over the root of the curvature along each pair of points.
    diagonal : ndarray of shape (n_points,)
        The diagonal, in double precision.
    members : list of ndarray
        Rows of each class; all rows for a regression.
    firsts : list of int
        First point of each class.
    room : tuple
        Room for the solver, so only one fit at a time; its alpha comes with each fit.
    pairs : dict
        Pairs of classes that were asked for.
    """

    values: Any
    scales: Any
    diagonal: FloatArray
    members: list[IntArray]
    firsts: list[int]
    room: Room
    pairs: dict[tuple[int, int], Pair] = field(default_factory=dict)

    @classmethod
    def of(
        cls, matrix: FloatArray, labels: IntArray | None = None
    ) -> PreparedKernel | None:
        """Prepare a matrix for any number of fits with these labels.

        Returns
        -------
        PreparedKernel or None
            None if curvatures are too small for the solver.
        """
        n_train = len(matrix)
        members = [np.arange(n_train)]
        if labels is not None:
            members = [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]
        lengths = [-(-len(rows) // LANES) * LANES for rows in members]
        firsts = [sum(lengths[:k]) for k in range(len(lengths))]
        sources = np.full(sum(lengths), -1)
        for first, rows in zip(firsts, members, strict=True):
            sources[first : first + len(rows)] = rows
        diagonal = np.where(sources >= 0, matrix.diagonal()[sources], 1.0)
        values, scales = np.empty((2, len(sources), len(sources)), np.float32)
        _prepare(matrix, sources, diagonal, TAU, values, scales)
        if scales.max(initial=0) > LARGEST_SCALE:
            return None
        n_variables = 2 * n_train if labels is None else n_train
        room = _room(len(sources), n_variables)
        return cls(values.ravel(), scales.ravel(), diagonal, members, firsts, room)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.diagonal)

    def pair(self, a: int, b: int) -> Pair:
        """Return two classes side by side; in a regression the same one twice."""
        if (a, b) not in self.pairs:
            rows = np.concatenate([self.members[a], self.members[b]])
            ends = np.cumsum([len(self.members[a]), len(self.members[b])])
            points = np.arange(ends[1]) + self.firsts[a]
            points[ends[0] :] += self.firsts[b] - self.firsts[a] - ends[0]
            signs = np.where(np.arange(ends[1]) < ends[0], 1.0, -1.0)
            self.pairs[a, b] = Pair(rows, points, signs, int(ends[0]))
        return self.pairs[a, b]


def _room(n_points: int, n_variables: int) -> Room:
    slopes, order = np.empty(n_variables), np.empty(n_variables, np.intp)
    shared, bounded = np.empty((2, n_points))
    state = State(np.empty(0), slopes, shared, bounded, order)
    return state, *workspace(n_points, n_variables)


@njit(nogil=True, cache=True, error_model="numpy")
def _prepare(
    matrix: FloatArray,
    sources: Any,
    diagonal: FloatArray,
    tau: float,
    values: Any,
    scales: Any,
) -> None:
    """Put a kernel matrix in order, in single precision, with its curvatures.

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
    values, scales : ndarray of shape (n_points, n_points), float32
        The matrix, and one over the root of the curvature along each pair; both are
        overwritten.
    """
    for p in range(sources.size):
        source = sources[p]
        for q in range(sources.size):
            other = sources[q]
            known = source >= 0 and other >= 0
            values[p, q] = matrix[source, other] if known else 0.0
        for q in range(sources.size):
            curvature = diagonal[p] + diagonal[q] - 2.0 * np.float64(values[p, q])
            single = np.float32(curvature if curvature > 0 else tau)
            scales[p, q] = np.float32(1) / np.sqrt(single)
