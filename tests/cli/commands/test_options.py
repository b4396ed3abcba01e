from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from cvst.cli import build_parser
from cvst.cli.commands._options import (
    DEFAULT_STRATEGY,
    FORMERLY,
    STRATEGIES,
    parse_duration,
    workers,
)
from cvst.exceptions import InvalidInputError
from cvst.search import DEFAULT_STRATEGY as DEFAULT_OF_THE_SEARCH
from cvst.search import STRATEGIES as STRATEGIES_OF_THE_SEARCH


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


@pytest.mark.parametrize(
    "text", ["soon", "10x", "1h 5", "", "0s", "-1", "inf", "nan", "1e308", "99999d"]
)
def test_what_is_no_time_is_refused(text):
    with pytest.raises(InvalidInputError, match="not a time"):
        parse_duration(text)


@pytest.mark.parametrize(
    "text", ["0", "many", "1.5", "10001", "9" * 30, "-" + "9" * 30]
)
def test_what_is_no_number_of_workers_is_refused(text):
    with pytest.raises(ArgumentTypeError, match=r"not a number of workers\. Use 1 to"):
        workers(text)


@pytest.mark.parametrize("count", [1, -1, -2, 10_000])
def test_numbers_of_workers_are_read(count):
    assert workers(str(count)) == count


def test_strategies_are_those_of_the_search():
    """They are written out twice, so that the help need not import the search."""
    assert tuple(STRATEGIES_OF_THE_SEARCH) == STRATEGIES
    assert DEFAULT_OF_THE_SEARCH == DEFAULT_STRATEGY


SEARCH = ["search", "d.csv", "-t", "y", "-m", "ridge"]
VALUES = {
    "--time-budget": "90s",
    "--survival-rate": "0.5",
    "--full-fit-time": "2s",
}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        *(
            (SEARCH, name)
            for name in (
                "--time-budget",
                "--max-steps",
                "--stopping-window",
                "--n-jobs",
                "--random-state",
            )
        ),
        *(
            (["plan"], name)
            for name in (
                "--time-budget",
                "--max-steps",
                "--n-configurations",
                "--full-fit-time",
                "--survival-rate",
                "--n-folds",
            )
        ),
        (["demo"], "--random-state"),
    ],
)
def test_older_spellings_mean_the_same(command, name):
    value = VALUES.get(name, "3")
    parser = build_parser()
    unset = parser.parse_args(command)
    expected = parser.parse_args([*command, name, value])
    assert expected != unset
    for spelling in FORMERLY[name]:
        assert parser.parse_args([*command, spelling, value]) == expected
        assert parser.parse_args([*command, f"{spelling}={value}"]) == expected


@pytest.mark.parametrize("command", ["search", "plan", "demo"])
def test_older_spellings_are_in_no_help(command, cvst):
    words = cvst(command, "--help").out.replace("=", " ").split()
    old = {spelling for names in FORMERLY.values() for spelling in names}
    assert "--json" in words
    assert not old & set(words)
