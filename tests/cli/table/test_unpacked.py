"""Small files of large tables, and files that lie about what they hold."""

from __future__ import annotations

import gzip
import struct
import subprocess
import sys
from contextlib import contextmanager, suppress
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from cvst.cli.table import ColumnOptions, _reading, learning_problem
from cvst.cli.table._reading import read_table
from cvst.exceptions import InvalidInputError


def test_a_small_parquet_of_very_many_rows_is_refused(tmp_path, monkeypatch):
    """Equal values take next to nothing in the file, and much memory when read."""
    monkeypatch.setattr(_reading, "MOST_BYTES", 1_000_000)
    path = tmp_path / "bomb.parquet"
    pd.DataFrame({"a": np.zeros(200_000)}).to_parquet(path)
    assert path.stat().st_size < 100_000
    with pytest.raises(InvalidInputError, match=r"200,000 rows of 1 columns"):
        read_table(str(path))


def unread(table):
    """Return the columns that were left in the file."""
    left_out = list(table.attrs["unread"])
    assert not set(left_out) & set(table.columns)
    return left_out


def zipped_table(path, write):
    with gzip.open(path, "wb") as file:
        write(file)


def long_text(path):
    """Write one text of 200,000 letters 20 times, as a number that stands for it."""
    table = pa.table({"a": range(20), "t": ["x" * 200_000] * 20})
    pq.write_table(table, path, use_dictionary=["t"])


def long_category(path):
    table = pa.table({"t": pa.array(["x" * 200_000] * 20).dictionary_encode()})
    pq.write_table(table, path)


def long_category_of_arrow(path):
    table = pa.table({"t": pa.array(["x" * 200_000] * 20).dictionary_encode()})
    feather.write_feather(table, path)


def texts_that_differ(path):
    """Write long texts one by one, which compress well."""
    texts = [f"{'x' * 200_000}{number}" for number in range(20)]
    pq.write_table(
        pa.table({"t": texts}), path, use_dictionary=False, compression="zstd"
    )


def views(kind=None, n_views=20):
    """Return a text of 200,000 letters many times, each of them 16 bytes."""
    kind = kind or pa.string_view()
    text = b"x" * 200_000
    view = struct.pack("<i4sii", len(text), text[:4], 0, 0)
    buffers = [None, pa.py_buffer(view * n_views), pa.py_buffer(text)]
    return pa.Array.from_buffers(kind, n_views, buffers)


def write_arrow(path, values, new=pa.ipc.new_file, **options):
    batch = pa.record_batch({"t": values})
    options = pa.ipc.IpcWriteOptions(**options)
    with new(str(path), batch.schema, options=options) as to:
        to.write_batch(batch)


def long_views_in_parquet(path):
    pq.write_table(pa.table({"t": views()}), path)


def category_of_views(path):
    codes = pa.array([0] * 20, pa.int8())
    write_arrow(path, pa.DictionaryArray.from_arrays(codes, views(n_views=1)))


def growing_dictionary(path):
    """Write a stream in which each batch adds a text to those of the batches before."""
    texts = [f"{number:03}{'x' * 3_000}" for number in range(80)]
    schema = pa.schema({"t": pa.dictionary(pa.int8(), pa.string())})
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with pa.ipc.new_stream(str(path), schema, options=options) as to:
        for last in range(len(texts)):
            values = pa.DictionaryArray.from_arrays(
                pa.array([last], pa.int8()), pa.array(texts[: last + 1])
            )
            to.write_batch(pa.record_batch([values], schema=schema))


def decimals(path):
    """Write numbers of which each is an object of Python."""
    values = pa.array([Decimal("1.5")] * 20_000)
    pq.write_table(pa.table({"a": values}), path)


def fixed_texts(path):
    values = pa.array([b"x" * 50_000] * 40, pa.binary(50_000))
    pq.write_table(pa.table({"a": values}), path, use_dictionary=True)


