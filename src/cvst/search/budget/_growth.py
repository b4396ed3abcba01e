"""How steeply the cost of a fit can grow with the rows, by family of learners.

A few short fits leave the exponent of a cost curve open, and an exponent that is off by
one turns seconds into hours. What the algorithms do is known better than that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy.typing as npt

from cvst._typing import Configuration
from cvst.theory import PowerCurve

__all__ = ["Growth", "early_exponent", "growth_of", "steep_exponent"]


# Times repeat to about a tenth: as much of a fit may grow with the rows unseen.
HIDDEN = 0.1


class Growth(NamedTuple):
    """Bounds of an exponent, the value to expect, and the rows where it holds.

    Attributes
    ----------
    flattest, usual, steepest : float
        The exponent: at least, probably, at most.
    n_rows : int
        On fewer rows the cost grows in another way.
    hidden : float
        The share of a fit that is the rows' at least, however flat its times look. That
        small fits take as long as smaller ones tells of calls and of noise alone where
        the work is a square of the rows for certain.
    """

    flattest: float
    usual: float
    steepest: float
    n_rows: int = 100
    hidden: float = 0.0

    @property
    def spread(self) -> float:
        """Standard deviation of the exponent: the bounds are two of them away."""
        return (self.steepest - self.flattest) / 4

    def curve(self, n_rows: npt.ArrayLike, seconds: npt.ArrayLike) -> PowerCurve:
        """Return the curve within these bounds that the seconds follow."""
        return PowerCurve.fit(n_rows, seconds, self.steepest, self.flattest, self.usual)

    def union(self, other: Growth) -> Growth:
        """Return bounds that hold for both, with the larger expectation."""
        return Growth(
            min(self.flattest, other.flattest),
            max(self.usual, other.usual),
            max(self.steepest, other.steepest),
            max(self.n_rows, other.n_rows),
            max(self.hidden, other.hidden),
        )


# Rounds are passes over the rows; linear solvers and nets too, and those that stop by
# convergence need fewer passes over more rows.
NEAR_LINEAR = Growth(0.7, 1.0, 1.3)

# Of many penalties the weakest cost most, and with more rows those need more passes,
# too, until they have had as many as they may.
PASSES = Growth(0.7, 1.2, 1.6)

# Trees sort their rows on each level. That is n log(n) for a bounded depth, with one
# more log(n) without a bound: powers of 1.1 and 1.2 around 10,000 rows. On few rows the
# call of each tree is what counts.
SORTED = Growth(0.7, 1.15, 1.4, 200)

# Trees on binned columns: first the number of leaves grows with the rows, up to its
# bound. From there on work that depends on bins and leaves is done for each tree, and
# rows only show beside it when there are many.
BINNED = Growth(0.2, 0.6, 1.1, 1000)

# Distances of all pairs at least, a factorisation of them at most.
KERNEL = Growth(1.0, 2.0, 3.0, hidden=HIDDEN)

# The factorisation is there for sure: it is what counts on many rows.
FACTORED = Growth(1.0, 2.5, 3.0, hidden=HIDDEN)

UNKNOWN = Growth(0.5, 1.2, 3.0)

# By the first names of the module, or of the module and the class; the longest counts.
FAMILIES = {
    "catboost": BINNED,
    "lightgbm": BINNED,
    "xgboost": BINNED,
    "sklearn.discriminant_analysis": NEAR_LINEAR,
    "sklearn.dummy": NEAR_LINEAR,
    "sklearn.ensemble": SORTED,
    "sklearn.ensemble.gradient_boosting.HistGradientBoostingClassifier": BINNED,
    "sklearn.ensemble.gradient_boosting.HistGradientBoostingRegressor": BINNED,
    "sklearn.linear_model": NEAR_LINEAR,
    "sklearn.naive_bayes": NEAR_LINEAR,
    "sklearn.neighbors": NEAR_LINEAR,
    "sklearn.neural_network": NEAR_LINEAR,
    "sklearn.tree": SORTED,
    "sklearn.svm.LinearSVC": NEAR_LINEAR,
    "sklearn.svm.LinearSVR": PASSES,
    "sklearn.svm": KERNEL,
    "sklearn.kernel_ridge": FACTORED,
    "sklearn.gaussian_process": FACTORED,
    "sklearn.decomposition.KernelPCA": KERNEL,
    "sklearn.preprocessing": NEAR_LINEAR,
    "sklearn.impute": NEAR_LINEAR,
    "sklearn.compose": NEAR_LINEAR,
    "sklearn.decomposition": NEAR_LINEAR,
    "sklearn.feature_selection": NEAR_LINEAR,
    "sklearn.feature_extraction": NEAR_LINEAR,
    "sklearn.kernel_approximation": NEAR_LINEAR,
    "sklearn.random_projection": NEAR_LINEAR,
    "sklearn.pipeline": NEAR_LINEAR,
    "sklearn.calibration": NEAR_LINEAR,
    "sklearn.multiclass": NEAR_LINEAR,
    "sklearn.multioutput": NEAR_LINEAR,
    "cvst.learners": KERNEL,
}


def growth_of(estimator: Any, configurations: list[Configuration]) -> Growth:
    """Return the growth of an estimator, its parts and what a grid puts in their place.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.svm import SVC
    >>> growth_of(HistGradientBoostingClassifier(), []).steepest
    1.1
    >>> growth_of(SVC(), []).steepest
    3.0
    """
    parts = [estimator, *_parts(estimator)]
    parts += [one for config in configurations for one in config.values()]
    found = [_family(part) for part in parts if _fits(part)]
    growth = found[0]
    for other in found[1:]:
        growth = growth.union(other)
    return growth


def early_exponent(estimator: Any) -> float:
    """Return the power of the rows that fits probably take while few are known.

    Proportional to them, but for learners that are known to grow less.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.svm import SVC
    >>> early_exponent(HistGradientBoostingClassifier()), early_exponent(SVC())
    (0.6, 1.0)
    """
    return min(1.0, growth_of(estimator, []).usual)


def steep_exponent(estimator: Any) -> float:
    """Return the largest power of the rows that is believed beyond what was timed.

    Short fits are noisy: it is what is usual for such learners, but at least 1.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.svm import SVC
    >>> steep_exponent(HistGradientBoostingClassifier()), steep_exponent(SVC())
    (1.0, 2.0)
    """
    return max(1.0, growth_of(estimator, []).usual)


def _parts(estimator: Any) -> Iterator[Any]:
    yield from estimator.get_params(deep=True).values()


def _fits(value: Any) -> bool:
    return hasattr(value, "fit") and not isinstance(value, type)


def _family(estimator: Any) -> Growth:
    kind = type(estimator)
    path = f"{kind.__module__}.{kind.__qualname__}".split(".")
    public = [name for name in path if not name.startswith("_")]
    names = [".".join(public[:n]) for n in range(len(public), 0, -1)]
    return next((FAMILIES[name] for name in names if name in FAMILIES), UNKNOWN)
