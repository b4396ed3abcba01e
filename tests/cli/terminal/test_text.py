from __future__ import annotations

import pytest

from cvst.cli.terminal._text import duration, parse_duration, table
from cvst.exceptions import InvalidInputError


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.00123, "0.0012 s"),
        (0.994, "0.99 s"),
        (0.996, "1.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min"),
        (61, "1 min 1 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h"),
        (5400, "1 h 30 min"),
        (360_000, "100 h"),
    ],
)
def test_times_are_written_as_people_say_them(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("10m", 600),
        ("1h30m", 5400),
        ("1.5 h", 5400),
        ("2d", 172_800),
        ("5", 5),
    ],
)
def test_times_are_read(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["soon", "10x", "1h 5", "", "0s", "-1", "inf", "nan"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(InvalidInputError, match="no time"):
        parse_duration(text)


def test_columns_of_a_table_stand_under_each_other():
    text = table(["step", "who"], [[1, "a"], [1000, "long name"]], left=["who"])
    assert text.split("\n") == [" step  who", "    1  a", "1,000  long name"]
