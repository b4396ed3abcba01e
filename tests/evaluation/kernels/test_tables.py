"""Tables that grow by rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvst.evaluation import Scratch
from cvst.evaluation.kernels import _tables as tables_module
from cvst.evaluation.kernels._tables import Budget, RowTable


def make_matrix(n):
    root = np.random.default_rng(0).normal(size=(n, n))
    return root + root.T


@pytest.mark.parametrize("block", [1, 3, 256])
@pytest.mark.parametrize("small_bytes", [0, 2**24])
@given(stops=st.lists(st.integers(0, 20), min_size=1, max_size=6))
def test_any_sequence_of_looks_sees_the_matrix(small_bytes, block, stops):
    """And every entry is asked for at most once, its mirror image included."""
    matrix = make_matrix(20)
    asked = np.zeros((20, 20), dtype=int)

    def fill(rows, columns):
        asked[rows, columns] += 1
        return matrix[rows, columns]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables_module, "SMALL_BYTES", small_bytes)
        patch.setattr(Scratch, "table_block", block)
        table = RowTable(20, fill, Budget(10_000))
        for stop in stops:
            np.testing.assert_array_equal(table.first(stop), matrix[:stop])
    assert asked.max() <= 1
    assert np.all(asked[: max(stops)] + asked[:, : max(stops)].T >= 1)


def test_bits_do_not_depend_on_the_looks_before():
    """Products of other shapes round differently, so the shapes must be the same."""
    X = np.random.default_rng(0).normal(size=(700, 37))

    def table():
        return RowTable(700, lambda a, b: X[a] @ X[b].T, Budget(2**30))

    grown = table()
    for stop in (90, 181, 272, 500, 641):
        grown.first(stop)
    np.testing.assert_array_equal(grown.first(641), table().first(641))


def test_earlier_views_stay_valid(monkeypatch):
    """A look may still read what a later one extends."""
    monkeypatch.setattr(Scratch, "table_block", 4)
    matrix = make_matrix(20)
    table = RowTable(20, lambda a, b: matrix[a, b], Budget(10_000))
    early = table.first(3)
    table.first(15)
    np.testing.assert_array_equal(early, matrix[:3])


def test_a_table_does_not_outgrow_its_budget(monkeypatch):
    """What is there stays; what does not fit is refused."""
    monkeypatch.setattr(Scratch, "table_block", 1)
    matrix = make_matrix(20)
    budget = Budget(8 * 20 * 10)
    one = RowTable(20, lambda a, b: matrix[a, b], budget)
    other = RowTable(20, lambda a, b: matrix[a, b], budget)
    assert one.first(7) is not None
    assert other.first(4) is None
    assert one.first(11) is None
    np.testing.assert_array_equal(one.first(7), matrix[:7])
    np.testing.assert_array_equal(other.first(3), matrix[:3])
