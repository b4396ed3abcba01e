"""Rows on disk in race order: read once, and only as far as a look needs them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cvst.datasets import stored_rows
from cvst.evaluation.machinery import RaceData, in_order, stack_rows, take

TABLE = np.random.default_rng(0).normal(size=(40, 3))
ORDER = np.random.default_rng(1).permutation(40)


class Frames:
    """Stored rows whose columns are of several types."""

    dtype = None
    shape = 40, 2
    max_rows = 40
    frame = pd.DataFrame({"a": TABLE[:, 0], "word": [f"w{n}" for n in range(40)]})

    def blocks(self, rows):
        """Yield all at once."""
        yield self.frame.iloc[rows]

    def read(self, rows):
        """Return rows in the order asked for."""
        return self.frame.iloc[rows].reset_index(drop=True)


def watched(monkeypatch):
    """Return stored rows in race order, and a list of what is read of them."""
    stored = stored_rows(TABLE)
    read = []
    plain = stored.blocks
    monkeypatch.setattr(stored, "blocks", lambda rows: read.append(rows) or plain(rows))
    return in_order(stored, ORDER), read


def test_a_look_reads_no_more_than_its_own_rows(monkeypatch):
    """A later look reads what lies beyond the first; a third one nothing."""
    rows, read = watched(monkeypatch)
    assert not read
    np.testing.assert_array_equal(take(rows, slice(0, 10)), TABLE[ORDER[:10]])
    np.testing.assert_array_equal(take(rows, slice(10, 15)), TABLE[ORDER[10:15]])
    np.testing.assert_array_equal(take(rows, slice(2, 12)), TABLE[ORDER[2:12]])
    seen = [np.sort(ORDER[:10]).tolist(), np.sort(ORDER[10:15]).tolist()]
    assert [part.tolist() for part in read] == seen
    assert rows.n_read == 15


def test_rows_of_a_fold_are_those_of_the_race(monkeypatch):
    """Folds are lists of places, in any order."""
    rows, read = watched(monkeypatch)
    places = np.array([3, 39, 5])
    np.testing.assert_array_equal(take(rows, places), TABLE[ORDER[places]])
    assert len(read) == 1
    assert not take(rows, slice(0, 5)).flags.writeable


def test_frames_grow_too():
    """Rows with columns of several types are appended as they come."""
    rows = in_order(Frames(), ORDER)
    first, second = take(rows, slice(0, 7)), take(rows, np.array([20, 1]))
    assert first["word"].tolist() == [f"w{n}" for n in ORDER[:7]]
    assert second["word"].tolist() == [f"w{ORDER[20]}", f"w{ORDER[1]}"]
    assert rows.n_read == 21


def test_all_rows_can_be_read_at_once():
    """Other processes and a separate test set need them so."""
    rows = in_order(stored_rows(TABLE), ORDER)
    data = RaceData(X=rows, y=None, n_samples=40).in_memory()
    np.testing.assert_array_equal(data.X, TABLE[ORDER])
    assert data.in_memory() is data
    both = stack_rows(in_order(stored_rows(TABLE), ORDER), TABLE[:2])
    np.testing.assert_array_equal(both, np.vstack([TABLE[ORDER], TABLE[:2]]))


@pytest.mark.parametrize("n_rows", [0, 40])
def test_an_empty_and_a_whole_slice(n_rows):
    """The first and the last rows are read like the others."""
    rows = in_order(stored_rows(TABLE), ORDER)
    take(rows, slice(0, 1))
    np.testing.assert_array_equal(take(rows, slice(0, n_rows)), TABLE[ORDER[:n_rows]])
