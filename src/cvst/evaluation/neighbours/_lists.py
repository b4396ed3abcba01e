"""Lists of neighbours: nearest rows, ties, and running sums over the lists.

The k nearest rows are the head of a longer list unless the k-th and the next distance
cannot be told apart: then it depends on the search which of them is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cvst._sklearn_compat import searches_a_tree
from cvst._typing import FloatArray, IntArray

__all__ = ["NeighbourLists", "are_whole", "running_sums"]

# Their distances are computed pair by pair, the others' by a matrix product, which
# may round a pair differently when other rows come along.
PAIRWISE_METRICS = frozenset({"manhattan", "cityblock", "l1", "chebyshev", "minkowski"})
EUCLIDEAN_METRICS = frozenset({"euclidean", "l2", "sqeuclidean"})

# Squares and sums of whole numbers up to here are exact in any order.
LARGEST_EXACT_INTEGER = 2.0**20


@dataclass(frozen=True)
class NeighbourLists:
    """The nearest training rows of each test row, and how sure that is.

    Attributes
    ----------
    distances : ndarray of shape (n_test, n_listed)
        In ascending order.
    indices : ndarray of shape (n_test, n_listed)
        Training rows.
    is_complete : bool
        Whether every training row is listed.
    in_a_tree : bool
        Whether the search walked through a tree.
    rows_are_independent : bool
        Whether a search for some test rows finds what a search for all finds.
    """

    distances: FloatArray
    indices: IntArray
    is_complete: bool
    in_a_tree: bool
    rows_are_independent: bool

    @classmethod
    def search(
        cls, model: Any, X_train: Any, X_test: Any, n_listed: int
    ) -> NeighbourLists:
        """Search with a fitted model, for one neighbour more than needed."""
        is_complete = n_listed >= model.n_samples_fit_
        distances, indices = model.kneighbors(
            X_test, n_neighbors=n_listed if is_complete else n_listed + 1
        )
        metric = model.effective_metric_
        in_a_tree = searches_a_tree(model)
        independent = (
            in_a_tree
            or metric in PAIRWISE_METRICS
            or (
                metric in EUCLIDEAN_METRICS and are_whole(X_train) and are_whole(X_test)
            )
        )
        return cls(distances, indices, is_complete, in_a_tree, independent)

    def undecided(self, k: int, codes: IntArray) -> IntArray:
        """Return the test rows whose k nearest rows are uncertain, and matter.

        ``codes`` numbers the training rows by their target: it does not matter which
        of several rows with the same target is taken.
        """
        if self.is_complete and k == self.distances.shape[1]:
            return np.empty(0, dtype=np.intp)
        # Written so that NaN counts as a tie.
        rows = np.flatnonzero(~(self.distances[:, k] > self.distances[:, k - 1]))
        distances = self.distances[rows]
        rivals = distances == distances[:, k, None]
        seen = codes[self.indices[rows]]
        largest = np.where(rivals, seen, -1).max(axis=1, initial=-1)
        smallest = np.where(rivals, seen, len(codes)).min(axis=1, initial=len(codes))
        # More rivals may follow where the list ends among them.
        all_seen = self.is_complete | ~rivals[:, -1]
        unsure: IntArray = rows[~((largest == smallest) & all_seen)]
        return unsure

    def is_untied(self, k: int) -> bool:
        """Return whether the k nearest rows and their order are certain everywhere."""
        return bool(np.all(np.diff(self.distances[:, : k + 1], axis=1) > 0))

    @cached_property
    def by_rank(self) -> tuple[FloatArray, IntArray]:
        """Distances and indices with one contiguous row per rank."""
        return np.ascontiguousarray(self.distances.T), np.ascontiguousarray(
            self.indices.T
        )


def are_whole(X: Any) -> bool:
    """Return whether rows hold whole numbers whose squared distances are exact."""
    is_sparse = hasattr(X, "tocsr")
    values = np.asarray(X.data if is_sparse else X, dtype=float)
    return bool(
        np.all(values == np.rint(values))
        and np.abs(values).max(initial=0.0) < LARGEST_EXACT_INTEGER
    )


def running_sums(
    lists: NeighbourLists, targets: FloatArray, ks: Sequence[int], by_distance: bool
) -> Iterator[tuple[int, FloatArray, FloatArray]]:
    """Yield each k, ascending, with the summed targets and weights of the k nearest.

    Weights are 1 or the inverse distance; rows at distance zero outweigh all others,
    as in scikit-learn. The arrays are overwritten by the next step.
    """
    distances, indices = lists.by_rank
    sums = np.zeros((distances.shape[1], targets.shape[1]))
    weights = np.zeros((distances.shape[1], 1))
    hit_before = np.zeros(len(weights), dtype=bool)
    wanted = set(ks)
    for rank in range(max(wanted)):
        one = np.take(targets, indices[rank], axis=0)
        if by_distance:
            with np.errstate(divide="ignore"):
                weight = 1.0 / distances[rank]
            hit = np.isinf(weight)
            if hit.any():
                first = hit & ~hit_before
                sums[first] = weights[first] = 0.0
                hit_before |= hit
            weight = np.where(hit_before, hit, weight)[:, None]
            weights += weight
            one *= weight
        else:
            weights += 1.0
        sums += one
        if rank + 1 in wanted:
            yield rank + 1, sums, weights
