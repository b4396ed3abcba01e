"""Simulated speed gain of a race over cross-validation (Section 7.2).

Losers and winners draw their tops and flops independently; a sequential test drops
them, Cochran's test on the last steps stops the race. All resamples race at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.exceptions import InvalidInputError
from cvst.statistics import WaldTest
from cvst.theory._cost import cross_validation_cost, linear_train_shares
from cvst.theory._survival import SequentialTest, loser_boundaries
from cvst.theory._validation import (
    check_count,
    check_positive,
    check_probability,
    check_share,
)

__all__ = ["PROBLEMS", "SpeedGain", "simulate_speed_gain"]

# Share of losers by problem: the paper's ratios 3:1, 1:1 and 1:3.
PROBLEMS: Mapping[str, float] = {"easy": 0.75, "medium": 0.5, "hard": 0.25}


@dataclass(frozen=True, slots=True)
class SpeedGain:
    """How much faster than cross-validation simulated races were.

    Attributes
    ----------
    problems : tuple of str
        Names of the problems.
    max_steps : ndarray of shape (n_max_steps,), int
        Numbers of steps tried.
    gains : ndarray of shape (n_problems, n_max_steps, n_resamples)
        Cost of cross-validation over cost of the race.
    winners_dropped : ndarray of shape (n_problems, n_max_steps, n_resamples)
        Share of the winners that the race dropped.
    steps_run : ndarray of shape (n_problems, n_max_steps, n_resamples), int
        Steps until the race was stopped.
    """

    problems: tuple[str, ...]
    max_steps: IntArray
    gains: FloatArray
    winners_dropped: FloatArray
    steps_run: IntArray


def simulate_speed_gain(
    make_test: Callable[[int], SequentialTest] = WaldTest,
    *,
    max_steps: Sequence[int] = tuple(range(10, 101, 10)),
    problems: Mapping[str, float] = PROBLEMS,
    complexity: float = 3.0,
    n_folds: int = 10,
    n_configurations: int = 100,
    n_resamples: int = 200,
    stopping_share: float = 0.3,
    stopping_level: float = 0.05,
    loser_probabilities: tuple[float, float] = (0.0, 0.1),
    winner_probabilities: tuple[float, float] = (0.9, 1.0),
    seed: int | np.random.Generator = 0,
) -> SpeedGain:
    """Simulate races and compare their cost with k-fold cross-validation.

    Parameters
    ----------
    make_test : callable
        Makes the sequential test for a number of steps: ``WaldTest``, ``SpicerTest``.
    max_steps : sequence of int
        Numbers of steps to try.
    problems : mapping of str to float
        Share of losers among the configurations, by name of the problem.
    complexity : float
        Exponent of the training time; predictions are not counted.
    n_folds : int
        Folds of the cross-validation to compare with.
    n_configurations : int
        Configurations in each race.
    n_resamples : int
        Races for each setting.
    stopping_share : float
        Early stopping looks at the last ``stopping_share * max_steps`` steps: 3 of 10
        and 6 of 20, as in the paper.
    stopping_level : float
        Level of the early stopping; 1 switches it off.
    loser_probabilities, winner_probabilities : (float, float)
        Ranges from which each configuration draws its probability of being top.
    seed : int or numpy Generator
        Source of the random numbers.

    Returns
    -------
    SpeedGain

    Examples
    --------
    >>> result = simulate_speed_gain(max_steps=[10, 50], n_resamples=20)
    >>> result.gains.shape
    (3, 2, 20)
    >>> easy = result.gains[0].mean(axis=1)
    >>> bool(easy[0] > 10 * easy[1])
    True
    """
    check_count("n_configurations", n_configurations, smallest=2)
    check_count("n_resamples", n_resamples)
    check_share("stopping_share", stopping_share)
    check_positive("stopping_level", stopping_level)
    for name, share in problems.items():
        if not 0 <= share <= 1:
            raise InvalidInputError(
                f"problems[{name!r}]={share!r} is the share of losers: it must lie "
                "between 0 and 1."
            )
    for probability in (*loser_probabilities, *winner_probabilities):
        check_probability("win probability", probability)
    rng = np.random.default_rng(seed)
    tests = [make_test(steps) for steps in max_steps]
    shape = (len(problems), len(tests), n_resamples)
    costs, dropped = np.empty(shape), np.empty(shape)
    steps_run = np.empty(shape, dtype=np.intp)
    for row, loser_share in enumerate(problems.values()):
        n_losers = round(loser_share * n_configurations)
        for column, test in enumerate(tests):
            # One column has nothing to compare.
            window = max(2, round(stopping_share * test.max_steps))
            n_winners = n_configurations - n_losers
            losers = rng.uniform(*loser_probabilities, (n_resamples, n_losers))
            winners = rng.uniform(*winner_probabilities, (n_resamples, n_winners))
            chances = np.hstack([losers, winners])
            outcome = _race(rng, test, chances, complexity, window, stopping_level)
            costs[row, column] = outcome.costs
            steps_run[row, column] = outcome.steps_run
            lost = (~outcome.active[:, n_losers:]).sum(axis=1)
            # Where all are losers there is no winner to lose.
            dropped[row, column] = lost / max(1, n_winners)
    full = cross_validation_cost(n_configurations, n_folds, complexity=complexity)
    return SpeedGain(
        problems=tuple(problems),
        max_steps=np.asarray(max_steps, dtype=np.intp),
        gains=full / costs,
        winners_dropped=dropped,
        steps_run=steps_run,
    )


@dataclass(frozen=True, slots=True)
class _Outcome:
    """End of the simulated races: (n_resamples,), and a mask of the survivors."""

    costs: FloatArray
    steps_run: IntArray
    active: BoolArray


def _race(
    rng: np.random.Generator,
    test: SequentialTest,
    win_probabilities: FloatArray,
    complexity: float,
    window: int,
    stopping_level: float,
) -> _Outcome:
    """Race all resamples side by side, with the order of events of Algorithm 1."""
    n_resamples, n_configurations = win_probabilities.shape
    running = np.ones(n_resamples, dtype=bool)
    active = np.ones((n_resamples, n_configurations), dtype=bool)
    wins = np.zeros((n_resamples, n_configurations), dtype=np.intp)
    # A ring of the last steps: all steps of all resamples need too much memory.
    last_tops = np.zeros((window, n_resamples, n_configurations), dtype=bool)
    costs = np.zeros(n_resamples)
    steps_run = np.zeros(n_resamples, dtype=np.intp)
    costs_per_fit = linear_train_shares(test.max_steps) ** complexity
    for index, boundary in enumerate(loser_boundaries(test)):
        # Paid before anything is dropped: a step evaluates all that entered it.
        costs += running * active.sum(axis=1) * costs_per_fit[index]
        steps_run += running
        top = rng.random(active.shape) < win_probabilities
        wins += top
        last_tops[index % window] = top
        # A race that has ended drops nothing any more.
        active &= (wins > boundary) | ~running[:, None]
        # As in the R package, the first window must be complete before the test.
        if index >= window:
            running &= _cochran_p_values(last_tops, active) <= stopping_level
        running &= active.any(axis=1)
        if not running.any():
            break
    return _Outcome(costs, steps_run, active)


def _cochran_p_values(tops: BoolArray, active: BoolArray) -> FloatArray:
    """Return Cochran's chi-square p-value of each resample's active configurations.

    Parameters
    ----------
    tops : ndarray of shape (window, n_resamples, n_configurations), bool
    active : ndarray of shape (n_resamples, n_configurations), bool
    """
    tops = tops & active
    n_active = active.sum(axis=1)
    wins = tops.sum(axis=0)
    wins_per_step = tops.sum(axis=2)
    # Squares are taken before dividing, and in whole numbers, so ties give exactly 0.
    spread = n_active * (wins**2).sum(axis=1) - wins.sum(axis=1) ** 2
    disagreement = (wins_per_step * (n_active - wins_per_step)).sum(axis=0)
    alike = disagreement == 0
    q = (n_active - 1) * spread / np.where(alike, 1, disagreement)
    p_values = chi2.sf(q, df=np.maximum(n_active - 1, 1))
    return np.where(alike, 1.0, p_values)
