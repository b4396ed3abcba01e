"""Breiman's artificial classification problems: ringnorm, twonorm and waveform.

The files of the same names in the IDA repository (see :func:`fetch_benchmark`) are
single samples of these, standardised afterwards; the generators are not.
"""

from __future__ import annotations

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.datasets._arguments import RandomState, as_generator, check_count

__all__ = ["make_ringnorm", "make_twonorm", "make_waveform"]

N_NORM_FEATURES = 20
# Mean of every feature in the shifted classes, Breiman (1996).
SHIFT = 2 / np.sqrt(N_NORM_FEATURES)

_POSITIONS = np.arange(1, 22)
# Three triangles with peaks at 11, 15 and 7, Breiman et al. (1984).
TRIANGLES = np.array(
    [np.maximum(6 - np.abs(_POSITIONS - peak), 0.0) for peak in (11, 15, 7)]
)
# The triangles that are mixed in classes 1, 2 and 3.
MIXED = np.array([[0, 1], [0, 2], [1, 2]])


def _signs(n_samples: int, rng: np.random.Generator) -> IntArray:
    # Drawn for each row: equally likely classes need not be equally large.
    return np.where(rng.random(n_samples) < 0.5, -1, 1)


def make_twonorm(
    n_samples: int = 1000, *, random_state: RandomState = None
) -> tuple[FloatArray, IntArray]:
    r"""Draw *twonorm*: two normal classes with means of opposite sign.

    Class +1 is :math:`N((a, \dots, a), I)` and class -1 is
    :math:`N((-a, \dots, -a), I)` in 20 dimensions, :math:`a = 2 / \sqrt{20}`.
    The best possible error is 2.3 %.

    Parameters
    ----------
    n_samples : int, default=1000
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 20)
    y : ndarray of shape (n_samples,), int
        Classes -1 and 1, equally likely.

    Examples
    --------
    >>> X, y = make_twonorm(2000, random_state=0)
    >>> float(np.mean(np.sign(X.sum(axis=1)) != y)) < 0.04
    True
    """
    check_count("n_samples", n_samples)
    rng = as_generator(random_state)
    y = _signs(n_samples, rng)
    noise = rng.standard_normal((n_samples, N_NORM_FEATURES))
    return noise + SHIFT * y[:, np.newaxis], y


def make_ringnorm(
    n_samples: int = 1000, *, random_state: RandomState = None
) -> tuple[FloatArray, IntArray]:
    r"""Draw *ringnorm*: a narrow normal class inside a wide one.

    Class +1 is :math:`N(0, 4 I)` and class -1 is :math:`N((a, \dots, a), I)` in 20
    dimensions, :math:`a = 2 / \sqrt{20}`. The best possible error is 1.3 %.

    Parameters
    ----------
    n_samples : int, default=1000
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 20)
    y : ndarray of shape (n_samples,), int
        Classes -1 and 1, equally likely.

    Examples
    --------
    >>> X, y = make_ringnorm(2000, random_state=0)
    >>> [round(float(X[y == label].var())) for label in (1, -1)]
    [4, 1]
    """
    check_count("n_samples", n_samples)
    rng = as_generator(random_state)
    y = _signs(n_samples, rng)
    noise = rng.standard_normal((n_samples, N_NORM_FEATURES))
    # Twice the deviation is four times the variance.
    is_first = (y == 1)[:, np.newaxis]
    return np.where(is_first, 2 * noise, noise + SHIFT), y


def make_waveform(
    n_samples: int = 1000, *, random_state: RandomState = None
) -> tuple[FloatArray, IntArray]:
    """Draw *waveform* in its two-class form: random mixtures of two triangles.

    Each row mixes two of three triangular waves with a random weight and adds
    standard normal noise. One of the three pairs is class +1, the others are class -1,
    as in the IDA repository.

    Parameters
    ----------
    n_samples : int, default=1000
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 21)
    y : ndarray of shape (n_samples,), int
        Classes -1 (two thirds of the rows) and 1.

    Examples
    --------
    >>> X, y = make_waveform(3000, random_state=0)
    >>> X.shape, float(np.mean(y == 1).round(1))
    ((3000, 21), 0.3)
    """
    check_count("n_samples", n_samples)
    rng = as_generator(random_state)
    pair = rng.integers(len(MIXED), size=n_samples)
    weight = rng.random((n_samples, 1))
    first, second = TRIANGLES[MIXED[pair, 0]], TRIANGLES[MIXED[pair, 1]]
    noise = rng.standard_normal((n_samples, TRIANGLES.shape[1]))
    X = weight * first + (1 - weight) * second + noise
    # Breiman's class 2 (peaks at 11 and 7) is IDA's class +1.
    return X, np.where(pair == 1, 1, -1)
