from __future__ import annotations

import contextlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvst.cli.grid._grammar import GridSyntaxError, parse_grid, parse_value
from cvst.cli.grid._ranges import LARGEST

NUMBERS = st.one_of(
    st.integers(-(10**9), 10**9), st.floats(allow_nan=False, allow_infinity=False)
)
TEXTS = st.text(min_size=0, max_size=8)
CONSTANTS = st.sampled_from([True, False, None])
NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)


@given(st.dictionaries(NAMES, st.lists(NUMBERS | TEXTS | CONSTANTS, min_size=1)))
def test_values_come_back_as_written(grid):
    """Written as JSON (whose lists and strings are ours too), a grid is read back."""
    if not grid:
        return
    quoted = str.maketrans({"\\": "\\\\", '"': '\\"'})

    def write(value):
        if isinstance(value, str):
            return f'"{value.translate(quoted)}"'
        return json.dumps(value)

    text = " ".join(
        f"{name}=[{', '.join(map(write, values))}]" for name, values in grid.items()
    )

    [part] = parse_grid(text)

    assert {entry.name: entry.values for entry in part} == grid
    for entry in part:
        expected = [type(value) for value in grid[entry.name]]
        assert [type(value) for value in entry.values] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("logspace(-3, 3, 61)", np.logspace(-3, 3, 61)),
        ("logspace(-5, 15, 11, base=2)", np.logspace(-5, 15, 11, base=2)),
        ("linspace(0.1,0.9,9)", np.linspace(0.1, 0.9, 9)),
        ("geomspace(1e-2, 10, 4)", np.geomspace(1e-2, 10, 4)),
        ("range(5)", [0, 1, 2, 3, 4]),
        ("range(1, 10, 3)", [1, 4, 7]),
        ("range(10, 0, -4)", [10, 6, 2]),
        ("[0, logspace(0, 2, 3), 5]", [0, 1.0, 10.0, 100.0, 5]),
        ("7", [7]),
        ("uniform", ["uniform"]),
        ("newton-cg", ["newton-cg"]),
        ("None", [None]),
        ("[(50,), (100, 50), (3)]", [(50,), (100, 50), 3]),
    ],
)
def test_values_mean_what_numpy_and_python_mean(text, expected):
    values = parse_value(text)
    assert values == list(expected)
    assert all(not isinstance(value, np.generic) for value in values)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("uniform(-2, 3)", -2, 3),
        ("loguniform(1e-3, 1e3)", 1e-3, 1e3),
        ("randint(1, 5)", 1, 4),
    ],
)
def test_distributions_have_the_written_support(text, low, high):
    assert parse_value(text).distribution.support() == pytest.approx((low, high))


def test_parts_are_grids_of_their_own():
    parts = parse_grid("kernel=rbf gamma=[1, 2] | kernel=linear; C=1,")
    assert [[entry.name for entry in part] for part in parts] == [
        ["kernel", "gamma"],
        ["kernel", "C"],
    ]


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("alpha=logspace(,5,11)", 16, "expected a number, not ','"),
        ("alpha", 6, "expected '=' after 'alpha'"),
        ("alpha=1 alpha=2", 9, "given twice"),
        ("alpha=[1, 2", 12, "expected ',' or ']', not the end"),
        ("alpha=[]", 7, "empty"),
        ("alpha=range(3, 3)", 7, "empty"),
        ("alpha=lambda(1)", 7, "'lambda' is not a function"),
        ("alpha=__import__(os)", 7, "is not a function"),
        ("alpha=logspace(1, 2)", 7, "is written logspace(exponent"),
        ("alpha=logspace(0, 1, 3, foo=2)", 7, "is written logspace(exponent"),
        ("alpha=logspace(0, 1, 2.5)", 7, "whole number"),
        (f"alpha=linspace(0, 1, {LARGEST + 1})", 7, "whole number"),
        ("alpha=logspace(0, 999, 3)", 7, "beyond what a number can hold"),
        ("alpha=geomspace(0, 1, 3)", 7, "not positive"),
        ("alpha=range(0.5, 3)", 7, "whole numbers"),
        ("alpha=range(0, 3, 0)", 7, "never arrives"),
        ("alpha=uniform(2, 1)", 7, "must be below"),
        ("alpha=loguniform(0, 1)", 7, "must be positive"),
        ("alpha=randint(0, 1.5)", 7, "whole numbers"),
        ("alpha=[1, uniform(0, 1)]", 11, "cannot be part of a list"),
        ("alpha=3abc", 7, "neither a number"),
        ("alpha=1e999", 7, "more than a number can hold"),
        ("alpha='x", 7, "never closed"),
        ("alpha=@", 7, "means nothing here"),
        ("1=2", 1, "expected a parameter"),
        ("", 1, "expected a parameter"),
        ("a=1 |", 6, "expected a parameter"),
        (f"a={'(' * 30}1{')' * 30}", 23, "nested"),
    ],
)
def test_errors_point_at_the_offending_place(text, column, words):
    """The message names the column, and the caret stands under it."""
    with pytest.raises(GridSyntaxError) as caught:
        parse_grid(text)
    message, line, caret = str(caught.value).split("\n")
    assert f"column {column}:" in message
    assert words in message
    assert line == f"  {text}"
    assert caret.index("^") == column + 1


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    """No text makes the reader fail in another way, or run anything."""
    with contextlib.suppress(GridSyntaxError):
        parse_grid(text)
