"""The four test functions of Donoho and Johnstone (1994): sharp local structure.

Each is scaled as in the authors' R package, which brings the standard deviation of
the signal to about 7, so that noise of standard deviation 1 is one seventh of it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import numpy as np

from cvst._typing import FloatArray
from cvst.datasets._arguments import (
    RandomState,
    as_generator,
    check_count,
    check_noise,
)

__all__ = ["make_blocks", "make_bumps", "make_doppler", "make_heavisine"]

# Places, heights and widths from Donoho and Johnstone, Table 1; scales from the
# R package CVST.
PLACES = np.array([0.1, 0.13, 0.15, 0.23, 0.25, 0.4, 0.44, 0.65, 0.76, 0.78, 0.81])
BLOCK_HEIGHTS = np.array([4, -5, 3, -4, 5, -4.2, 2.1, 4.3, -3.1, 2.1, -4.2])
BUMP_HEIGHTS = np.array([4, 5, 3, 4, 5, 4.2, 2.1, 4.3, 3.1, 5.1, 4.2])
BUMP_WIDTHS = np.array(
    [0.005, 0.005, 0.006, 0.01, 0.01, 0.03, 0.01, 0.01, 0.005, 0.008, 0.005]
)
SCALES = MappingProxyType(
    {
        "blocks": 3.656993,
        "bumps": 10.52884,
        "heavisine": 2.356934,
        "doppler": 24.22172,
    }
)


def _blocks(x: FloatArray) -> FloatArray:
    # The original's K(t), with one half at the jump itself.
    steps = (1 + np.sign(x[:, np.newaxis] - PLACES)) / 2
    return np.asarray(steps @ BLOCK_HEIGHTS)


def _bumps(x: FloatArray) -> FloatArray:
    distances = np.abs((x[:, np.newaxis] - PLACES) / BUMP_WIDTHS)
    return np.asarray((1 + distances) ** -4 @ BUMP_HEIGHTS)


def _heavisine(x: FloatArray) -> FloatArray:
    return np.asarray(4 * np.sin(4 * np.pi * x) - np.sign(x - 0.3) - np.sign(0.72 - x))


def _doppler(x: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(x * (1 - x)) * np.sin(2.1 * np.pi / (x + 0.05)))


FUNCTIONS: MappingProxyType[str, Callable[[FloatArray], FloatArray]] = MappingProxyType(
    {
        "blocks": _blocks,
        "bumps": _bumps,
        "heavisine": _heavisine,
        "doppler": _doppler,
    }
)


def _draw(
    name: str, n_samples: int, noise: float, random_state: RandomState
) -> tuple[FloatArray, FloatArray]:
    check_count("n_samples", n_samples)
    check_noise(noise)
    rng = as_generator(random_state)
    # At random: the original has equally spaced points, for wavelets.
    x = rng.uniform(0.0, 1.0, n_samples)
    y = SCALES[name] * FUNCTIONS[name](x) + noise * rng.standard_normal(n_samples)
    return x[:, np.newaxis], y


def make_blocks(
    n_samples: int = 1000, *, noise: float = 1.0, random_state: RandomState = None
) -> tuple[FloatArray, FloatArray]:
    """Draw *blocks*: a piecewise constant function with eleven jumps.

    Parameters
    ----------
    n_samples : int, default=1000
    noise : float, default=1.0
        Standard deviation of the normal noise.
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
        Uniform on [0, 1].
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> X, y = make_blocks(500, noise=0, random_state=0)
    >>> len(np.unique(y.round(6)))  # twelve steps, the last as high as the first
    11
    """
    return _draw("blocks", n_samples, noise, random_state)


def make_bumps(
    n_samples: int = 1000, *, noise: float = 1.0, random_state: RandomState = None
) -> tuple[FloatArray, FloatArray]:
    """Draw *bumps*: eleven sharp peaks of differing heights.

    Parameters and return values are those of :func:`make_blocks`.

    Examples
    --------
    >>> X, y = make_bumps(500, noise=0, random_state=0)
    >>> bool(y.min() > 0)
    True
    """
    return _draw("bumps", n_samples, noise, random_state)


def make_heavisine(
    n_samples: int = 1000, *, noise: float = 1.0, random_state: RandomState = None
) -> tuple[FloatArray, FloatArray]:
    """Draw *heavisine*: a sine with jumps at 0.3 and 0.72.

    Parameters and return values are those of :func:`make_blocks`.

    Examples
    --------
    >>> X, y = make_heavisine(500, random_state=0)
    >>> X.shape, y.shape
    ((500, 1), (500,))
    """
    return _draw("heavisine", n_samples, noise, random_state)


def make_doppler(
    n_samples: int = 1000, *, noise: float = 1.0, random_state: RandomState = None
) -> tuple[FloatArray, FloatArray]:
    """Draw *doppler*: a sine whose frequency grows towards 0.

    Parameters and return values are those of :func:`make_blocks`.

    Examples
    --------
    >>> X, y = make_doppler(500, random_state=0)
    >>> X.shape, y.shape
    ((500, 1), (500,))
    """
    return _draw("doppler", n_samples, noise, random_state)
