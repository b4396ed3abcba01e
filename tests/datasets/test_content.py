import gzip

import numpy as np
import pandas as pd
import pytest

from cvst.datasets._content import Table, read_table
from cvst.exceptions import DataUnavailableError


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return Table(rng.normal(size=(30, 3)), rng.normal(size=30), ("a", "b", "c"))


def write(path, text):
    path.write_bytes(gzip.compress(text.encode()))
    return path


def test_a_file_written_by_pandas_is_read_to_the_last_bit(tmp_path, table):
    """Witness: pandas writes shortest decimals that round to the same number."""
    frame = pd.DataFrame(table.data, columns=table.feature_names)
    frame["target"] = table.target
    frame.to_csv(tmp_path / "set.csv.gz", index=False)

    actual = read_table(tmp_path / "set.csv.gz")

    np.testing.assert_array_equal(actual.data, table.data)
    np.testing.assert_array_equal(actual.target, table.target)
    assert actual.feature_names == table.feature_names
    assert actual.checksum() == table.checksum()


def test_the_checksum_ignores_the_order_of_the_rows_and_nothing_else(table):
    """Any single changed bit, swapped column or moved label changes it."""
    order = np.random.default_rng(1).permutation(30)
    shuffled = Table(table.data[order], table.target[order], table.feature_names)
    assert shuffled.checksum() == table.checksum()

    changed = table.data.copy()
    changed[3, 1] = np.nextafter(changed[3, 1], np.inf)
    others = [
        Table(changed, table.target, table.feature_names),
        Table(table.data[:, ::-1], table.target, table.feature_names),
        Table(table.data, np.roll(table.target, 1), table.feature_names),
        Table(table.data[:-1], table.target[:-1], table.feature_names),
    ]
    assert table.checksum() not in [other.checksum() for other in others]


def test_the_two_zeros_have_one_checksum():
    """-0.0 equals 0.0, so the content is the same."""
    y = np.zeros(2)
    zero = Table(np.array([[0.0], [1.0]]), y, ("a",))
    negative = Table(np.array([[-0.0], [1.0]]), y, ("a",))

    assert zero.checksum() == negative.checksum()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a,b\n1,2\n", "the last being 'target'"),
        ("target\n1,2\n", "one name per column"),
        ("a,target\n1,yes\n", "cannot be read"),
        ("a,target\n1,2\n3\n", "cannot be read"),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path, text, complaint):
    """The message names the file."""
    path = write(tmp_path / "set.csv.gz", text)

    with pytest.raises(DataUnavailableError, match=complaint) as caught:
        read_table(path)
    assert str(path) in str(caught.value)


def test_a_damaged_archive_is_refused(tmp_path):
    """Cut short, not compressed, or with a broken stream."""
    good = gzip.compress(b"a,target\n" + b"1,2\n" * 500)
    broken = bytearray(good)
    broken[20] ^= 0xFF
    for content in (good[:-12], b"a,target\n1,2\n", bytes(broken)):
        path = tmp_path / "set.csv.gz"
        path.write_bytes(content)
        with pytest.raises(DataUnavailableError, match="cannot be read"):
            read_table(path)
