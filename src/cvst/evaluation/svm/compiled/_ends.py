"""Where the compiled solver starts, and what it reads off at the end."""

from __future__ import annotations

import numpy as np
from numba import njit

from cvst._typing import FloatArray
from cvst.evaluation.svm.compiled._state import N_ACTIVE, Active, Limits, Problem, State
from cvst.evaluation.svm.compiled._vectors import compiled, fused

__all__ = ["half_share", "level", "share_out"]


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
        The number of shares rounded before they are added; the others are not.

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
        # If both agree after each term, so does every mixture of the two.
        is_sure = is_sure and plain == once
        share = plain if index < n_plain else once
    return share / 2, is_sure


@njit(nogil=True, cache=True)
def share_out(
    alpha: FloatArray,
    bounds: FloatArray,
    n_first: int,
    n_counted: int,
    nu: float,
    n_plain: int,
) -> tuple[bool, bool]:
    """Fill variables up to their bounds, one after the other, while some is left.

    Parameters
    ----------
    alpha : ndarray of shape (n,)
        The variables; overwritten.
    bounds : ndarray of shape (n,)
        Upper bounds of the variables.
    n_first : int
        Number of variables with one half of the share; the others get the rest.
    n_counted : int
        The share is one of the bounds of this many variables.
    nu : float
        Share of each bound.
    n_plain : int
        The number of shares rounded before they are added; the others are not.

    Returns
    -------
    is_sure : bool
        Whether every way of rounding leads to this.
    is_left : bool
        Whether there was more to share out than the bounds allow.
    """
    half, is_sure = half_share(bounds[:n_counted], nu, n_plain)
    is_left = False
    # libsvm fills each sign by half of the share, in the order of its rows.
    for first, last in ((0, n_first), (n_first, bounds.size)):
        left = half
        for index in range(first, last):
            alpha[index] = min(left, bounds[index])
            left -= alpha[index]
        is_left = is_left or left > 0
    return is_sure, is_left


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
    # In libsvm's order, since the last bit of a mean depends on it.
    for t in range(active.sizes[N_ACTIVE]):
        v = state.order[t]
        if not members[0] <= v < members[1]:
            continue
        slope = active.slopes[active.places[v]]
        is_full = state.alpha[v] >= problem.bounds[v]
        if not is_full and state.alpha[v] > 0:
            n_free += 1
            added += slope
        # libsvm's two bounds of rho, for both signs at once: slopes have the sign in
        # them.
        elif is_full == (v < limits.n_positive):
            floor = max(floor, slope)
        else:
            ceiling = min(ceiling, slope)
    return added / n_free if n_free > 0 else (ceiling + floor) / 2
