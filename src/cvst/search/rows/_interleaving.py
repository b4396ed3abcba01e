"""Every prefix in proportion: the order of rows behind stratified subsets."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import numpy.typing as npt

from cvst._typing import IntArray

__all__ = ["interleaved_classes"]


def interleaved_classes(labels: npt.NDArray[Any], rng: np.random.Generator) -> IntArray:
    """Spread every class evenly over the order, its rows at random.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Class of each row.
    rng : numpy.random.Generator
        Draws the order within the classes.

    Returns
    -------
    ndarray of shape (n_samples,)
        Row at each place. Among the first m places the number of rows of a class
        differs from its share of m by less than 1.7; by at most 1/2 for two classes.

    Examples
    --------
    >>> labels = np.array([7, 7, 7, 7, 7, 7, 8, 8])
    >>> labels[interleaved_classes(labels, np.random.default_rng(0))]
    array([7, 8, 7, 7, 7, 8, 7, 7])
    """
    names, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    shuffled = rng.permutation(len(labels))
    # A random name for each class, so that none is always the first.
    alias = rng.permutation(len(names))
    by_class = shuffled[np.argsort(alias[codes.ravel()[shuffled]], kind="stable")]
    alias_sizes = np.empty_like(sizes)
    alias_sizes[alias] = sizes
    starts = np.cumsum(alias_sizes) - alias_sizes
    heap: list[tuple[int, int, IntArray]] = []
    for size in np.unique(alias_sizes):
        # Classes of one size take turns: round after round, one row of each.
        first = starts[alias_sizes == size]
        rounds = (first[None, :] + np.arange(size)[:, None]).ravel()
        heap.append((len(rounds), len(heap), by_class[rounds]))
    return _interleaved(heap)


def _interleaved(heap: list[tuple[int, int, IntArray]]) -> IntArray:
    """Merge sequences, the two shortest first, each spread evenly over the result.

    In a merged prefix of m rows, the number from one part is its share of m, rounded:
    off by at most 1/2. What that means for a class inside the part shrinks with its
    share of it, and by Huffman's rule sizes grow at least like Fibonacci's numbers on
    the way up. So a class is off by less than half the sum of their inverses, 1.68.
    """
    heapq.heapify(heap)
    n_made = len(heap)
    while len(heap) > 1:
        n_shorter, _, shorter = heapq.heappop(heap)
        n_longer, _, longer = heapq.heappop(heap)
        total = n_shorter + n_longer
        so_far = (2 * n_shorter * np.arange(total + 1) + total) // (2 * total)
        is_shorter = np.diff(so_far) == 1
        merged = np.empty(total, dtype=np.intp)
        merged[is_shorter] = shorter
        merged[~is_shorter] = longer
        heapq.heappush(heap, (total, n_made, merged))
        n_made += 1
    return heap[0][2] if heap else np.empty(0, dtype=np.intp)