def zeros(path, new=pa.ipc.new_file, compression="zstd", n_batches=1):
    batch = pa.record_batch({"a": np.zeros(200_000 // n_batches)})
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with new(str(path), batch.schema, options=options) as to:
        for _ in range(n_batches):
            to.write_batch(batch)


def gaps_only(path):
    """Write a column without a type, which takes no bytes at all."""
    batch = pa.record_batch({"a": pa.nulls(200_000)})
    with pa.ipc.new_file(str(path), batch.schema) as to:
        to.write_batch(batch)


def dictionary_of_zeros(path):
    values = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["0" * 1_200_000]))
    feather.write_feather(pa.table({"a": values}), path, compression="zstd")


BOMBS = {
    "long text.parquet": long_text,
    "long category.parquet": long_category,
    "long category.feather": long_category_of_arrow,
    "texts that differ.parquet": texts_that_differ,
    "views.parquet": long_views_in_parquet,
    "views.arrow": lambda path: write_arrow(path, views()),
    "views of bytes.arrow": lambda path: write_arrow(path, views(pa.binary_view())),
    "stream of views.arrow": lambda path: write_arrow(
        path, views(), new=pa.ipc.new_stream
    ),
    "packed views.arrow": lambda path: write_arrow(path, views(), compression="zstd"),
    "category of views.arrow": category_of_views,
    "growing dictionary.arrow": growing_dictionary,
    "decimals.parquet": decimals,
    "fixed texts.parquet": fixed_texts,
    "zeros.feather": zeros,
    "lz4.feather": lambda path: zeros(path, compression="lz4"),
    "batches.feather": lambda path: zeros(path, n_batches=50),
    "stream.arrow": lambda path: zeros(path, new=pa.ipc.new_stream),
    "gaps.arrow": gaps_only,
    "dictionary.feather": dictionary_of_zeros,
    "zeros.csv.gz": lambda path: zipped_table(
        path, lambda file: file.write(b"a,b\n" + b"0,0\n" * 400_000)
    ),
}

# One is not read by Arrow, some grow when they become a data frame, and categories when
# a model reads them.
WITHOUT_ARROW = {
    "zeros.csv.gz",
    "gaps.arrow",
    "decimals.parquet",
    "views of bytes.arrow",
    "category of views.arrow",
    "long category.parquet",
    "long category.feather",
}


# Threads of Arrow may give memory back a moment after a table is read: the pool must
# still be there.
POOLS = []


@contextmanager
def watched_arrow():
    """Hand out a pool that knows how much Arrow has held at most meanwhile."""
    usual = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(usual)
    POOLS.append(pool)
    pa.set_memory_pool(pool)
    try:
        yield pool
    finally:
        pa.set_memory_pool(usual)


def assert_refused_unread(path, monkeypatch):
    monkeypatch.setattr(_reading, "MOST_BYTES", 1_000_000)
    with (
        watched_arrow() as pool,
        pytest.raises(InvalidInputError, match=r"1,000,000 bytes when unpacked\. Keep"),
    ):
        read_table(str(path))
    assert pool.max_memory() < 1_000_000


@pytest.mark.parametrize("name", BOMBS)
def test_small_files_of_large_tables_are_refused_unread(name, tmp_path, monkeypatch):
    """What would take more than the limit never takes that much."""
    path = tmp_path / name
    BOMBS[name](path)
    assert path.stat().st_size < 300_000
    assert_refused_unread(path, monkeypatch)
    monkeypatch.setattr(_reading, "MOST_BYTES", 50_000_000)
    with watched_arrow() as pool:
        assert len(read_table(str(path))[0]) > 0
    if name not in WITHOUT_ARROW:
        assert pool.max_memory() > 1_000_000


def repeated():
    """Return one text of 200,000 letters 20 times, as a number that stands for it."""
    return pa.array(["x" * 200_000] * 20).dictionary_encode()


def runs():
    return pa.RunEndEncodedArray.from_arrays([20], ["x" * 200_000])


def dictionary_of_lists():
    lists = pa.array([["x" * 200_000]])
    return pa.DictionaryArray.from_arrays(pa.array([0] * 20, pa.int8()), lists)


STARTS = pa.array(range(21), pa.int32())

# Each takes four megabytes once it is a data frame.
NESTED = {
    "list.parquet": lambda: pa.ListArray.from_arrays(STARTS, repeated()),
    "struct.parquet": lambda: pa.StructArray.from_arrays([repeated()], ["part"]),
    "map.parquet": lambda: pa.MapArray.from_arrays(STARTS, repeated(), repeated()),
    "zeros.parquet": lambda: pa.array([[0] * 25_000] * 20),
    "json.parquet": lambda: pa.ExtensionArray.from_storage(
        pa.json_(), pa.array([f'"{"x" * 200_000}"'] * 20)
    ),
    "list.arrow": lambda: pa.ListArray.from_arrays(STARTS, views()),
    "struct.arrow": lambda: pa.StructArray.from_arrays([repeated()], ["part"]),
    "list view.arrow": lambda: pa.ListViewArray.from_arrays(
        pa.array([0] * 20, pa.int32()),
        pa.array([25_000] * 20, pa.int32()),
        pa.array([0] * 25_000, pa.int64()),
    ),
    "runs.arrow": runs,
    "union.arrow": lambda: pa.UnionArray.from_sparse(
        pa.array([0] * 20, pa.int8()), [repeated()]
    ),
    "dictionary of lists.arrow": dictionary_of_lists,
    "extension.arrow": lambda: pa.ExtensionArray.from_storage(
        pa.opaque(pa.string_view(), "text", "someone"), views()
    ),
}


def write_nested(name, path):
    table = pa.table({"a": range(20), "n": NESTED[name](), "t": ["b"] * 20})
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as to:
            to.write_table(table)


@pytest.mark.parametrize("name", NESTED)
def test_nested_columns_are_named_and_never_read(name, tmp_path, monkeypatch):
    """No model reads them: they are refused, or left out, before they are unpacked."""
    path = tmp_path / name
    write_nested(name, path)
    assert path.stat().st_size < 450_000
    monkeypatch.setattr(_reading, "MOST_BYTES", 1_000_000)
    with watched_arrow() as pool:
        with pytest.raises(
            InvalidInputError,
            match=r"'n' holds neither numbers nor text \(\w+\)\. Leave",
        ):
            read_table(str(path))
        table, _ = read_table(str(path), {"n"})
    assert pool.max_memory() < 1_000_000
    assert table["a"].tolist() == list(range(20))
    assert table["t"].tolist() == ["b"] * 20
    assert unread(table) == ["n"]


@pytest.mark.parametrize("inner", ["b", "b.c"])
def test_a_plain_column_does_not_stand_for_the_parts_of_a_nested_one(inner, tmp_path):
    """Parquet finds columns by paths, in which a dot may be part of a name."""
    path = tmp_path / "paths.parquet"
    value = "x" if inner == "b" else {"c": "x"}
    table = pa.table({"a": [{"b": value}], "a.b": ["y"]})
    pq.write_table(table, path)
    assert pq.ParquetFile(path).read(columns=["a.b"]).num_columns == 2
    with pytest.raises(InvalidInputError, match="two of its columns have the path"):
        read_table(str(path), {"a"})


def test_dots_in_names_are_no_parts(tmp_path):
    path = tmp_path / "dots.parquet"
    plain = {"a.b": ["y"], "a.b.c": ["z"], "b": [2]}
    pq.write_table(pa.table({"a": [{"d": 1}], **plain, "b.c": [["x"]]}), path)
    actual, _ = read_table(str(path), {"a", "b.c"})
    assert actual[list(plain)].to_numpy().tolist() == [["y", "z", 2]]


def test_nothing_but_nested_columns_is_no_table(tmp_path):
    path = tmp_path / "lists.arrow"
    write_arrow(path, pa.array([["x"]]))
    with pytest.raises(InvalidInputError, match="No column of the data file"):
        read_table(str(path), {"t"})


@pytest.mark.parametrize("places", [(0, 1, 2**24, 4), (0, 3, 1, 4), (0, 1, -9, 4)])
def test_texts_that_are_not_where_they_say_are_refused(places, tmp_path):
    """Arrow trusts the places of texts and would read whatever lies there."""
    path = tmp_path / "beyond.arrow"
    write_arrow(path, pa.array(["a", "bb", "c"]))
    true = struct.pack("<4i", 0, 1, 3, 4)
    content = path.read_bytes()
    assert content.count(true) == 1
    path.write_bytes(content.replace(true, struct.pack("<4i", *places)))
    with pytest.raises(InvalidInputError, match="not a valid Arrow file"):
        read_table(str(path))


@pytest.mark.parametrize("code", [3, -1])
def test_categories_that_do_not_exist_are_refused(code, tmp_path):
    path = tmp_path / "beyond.arrow"
    codes = pa.array([0, 1, 2, 1, 2, 1, 0, 2], pa.int8())
    write_arrow(path, pa.DictionaryArray.from_arrays(codes, ["a", "b", "c"]))
    true = bytes(codes.to_pylist())
    content = path.read_bytes()
    assert content.count(true) == 1
    path.write_bytes(content.replace(true, true[:-1] + struct.pack("b", code)))
    with pytest.raises(InvalidInputError, match="not a valid Arrow file"):
        read_table(str(path))


def test_a_gzip_is_counted_in_blocks_before_it_is_read(tmp_path, monkeypatch):
    """Forty megabytes are refused with a few in memory."""
    path = tmp_path / "zeros.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"0,0\n" * 10**7))
    monkeypatch.setattr(_reading, "MOST_BYTES", 30_000_000)
    sizes = []
    read = gzip.GzipFile.read

    def counted(self, size=-1):
        block = read(self, size)
        sizes.append(len(block))
        return block

    monkeypatch.setattr(gzip.GzipFile, "read", counted)
    with pytest.raises(InvalidInputError, match="30,000,000 bytes when unpacked"):
        read_table(str(path))
    assert max(sizes) < 6_000_000
    assert sum(sizes) < 36_000_000


def listed_elsewhere(path, choose):
    """Write two batches, and list another place for the second."""
    zeros(path, n_batches=2)
    content = bytearray(path.read_bytes())
    mark = b"\xff\xff\xff\xff"
    starts = [at for at in range(0, len(content), 8) if content[at : at + 4] == mark]
    _, first, second, _ = starts
    place = content.rindex(second.to_bytes(8, "little"))
    content[place : place + 8] = choose(first).to_bytes(8, "little")
    path.write_bytes(content)


def test_a_batch_that_is_listed_twice_counts_twice(tmp_path, monkeypatch):
    """The list is at the end of the file, and each batch is read as often as listed."""
    path = tmp_path / "twice.feather"
    listed_elsewhere(path, lambda first: first)
    assert len(read_table(str(path))[0]) == 200_000
    monkeypatch.setattr(_reading, "MOST_BYTES", 1_200_000)  # once would be 800,000
    with (
        watched_arrow() as pool,
        pytest.raises(InvalidInputError, match=r"1,200,000 bytes when unpacked\. Keep"),
    ):
        read_table(str(path))
    assert pool.max_memory() < 1_200_000


def test_a_batch_that_is_not_in_the_file_is_told(tmp_path):
    path = tmp_path / "nowhere.feather"
    listed_elsewhere(path, lambda first: 2**40)
    with pytest.raises(InvalidInputError, match="it lists parts that it does not have"):
        read_table(str(path))


def test_a_batch_behind_the_end_of_the_stream_is_counted(tmp_path, monkeypatch):
    """The list of a file may name a large batch that is not where batches are."""
    path = tmp_path / "hidden.feather"
    small, large = (pa.record_batch({"a": np.zeros(n)}) for n in (10, 200_000))
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(str(path), small.schema, options=options) as to:
        to.write_batch(small)
        to.write_batch(large)
    content = path.read_bytes()
    mark = b"\xff\xff\xff\xff"
    starts = [at for at in range(0, len(content), 8) if content[at : at + 4] == mark]
    _, first, second, _ = starts
    before = content[first:second] + mark + bytes(4)
    end = content[second:].replace(
        second.to_bytes(8, "little"), (second + len(before)).to_bytes(8, "little")
    )
    path.write_bytes(content[:second] + before + end)
    assert len(read_table(str(path))[0]) == 200_010
    assert_refused_unread(path, monkeypatch)


def test_a_part_of_less_than_no_bytes_makes_up_for_nothing(tmp_path, monkeypatch):
    """Sizes are what a file says, and those of its parts are added up."""
    path = tmp_path / "negative.arrow"
    batch = pa.record_batch({"a": ["0" * 1_200_000], "b": ["1" * 100]})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(str(path), batch.schema, options=options) as to:
        to.write_batch(batch)
    content = path.read_bytes()
    *_, message = pa.ipc.MessageReader.open_stream(content)
    notes = message.metadata.to_pybytes()
    # The last part ends with the batch, but for bytes that fill it up.
    *_, place = [
        at
        for at in range(0, len(notes) - 16, 4)
        if min(part := struct.unpack_from("<qq", notes, at)) > 0
        and 0 <= message.body.size - sum(part) < 8
    ]
    body = message.body.to_pybytes()
    patched = bytearray(content)
    # It says so twice: in the notes, and at the start of the part itself.
    start = content.index(body) + struct.unpack_from("<q", notes, place)[0]
    struct.pack_into("<q", patched, content.index(notes) + place + 8, -(10**12))
    struct.pack_into("<q", patched, start, -(10**12))
    path.write_bytes(patched)
    monkeypatch.setattr(_reading, "MOST_BYTES", 1_000_000)
    with (
        watched_arrow() as pool,
        pytest.raises(InvalidInputError, match="1,000,000 bytes when unpacked"),
    ):
        read_table(str(path))
    assert pool.max_memory() < 1_000_000


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_files_without_a_stream_are_read_by_their_list(compression, tmp_path):
    """As polars writes them; with dictionaries, texts and gaps."""
    polars = pytest.importorskip("polars")
    path = tmp_path / "a.arrow"
    kinds = polars.Series(["u", "v", "u"], dtype=polars.Categorical)
    columns = {"a": [1.0, 2.0, 3.0], "t": ["x", None, "y"], "k": kinds}
    polars.DataFrame(columns).write_ipc(path, compression=compression)
    frame, _ = read_table(str(path))
    assert frame["a"].tolist() == columns["a"]
    assert frame["t"].tolist()[::2] == ["x", "y"]
    assert pd.isna(frame["t"][1])
    assert frame["k"].tolist() == ["u", "v", "u"]


def test_files_without_a_stream_are_counted_before_they_are_read(tmp_path, monkeypatch):
    polars = pytest.importorskip("polars")
    path = tmp_path / "zeros.arrow"
    polars.DataFrame({"a": np.zeros(200_000)}).write_ipc(path, compression="zstd")
    assert path.stat().st_size < 50_000
    monkeypatch.setattr(_reading, "MOST_BYTES", 1_000_000)
    with pytest.raises(
        InvalidInputError, match=r"1,000,000 bytes when unpacked\. Keep"
    ):
        read_table(str(path))


def test_a_damaged_list_is_read_or_refused_in_a_sentence(tmp_path):
    polars = pytest.importorskip("polars")
    path = tmp_path / "lies.arrow"
    polars.DataFrame({"a": [1.0, 2.0]}).write_ipc(path)
    content = bytearray(path.read_bytes())
    for place in range(len(content) - 300, len(content) - 10):
        changed = bytearray(content)
        changed[place] ^= 0x40
        path.write_bytes(changed)
        with suppress(InvalidInputError):
            read_table(str(path))


def test_a_nested_column_of_any_name_is_left_out(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"self": [[1], [2]], "b": [1, 2]}).to_parquet(path)
    frame, _ = read_table(str(path), {"self"})
    assert frame["b"].tolist() == [1, 2]
    assert unread(frame) == ["self"]


