"""The paper's own artificial data: noisy sine (two classes) and noisy sinc.

The "intrinsic dimensionality" :math:`d` of the paper is the number of periods, or the
frequency, of the wave; both sets have a single feature.
"""

from __future__ import annotations

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.datasets._arguments import (
    RandomState,
    as_generator,
    check_count,
    check_noise,
)

__all__ = ["make_noisy_sinc", "make_noisy_sine"]


def make_noisy_sine(
    n_samples: int = 1000,
    *,
    dimension: int = 5,
    noise: float = 0.25,
    random_state: RandomState = None,
) -> tuple[FloatArray, IntArray]:
    r"""Draw the noisy sine, two classes on a line.

    :math:`x` is uniform on :math:`[0, 2 \pi d]`; the class is 1 where
    :math:`\sin(x) + \epsilon \ge 0`, else 0.

    Parameters
    ----------
    n_samples : int, default=1000
    dimension : int, default=5
        The paper's :math:`d`, the number of periods (5, 50 and 100 there).
    noise : float, default=0.25
        Standard deviation of :math:`\epsilon` (0.25 and 0.5 in the paper).
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
    y : ndarray of shape (n_samples,), int
        Classes 0 and 1.

    Examples
    --------
    >>> X, y = make_noisy_sine(1000, dimension=5, noise=0.25, random_state=0)
    >>> X.shape, np.unique(y)
    ((1000, 1), array([0, 1]))
    """
    check_count("n_samples", n_samples)
    check_count("dimension", dimension)
    check_noise(noise)
    rng = as_generator(random_state)
    x = rng.uniform(0.0, 2 * np.pi * dimension, n_samples)
    y = np.sin(x) + noise * rng.standard_normal(n_samples)
    # The paper says "the sign of y"; the authors' R package puts y = 0 in class 1.
    return x[:, np.newaxis], (y >= 0).astype(np.intp)


def make_noisy_sinc(
    n_samples: int = 1000,
    *,
    dimension: int = 2,
    noise: float = 0.1,
    random_state: RandomState = None,
) -> tuple[FloatArray, FloatArray]:
    r"""Draw the noisy sinc, a regression on a line with structure on two scales.

    :math:`y = \sin(4x) / (4x) + \sin(15 d x) / 5 + \epsilon` with :math:`x` uniform
    on :math:`[-\pi, \pi]`.

    Parameters
    ----------
    n_samples : int, default=1000
    dimension : int, default=2
        The paper's :math:`d`, the frequency of the fine structure (2, 3 and 4 there).
    noise : float, default=0.1
        Standard deviation of :math:`\epsilon` (0.1 and 0.2 in the paper).
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> X, y = make_noisy_sinc(1000, dimension=2, noise=0.1, random_state=0)
    >>> X.shape, y.shape
    ((1000, 1), (1000,))
    """
    check_count("n_samples", n_samples)
    check_count("dimension", dimension)
    check_noise(noise)
    rng = as_generator(random_state)
    x = rng.uniform(-np.pi, np.pi, n_samples)
    # np.sinc is sin(pi t) / (pi t); the paper's sinc has no pi.
    signal = np.sinc(4 * x / np.pi) + np.sin(15 * dimension * x) / 5
    y = signal + noise * rng.standard_normal(n_samples)
    return x[:, np.newaxis], y
