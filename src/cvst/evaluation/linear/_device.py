"""Normal equations on a device: the products once, a factorisation per penalty."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvst._typing import FloatArray
from cvst.evaluation.device import (
    Arrays,
    add_to_diagonal,
    factorised,
    in_batches,
    within_memory,
)

__all__ = ["ProductsOnDevice"]

# Reciprocal condition from which solutions agree with those of the host to 1e-9.
WELL_CONDITIONED = 1e-5


class ProductsOnDevice:
    """Products of the rows, in the space of the rows if that is smaller.

    Parameters
    ----------
    arrays : Arrays
        The device.
    X : ndarray of shape (n_train, n_features)
        Centred rows.
    y : ndarray of shape (n_train, n_targets)
        Centred targets.

    Attributes
    ----------
    matrix, right_side : ndarray
        The normal equations without a penalty, on the host.

    Raises
    ------
    DeviceFullError
        If the rows do not fit into the memory of the device.

    Examples
    --------
    >>> from cvst.evaluation.device import NumpyArrays
    >>> X, y = np.array([[1.0], [2.0]]), np.array([[1.0], [3.0]])
    >>> products = ProductsOnDevice(NumpyArrays(), X, y)
    >>> products.solutions(np.array([2.0]))
    {np.float64(2.0): array([[1.]])}
    """

    def __init__(self, arrays: Arrays, X: FloatArray, y: FloatArray) -> None:
        self._arrays = arrays
        n_train, n_features = X.shape
        is_dual = n_features > n_train
        with within_memory(arrays):
            rows, targets = arrays.put(X), arrays.put(y)
            other = rows.swapaxes(0, 1)
            self._matrix = rows @ other if is_dual else other @ rows
            self._right = targets if is_dual else other @ targets
        self.matrix: FloatArray = arrays.fetch(self._matrix)
        self.right_side: FloatArray = arrays.fetch(self._right)

    def solutions(self, penalties: FloatArray) -> dict[Any, FloatArray]:
        """Solve for those penalties that make the system well-conditioned.

        Parameters
        ----------
        penalties : ndarray of shape (n_penalties,)
            All different.

        Returns
        -------
        dict of float to ndarray of shape (size, n_targets)
            What is missing is ill-conditioned.
        """
        # No eigenvalue is larger than the trace.
        largest = float(np.trace(self.matrix))
        good = penalties[penalties >= WELL_CONDITIONED * (largest + penalties)]
        found: dict[Any, FloatArray] = {}
        size = len(self.matrix)

        def run(batch: slice) -> None:
            some = good[batch]
            systems = self._matrix[None] + self._arrays.zeros(len(some), 1, 1)
            add_to_diagonal(systems, self._arrays.put(some)[:, None])
            factor = factorised(self._arrays, systems)
            right = self._right[None] + self._arrays.zeros(len(some), 1, 1)
            solved = self._arrays.fetch(factor.solve(right))
            failed = self._arrays.fetch(factor.failed)
            for place in np.flatnonzero(~failed):
                found[some[place]] = solved[place]

        in_batches(self._arrays, len(good), 8.0 * size * (size + 256), run)
        return found