def test_types_that_cannot_be_made_are_told(tmp_path):
    """Intervals: pandas cannot make them again from what Arrow notes of them."""
    path = tmp_path / "a.feather"
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    frame.assign(p=pd.cut(frame["a"], 3)).to_feather(path)
    with pytest.raises(InvalidInputError, match=r"cannot be read|neither numbers nor"):
        read_table(str(path))


READ_ALL = """
import io, sys
import pandas as pd
from cvst.cli.table._reading import read_table
from cvst.exceptions import InvalidInputError

table = pd.DataFrame({"a": [1.5, 2.0, 3.0] * 4, "c": ["x", "yy", "zzz"] * 4})
kept = io.BytesIO()
table.to_parquet(kept)
whole = kept.getvalue()
end = int.from_bytes(whole[-8:-4], "little")
counts = {True: 0, False: 0}
for place in range(len(whole) - 8 - end, len(whole) - 8, 2):
    damaged = bytearray(whole)
    damaged[place] ^= (1, 16, 128)[place % 3]
    with open(sys.argv[1], "wb") as file:
        file.write(damaged)
    try:
        read_table(sys.argv[1])
        counts[True] += 1
    except InvalidInputError:
        counts[False] += 1
assert counts[True] > 50 and counts[False] > 50, counts
"""


