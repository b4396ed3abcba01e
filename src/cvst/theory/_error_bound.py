"""Lemma 2 and Theorem 1: how likely the open test drops a late but stable winner.

The worst case: a configuration flops as long as it can without being dropped and
from then on wins each step with a fixed probability. Paths are counted in whole
numbers and the bound is a ratio of whole numbers, so nothing is lost by rounding even
for a thousand steps, where there are some 10^200 paths.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from math import floor
from typing import overload

import numpy as np
import numpy.typing as npt

from cvst.statistics import WaldTest, minimal_steps
from cvst.theory._survival import first_drop
from cvst.theory._validation import check_count, check_probability

__all__ = ["drop_error_bound", "steady_steps", "surviving_paths"]

# More steps buy little safety and take longer: the bound on losing a late winner is
# within a few percent of its limit.
MOST_STEPS = 20

# Some numbers of steps (9, 11, 13 at the default levels) have a safety zone that ends
# just above a whole step, and a bound of about 0.2 where their neighbours have 0.12.
STABLE_WINNER, LARGEST_BOUND = 0.9, 0.16


def surviving_paths(
    max_steps: int, loser_level: float = 0.1, winner_level: float = 0.01
) -> npt.NDArray[np.object_]:
    r"""Count the paths of the worst case that stay above the loser boundary (Lemma 2).

    Parameters
    ----------
    max_steps : int
        Largest number of steps, the paper's :math:`S`.
    loser_level, winner_level : float
        Levels :math:`\beta_l` and :math:`\alpha_l` of the sequential test.

    Returns
    -------
    ndarray of shape (max_steps + 1, max_steps + 1), int objects
        ``paths[wins, step]`` is the paper's :math:`\text{Path}(s_R, s_C)`.

    Examples
    --------
    >>> surviving_paths(10)[:, 7].tolist()
    [0, 0, 0, 3, 4, 1, 0, 0, 0, 0, 0]
    """
    # Python's integers: the counts outgrow 64 bits.
    paths = np.zeros((max_steps + 1, max_steps + 1), dtype=object)
    columns = _path_columns(_test(max_steps, loser_level, winner_level))
    for step, (lowest, counts) in enumerate(columns):
        paths[lowest : lowest + len(counts), step] = counts
    return paths


@overload
def drop_error_bound(
    win_probability: float,
    max_steps: int,
    loser_level: float = ...,
    winner_level: float = ...,
) -> float: ...
@overload
def drop_error_bound(
    win_probability: Fraction,
    max_steps: int,
    loser_level: float = ...,
    winner_level: float = ...,
) -> Fraction: ...
def drop_error_bound(
    win_probability: float | Fraction,
    max_steps: int,
    loser_level: float = 0.1,
    winner_level: float = 0.01,
) -> float | Fraction:
    r"""Bound the probability that the open test drops a stable winner (Theorem 1).

    Parameters
    ----------
    win_probability : float or Fraction
        Probability :math:`\pi` of the winner to be top in a step, once it has left
        the safety zone; in the zone it may flop every time.
    max_steps : int
        Largest number of steps, the paper's :math:`S`.
    loser_level, winner_level : float
        Levels :math:`\beta_l` and :math:`\alpha_l` of the sequential test.

    Returns
    -------
    float or Fraction
        The bound, computed in rational numbers and rounded once; not rounded at all
        if the probability is a fraction.

    Examples
    --------
    >>> [round(drop_error_bound(p, max_steps=10), 3) for p in (0.9, 0.95, 0.99)]
    [0.132, 0.058, 0.01]
    >>> drop_error_bound(Fraction(9, 10), max_steps=10)
    Fraction(1319797, 10000000)
    """
    check_probability("win_probability", win_probability)
    test = _test(max_steps, loser_level, winner_level)
    # Only the last column counts, and earlier ones need not stay in memory.
    lowest, counts = deque(_path_columns(test), maxlen=1).pop()
    n_free_steps = max_steps - _flops(test)
    probability = Fraction(win_probability)
    wins, parts = probability.numerator, probability.denominator
    # sum of counts[i] wins^i losses^(n - i), by Horner's rule from the most wins down.
    losses = parts - wins
    surviving, weight = 0, 1
    for count in reversed(counts):
        surviving = surviving * wins + count * weight
        weight *= losses
    surviving *= wins**lowest
    bound = 1 - Fraction(surviving, parts**n_free_steps)
    return bound if isinstance(win_probability, Fraction) else float(bound)


def steady_steps(
    loser_level: float = 0.1, winner_level: float = 0.01, most_steps: int = MOST_STEPS
) -> list[int]:
    r"""Return the numbers of steps at which the error bound does not jump.

    They are what a time budget chooses from: a winner that is top nine times in ten is
    lost with probability 0.16 at most, where it would be about 0.2 at a jump.

    Parameters
    ----------
    loser_level, winner_level : float
        Levels :math:`\beta_l` and :math:`\alpha_l` of the sequential test.
    most_steps : int
        The largest number to consider. Beyond 20 steps the bound hardly falls any more.

    Returns
    -------
    list of int
        In ascending order, from :func:`minimal_steps` on; empty if there is none.

    Examples
    --------
    >>> steady_steps()
    [7, 8, 10, 12, 14, 15, 16, 17, 18, 19, 20]
    """
    check_count("most_steps", most_steps)
    levels = loser_level, winner_level
    return [
        steps
        for steps in range(minimal_steps(*levels), most_steps + 1)
        if drop_error_bound(STABLE_WINNER, steps, *levels) <= LARGEST_BOUND
    ]


def _test(max_steps: int, loser_level: float, winner_level: float) -> WaldTest:
    check_count("max_steps", max_steps)
    return WaldTest(max_steps, loser_level, winner_level)


def _flops(test: WaldTest) -> int:
    """Return how many flops in a row, from the start on, a configuration survives."""
    # Theorem 1 has floor(zone), which is the same but for a zone that is a whole
    # number: there Algorithm 3 drops a constant loser in the very step of the zone.
    return first_drop(test) - 1


def _path_columns(test: WaldTest) -> Iterator[tuple[int, list[int]]]:
    """Yield (fewest wins, paths by wins from there on) for steps 0, 1, ..., S."""
    lowest, counts = 0, [1]
    flops = _flops(test)
    for step in range(test.max_steps + 1):
        if step > flops:
            counts = [a + b for a, b in zip([*counts, 0], [0, *counts], strict=True)]
            # Survivors have more wins than the boundary says, so floor(L0) + 1 or more.
            fewest = max(0, floor(float(test.loser_boundary(step))) + 1)
            counts = counts[fewest - lowest :] if fewest > lowest else counts
            lowest = max(lowest, fewest)
        yield lowest, counts
