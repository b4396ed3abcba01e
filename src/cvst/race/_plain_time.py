"""What a plain search would have taken, from what a race has measured."""

from __future__ import annotations

import numpy as np

from cvst._typing import FloatArray
from cvst.race._state import RaceState
from cvst.theory import PowerCurve

__all__ = ["plain_search_seconds"]

# Without two sizes to compare, a fit grows as its rows; steeper or flatter than these
# no learner is over the last tenth of the rows.
USUAL_EXPONENT, EXPONENTS = 1.0, (0.5, 3.0)


def plain_search_seconds(
    state: RaceState,
    winner: int,
    n_folds: int = 10,
    *,
    alone: float | None = None,
    rows: int | None = None,
    typical: bool = False,
) -> float:
    """Estimate the time of a k-fold search that fits one configuration at a time.

    That is what ``GridSearchCV`` does. The time of one fit on all rows is the
    yardstick; the race tells how much more or less the other configurations cost, and
    how long predictions take. Where a race shares work between configurations, their
    times are shares of it: then the estimate is low rather than high.

    Parameters
    ----------
    state : RaceState
        The race.
    winner : int
        A configuration that came far, usually the one that won.
    n_folds : int
        Folds of the plain search.
    alone : float, optional
        Seconds of fitting the winner by itself, such as ``refit_time_``; by default its
        time in the last look.
    rows : int, optional
        Rows of that fit; all by default.
    typical : bool
        Whether ``alone`` is the time of a typical configuration, from fits all over the
        grid, and not the winner's: then all count alike.

    Returns
    -------
    float
        Seconds of all fits and predictions, without a final fit.

    Examples
    --------
    >>> from cvst.race import Look, LookLosses, Problem, Verdict
    >>> look = Look(slice(0, 80), slice(80, 100), 80, np.arange(2))
    >>> seen = LookLosses(np.zeros((2, 20)), np.zeros(2), np.array([1.0, 3.0]),
    ...                   np.array([0.1, 0.1]))
    >>> state = RaceState(Problem(n_configurations=2, n_samples=100))
    >>> state = state.observe(look, seen, Verdict(np.ones(2, bool), np.ones(2)))
    >>> round(plain_search_seconds(state, 0, n_folds=5, alone=1.25), 6)
    21.0
    """
    n_samples = state.problem.n_samples
    own = state.fit_seconds[winner]
    known = np.flatnonzero(own > 0)
    sizes = state.subset_sizes
    if alone is None:
        last = int(known[-1]) if len(known) else 0
        alone, rows = float(own[last]), int(sizes[last])
    elif rows is None:
        rows = n_samples
    n_train = n_samples - n_samples // n_folds
    growth: float = (n_train / rows) ** _exponent(sizes[known], own[known])
    costs = float(state.n_configurations)
    if not typical:
        costs = float(_relative_costs(state, winner).sum())
    return n_folds * alone * growth * costs + _prediction_seconds(state)


def _exponent(sizes: np.ndarray, seconds: FloatArray) -> float:
    if len(np.unique(sizes)) < 2:
        return USUAL_EXPONENT
    return float(np.clip(PowerCurve.fit(sizes, seconds).exponent, *EXPONENTS))


def _relative_costs(state: RaceState, winner: int) -> FloatArray:
    """Return each one's fit over the winner's in the last look that both took part in.

    Those that never met the winner count as the others do on average.
    """
    fits = state.fit_seconds
    ratios = np.full(state.n_configurations, np.nan)
    for look in range(state.n_looks):
        base = fits[winner, look]
        if base > 0:
            there = np.isfinite(fits[:, look])
            ratios[there] = fits[there, look] / base
    ratios[winner] = 1.0
    return np.where(np.isnan(ratios), np.nanmean(ratios), ratios)


def _prediction_seconds(state: RaceState) -> float:
    """Return the time to predict every row once by every configuration."""
    scores = state.score_seconds
    total = np.full(state.n_configurations, np.nan)
    for place, seen in enumerate(state.observations):
        there = np.isfinite(scores[:, place])
        factor = state.problem.n_samples / max(1, seen.look.n_test)
        total[there] = scores[there, place] * factor
    if np.isnan(total).all():
        return 0.0
    return float(np.where(np.isnan(total), np.nanmean(total), total).sum())
