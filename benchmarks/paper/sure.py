"""Statements about several cases, judged by the cases that are sure.

A case is a row of a table or a setting of an artificial set. It is *as said* or *the
other way* if its whole 95 % interval says so. Otherwise it is *open*, and so is one of
fewer than three repetitions: a mean on the right side proves nothing by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, sqrt

import numpy as np
from scipy.stats import binom, binomtest
from scipy.stats import t as student
from summary import FEWEST_REPETITIONS, NOT_RUN, UNDECIDED, Estimate

__all__ = [
    "AS_SAID",
    "NO",
    "OPEN",
    "OTHERWISE",
    "PARTLY",
    "YES",
    "Bounds",
    "above",
    "around",
    "below",
    "bounds",
    "difference_bounds",
    "everywhere",
    "inside",
    "interval",
    "median_bounds",
    "mostly",
    "on_par",
    "opposite",
    "share_bounds",
    "somewhere",
    "sure_words",
]

YES, PARTLY, NO = "yes", "partly", "no"
AS_SAID, OTHERWISE, OPEN = "as said", "the other way", "open"
ERROR = 0.025  # on either side of an interval

Bounds = tuple[float, float]
UNKNOWN: Bounds = (-inf, inf)


# Intervals --------------------------------------------------------------------------


def interval(one: Estimate) -> Bounds:
    """Return the 95 % interval of a mean, by Student; NaN for one repetition."""
    half = float(student.ppf(1 - ERROR, max(one.n - 1, 1))) * one.standard_error
    return one.mean - half, one.mean + half


def bounds(one: Estimate) -> Bounds:
    """Return the interval of a mean; too few repetitions leave all open."""
    return interval(one) if one.n >= FEWEST_REPETITIONS else UNKNOWN


def difference_bounds(one: Estimate, other: Estimate) -> Bounds:
    """Return Welch's 95 % interval of one mean minus another."""
    if min(one.n, other.n) < FEWEST_REPETITIONS:
        return UNKNOWN
    squares = [each.standard_error**2 for each in (one, other)]
    difference = one.mean - other.mean
    if not sum(squares):
        return difference, difference
    parts = [
        square**2 / (each.n - 1)
        for square, each in zip(squares, (one, other), strict=True)
    ]
    n_free = sum(squares) ** 2 / sum(parts)
    half = float(student.ppf(1 - ERROR, n_free)) * sqrt(sum(squares))
    return difference - half, difference + half


def median_bounds(values: Sequence[float]) -> Bounds:
    """Return the 95 % interval of a median: two of the values in order."""
    ordered = np.sort(np.asarray(values, dtype=float))
    rank = int(binom.ppf(ERROR, len(ordered), 0.5))
    if rank < 1:
        return UNKNOWN
    return float(ordered[rank - 1]), float(ordered[-rank])


def share_bounds(n_hits: int, n: int) -> Bounds:
    """Return the 95 % interval of a share, by Clopper and Pearson."""
    found = binomtest(n_hits, n).proportion_ci()
    return float(found.low), float(found.high)


# One case ---------------------------------------------------------------------------


def above(found: Bounds, limit: float) -> str:
    """Tell whether all of an interval lies above a limit."""
    low, high = found
    return AS_SAID if low > limit else OTHERWISE if high < limit else OPEN


def below(found: Bounds, limit: float) -> str:
    """Tell whether all of an interval lies below a limit."""
    return opposite(above(found, limit))


def inside(found: Bounds, low: float, high: float) -> str:
    """Tell whether all of an interval lies in a range, or outside it."""
    if low <= found[0] and found[1] <= high:
        return AS_SAID
    return OTHERWISE if found[1] < low or found[0] > high else OPEN


def around(found: Bounds, centre: float, margin: float) -> str:
    """Tell whether a value is near another: the interval is, or leaves that out."""
    low, high = found
    if centre - margin <= low and high <= centre + margin:
        return AS_SAID
    return OPEN if low <= centre <= high else OTHERWISE


def on_par(found: Bounds, limit: float, margin: float) -> str:
    """Tell whether a value is as high as a limit, or below it for sure."""
    low, high = found
    if high < limit:
        return OTHERWISE
    return AS_SAID if low >= limit - margin else OPEN


def opposite(side: str) -> str:
    """Return the other side; what is open stays open."""
    return {AS_SAID: OTHERWISE, OTHERWISE: AS_SAID}.get(side, OPEN)


# All cases --------------------------------------------------------------------------


def everywhere(cases: Mapping[str, str]) -> str:
    """Judge what is said of each case.

    *Yes* if all are surely as said; *partly* if some are and some are surely not; *no*
    if some are surely not and none is; else undecided.
    """
    sides = list(cases.values())
    if not sides:
        return NOT_RUN
    hits, misses = sides.count(AS_SAID), sides.count(OTHERWISE)
    if hits == len(sides):
        return YES
    if misses:
        return PARTLY if hits else NO
    return UNDECIDED


def mostly(cases: Mapping[str, str]) -> str:
    """Judge what is said of the majority: more than half are surely so, or cannot be.

    Half that are surely not leave no majority.
    """
    sides = list(cases.values())
    if not sides:
        return NOT_RUN
    half = len(sides) / 2
    if sides.count(AS_SAID) > half:
        return YES
    return NO if sides.count(OTHERWISE) >= half else UNDECIDED


def somewhere(cases: Mapping[str, str]) -> str:
    """Judge what is said of one case or more: one that is surely so will do."""
    sides = list(cases.values())
    if not sides:
        return NOT_RUN
    if AS_SAID in sides:
        return YES
    return UNDECIDED if OPEN in sides else NO


def sure_words(
    cases: Mapping[str, str], what: str, sides: tuple[str, str] = ("", "the other way")
) -> str:
    """Count the sure cases of both sides, and name the others and those that are open.

    Parameters
    ----------
    cases : dict of str to str
        The side of each case.
    what : str
        What the cases are, such as rows.
    sides : tuple of str
        How both sides are called after the word surely.
    """
    named = {
        side: [name for name, found in cases.items() if found == side]
        for side in (AS_SAID, OTHERWISE, OPEN)
    }
    first, other = (f"surely {side}".strip() for side in sides)
    return (
        f"{first} in {len(named[AS_SAID])} of {len(cases)} {what}, "
        f"{other} in {counted(named[OTHERWISE], len(cases))}, "
        f"open in {counted(named[OPEN], len(cases))}"
    )


def counted(names: Sequence[str], n: int) -> str:
    """Return how many of n there are, and which."""
    if len(names) in (0, n):
        return str(len(names))
    return f"{len(names)} ({'; '.join(names)})"