def test_a_damaged_description_is_read_or_refused_in_a_sentence(tmp_path):
    """In a process of its own: pyarrow ends it if asked for what it cannot read."""
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL, str(tmp_path / "damaged.parquet")],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_texts_count_once(tmp_path, monkeypatch):
    path = tmp_path / "texts.parquet"
    texts = [f"{number:0200}" for number in range(10_000)]
    pd.DataFrame({"c": texts}).to_parquet(path)
    # Eight bytes for each, and the 200 that they have.
    for limit, fits in ((2_100_000, True), (2_079_999, False)):
        monkeypatch.setattr(_reading, "MOST_BYTES", limit)
        if fits:
            assert len(read_table(str(path))[0]) == 10_000
        else:
            with pytest.raises(InvalidInputError, match="when unpacked"):
                read_table(str(path))


def test_no_more_rows_are_read_than_were_counted(tmp_path):
    """The file says how many rows it has, and its parts say it again."""
    path = tmp_path / "more.parquet"
    pq.write_table(pa.table({"a": np.zeros(300_000)}), path)
    content = path.read_bytes()
    # The first of these numbers, doubled as Thrift does with those that have a sign.
    count, fewer = varint(2 * 300_000), varint(2 * 200_000)
    path.write_bytes(content.replace(count, fewer, 1))
    assert pq.ParquetFile(path).metadata.num_rows == 200_000
    with pytest.raises(InvalidInputError, match="it has more rows than it says"):
        read_table(str(path))


