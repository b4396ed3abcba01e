"""Values as text for people."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import mean_squared_error

from cvst._text import (
    at_least_seconds,
    configuration_text,
    seconds_text,
    value_text,
)


class Angry:
    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(1 / 3), "0.333333"),
        (np.int64(3), "3"),
        (None, "None"),
        (True, "True"),
        ("two\nlines", "two lines"),
        ("", "''"),
        ([1, 0.5, None], "[1, 0.5, None]"),
        (mean_squared_error, "mean_squared_error"),
        (RandomForestClassifier, "RandomForestClassifier"),
        (RandomForestClassifier(max_depth=3), "RandomForestClassifier(max_depth=3)"),
        (Angry(), "<Angry>"),
        ("x" * 200, "x" * 79 + "…"),
        ({"a": 10**5000}, "{a: 1e+5000}"),
    ],
)
def test_every_value_has_a_short_text_on_one_line(value, text):
    assert value_text(value) == text


def test_a_configuration_is_cut_where_asked():
    configuration = {"kernel": "rbf", "C": 10}
    assert configuration_text(configuration, 10) == "kernel=rb…"
    assert configuration_text(configuration) == "kernel=rbf, C=10"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (2.8e-5, "0.000028 s"),
        (9.99e-5, "0.0001 s"),
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
    assert seconds_text(seconds) == text


def seconds_of(text):
    """Read a time as people say it."""
    units = {"s": 1, "min": 60, "h": 3600}
    words = text.replace(",", "").split()
    return sum(
        float(number) * units[unit]
        for number, unit in zip(words[::2], words[1::2], strict=True)
    )


def test_times_that_must_be_enough_are_rounded_up():
    """By the last digit that is written, and never to a power of ten."""
    for seconds in 10.0 ** np.random.default_rng(0).uniform(-5, 6, 2000):
        text = at_least_seconds(seconds)
        assert "e" not in text
        assert seconds <= seconds_of(text) * (1 + 1e-12)
        hundredth = 0.01 if seconds >= 0.0049 else 1e-6
        assert seconds_of(text) <= max(seconds + hundredth, 1.11 * seconds)


@pytest.mark.parametrize(
    ("seconds", "text"), [(123.0, "2 min 3 s"), (7200, "2 h"), (0.985, "0.99 s")]
)
def test_times_that_are_enough_stay(seconds, text):
    assert at_least_seconds(seconds) == text


def test_a_dictionary_that_is_too_deep_has_a_text():
    value = 10**5000
    for _ in range(5000):
        value = {"a": value}
    assert value_text(value).startswith(("{a: ", "<dict>"))


def test_lists_that_hold_themselves_several_times_are_written_at_once():
    """Level by level there are three times as many, of which few are shown."""
    several = []
    several += [several] * 3
    text = value_text([several] * 1_000, max_length=300)
    assert text.startswith("[[[[[[[[<list>, <list>")
    assert len(text) == 300
    deep = {}
    deep |= {"again": deep, "more": [deep, deep, 10**5_000]}
    assert value_text(deep).startswith("{again: {again: {again: ")
