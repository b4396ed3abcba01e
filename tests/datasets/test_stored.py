"""Rows that stay where they are: the same rows as in memory, whatever holds them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from cvst.datasets import StoredRows, stored_rows
from cvst.datasets._stored import BLOCK_ROWS, LARGEST_BYTES
from cvst.exceptions import InvalidInputError

TABLE = np.random.default_rng(0).normal(size=(50, 3))


def mapped(folder, table=TABLE):
    """Return a memory-mapped copy."""
    np.save(folder / "table.npy", table)
    return np.load(folder / "table.npy", mmap_mode="r")


def test_rows_come_in_the_order_asked_for(tmp_path):
    """Reading is in ascending order; what comes out is not."""
    rows = stored_rows(mapped(tmp_path))
    wanted = np.random.default_rng(1).permutation(50)[:20]
    np.testing.assert_array_equal(rows[wanted], TABLE[wanted])
    np.testing.assert_array_equal(rows[10:13], TABLE[10:13])
    np.testing.assert_array_equal(rows.read(), TABLE)
    assert len(rows) == 50


@pytest.mark.parametrize("wanted", [3, np.int64(-1), np.array([[1, 2]])])
def test_rows_are_asked_for_by_lists(wanted):
    """A single row would let NumPy read all of them one by one."""
    rows = stored_rows(TABLE)
    with pytest.raises(InvalidInputError, match=r"not by .*rows\[\[0\]\]"):
        rows[wanted]
    with pytest.raises(InvalidInputError, match=r"not by 0.*rows\.read\(\)"):
        np.asarray(rows)
    np.testing.assert_array_equal(rows[[-1]], TABLE[[-1]])


def test_a_draw_of_rows_is_unread():
    """``only`` keeps the numbers of rows, and reads the same ones later."""
    drawn = np.array([3, 4, 20, 49])
    some = stored_rows(TABLE).only(drawn)
    assert isinstance(some, StoredRows)
    assert some.shape == (4, 3)
    np.testing.assert_array_equal(some[[2, 0]], TABLE[[20, 3]])
    again = pickle.loads(pickle.dumps(some))
    np.testing.assert_array_equal(again.read(), TABLE[drawn])


def test_reading_is_block_by_block_and_ascending():
    """No block is larger than it needs to be, and no row is read twice."""
    table = np.arange(3.0 * BLOCK_ROWS)[:, None]
    rows = np.sort(np.random.default_rng(0).permutation(len(table))[: 2 * BLOCK_ROWS])
    blocks = list(stored_rows(table).blocks(rows))
    assert max(map(len, blocks)) <= BLOCK_ROWS
    np.testing.assert_array_equal(np.concatenate(blocks)[:, 0], rows)


def test_the_limit_is_a_gibibyte_unless_told():
    """A row of three numbers takes 24 bytes."""
    assert stored_rows(TABLE).max_rows == LARGEST_BYTES // 24
    assert stored_rows(TABLE, max_rows=7).max_rows == 7
    assert stored_rows(stored_rows(TABLE), max_rows=9).max_rows == 9


@pytest.mark.parametrize(
    ("source", "limit", "words"),
    [
        (TABLE, 0, "max_rows=0 must be at least 1"),
        (TABLE, 2.5, "max_rows=2.5 must be a whole number"),
        (TABLE[0], None, "X has shape \\(3,\\)"),
        ([[1.0]], None, "list is neither an array nor a Dask collection"),
    ],
)
def test_what_holds_no_rows_is_refused(source, limit, words):
    """The sentence names the value and the way out."""
    with pytest.raises(InvalidInputError, match=words):
        stored_rows(source, limit)


def test_rows_of_a_dask_array():
    """Chunks of any size, of which only those with wanted rows are computed."""
    dask = pytest.importorskip("dask.array")
    computed = []

    def watched(block, block_info=None):
        computed.append(block_info[0]["chunk-location"][0])
        return block

    array = dask.from_array(TABLE, chunks=(7, 2))
    array = array.map_blocks(watched, meta=np.empty((0, 0)))
    computed.clear()
    wanted = np.array([49, 0, 13])
    np.testing.assert_array_equal(stored_rows(array)[wanted], TABLE[wanted])
    assert set(computed) == {0, 1, 7}
    unknown = array[array[:, 0] > 0]
    with pytest.raises(InvalidInputError, match="compute_chunk_sizes"):
        stored_rows(unknown)


def test_rows_of_a_dask_frame():
    """Partitions of any size; columns of several kinds keep their types."""
    dask = pytest.importorskip("dask.dataframe")
    import pandas as pd

    frame = pd.DataFrame({"a": TABLE[:, 0], "b": ["x", "y"] * 25, "c": range(50)})
    rows = stored_rows(dask.from_pandas(frame, npartitions=4))
    wanted = np.array([49, 0, 13])
    found = rows[wanted]
    assert found["b"].tolist() == frame["b"].iloc[wanted].tolist()
    np.testing.assert_array_equal(found["c"], wanted)
    assert rows.shape == (50, 3)
