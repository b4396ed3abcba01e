"""How many configurations each look of a race will probably see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from cvst._typing import FloatArray
from cvst.race import PlannedLook, Problem, Strategy
from cvst.search.budget._model import CostModel

__all__ = ["Expected", "expected_looks"]

# Where all go to the folds at once, and nothing is known of their gaps to the leader:
# the usual one, in standard deviations of the pointwise difference. It gives what was
# counted on 1,000 rows, and fewer on more of them, since tests then see smaller gaps.
USUAL_GAP = 0.18

# Gaps that stand for all of them.
N_GAPS = 200

FEWEST = 2.0

# How much a gap to the leader changes with the training rows, in standard deviations of
# the pointwise difference: looks on few rows only hint at what will be seen on many.
CHANGE = 0.1

# Some are as good as each other however many rows there are, above all those that err
# on the same rows: with losses that differ by that share of their scatter it is even
# odds. If they are not, gaps are about that large.
EVEN, APART = 0.25, 0.1

# Where each row has a loss of its own, one that differs from the leader by an error of
# its own is behind: in squared errors by that share of how unlike their losses are. On
# more rows that error is another one.
ADDED = 8**-0.5

# Survivors are taken to be no faster and no slower than that.
PACES = 0.5, 2.0


class Expected(NamedTuple):
    """What the looks of a race will probably be.

    Attributes
    ----------
    counts : ndarray of shape (n_looks,)
        How many configurations take part.
    paces : ndarray of shape (n_looks,)
        How much longer one of these takes than one of all.
    """

    counts: FloatArray
    paces: FloatArray


def expected_looks(strategy: Strategy, problem: Problem, model: CostModel) -> Expected:
    """Return how many configurations each planned look will probably see, and which.

    What a strategy says itself counts. Of one that only knows the most that can take
    part it is what its planned looks say of their prospects, if all do. Where the timed
    configurations were seen to be close to their leader or far behind, that counts.

    Parameters
    ----------
    strategy : Strategy
        The strategy.
    problem : Problem
        What is known before.
    model : CostModel
        What was measured.

    Examples
    --------
    >>> from cvst.race import CrossValidation
    >>> from cvst.theory import PowerCurve
    >>> folds = tuple((np.arange(2), np.arange(2)) for _ in range(3))
    >>> line = PowerCurve(0.0, 1.0, 1.0)
    >>> problem = Problem(9, 4, folds={3: folds})
    >>> expected_looks(CrossValidation(3), problem, CostModel(line, line, line)).counts
    array([9., 9., 9.])
    """
    counts = strategy.expected_configurations(problem)
    looks = strategy.planned_looks(problem)
    most = np.array([look.max_configurations for look in looks], dtype=float)
    prospects = [look.prospect for look in looks if look.prospect is not None]
    if not np.array_equal(counts, most) or len(prospects) < len(looks):
        return Expected(counts, np.ones(len(looks)))
    at_once = prospects[0].by_tests
    counts = most * np.array([one.share for one in prospects])
    # Most races have no rare look at all, the other looks have at least two.
    rare = np.array([one.rare for one in prospects])
    counts = np.where(rare, counts, np.maximum(np.minimum(most, FEWEST), counts))
    by_tests = np.array([one.by_tests for one in prospects])
    if by_tests.any():
        # Folds in a row. What is counted holds on few rows; on more, tests see more.
        folds = [look for look, one in zip(looks, by_tests, strict=True) if one]
        usual = _usually_staying(folds, problem, strategy.level)
        entering = most[by_tests] if at_once else counts[by_tests][0]
        tested = 1 + (entering - 1) * usual
        counts[by_tests] = tested if at_once else np.minimum(counts[by_tests], tested)
    if len(model.gaps) < 2 or not model.gap_rows:
        return Expected(counts, np.ones(len(looks)))
    staying = _staying(looks, problem, model, strategy.level)
    parts = np.asarray(model.parts or np.ones(len(model.gaps)))
    # The leader of those that were timed stands for itself alone.
    others = np.arange(len(parts)) != int(np.argmin(model.gaps))
    share = np.average(staying[:, others], axis=1, weights=parts[others])
    left = 1 + (problem.n_configurations - 1) * share
    if at_once:
        # Where all go to the folds at once nothing but tests drops any.
        counts = np.minimum(most, left)
    else:
        # What is confirmed is chosen by other means, what goes on there by tests.
        after = np.arange(len(looks)) > np.argmax(by_tests)
        counts[after] = np.minimum(counts, np.maximum(left, FEWEST))[after]
    ends = np.array([one.several for one in prospects]) & (left < FEWEST)
    counts[ends] = 0.0
    return Expected(counts, _paces(parts * staying, np.asarray(model.paces)))


def _usually_staying(
    looks: Sequence[PlannedLook], problem: Problem, level: float
) -> FloatArray:
    """Return the probability to be in each look of one of which nothing is known.

    Gaps are taken to be normal, with a spread of ``USUAL_GAP``, and never negative.
    """
    chances = (np.arange(N_GAPS) + 0.5) / N_GAPS
    gaps = USUAL_GAP * ndtri((1 + chances) / 2)
    noise = np.sqrt(_tested_before(looks))
    staying = ndtr(_limit(problem, level) - gaps * noise).mean(axis=1)
    staying[0] = 1.0
    return np.asarray(staying)


def _limit(problem: Problem, level: float) -> float:
    """Return how many standard errors behind the leader a configuration is dropped."""
    return float(ndtri(1 - level / max(1, problem.n_configurations - 1)))


def _tested_before(looks: Sequence[PlannedLook]) -> FloatArray:
    """Return, as a column, how many rows were tested on before each look."""
    sizes = [0.0, *(look.n_test for look in looks[:-1])]
    return np.asarray(np.cumsum(sizes)[:, np.newaxis])


def _staying(
    looks: Sequence[PlannedLook], problem: Problem, model: CostModel, level: float
) -> FloatArray:
    """Return the probability of each timed configuration to be in each look.

    A paired test drops it once its gap to the leader is significant. The gap is known
    from some rows, and changes with the rows trained on; or there is none at all, where
    losses only tell who is right. One that overtakes the leader by as much stays, but
    then the leader does not.
    """
    luck = 1 / np.sqrt(model.gap_rows)
    # One that failed is infinitely far behind.
    gaps, unlike = np.minimum(model.gaps, 1e6), np.clip(model.unlike, 1e-6, 1e3)
    if model.smooth:
        usual = ADDED * unlike
        trust = usual**2 / (usual**2 + luck**2)
        gaps, doubt = trust * gaps, np.sqrt(trust * luck**2 + usual**2)
        alike = np.zeros(len(gaps))
    else:
        # The leader of few rows owes some of its lead to luck.
        gaps = np.maximum(gaps - luck, 0.0)
        doubt = np.full(len(gaps), np.hypot(luck, CHANGE))
        alike = _alike(gaps, unlike, luck)
    limit, n_before = _limit(problem, level), _tested_before(looks)
    unknown = np.sqrt(1 + n_before * doubt**2)
    behind = gaps * np.sqrt(n_before)
    staying = ndtr((limit - behind) / unknown) - ndtr((-limit - behind) / unknown)
    staying = alike * (2 * ndtr(limit) - 1) + (1 - alike) * staying
    staying[0] = 1.0
    return np.asarray(np.minimum.accumulate(staying, axis=0))


def _alike(gaps: FloatArray, unlike: FloatArray, error: float) -> FloatArray:
    """Return the probability that there is no gap, by Bayes' rule.

    Such a gap is seen with a spread of ``error`` then, or else of both spreads.

    Examples
    --------
    >>> _alike(np.array([0.0, 0.1, 1.0]), np.full(3, 0.25), error=0.03).round(2)
    array([0.78, 0.02, 0.  ])
    """
    before = (EVEN / unlike) ** 2
    both = np.hypot(error, APART)
    odds = before * both / error * np.exp(-(gaps**2) / 2 * (error**-2 - both**-2))
    return np.asarray(odds / (1 + odds))


def _paces(staying: FloatArray, paces: FloatArray) -> FloatArray:
    """Return how much longer those that stay take than all of them."""
    weights = np.maximum(staying, 1e-9)
    return np.asarray(np.clip(weights @ paces / weights.sum(axis=1), *PACES))
