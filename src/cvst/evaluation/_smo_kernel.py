"""Kernel matrices for the compiled solver of support vector machines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.evaluation import _smo_ends
from cvst.evaluation._smo_pairs import TAU
from cvst.evaluation._smo_state import LANES, Active, Rows, State, workspace

__all__ = ["Pair", "PreparedKernel"]

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
    pairs : dict
        Pairs of classes that were asked for.
    rooms : dict
        Room for the solver by number of variables, so only one fit at a time.
    """

    values: Any
    scales: Any
    diagonal: FloatArray
    members: list[IntArray]
    firsts: list[int]
    pairs: dict[tuple[int, int], Pair] = field(default_factory=dict)
    rooms: dict[int, Room] = field(default_factory=dict)

    @classmethod
    def of(cls, matrix: FloatArray, labels: IntArray | None = None) -> PreparedKernel:
        """Prepare a matrix for any number of fits with these labels."""
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
        _smo_ends.prepare(matrix, sources, diagonal, TAU, values, scales)
        return cls(values.ravel(), scales.ravel(), diagonal, members, firsts)

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

    def room(self, n_variables: int) -> Room:
        """Return room to solve in; all fits with as many variables share it."""
        if n_variables not in self.rooms:
            slopes = np.empty(n_variables)
            shared, bounded = np.empty((2, self.n_points))
            order = np.empty(n_variables, np.intp)
            state = State(slopes, slopes, shared, bounded, order)
            self.rooms[n_variables] = (state, *workspace(self.n_points, n_variables))
        return self.rooms[n_variables]
