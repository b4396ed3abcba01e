"""Zero mean and unit variance, as the paper prepares its benchmark data."""

from __future__ import annotations

import numpy as np

from cvst._typing import FloatArray

__all__ = ["standardise"]


def standardise(values: FloatArray) -> FloatArray:
    """Bring each column to mean 0 and variance 1.

    The variance has the divisor n - 1, as in R. Constant columns become 0: the
    covtype data have some, and small subsets have more.

    Parameters
    ----------
    values : ndarray of shape (n_samples,) or (n_samples, n_features)
        Features, or the target of a regression.

    Returns
    -------
    ndarray of the same shape

    Examples
    --------
    >>> standardise(np.array([[1.0, 7.0], [2.0, 7.0], [3.0, 7.0]]))
    array([[-1.,  0.],
           [ 0.,  0.],
           [ 1.,  0.]])
    """
    values = np.asarray(values, dtype=np.float64)
    centred = values - values.mean(axis=0)
    variance = np.sum(centred**2, axis=0) / max(len(values) - 1, 1)
    deviation = np.sqrt(variance)
    # The mean of equal numbers is off by a rounding error, so that their deviation
    # is tiny and not 0; dividing by it would turn a constant column into noise.
    rounding = 10 * np.finfo(np.float64).eps * np.abs(values).max(axis=0)
    constant = deviation <= rounding
    return np.asarray(
        np.where(constant, 0.0, centred / np.where(constant, 1, deviation))
    )
