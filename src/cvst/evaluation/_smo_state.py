"""What the compiled solver of support vector machines works on.

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
    "Problem",
    "Rows",
    "State",
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


class Problem(NamedTuple):
    """Kernel and variables; those of positive sign come first.

    The variables of each sign belong to points that follow each other, from a multiple
    of LANES on.

    Attributes
    ----------
    kernel : (n_points * n_points,), float32
        Kernel matrix, as rounded by libsvm; there may be points without a variable.
    scales : (n_points * n_points,), float32
        One over the root of the curvature along each pair of points.
    diagonal : (n_points,)
        Diagonal of the kernel matrix in double precision.
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
        The variables.
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
    kernel, scales : (capacity * size,), float32
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


def workspace(n_points: int, n_variables: int) -> tuple[Active, Rows]:
    """Return room for packed variables and gathered rows.

    Examples
    --------
    >>> active, rows = workspace(n_points=100, n_variables=200)
    >>> active.slopes.shape, rows.slots.shape
    ((216,), (100,))
    """
    size = (n_variables // LANES + 2) * LANES
    capacity = max(4, min(n_points, ROW_BYTES // (8 * size)))
    active = Active(
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
    )
    rows = Rows(
        np.empty(capacity * size, np.float32),
        np.empty(capacity * size, np.float32),
        np.empty(n_points, np.intp),
        np.array([0, capacity]),
    )
    return active, rows
