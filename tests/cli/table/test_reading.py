from __future__ import annotations

import gzip
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from cvst.cli.table._reading import read_table
from cvst.exceptions import InvalidInputError


@pytest.fixture
def frame():
    return pd.DataFrame(
        {"x": [1.5, -2.0, np.nan], "n": [1, 2, 3], "word": ["a", "ü, b", "c"]}
    )


def write_arrow_stream(frame, path):
    table = pa.Table.from_pandas(frame)
    with (
        pa.OSFile(str(path), "wb") as file,
        pa.ipc.new_stream(file, table.schema) as to,
    ):
        to.write_table(table)


WRITERS = {
    "a.csv": lambda frame, path: frame.to_csv(path, index=False),
    "a.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "a.parquet": lambda frame, path: frame.to_parquet(path),
    "a.feather": lambda frame, path: frame.to_feather(path),
    "a.arrow": write_arrow_stream,
    "b.arrow": lambda frame, path: frame.to_feather(path, compression="uncompressed"),
    "semicolons.csv": lambda frame, path: frame.to_csv(
        path, index=False, sep=";", decimal=","
    ),
    "bom.csv": lambda frame, path: frame.to_csv(
        path, index=False, encoding="utf-8-sig"
    ),
    "A.CSV": lambda frame, path: frame.to_csv(path, index=False),
}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_table(name, zipped, frame, tmp_path):
    """What pandas and pyarrow wrote is read back, gzipped or not."""
    path = tmp_path / name
    WRITERS[name](frame, path)
    if zipped:
        content = path.read_bytes()
        path = tmp_path / f"{name}.gz"
        path.write_bytes(gzip.compress(content, mtime=0))

    actual, _ = read_table(str(path))

    pd.testing.assert_frame_equal(actual, frame, check_dtype=False)
    assert actual.dtypes["x"].kind == "f"
    assert actual.dtypes["n"].kind == "i"


def test_a_named_index_is_a_column_and_row_numbers_are_not(frame, tmp_path):
    named = frame.set_index("word")
    named.to_parquet(tmp_path / "named.parquet")
    frame.to_csv(tmp_path / "numbered.csv")

    with_name, _ = read_table(str(tmp_path / "named.parquet"))
    numbered, notes = read_table(str(tmp_path / "numbered.csv"))

    assert sorted(with_name.columns) == sorted(frame.columns)
    assert list(numbered.columns) == list(frame.columns)
    assert "row numbers" in notes[0]


@pytest.mark.parametrize(
    "content",
    ["x,y\n1,2,\n3,4,\n", "x;y\r\n1;2;\r\n3;4;\r\n", "x,y\n1,2,\n3,4\n"],
)
def test_marks_at_the_end_of_lines_shift_no_column(content, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(content, encoding="utf-8", newline="")
    frame, _ = read_table(str(path))
    assert frame.to_dict("list") == {"x": [1, 3], "y": [2, 4]}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"x,y\n", "no rows"),
        ("a.csv", b"x,y\n1,2\n1,2,3\n", "line 3"),
        ("a.csv", b"x,y\n1,2,3\n1,2,4\n", "more fields than its header"),
        ("a.csv", b"x,y\n1,2,\n1,2,4\n", "more fields than its header"),
        ("a.csv", b"x;y\nr1;r2;1;2\n", "more fields than its header"),
        ("a.csv", "x\nü\n".encode("latin-1"), "not written in UTF-8 (line 2)"),
        ("a.csv.gz", gzip.compress(b"x,y\n1,2\n" * 99, mtime=0)[:30], "cut off"),
        ("a.parquet", b"PAR1 and nothing more", "not a valid Parquet"),
        ("a.arrow", b"no arrow at all", "not a valid Arrow"),
        ("a.xlsx", b"PK", "no known ending"),
        ("a", b"x", "no known ending"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(name, content, words, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidInputError) as caught:
        read_table(str(path))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named():
    with pytest.raises(InvalidInputError, match="cannot be read: No such file"):
        read_table("nowhere.csv")


def test_two_columns_of_one_name_are_refused(tmp_path):
    table = pa.table([pa.array([1]), pa.array([2])], names=["x", "x"])
    path = tmp_path / "twice.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as to:
        to.write_table(table)
    with pytest.raises(InvalidInputError, match="more than one column 'x'"):
        read_table(str(path))


@pytest.mark.parametrize("kind", [pa.int64(), pa.list_(pa.int64())])
def test_long_names_of_columns_are_cut(kind, tmp_path):
    columns = [pa.array([None], kind)] * 2
    path = tmp_path / "long.parquet"
    pq.write_table(pa.table(columns, names=["w" * 5000] * 2), path)
    with pytest.raises(InvalidInputError, match="w…'") as caught:
        read_table(str(path))
    assert len(str(caught.value).replace(str(path), "")) < 500


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("note", [b"{", b"[]", b"\xff", b"[" * 100_000])
def test_notes_that_pandas_did_not_write_are_one_sentence(note, ending, tmp_path):
    path = tmp_path / f"notes.{ending}"
    table = pa.table({"a": [1]}).replace_schema_metadata({b"pandas": note})
    if ending == "parquet":
        pq.write_table(table, path)
    else:
        feather.write_feather(table, path)
    with pytest.raises(InvalidInputError, match="notes for pandas make no sense"):
        read_table(str(path))


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_name_of_any_bytes_is_one_sentence(ending, tmp_path):
    path = tmp_path / f"name.{ending}"
    table = pa.table({"a column": [1]})
    if ending == "parquet":
        pq.write_table(table, path, store_schema=False)
    else:
        feather.write_feather(table, path)
    path.write_bytes(path.read_bytes().replace(b"a column", b"a col\xffmn"))
    with pytest.raises(InvalidInputError, match="name in it is not written in UTF-8"):
        read_table(str(path))


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of memory there")
def test_a_table_that_does_not_fit_into_memory_is_told(tmp_path):
    """A small gzip of 256 megabytes, and less than that to be had."""
    path = tmp_path / "zeros.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(64):
            file.write(bytes(2**22))
    code = (
        "import resource, sys; import pandas; from cvst.cli.table import read_table;"
        "size = int(open('/proc/self/statm').read().split()[0]) * 4096 + 2**27;"
        "resource.setrlimit(resource.RLIMIT_AS, (size, size));"
        "read_table(sys.argv[1])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    last = ended.stderr.strip().splitlines()[-1]
    assert last.startswith("cvst.exceptions.InvalidInputError: The data file ")
    assert "does not fit into the memory of this machine" in last
