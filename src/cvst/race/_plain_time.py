"""What a plain search would have taken, from what a race has measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cvst._typing import Configuration, FloatArray, IntArray
from cvst.race._state import RaceState
from cvst.theory import PowerCurve

__all__ = ["plain_search_seconds"]

# Without two sizes to compare, a fit grows as its rows; steeper or flatter than these
# no learner is over the last part of the rows.
USUAL_EXPONENT, EXPONENTS = 1.0, (0.5, 3.0)

# Work is shared where it is dear: kernels and decompositions grow faster than rows.
SHARED_EXPONENT = 2.0

# What ``GridSearchCV`` does around each fit: clone, cut out rows, score. Two
# milliseconds were seen where fits take one.
SECONDS_AROUND = 0.0015

# Where a race ended on fewer rows than this share, the final fit tells more about
# growth than looks do.
FAR = 0.5


def plain_search_seconds(
    state: RaceState,
    winner: int,
    n_folds: int = 10,
    *,
    alone: float | None = None,
    rows: int | None = None,
    shared: bool = False,
) -> float:
    """Estimate the time of a k-fold search that fits one configuration at a time.

    That is what ``GridSearchCV`` does. Each configuration's time in the last look that
    it ran is carried over to the rows of a fold. Configurations that one fit covered,
    such as sizes of a forest, have equal shares of that fit in the books; alone, each
    would take its part of the whole. Where work is shared in other ways, such as a
    kernel for many penalties, the final fit tells what the winner takes alone, and the
    race how much more or less the others cost.

    Parameters
    ----------
    state : RaceState
        The race.
    winner : int
        A configuration that came far, usually the one that won.
    n_folds : int
        Folds of the plain search.
    alone : float, optional
        Seconds of fitting the winner by itself, such as ``refit_time_``.
    rows : int, optional
        Rows of that fit; all by default.
    shared : bool
        Whether times in the race are shares of work in ways that the problem does not
        know.

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
    >>> round(plain_search_seconds(state, 0, n_folds=5), 1)
    21.0
    """
    n_samples = state.problem.n_samples
    n_train = n_samples - n_samples // n_folds
    fits = _alone(state, state.fit_seconds)
    rows = n_samples if rows is None else rows
    curve = _curve(state.subset_sizes, fits)
    each = _scaled(state, fits, curve, n_train)
    if alone is not None and (shared or state.subset_sizes.max() < FAR * rows):
        usual = SHARED_EXPONENT if shared else USUAL_EXPONENT
        growth = _growth(curve, rows, n_train, usual)
        by_winner = alone * growth * _relative(fits, winner)
        # No configuration takes less alone than as a part of a look.
        each = np.fmax(by_winner, each) if shared else by_winner
    each = np.where(np.isnan(each), _mean(each), each)
    n_configurations = state.n_configurations
    around = n_folds * n_configurations * SECONDS_AROUND
    return n_folds * float(each.sum()) + _prediction_seconds(state) + around


def _alone(state: RaceState, seconds: FloatArray) -> FloatArray:
    """Return what each would take alone where one fit covered several.

    Shares are equal, whatever the sizes, so the sum of those present is the whole. The
    largest of them takes it alone, smaller ones their part. Where any of them covers
    all, as with numbers of neighbours, the search is shared and the vote is not: alone,
    each takes more than its share and less than the whole.
    """
    covered = state.problem.covered
    configurations = state.configurations
    if not covered or not configurations:
        return seconds
    labels, sizes = _families(configurations, covered)
    result = seconds.copy()
    for look in range(state.n_looks):
        there = np.flatnonzero(seconds[:, look] > 0)
        families: dict[tuple[int, float], list[int]] = {}
        for number in there.tolist():
            # Other times are not shares: these were fitted one by one.
            key = int(labels[number]), float(seconds[number, look])
            families.setdefault(key, []).append(number)
        for (_, share), members in families.items():
            if not sizes[members].all():
                result[members, look] = share * np.sqrt(len(members))
            else:
                part = sizes[members] / sizes[members].max()
                result[members, look] = len(members) * share * part
    return result


def _families(
    configurations: Sequence[Configuration], covered: Mapping[str, str]
) -> tuple[IntArray, FloatArray]:
    """Return which differ only in what one fit covers, and how large each is.

    Sizes are 0 where any value covers all.
    """
    names: dict[str, int] = {}
    labels, sizes = [], []
    for one in configurations:
        rest = {name: value for name, value in one.items() if name not in covered}
        labels.append(names.setdefault(repr(sorted(rest.items())), len(names)))
        own = [one.get(name) for name in covered if covered[name] == "smaller"]
        counts = [float(size) for size in own if isinstance(size, int | float)]
        sizes.append(max(counts, default=0.0))
    return np.array(labels, dtype=np.intp), np.array(sizes)


def _curve(sizes: IntArray, fits: FloatArray) -> PowerCurve | None:
    """Fit the growth of those that were seen on most sizes; None for one size."""
    known = fits > 0
    seen = np.array([len(set(sizes[mine].tolist())) for mine in known])
    if not len(seen) or seen.max() < 2:
        return None
    members = np.flatnonzero(seen == seen.max())
    # Those with the sizes of the first of them: others would be another field.
    distinct = np.unique(sizes[known[members[0]]])
    alike = [one for one in members if np.isin(distinct, sizes[known[one]]).all()]
    means = [
        np.mean([_mean(fits[one, sizes == size]) for one in alike]) for size in distinct
    ]
    flattest, steepest = EXPONENTS
    return PowerCurve.fit(distinct, means, steepest, flattest)


def _growth(
    curve: PowerCurve | None,
    before: float,
    after: float,
    usual: float = USUAL_EXPONENT,
) -> float:
    if curve is None or not curve(before) > 0:
        return float((after / before) ** usual)
    return curve(after) / curve(before)


def _scaled(
    state: RaceState, fits: FloatArray, curve: PowerCurve | None, n_train: int
) -> FloatArray:
    """Return each one's time in its largest looks, carried over to other rows."""
    sizes = state.subset_sizes
    result = np.full(state.n_configurations, np.nan)
    for number, mine in enumerate(fits):
        known = mine > 0
        if known.any():
            size = int(sizes[known].max())
            there = known & (sizes == size)
            result[number] = mine[there].mean() * _growth(curve, size, n_train)
    return result


def _relative(fits: FloatArray, winner: int) -> FloatArray:
    """Return each one's fit over the winner's in the last look that both took part in.

    Those that never met the winner count as the others do on average.
    """
    ratios = np.full(len(fits), np.nan)
    for look in range(fits.shape[1]):
        base = fits[winner, look]
        if base > 0:
            there = np.isfinite(fits[:, look])
            ratios[there] = fits[there, look] / base
    ratios[winner] = 1.0
    return np.where(np.isnan(ratios), np.nanmean(ratios), ratios)


def _prediction_seconds(state: RaceState) -> float:
    """Return the time to predict every row once by every configuration."""
    scores = _alone(state, state.score_seconds)
    total = np.full(state.n_configurations, np.nan)
    for place, seen in enumerate(state.observations):
        there = np.isfinite(scores[:, place])
        factor = state.problem.n_samples / max(1, seen.look.n_test)
        total[there] = scores[there, place] * factor
    if np.isnan(total).all():
        return 0.0
    return float(np.where(np.isnan(total), np.nanmean(total), total).sum())


def _mean(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else 0.0
