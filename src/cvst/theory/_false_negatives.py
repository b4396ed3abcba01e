"""Switching configurations: flops that turn into winners at a change point.

Sections 5.1 and 7.2: how often does a sequential test drop a configuration before it
shows its worth? Simulated as in the paper, and computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.exceptions import InvalidInputError
from cvst.theory._survival import (
    SequentialTest,
    drop_probabilities,
    loser_boundaries,
)
from cvst.theory._validation import check_count, check_probability

__all__ = ["FalseNegatives", "false_negative_rate", "simulate_false_negatives"]

# The paper's grid.
WIN_PROBABILITIES_BEFORE = (0.1, 0.2, 0.3, 0.4, 0.5)


@dataclass(frozen=True, slots=True)
class FalseNegatives:
    """How often switching configurations were dropped.

    Attributes
    ----------
    max_steps : int
        Steps of the race.
    change_points : ndarray of shape (n_change_points,), int
        Last step with the probability from before the change.
    win_probabilities_before : ndarray of shape (n_before,)
        Probability of being top up to the change point.
    win_probability_after : float
        The same after it.
    rates : ndarray of shape (n_before, n_change_points)
        Share of the configurations that was dropped.
    n_resamples : int
        Simulated configurations behind each rate.
    """

    max_steps: int
    change_points: IntArray
    win_probabilities_before: FloatArray
    win_probability_after: float
    rates: FloatArray
    n_resamples: int


def false_negative_rate(
    test: SequentialTest,
    change_point: int,
    win_probability_before: float,
    win_probability_after: float = 1.0,
) -> float:
    """Return the probability that a switching configuration is dropped.

    Parameters
    ----------
    test : WaldTest or SpicerTest
        The sequential test of the race.
    change_point : int
        The configuration is top with ``win_probability_before`` in the steps 1, ...,
        ``change_point`` and with ``win_probability_after`` from the next one on.
    win_probability_before, win_probability_after : float
        The two probabilities.

    Returns
    -------
    float
        Zero if the change point lies in the safety zone of an open test and the
        configuration wins all steps after it.

    Examples
    --------
    >>> from cvst.statistics import WaldTest
    >>> [round(false_negative_rate(WaldTest(10), c, 0.1), 3) for c in (2, 3, 4)]
    [0.0, 0.729, 0.729]
    """
    _check_change_points(np.array([change_point]), test.max_steps)
    # Steps count from 1, and the change point is the last one of the old kind.
    before = np.arange(1, test.max_steps + 1) <= change_point
    wins = np.where(before, win_probability_before, win_probability_after)
    return float(drop_probabilities(test, wins).sum())


def simulate_false_negatives(
    test: SequentialTest,
    *,
    change_points: Sequence[int] | None = None,
    win_probabilities_before: Sequence[float] = WIN_PROBABILITIES_BEFORE,
    win_probability_after: float = 1.0,
    n_resamples: int = 10_000,
    seed: int | np.random.Generator = 0,
) -> FalseNegatives:
    """Simulate switching configurations and count how many are dropped.

    Parameters
    ----------
    test : WaldTest or SpicerTest
        The sequential test of the race.
    change_points : sequence of int, optional
        Change points to try; by default every step but the last.
    win_probabilities_before : sequence of float
        Probabilities of being top up to the change point.
    win_probability_after : float
        Probability of being top after it.
    n_resamples : int
        Configurations to simulate. All settings see the same random numbers, so
        their differences are not blurred by chance.
    seed : int or numpy Generator
        Source of the random numbers.

    Returns
    -------
    FalseNegatives

    Examples
    --------
    >>> from cvst.statistics import WaldTest
    >>> result = simulate_false_negatives(WaldTest(10), n_resamples=1000)
    >>> result.rates.shape
    (5, 9)
    >>> bool((result.rates[:, :2] == 0).all())
    True
    """
    check_count("n_resamples", n_resamples)
    for probability in (*win_probabilities_before, win_probability_after):
        check_probability("win probability", probability)
    if change_points is None:
        change_points = range(1, test.max_steps)
    changes = np.asarray(change_points, dtype=np.intp)
    _check_change_points(changes, test.max_steps)

    # One set of draws for all settings; see ``n_resamples``.
    draws = np.random.default_rng(seed).random((n_resamples, test.max_steps))
    boundaries = loser_boundaries(test)
    steps = np.arange(1, test.max_steps + 1)
    wins_after = draws < win_probability_after
    rates = np.empty((len(win_probabilities_before), len(changes)))
    for row, before in enumerate(win_probabilities_before):
        wins_before = draws < before
        for column, change in enumerate(changes):
            traces = np.where(steps <= change, wins_before, wins_after)
            # A drop is for good, so crossing once is enough.
            dropped = traces.cumsum(axis=1) <= boundaries
            rates[row, column] = dropped.any(axis=1).mean()
    return FalseNegatives(
        max_steps=test.max_steps,
        change_points=changes,
        win_probabilities_before=np.asarray(win_probabilities_before, dtype=float),
        win_probability_after=win_probability_after,
        rates=rates,
        n_resamples=n_resamples,
    )


def _check_change_points(change_points: IntArray, max_steps: int) -> None:
    outside = change_points[(change_points < 0) | (change_points > max_steps)]
    if len(outside):
        raise InvalidInputError(
            f"change_point={int(outside[0])} must lie between 0 (a winner from the "
            f"start) and max_steps={max_steps} (never a winner)."
        )
