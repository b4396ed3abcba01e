"""Nearest neighbours by brute force on a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvst._sklearn_compat import searches_a_tree
from cvst._typing import FloatArray, IntArray
from cvst.evaluation._rows import take
from cvst.evaluation.device import Arrays, in_batches
from cvst.evaluation.neighbours._lists import NeighbourLists, are_whole

__all__ = ["lists_on_device"]

# Rows that a first search by rounded distances lists beyond those needed.
MORE_LISTED = 16

# Rows whose list is in doubt are searched again on the host, up to this share.
LARGEST_DOUBTED_SHARE = 0.1

EPSILON = float(np.finfo(float).eps)


def lists_on_device(
    arrays: Arrays, model: Any, X_train: Any, X_test: Any, n_listed: int
) -> NeighbourLists | None:
    """List the nearest training rows of each test row.

    A product of matrices gives all distances up to rounding errors. Those of the
    closest rows are then computed again as sums of squared differences, which is what
    a tree of scikit-learn does, operation by operation.

    Parameters
    ----------
    arrays : Arrays
        The device.
    model : estimator
        Fitted, with Euclidean distances.
    X_train, X_test : array-like
        The rows.
    n_listed : int
        Neighbours that are needed; one more is listed.

    Returns
    -------
    NeighbourLists or None
        None if the rows or distances are others, or most lists are in doubt.

    Raises
    ------
    DeviceFullError
        If the distances of one test row do not fit into the memory of the device.
    """
    train, test = _as_floats(X_train), _as_floats(X_test)
    if model.effective_metric_ != "euclidean" or train is None or test is None:
        return None
    is_complete = n_listed >= len(train)
    n_listed = n_listed if is_complete else n_listed + 1
    search = _Search(arrays, train, test, n_listed)
    n_first = min(n_listed + MORE_LISTED, len(train))
    bytes_per_row = 8.0 * (3 * len(train) + 6 * n_first)
    in_batches(arrays, len(test), bytes_per_row, search.run)
    if not search.settle(model, X_test):
        return None
    in_a_tree = searches_a_tree(model)
    are_exact = are_whole(X_train) and are_whole(X_test)
    if not in_a_tree and not are_exact:
        search.join_close()
    return NeighbourLists(
        search.distances, search.indices, is_complete, in_a_tree, in_a_tree or are_exact
    )


def _as_floats(X: Any) -> FloatArray | None:
    if not isinstance(X, np.ndarray) or X.ndim != 2 or 0 in X.shape:
        return None
    if X.dtype != np.float64 and X.dtype.kind not in "iu":
        return None
    return np.asarray(X, dtype=np.float64)


class _Search:
    """Lists of all test rows, filled in batch by batch."""

    def __init__(
        self, arrays: Arrays, train: FloatArray, test: FloatArray, n_listed: int
    ) -> None:
        self._arrays = arrays
        self._train = arrays.put(train)
        self._test = arrays.put(test)
        self._train_squares = (self._train * self._train).sum(axis=1)
        self._n_listed = n_listed
        squares = np.einsum("ij,ij->i", train, train).max()
        squares += np.einsum("ij,ij->i", test, test).max()
        # Bounds the rounding errors of a squared distance.
        self._error = 4.0 * (train.shape[1] + 4) * EPSILON * float(squares)
        self.distances = np.empty((len(test), n_listed))
        self.indices: IntArray = np.empty((len(test), n_listed), dtype=np.intp)
        self._doubted = np.zeros(len(test), dtype=bool)

    def run(self, batch: slice) -> None:
        """List the neighbours of some test rows."""
        arrays, xp = self._arrays, self._arrays.xp
        test = self._test[batch]
        rounded = test @ self._train.swapaxes(0, 1)
        rounded *= -2.0
        rounded += self._train_squares
        rounded += (test * test).sum(axis=1)[:, None]
        n_train = len(self._train)
        n_first = min(self._n_listed + MORE_LISTED, n_train)
        first, places = arrays.smallest(rounded, n_first)
        exact = self._exact(test, places)
        order = xp.argsort(exact, axis=1)[:, : self._n_listed]
        everyone = arrays.put(np.arange(len(test)))[:, None]
        exact = exact[everyone, order]
        if n_first < n_train:
            # What was not listed is at least this far away.
            bound = xp.amax(first, axis=1) - self._error
            self._doubted[batch] = arrays.fetch(exact[:, -1] >= bound)
        self.distances[batch] = np.sqrt(arrays.fetch(exact))
        self.indices[batch] = arrays.fetch(places[everyone, order])

    def _exact(self, test: Any, places: Any) -> Any:
        """Sum squared differences feature by feature, as a tree does."""
        total = self._arrays.zeros(*places.shape)
        for column in range(test.shape[1]):
            difference = self._train[:, column][places] - test[:, column, None]
            total += difference * difference
        return total

    def settle(self, model: Any, X_test: Any) -> bool:
        """Search again on the host where a list is in doubt; False if that is much."""
        rows = np.flatnonzero(self._doubted)
        if len(rows) > LARGEST_DOUBTED_SHARE * len(self._doubted):
            return False
        if len(rows):
            distances, indices = model.kneighbors(
                take(X_test, rows), n_neighbors=self._n_listed
            )
            self.distances[rows], self.indices[rows] = distances, indices
        return True

    def join_close(self) -> None:
        """Make distances equal that scikit-learn's rounding may not tell apart."""
        squares = self.distances**2
        close = np.diff(squares, axis=1) <= 2 * self._error
        rows = np.flatnonzero(close.any(axis=1))
        for row in rows.tolist():
            for place in np.flatnonzero(close[row]).tolist():
                self.distances[row, place + 1] = self.distances[row, place]
