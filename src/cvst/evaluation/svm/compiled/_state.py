"""What the compiled solver of support vector machines works on.

Each of the tuples comes in three kinds: with arrays, with their addresses, which cost
less to hand over, and within the solver with pointers.

Slopes are gradients times the sign of the variable. So written, both signs share the
rows of one kernel matrix, and a variable may climb while another one falls.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "END",
    "IS_WHOLE",
    "LANES",
    "MIDDLE",
    "N_ACTIVE",
    "N_PACKED",
    "Active",
    "Limits",
    "Matrix",
    "Problem",
    "Room",
    "Rows",
    "State",
    "addresses",
    "workspace",
]

# Values that are worked on at once: four registers of two doubles each.
LANES = 8

# What the sizes of the active variables are: how many there are, how many are packed,
# where the positive places end, where all end, and whether the places follow the
# points, so that no row need be gathered.
N_ACTIVE, N_PACKED, MIDDLE, END, IS_WHOLE = range(5)

# Bytes that gathered rows may take: beyond that they are gathered anew.
ROW_BYTES = 2**27


class Matrix(NamedTuple):
    """Kernel matrix; there may be points without a variable.

    Attributes
    ----------
    kernel : (n_points, n_points)
        Kernel matrix, rounded to single precision as by libsvm. It is kept in double
        precision: it takes more time to turn one into the other than to read both.
    scales : (n_points, n_points), float32
        One over the root of the curvature along each pair of points.
    diagonal : (n_points,)
        Diagonal of the kernel matrix in double precision.
    """

    kernel: Any
    scales: Any
    diagonal: Any


class Problem(NamedTuple):
    """Kernel and variables; those of positive sign come first.

    The variables of each sign belong to points that follow each other, from a multiple
    of LANES on.

    Attributes
    ----------
    kernel, scales, diagonal : pointers
        See :class:`Matrix`.
    points : (n_variables,), intp
        Point of each variable.
    bounds : (n_variables,)
        Upper bounds of the variables; the lower ones are zero.
    starts : (n_variables,)
        Slopes where all variables are zero.
    """

    kernel: Any
    scales: Any
    diagonal: Any
    points: Any
    bounds: Any
    starts: Any


class Limits(NamedTuple):
    """Sizes, and when to stop.

    Attributes
    ----------
    n_points, n_variables, n_positive : int
        Numbers of points, of variables, and of those with positive sign.
    by_sign : bool
        Whether both variables of a step have the same sign, as in machines with nu.
    tol : float
        Largest violation at the end.
    shrinking : bool
        Whether variables that will not move are set aside.
    max_iter : int
        Most iterations; -1 for no limit.
    rounding : int
        How sums of two products are rounded: 0 both products, 1 only the second, 2
        only the first.
    """

    n_points: int
    n_variables: int
    n_positive: int
    by_sign: bool
    tol: float
    shrinking: bool
    max_iter: int
    rounding: int


class State(NamedTuple):
    """What is known of all variables.

    Attributes
    ----------
    alpha : (n_variables,)
        The variables; those of the room stay empty, since each fit has its own.
    slopes : (n_variables,)
        Their slopes, kept up to date only where they are asked for.
    shared : (n_points,)
        What the variables of each point start with.
    bounded : (n_points,)
        Part of the slopes that variables at their upper bound contribute.
    order : (n_variables,), intp
        The active variables, then the others, in the order of libsvm.
    """

    alpha: Any
    slopes: Any
    shared: Any
    bounded: Any
    order: Any


class Active(NamedTuple):
    """The active variables, packed: positive ones, padding, negative ones, padding.

    Attributes
    ----------
    variables, points : (size,), intp
        Variable and point of each place; -1 and 0 in the padding.
    positions : (size,), intp
        Place of the variable in libsvm's order, which settles ties.
    slopes : (size,)
        Slopes.
    up, low : (size,)
        Zero where the slope's variable may climb, or fall; minus infinity elsewhere.
    places : (n_variables,), intp
        Where a variable was put when it was packed last.
    tops, gains : (size / LANES,)
        Largest of ``up - slopes`` and of the gains in each vector.
    peaks : (2,)
        Largest of ``up - slopes`` among the positive places, and among the others.
    sizes : (5,), intp
        See ``N_ACTIVE`` and its neighbours.
    """

    variables: Any
    points: Any
    positions: Any
    slopes: Any
    up: Any
    low: Any
    places: Any
    tops: Any
    gains: Any
    peaks: Any
    sizes: Any


class Rows(NamedTuple):
    """Rows of the kernel and of the scales, gathered at the packed places.

    Attributes
    ----------
    kernel, scales : (capacity * size,), float64 and float32
        The rows.
    slots : (n_points,), intp
        Where the row of a point is; -1 where it is not gathered.
    counts : (2,), intp
        Number of gathered rows, and how many there may be.
    """

    kernel: Any
    scales: Any
    slots: Any
    counts: Any


class Room(NamedTuple):
    """A kernel matrix, and room for the solver to work in."""

    matrix: Matrix
    state: State
    active: Active
    rows: Rows


def workspace(n_points: int, n_variables: int) -> Room:
    """Return room for fits of at most this many variables.

    Examples
    --------
    >>> room = workspace(n_points=100, n_variables=200)
    >>> room.active.slopes.shape, room.rows.slots.shape
    ((216,), (100,))
    """
    # Both signs may end with a vector that is partly filled.
    size = (n_variables // LANES + 2) * LANES
    # A double and a single per value. A move needs two rows at once, however long.
    capacity = max(4, min(n_points, ROW_BYTES // (12 * size)))
    return Room(
        Matrix(
            np.empty((n_points, n_points)),
            np.empty((n_points, n_points), np.float32),
            np.empty(n_points),
        ),
        State(
            np.empty(0),
            np.empty(n_variables),
            np.empty(n_points),
            np.empty(n_points),
            np.empty(n_variables, np.intp),
        ),
        Active(
            np.empty(size, np.intp),
            np.empty(size, np.intp),
            np.empty(size, np.intp),
            np.empty(size),
            np.empty(size),
            np.empty(size),
            np.empty(n_variables, np.intp),
            np.empty(size // LANES),
            np.empty(size // LANES),
            np.empty(2),
            np.empty(5, np.intp),
        ),
        Rows(
            np.empty(capacity * size),
            np.empty(capacity * size, np.float32),
            np.empty(n_points, np.intp),
            np.array([0, capacity], np.intp),
        ),
    )


def addresses(room: Room) -> Room:
    """Return where the arrays of a room are; the caller keeps them alive."""
    matrix, state, active, rows = room
    return Room(
        Matrix(*(array.ctypes.data for array in matrix)),
        State(*(array.ctypes.data for array in state)),
        Active(*(array.ctypes.data for array in active)),
        Rows(*(array.ctypes.data for array in rows)),
    )
