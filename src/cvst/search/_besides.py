"""What a search does besides looks and the final fit, and how long that takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cvst._typing import FloatArray
from cvst.race import PlannedLook, Problem
from cvst.search.budget import CostModel, undisturbed_seconds
from cvst.statistics import corrected_best, paired_excess_test

__all__ = ["seconds_besides"]

# Tests that are timed together, to tell the cost of one from that of a call.
AT_ONCE = 8

# What takes a moment is timed again as long as that takes no longer.
MOMENTS = 0.02

# Tests, records and tables take this many times as long as the bootstrap,
# which is timed.
BOOKS = 5.0


def seconds_besides(
    model: CostModel,
    problem: Problem,
    looks: Sequence[PlannedLook],
    counts: FloatArray,
    clock: Callable[[], float],
    looks_again: bool,
    pace: float,
) -> float:
    """Return the seconds of tests, books and the estimate of the winner's score.

    The bootstrap of the estimate and a test are timed; they take as long on any values.
    Others that use the machine slow all of it down, but not such short moments.

    Parameters
    ----------
    model : CostModel
        What looks cost.
    problem : Problem
        What is raced.
    looks : sequence of PlannedLook
        What is expected to be done.
    counts : ndarray of float
        How many configurations are expected in each look.
    clock : callable
        Returns seconds.
    looks_again : bool
        Whether the winner may be looked at again for ``best_score_estimate_``.
    pace : float
        How much longer it takes than the mean of all.
    """
    last = looks[-1]
    n_left = max(2, round(counts[-1]))
    rng = np.random.default_rng(0)
    table = rng.normal(size=(min(n_left, 200), min(problem.n_samples, 2000)))
    several = rng.normal(size=(AT_ONCE, last.n_test))
    books = BOOKS * _seconds_of(lambda: corrected_best(table), clock)
    # A look is tested with those before it, and all configurations at once.
    call = _seconds_of(lambda: paired_excess_test(several[:1]), clock)
    calls = _seconds_of(lambda: paired_excess_test(several), clock)
    each = max(0.0, calls - call) / (AT_ONCE - 1)
    n_tests = float(counts @ np.cumsum([look.n_test for look in looks])) / last.n_test
    seconds = books + len(looks) * max(0.0, call - each) + n_tests * each
    seconds /= model.share
    saved = sum(looks[0].max_configurations - counts)
    if not looks_again or saved < 1 or looks[0].n_train < last.n_train:
        return float(seconds)
    # The winner is fitted on half the rows of two folds.
    return float(seconds + 2 * model.look(last.n_train // 2, last.n_test, 1, pace))


def _seconds_of(work: Callable[[], Any], clock: Callable[[], float]) -> float:
    work()  # the first time takes longer
    return undisturbed_seconds(work, clock, MOMENTS)
