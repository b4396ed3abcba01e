"""Lemma 1: the steps in which nothing can be dropped, and the level for a zone."""

from __future__ import annotations

from math import floor, log, log2

import numpy as np
from scipy.optimize import brentq

from cvst._typing import FloatArray
from cvst.exceptions import InvalidInputError, TooFewStepsError
from cvst.statistics import WaldTest
from cvst.theory._validation import check_count, check_probability

__all__ = ["loser_level_for_safety_zone", "safety_zone"]

# Levels are searched on a logarithmic scale; below this a level means nothing.
SMALLEST_LEVEL = 1e-300
N_LEVELS = 4096

# A trace that ends *at* the boundary is a loser's, so a zone of exactly four steps
# would drop constant losers in step four. Aim beyond it by more than rounding errs.
MARGIN = 1e-10


def safety_zone(
    max_steps: int, loser_level: float = 0.1, winner_level: float = 0.01
) -> float:
    r"""Return the step up to which the open test can drop nothing (Lemma 1).

    Parameters
    ----------
    max_steps : int
        Largest number of steps, the paper's :math:`S`.
    loser_level, winner_level : float
        Levels :math:`\beta_l` and :math:`\alpha_l` of the sequential test.

    Returns
    -------
    float
        :math:`\log\frac{\beta_l}{1-\alpha_l} / \log(2 - \sqrt[S]{(1-\beta_l)
        / \alpha_l})`. More than ``max_steps`` means that the test drops nothing.

    Examples
    --------
    >>> round(safety_zone(10), 2), round(safety_zone(20), 2)
    (2.73, 7.88)
    """
    check_count("max_steps", max_steps)
    return WaldTest(max_steps, loser_level, winner_level).safety_zone


def loser_level_for_safety_zone(
    zone: float,
    max_steps: int,
    winner_level: float = 0.01,
    *,
    max_level: float = 0.5,
) -> float:
    r"""Return the largest loser level with (at least) a wanted safety zone.

    Parameters
    ----------
    zone : float
        Wanted safety zone in steps, at most ``max_steps``.
    max_steps : int
        Largest number of steps.
    winner_level : float
        Level :math:`\alpha_l` of the sequential test.
    max_level : float
        Largest level to consider: a test that takes every other winner for a loser is
        useless. Only zones that are short for their number of steps reach it.

    Returns
    -------
    float
        The level whose zone is ``zone``, or ``max_level`` if that one's is longer. A
        configuration that flops in all steps up to and including ``zone`` survives.

    Raises
    ------
    TooFewStepsError
        If no level up to ``max_level`` gives such a zone.

    Examples
    --------
    >>> level = loser_level_for_safety_zone(4, max_steps=10)
    >>> round(level, 4)
    0.0308
    >>> safety_zone(10, loser_level=level) >= 4
    True
    """
    check_count("max_steps", max_steps)
    check_probability("winner_level", winner_level)
    if not 0 <= zone <= max_steps:
        raise InvalidInputError(
            f"zone={zone!r} must lie between 0 and max_steps={max_steps}: it is a "
            "number of steps of the race."
        )
    if not 0 < max_level < 1 - winner_level:
        raise InvalidInputError(
            f"max_level={max_level!r} must lie strictly between 0 and 1 - winner_level "
            f"= {1 - winner_level:g}."
        )
    wanted = zone * (1 + MARGIN)
    log_levels = np.linspace(log(SMALLEST_LEVEL), log(max_level), N_LEVELS)
    zones = _zones(np.exp(log_levels), max_steps, winner_level)
    # The zone shrinks as the level grows, except where few steps make small levels
    # have no test at all; there it rises first. The last hit is right in both cases.
    hits = np.flatnonzero(zones >= wanted)
    if not len(hits):
        raise _no_level(zone, max_steps, winner_level, max_level, zones)
    last = int(hits[-1])
    if last == N_LEVELS - 1:
        return max_level

    def excess(log_level: float) -> float:
        level = np.exp(np.array([log_level]))
        return float(_zones(level, max_steps, winner_level)[0]) - wanted

    root = brentq(excess, log_levels[last], log_levels[last + 1], xtol=1e-14)
    return float(np.exp(root))


def _zones(levels: FloatArray, max_steps: int, winner_level: float) -> FloatArray:
    """Return Lemma 1 for many levels; minus infinity where no test exists."""
    root = ((1 - levels) / winner_level) ** (1 / max_steps)
    exists = root < 2
    # Any root below 2 will do where there is no test: both sides are computed.
    denominator = np.log(2 - np.where(exists, root, 1.5))
    return np.where(exists, np.log(levels / (1 - winner_level)) / denominator, -np.inf)


def _no_level(
    zone: float,
    max_steps: int,
    winner_level: float,
    max_level: float,
    zones: FloatArray,
) -> TooFewStepsError:
    needed = max(floor(-log2(winner_level)), max_steps) + 1
    longest = float(zones.max())
    found = (
        f"the longest zone is {floor(longest * 100) / 100:g}"
        if np.isfinite(longest)
        else "no sequential test exists"
    )
    return TooFewStepsError(
        f"zone={zone!r} cannot be had with max_steps={max_steps}, "
        f"winner_level={winner_level} and a loser_level of at most {max_level}: "
        f"{found}. Take {needed} steps or more, or raise winner_level."
    )
