"""A mixture of kernels around points: the density of a Parzen estimator.

Each point carries a product of kernels, one for each parameter: a normal truncated to
[0, 1] for a number, and for a choice the kernel of Aitchison and Aitken, which gives
the own code most of the probability and shares the rest among the others. One more
component, even over the whole space, keeps every place possible. A parameter that is
inactive at a point is even there too, and where a density is asked for with NaN, that
parameter is integrated out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

from cvst._typing import FloatArray, IntArray
from cvst.proposals._space import uniform_points

__all__ = ["ParzenDensity"]


@dataclass(frozen=True, slots=True, eq=False)
class ParzenDensity:
    """Density of a mixture of product kernels.

    Attributes
    ----------
    centres : ndarray of shape (n, d)
        Points; NaN where a parameter is inactive.
    bandwidths : ndarray of shape (n, d)
        Standard deviations of the kernels of numbers; probability that the code
        is drawn anew for choices.
    log_weights : ndarray of shape (n + 1,)
        Logarithms of weights that sum to 1; the last is that of the even component.
    choices : ndarray of shape (d,), int
        0 for a number, k for k choices.
    """

    centres: FloatArray
    bandwidths: FloatArray
    log_weights: FloatArray
    choices: IntArray

    @classmethod
    def around(
        cls,
        points: FloatArray,
        choices: IntArray,
        weights: FloatArray | None = None,
        even_weight: float = 1.0,
    ) -> ParzenDensity:
        """Choose bandwidths by the number and the spread of the points.

        Parameters
        ----------
        points : ndarray of shape (n, d)
            Centres of the kernels.
        choices : ndarray of shape (d,), int
            0 for a number, k for k choices.
        weights : ndarray of shape (n,), optional
            Weights of the points, mean 1.
        even_weight : float, default=1.0
            The even component weighs as much as this many points.
        """
        n = len(points)
        raw = np.append(np.ones(n) if weights is None else weights, even_weight)
        return cls(
            centres=points,
            bandwidths=_bandwidths(points, choices),
            log_weights=np.log(raw / raw.sum()),
            choices=choices,
        )

    def log_density(self, points: FloatArray) -> FloatArray:
        """Return the logarithm of the density at points of shape (m, d)."""
        n = len(self.centres)
        logs = np.zeros((len(points), n + 1))
        for j, k in enumerate(self.choices):
            kernels = self._log_kernels(j, int(k), points[:, j])
            missing = np.isnan(points[:, j])
            kernels[missing] = 0.0
            logs[:, :n] += kernels
            logs[:, n] -= np.where(missing, 0.0, np.log(max(k, 1)))
        total = logs + self.log_weights
        return cast(FloatArray, logsumexp(total, axis=1))

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw points of shape (count, d)."""
        points = uniform_points(self.choices, count, rng)
        kernels = rng.choice(
            len(self.log_weights), size=count, p=np.exp(self.log_weights)
        )
        near = np.flatnonzero(kernels < len(self.centres))
        if not len(near):
            return points
        centres, widths = self.centres[kernels[near]], self.bandwidths[kernels[near]]
        uniform = rng.random(centres.shape)
        numbers = _truncated_normal(uniform, centres, widths)
        # The same numbers serve both: a column holds codes or numbers.
        codes = np.where(uniform >= widths, centres, points[near])
        drawn = np.where(self.choices > 0, codes, numbers)
        points[near] = np.where(np.isnan(centres), points[near], drawn)
        return points

    def _log_kernels(self, j: int, k: int, values: FloatArray) -> FloatArray:
        """Return the logarithms of one parameter's kernels, of shape (m, n)."""
        centres, widths = self.centres[:, j], self.bandwidths[:, j]
        inactive = np.isnan(centres)
        if k > 0:
            # With probability width the code is drawn anew from all k, so that a width
            # of 1 is the even distribution.
            same = values[:, None] == np.where(inactive, -1, centres)
            logs = np.where(same, np.log1p(-widths * (k - 1) / k), np.log(widths / k))
            logs[:, inactive] = -np.log(k)
            return cast(FloatArray, logs)
        inside = ndtr((1 - centres) / widths) - ndtr(-centres / widths)
        constants = np.log(inside * widths * np.sqrt(2 * np.pi))
        z = (values[:, None] - centres) / widths
        # In place, to spare three more arrays of shape (m, n).
        z *= z
        z *= -0.5
        z -= constants
        z[:, inactive] = 0.0
        return z


def _truncated_normal(
    uniform: FloatArray, centres: FloatArray, widths: FloatArray
) -> FloatArray:
    """Turn uniform numbers into normal ones truncated to [0, 1]."""
    low, high = ndtr(-centres / widths), ndtr((1 - centres) / widths)
    numbers = centres + widths * ndtri(low + uniform * (high - low))
    # The quantile of 0 or 1 is infinite, and a far tail rounds to these.
    return cast(FloatArray, np.clip(numbers, 0.0, 1.0))


def _bandwidths(points: FloatArray, choices: IntArray) -> FloatArray:
    """Choose the width of each kernel in each parameter."""
    n, d = points.shape
    # Scott's exponent; the factor is that of a uniform spread, shrunk by a third since
    # good points crowd together.
    number = 0.2 * max(n, 1) ** (-1 / (d + 4))
    choice = 0.7 * max(n, 1) ** -0.5
    return np.tile(np.where(choices > 0, choice, number), (n, 1))
