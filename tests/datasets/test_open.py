"""Data sets of Parquet and Arrow: rows by row groups, columns of all kinds."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from cvst.datasets import open_dataset
from cvst.exceptions import InvalidInputError

pytest.importorskip("pyarrow")

FRAME = pd.DataFrame(
    {
        "a": np.random.default_rng(0).normal(size=40),
        "n": pd.array([None if n % 7 == 0 else n for n in range(40)], dtype="Int64"),
        "word": pd.Categorical([f"w{n // 10}" for n in range(40)]),
        "y": np.repeat([0, 1], 20),
    }
)
WANTED = np.array([39, 0, 17, 18])


@pytest.fixture
def folder(tmp_path):
    """Two files with row groups of six rows."""
    half = len(FRAME) // 2
    FRAME[:half].to_parquet(tmp_path / "a.parquet", row_group_size=6)
    FRAME[half:].to_parquet(tmp_path / "b.parquet", row_group_size=6)
    return tmp_path


def test_rows_of_several_files_in_the_order_asked_for(folder):
    """Row groups of two files count on; categories of all of them are known."""
    X, y = open_dataset(folder, target="y")
    assert X.shape == (40, 3)
    np.testing.assert_array_equal(y, FRAME["y"])
    found = X[WANTED]
    assert list(found.columns) == ["a", "n", "word"]
    np.testing.assert_array_equal(found["a"], FRAME["a"].iloc[WANTED])
    assert found["word"].tolist() == FRAME["word"].iloc[WANTED].tolist()
    missing = FRAME["n"].iloc[WANTED].isna().to_numpy()
    np.testing.assert_array_equal(found["n"].isna(), missing)
    pd.testing.assert_frame_equal(X.read()[["a"]], FRAME[["a"]])


def test_numbers_come_as_an_array(folder):
    """Whole numbers become floats, missing ones NaN."""
    X, _ = open_dataset(folder, "y", columns=["n", "a"], as_frame=False)
    found = X[WANTED]
    assert found.dtype == float
    np.testing.assert_array_equal(found[:, 1], FRAME["a"].iloc[WANTED])
    expected = (
        FRAME["n"].iloc[WANTED].astype("Float64").to_numpy(float, na_value=np.nan)
    )
    np.testing.assert_array_equal(found[:, 0], expected)


def test_floats_of_one_width_stay_so(tmp_path):
    """A frame of them is a view of one array, without a copy."""
    frame = FRAME[["a"]].astype("float32").assign(b=FRAME["a"].astype("float32"), y=1)
    frame.to_parquet(tmp_path / "a.parquet")
    X, _ = open_dataset(tmp_path, "y")
    assert X.dtype == np.float32
    assert X.row_bytes == 8
    pd.testing.assert_frame_equal(X.read(), frame[["a", "b"]])


def test_only_row_groups_with_wanted_rows_are_read(folder, monkeypatch):
    """Of eight row groups four hold the rows, which count from the first of each."""
    X, _ = open_dataset(folder, "y")
    read = []
    plain = type(X)._read
    monkeypatch.setattr(
        type(X), "_read", lambda *args: read.append(args[2]) or plain(*args)
    )
    X[WANTED]
    assert [part.tolist() for part in read] == [[0], [5], [0], [1]]


def test_files_of_arrow_and_data_sets_of_pyarrow(tmp_path):
    """Other formats have no row groups: a file is one piece."""
    import pyarrow as pa
    import pyarrow.dataset as datasets

    table = pa.Table.from_pandas(FRAME[["a", "y"]])
    datasets.write_dataset(table, tmp_path, format="arrow")
    X, y = open_dataset(tmp_path, "y", file_format="arrow")
    np.testing.assert_array_equal(X[WANTED]["a"], FRAME["a"].iloc[WANTED])
    other, _ = open_dataset(datasets.dataset(tmp_path, format="arrow"), "y")
    pd.testing.assert_frame_equal(other.read(), X.read())
    assert len(y) == 40


def test_rows_travel_and_know_their_files(folder):
    """A checkpoint notices when a file is another one."""
    X, _ = open_dataset(folder, "y", max_rows=5)
    again = pickle.loads(pickle.dumps(X))
    assert again.max_rows == 5
    pd.testing.assert_frame_equal(again[WANTED], X[WANTED])
    assert again.identity() == X.identity()
    FRAME[:20].assign(a=0.0).to_parquet(folder / "a.parquet")
    assert open_dataset(folder, "y")[0].identity() != X.identity()


def _in_memory(frame):
    import pyarrow as pa
    import pyarrow.dataset as datasets

    return datasets.dataset(pa.Table.from_pandas(frame))


def _chunked(frame):
    import pyarrow as pa
    import pyarrow.dataset as datasets

    parts = [pa.Table.from_pandas(one) for one in (frame[:7], frame[7:])]
    return datasets.dataset(pa.concat_tables(parts))


def _united(frame):
    import pyarrow.dataset as datasets

    return datasets.dataset([_in_memory(frame[:20]), _in_memory(frame[20:])])


def _buffered(frame):
    import pyarrow as pa
    import pyarrow.dataset as datasets

    kind = datasets.ParquetFileFormat()
    piece = kind.make_fragment(pa.py_buffer(frame.to_parquet()))
    return datasets.FileSystemDataset([piece], piece.physical_schema, kind)


@pytest.mark.parametrize("change", ["a", "word", "several", "d"])
@pytest.mark.parametrize("made", [_in_memory, _chunked, _united, _buffered])
def test_rows_in_memory_are_known_by_their_values(made, change):
    """Columns and shape are the same; so is a table in other pieces."""
    frame = FRAME.assign(
        several=[[number, 2] for number in range(40)],
        d=pd.date_range("2026-01-01", periods=40),
    )
    other = frame.copy()
    new = {"a": 0.5, "word": "w1", "several": [3], "d": pd.Timestamp("2025-01-01")}
    other.at[39, change] = new[change]
    identity = open_dataset(made(frame), "y")[0].identity()
    assert open_dataset(made(frame.copy()), "y")[0].identity() == identity
    assert open_dataset(made(other), "y")[0].identity() != identity
    if made is _chunked:
        assert open_dataset(_in_memory(frame), "y")[0].identity() == identity


def test_numbers_in_memory_are_known_by_their_values():
    frame = FRAME[["a", "y"]]
    first, again, other = (
        open_dataset(_in_memory(one), "y", as_frame=False)[0].identity()
        for one in (frame, frame.copy(), frame.assign(a=-frame["a"]))
    )
    assert first == again != other


def test_files_in_several_data_sets_are_known(folder):
    """A union has no list of files of its own."""
    import pyarrow.dataset as datasets

    def identity():
        parts = [datasets.dataset(folder / f"{name}.parquet") for name in "ab"]
        return open_dataset(datasets.dataset(parts), "y")[0].identity()

    before = identity()
    assert identity() == before
    FRAME[:20].assign(a=0.0).to_parquet(folder / "a.parquet", row_group_size=6)
    assert identity() != before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "z"}, "no column 'z'. Its columns are a, n, word, y"),
        ({"target": "y", "columns": ["a", "y"]}, "columns holds the target 'y'"),
        ({"target": "n"}, "'n' is missing in 6 of 40 rows"),
        ({"target": "y", "as_frame": False}, "column 'word' holds no numbers"),
    ],
)
def test_columns_that_will_not_do_are_named(folder, options, words):
    """One sentence: what is wrong, and the way out."""
    with pytest.raises(InvalidInputError, match=words):
        open_dataset(folder, **options)


def test_a_path_without_files_is_named(tmp_path):
    """The sentence has the path."""
    with pytest.raises(InvalidInputError, match="nothing-here"):
        open_dataset(tmp_path / "nothing-here", "y")


def test_a_filtered_set_is_refused_with_a_way_out():
    """Which does what it says."""
    pa, datasets = (
        pytest.importorskip("pyarrow"),
        pytest.importorskip("pyarrow.dataset"),
    )
    whole = datasets.dataset(pa.table({"a": [1.0, 2, 3], "y": [0, 1, 0]}))
    some = whole.filter(datasets.field("a") > 1)
    with pytest.raises(InvalidInputError, match="is filtered or has computed columns"):
        open_dataset(some, target="y")
    X, y = open_dataset(datasets.dataset(some.to_table()), target="y")
    assert X.read()["a"].tolist() == [2, 3]
    assert y.tolist() == [1, 0]


@pytest.mark.parametrize("as_frame", [True, False])
def test_rows_in_memory_travel(as_frame):
    pa, datasets = (
        pytest.importorskip("pyarrow"),
        pytest.importorskip("pyarrow.dataset"),
    )
    table = pa.table({"a": [1.0, 2, 3], "b": [4, 5, 6], "y": [0, 1, 0]})
    X, _ = open_dataset(datasets.dataset(table), "y", as_frame=as_frame, max_rows=2)
    copy = pickle.loads(pickle.dumps(X))
    np.testing.assert_array_equal(np.asarray(copy[[2, 0]]), np.asarray(X[[2, 0]]))
    assert type(copy[[0]]) is type(X[[0]])
    assert copy.max_rows == 2
    assert repr(copy.identity()) == repr(X.identity())