def write_long_texts(path, n_rows):
    texts = [f"{number:02000}" for number in range(n_rows)]
    columns = {"a": np.arange(n_rows), "c": ["b"] * n_rows, "t": texts}
    # As they are: a dictionary of different texts would only be larger.
    pq.write_table(pa.table(columns), path, use_dictionary=["c"], compression="zstd")


def test_columns_that_are_left_out_are_not_read(tmp_path, monkeypatch):
    """Nor do they count, whatever the file says of all its columns."""
    path = tmp_path / "texts.parquet"
    write_long_texts(path, 5000)
    assert path.stat().st_size < 1_000_000
    assert_refused_unread(path, monkeypatch)
    with watched_arrow() as pool:
        table, _ = read_table(str(path), {"t"})
    assert pool.max_memory() < 1_000_000
    assert table["a"].tolist() == list(range(5000))
    assert set(table["c"]) == {"b"}
    assert unread(table) == ["t"]
    with pytest.raises(InvalidInputError, match="No column of the data file"):
        read_table(str(path), {"a", "c", "t"})


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_columns_that_are_left_out_take_no_memory(tmp_path, ending):
    """However many: empty columns of a small file could fill it."""
    path, n_rows = tmp_path / f"many.{ending}", 20_000
    names = [f"c{number}" for number in range(300)]
    rows = pa.array(np.zeros(n_rows, dtype=np.int8))
    table = pa.table(
        {"y": np.arange(n_rows) % 2, "x": rows, **dict.fromkeys(names, rows)}
    )
    write = pq.write_table if ending == "parquet" else feather.write_feather
    write(table, path)
    read, _ = read_table(str(path), set(names))
    assert read.memory_usage(deep=True).sum() < 20 * n_rows
    assert unread(read) == names
    learning = learning_problem(read, ColumnOptions("y", drop=names))
    assert list(learning.X.columns) == ["x"]
    with pytest.raises(InvalidInputError, match="have no column 'c300'"):
        learning_problem(read, ColumnOptions("y", drop=[*names, "c300"]))


