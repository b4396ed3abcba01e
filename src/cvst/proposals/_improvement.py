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
    log_density = -0.5 * z**2 - 0.5 * np.log(2 * np.pi)
    # All three forms are computed everywhere, so each gets a z at which it is defined.
    near = np.maximum(z, -1.0)
    plain = np.log(near * ndtr(near) + np.exp(-0.5 * near**2) / np.sqrt(2 * np.pi))
    # z Phi(z) + phi(z) = phi(z) (1 + z Phi(z) / phi(z)); the bracket is small and
    # positive for z << 0.
    far = np.clip(z, ASYMPTOTE_BELOW, -1.0)
    ratio = np.exp(log_ndtr(far) + 0.5 * far**2) * np.sqrt(2 * np.pi)
    bent = log_density + np.log1p(far * ratio)
    # For z towards minus infinity the bracket tends to 1 / z ** 2.
    tail = log_density - 2 * np.log(np.maximum(-z, 1.0))
    logs = np.select([z > -1, z > ASYMPTOTE_BELOW], [plain, bent], tail)
    return cast(FloatArray, logs + np.log(deviations))
