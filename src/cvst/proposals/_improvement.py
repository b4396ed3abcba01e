"""Expected improvement over the best loss, for normal predictions."""

from __future__ import annotations

from typing import cast

import numpy as np
from scipy.special import log_ndtr, ndtr

from cvst._typing import FloatArray

__all__ = ["expected_improvement", "log_expected_improvement"]

# Below this z the closed form loses all digits and its asymptote takes over; at -25
# the two agree to four digits.
ASYMPTOTE_BELOW = -25.0


def expected_improvement(
    means: FloatArray, deviations: FloatArray, best: float
) -> FloatArray:
    """Return the mean of max(best - loss, 0) for normal losses.

    Examples
    --------
    >>> expected_improvement(np.array([0.0]), np.array([1.0]), 0.0).round(4)
    array([0.3989])
    """
    deviations = np.maximum(deviations, 1e-12)
    z = (best - means) / deviations
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return cast(FloatArray, deviations * (z * ndtr(z) + density))


def log_expected_improvement(
    means: FloatArray, deviations: FloatArray, best: float
) -> FloatArray:
    """Return its logarithm, which tells hopeless places apart where the value is 0.

    Examples
    --------
    >>> means, deviations = np.array([50.0, 60.0]), np.array([1.0, 1.0])
    >>> expected_improvement(means, deviations, 0.0)
    array([0., 0.])
    >>> log_expected_improvement(means, deviations, 0.0).round()
    array([-1259., -1809.])
    """
    deviations = np.maximum(deviations, 1e-12)
    z = (best - means) / deviations
    low = z < ASYMPTOTE_BELOW
    safe = np.where(low, 0.0, z)
    log_density = -0.5 * safe**2 - 0.5 * np.log(2 * np.pi)
    # z Phi(z) + phi(z) = phi(z) (1 + z Phi(z) / phi(z)); the bracket is small and
    # positive for z << 0.
    bracket = 1 + safe * np.exp(log_ndtr(safe) - log_density)
    usual = log_density + np.log(np.maximum(bracket, 1e-300))
    tail = -0.5 * z**2 - 0.5 * np.log(2 * np.pi) - 2 * np.log(np.maximum(-z, 1.0))
    return cast(FloatArray, np.where(low, tail, usual) + np.log(deviations))