def test_columns_with_names_of_several_parts_may_be_left_out(tmp_path):
    path = tmp_path / "parts.parquet"
    names = pd.MultiIndex.from_product([["a", "b"], ["u", "v"]])
    pd.DataFrame(np.zeros((9, 4)), columns=names).to_parquet(path)
    table, _ = read_table(str(path), {"('a', 'u')"})
    assert list(table.columns) == ["('a', 'v')", "('b', 'u')", "('b', 'v')"]
    assert unread(table) == ["('a', 'u')"]


def test_a_large_text_file_is_told_what_can_leave_columns_out(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("a,t\n1,2\n")
    monkeypatch.setattr(_reading, "MOST_BYTES", 5)
    with pytest.raises(InvalidInputError, match=r"columns\. Of a Parquet file, what"):
        read_table(str(path), {"t"})


def test_a_named_index_may_be_left_out(tmp_path):
    path = tmp_path / "index.parquet"
    index = pd.Index(list("xyz"), name="who")
    pd.DataFrame({"a": [1, 2, 3]}, index=index).to_parquet(path)
    table, _ = read_table(str(path), {"who"})
    assert table["a"].tolist() == [1, 2, 3]
    assert unread(table) == ["who"]


def test_a_column_may_be_left_out_whose_name_continues_that_of_another(tmp_path):
    path = tmp_path / "dots.parquet"
    pq.write_table(pa.table({"a.b": ["y"], "a.b.c": ["z"], "a": [2]}), path)
    table, _ = read_table(str(path), {"a.b.c"})
    assert table[["a.b", "a"]].to_numpy().tolist() == [["y", 2]]
    assert unread(table) == ["a.b.c"]


def test_false_sizes_of_texts_are_found_out_early(tmp_path, monkeypatch):
    """Within some thousand rows, before 80 MB are in memory, some of them twice."""
    path = tmp_path / "false.parquet"
    write_long_texts(path, 40_000)
    content = path.read_bytes()
    stated = varint(2 * pq.ParquetFile(path).metadata.row_group(0).total_byte_size)
    nothing = bytes([128] * (len(stated) - 1) + [0])
    assert content.count(stated) == 1
    path.write_bytes(content.replace(stated, nothing))
    assert pq.ParquetFile(path).metadata.row_group(0).total_byte_size == 0
    monkeypatch.setattr(_reading, "MOST_BYTES", 10_000_000)
    with (
        watched_arrow() as pool,
        pytest.raises(InvalidInputError, match="when unpacked"),
    ):
        read_table(str(path))
    assert pool.max_memory() < 90_000_000


def varint(number):
    """Return a number as Thrift's compact protocol writes it."""
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])
