"""What an evaluation takes, as a function of the point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cvst._typing import FloatArray

__all__ = ["Cost"]

# Strength of the ridge: a few points must not promise wonders.
PENALTY = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Cost:
    """The logarithm of the seconds, quadratic in each number and free in each choice.

    Costs multiply (rounds times leaves times rows), and where a range is on a log
    scale, a power of the value is a straight line in the coordinate.

    Attributes
    ----------
    n_choices : tuple of int
        For each parameter the number of its choices, or 0 for a number in [0, 1].
    weights : ndarray
        Of the features.
    constant : float
        Mean logarithm of the seconds.
    lowest, highest : float
        Forecasts stay within a factor of e of what was seen.

    Examples
    --------
    >>> points = np.linspace(0, 1, 9)[:, None]
    >>> cost = Cost.fitted((0,), points, np.exp(2 * points[:, 0]))
    >>> bool(np.all(np.diff(cost.log_seconds(points)) > 0))
    True
    """

    n_choices: tuple[int, ...]
    weights: FloatArray
    constant: float
    lowest: float
    highest: float

    @classmethod
    def fitted(
        cls, n_choices: Sequence[int], points: FloatArray, seconds: FloatArray
    ) -> Cost:
        """Learn from evaluations, at least one; those without a time teach nothing."""
        known = np.isfinite(seconds)
        # Without any, all points cost alike.
        if not known.any():
            points, seconds, known = points[:1], np.ones(1), np.ones(1, dtype=bool)
        logs = np.log(np.maximum(seconds[known], 1e-6))
        features = _features(n_choices, points[known])
        gram = features.T @ features + PENALTY * np.eye(features.shape[1])
        weights = np.linalg.solve(gram, features.T @ (logs - logs.mean()))
        ends = float(logs.min()) - 1.0, float(logs.max()) + 1.0
        return cls(tuple(n_choices), weights, float(logs.mean()), *ends)

    def log_seconds(self, points: FloatArray) -> FloatArray:
        """Forecast the logarithm of the seconds of some points."""
        forecast = _features(self.n_choices, points) @ self.weights + self.constant
        return np.asarray(np.clip(forecast, self.lowest, self.highest))


def _features(n_choices: Sequence[int], points: FloatArray) -> FloatArray:
    """Return coordinates and squares of numbers, a column for each choice."""
    widths = [count or 2 for count in n_choices]
    features = np.zeros((len(points), max(1, sum(widths))))
    start = 0
    for place, (count, width) in enumerate(zip(n_choices, widths, strict=True)):
        values = points[:, place]
        if count:
            # NaN equals no code: an inactive choice adds nothing to the cost.
            features[:, start : start + width] = values[:, None] == np.arange(count)
        else:
            # An inactive number counts as the middle, where both features are 0.
            centred = np.nan_to_num(values - 0.5, nan=0.0)
            features[:, start] = centred
            features[:, start + 1] = centred**2
        start += width
    return features
