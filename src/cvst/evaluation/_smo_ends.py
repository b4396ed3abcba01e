"""Where the compiled solver starts, and what it reads off at the end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from cvst._typing import FloatArray
from cvst.evaluation._smo_state import Active, Limits, Problem, State
from cvst.evaluation._smo_vectors import compiled, fused

__all__ = ["fill", "half_share", "level", "prepare"]


@njit(nogil=True, cache=True)
def half_share(bounds: FloatArray, nu: float, n_plain: int) -> tuple[float, bool]:
    """Return half of a share of all bounds, added up one after the other.

    Parameters
    ----------
    bounds : ndarray of shape (n,)
        Upper bounds of variables.
    nu : float
        Share of each bound.
    n_plain : int
        So many shares are rounded before they are added; the others are not.

    Returns
    -------
    half : float
        Half of the sum.
    is_sure : bool
        Whether every way of rounding leads to it.
    """
    share, is_sure = 0.0, True
    for index in range(bounds.size):
        plain = share + bounds[index] * nu
        once = fused(bounds[index], nu, share)
        is_sure = is_sure and plain == once
        share = plain if index < n_plain else once
    return share / 2, is_sure


@njit(nogil=True, cache=True)
def fill(alpha: FloatArray, bounds: FloatArray, left: float) -> float:
    """Fill variables up to their bounds, one after the other, while some is left.

    Returns
    -------
    float
        What is left at the end.
    """
    for index in range(bounds.size):
        alpha[index] = min(left, bounds[index])
        left -= alpha[index]
    return left


@njit(nogil=True, cache=True, error_model="numpy")
def prepare(
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


@compiled
def level(
    problem: Problem,
    limits: Limits,
    state: State,
    active: Active,
    members: tuple[int, int],
) -> float:
    """Return the slope where variables neither climb nor fall.

    It is the mean over free variables; without any, the middle between those that
    should climb and those that should fall.
    """
    added, n_free, ceiling, floor = 0.0, 0, np.inf, -np.inf
    for t in range(active.sizes[0]):
        v = state.order[t]
        if not members[0] <= v < members[1]:
            continue
        slope = active.slopes[active.places[v]]
        is_full = state.alpha[v] >= problem.bounds[v]
        if not is_full and state.alpha[v] > 0:
            n_free += 1
            added += slope
        elif is_full == (v < limits.n_positive):
            floor = max(floor, slope)
        else:
            ceiling = min(ceiling, slope)
    return added / n_free if n_free > 0 else (ceiling + floor) / 2
