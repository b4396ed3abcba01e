"""The mean of groups with a random effect each, by restricted maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import t

__all__ = ["Mean", "mean_of_groups"]


@dataclass(frozen=True)
class Mean:
    """An estimate of the mean.

    Attributes
    ----------
    value, error : float
        The mean and its standard error.
    between, within : float
        Standard deviations of the group effects and of the rest.
    n_groups : int
        Number of groups.
    """

    value: float
    error: float
    between: float
    within: float
    n_groups: int

    def interval(self, share: float = 0.9) -> tuple[float, float]:
        """Return a two-sided interval by Student's t with a degree less than groups."""
        width = self.error * t.ppf(0.5 + share / 2, self.n_groups - 1)
        return self.value - width, self.value + width


def _fitted(
    ratio: float, groups: list[np.ndarray]
) -> tuple[float, float, float, float]:
    """Return minus twice the restricted log-likelihood, mean, weight and variance.

    ``ratio`` is the variance between groups over the one within.
    """
    sizes = np.array([len(group) for group in groups])
    means = np.array([group.mean() for group in groups])
    inner = sum(float(np.sum((g - g.mean()) ** 2)) for g in groups)
    weights = sizes / (1 + ratio * sizes)
    weight = float(weights.sum())
    mean = float(weights @ means) / weight
    n_free = int(sizes.sum()) - 1
    squares = inner + float(weights @ (means - mean) ** 2)
    variance = max(squares / n_free, 1e-300)
    deviance = (
        n_free * np.log(variance) + np.sum(np.log1p(ratio * sizes)) + np.log(weight)
    )
    return float(deviance), mean, weight, variance


def mean_of_groups(groups: list[np.ndarray]) -> Mean:
    """Estimate the mean of the model ``value = mean + effect of the group + rest``.

    Parameters
    ----------
    groups : list of ndarray
        Values of each group; sizes may differ.
    """
    # The logarithm of the ratio, since it may be anything from none to huge.
    best = minimize_scalar(
        lambda power: _fitted(np.exp(power), groups)[0],
        bounds=(-15, 15),
        method="bounded",
    )
    ratio = float(np.exp(best.x))
    if _fitted(0.0, groups)[0] <= best.fun:
        ratio = 0.0
    _, mean, weight, variance = _fitted(ratio, groups)
    return Mean(
        value=mean,
        error=float(np.sqrt(variance / weight)),
        between=float(np.sqrt(ratio * variance)),
        within=float(np.sqrt(variance)),
        n_groups=len(groups),
    )
