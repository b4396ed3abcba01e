"""Where the compiled solver starts, and what it reads off at the end."""

from __future__ import annotations

import numpy as np
from numba import njit

from cvst._typing import FloatArray
from cvst.evaluation._smo_state import N_ACTIVE, Active, Limits, Problem, State
from cvst.evaluation._smo_vectors import compiled, fused

__all__ = ["fill", "half_share", "level"]


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
    for t in range(active.sizes[N_ACTIVE]):
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
