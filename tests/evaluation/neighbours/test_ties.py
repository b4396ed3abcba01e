"""An election is in doubt only if two choices among tied rows elect two classes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvst.evaluation.neighbours._lists import NeighbourLists
from cvst.evaluation.neighbours._ties import elections_in_doubt


def elected(labels, distances, by_distance):
    """Return the class with the most votes, the first of several."""
    weights = np.ones(len(labels))
    if by_distance:
        weights = (distances == 0) * 1.0 if 0 in distances else 1 / distances
    return int(np.argmax(np.bincount(labels, weights, minlength=3)))


def winners(labels, distances, k, by_distance):
    """Elect with every choice of tied rows."""
    last = distances[k - 1]
    nearer = np.flatnonzero(distances < last)
    tied = np.flatnonzero(distances == last)
    return {
        elected(labels[taken], distances[taken], by_distance)
        for some in combinations(tied, k - len(nearer))
        for taken in [np.concatenate([nearer, np.array(some, dtype=int)])]
    }


@settings(max_examples=300, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=3, max_size=9
    ),
    k=st.integers(1, 7),
    n_listed=st.integers(2, 9),
    by_distance=st.booleans(),
)
def test_no_doubt_means_one_winner(rows, k, n_listed, by_distance):
    """Against all choices; the list may end among the tied rows."""
    rows.sort(key=lambda row: row[1])
    labels, distances = np.array(rows).T
    n_listed = min(max(n_listed, k + 1), len(rows))
    if k >= n_listed or distances[k] != distances[k - 1]:
        return
    lists = NeighbourLists(
        distances[None, :n_listed].astype(float),
        np.arange(n_listed)[None],
        n_listed == len(rows),
        in_a_tree=True,
        rows_are_independent=True,
    )

    doubtful = elections_in_doubt(
        lists, np.array([0]), k, [labels.astype(np.intp)], by_distance
    )

    if not len(doubtful):
        assert len(winners(labels, distances.astype(float), k, by_distance)) == 1


@pytest.mark.parametrize("by_distance", [False, True])
def test_a_clear_majority_is_never_in_doubt(by_distance):
    """Two nearer rows of one class, and one of two tied rows to come."""
    lists = NeighbourLists(
        np.array([[1.0, 1.0, 2.0, 2.0, 3.0]]), np.arange(5)[None], False, True, True
    )
    clear, close = np.array([0, 0, 1, 2, 1]), np.array([0, 1, 0, 1, 1])

    def doubtful(labels):
        return elections_in_doubt(lists, np.array([0]), 3, [labels], by_distance)

    assert not len(doubtful(clear))
    assert list(doubtful(close)) == [0]
    # Each output has an election of its own.
    both = elections_in_doubt(lists, np.array([0]), 3, [clear, close], by_distance)
    assert list(both) == [0]


def test_a_distance_that_is_not_a_number_is_in_doubt():
    distances = np.array([[1.0, np.nan, np.nan]])
    lists = NeighbourLists(distances, np.arange(3)[None], True, True, True)

    found = elections_in_doubt(lists, np.array([0]), 2, [np.zeros(3, np.intp)], False)

    assert list(found) == [0]
