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
        (f"linspace(0, {10**22}, 3)", [0, 5e21, 1e22]),
        (f"geomspace(1, {10**22}, 3)", [1, 1e11, 1e22]),
        (f"logspace(-{10**22}, 0, 3)", [0, 0, 1]),
        (f"logspace(-1, 1, 3, base={10**22})", [1e-22, 1, 1e22]),
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


@pytest.mark.parametrize(
    "text",
    [
        f"randint({-(2**63)}, {2**63 - 1})",
        "uniform(-8e307, 8e307)",
        f"uniform(0, {10**22})",
        f"uniform({10**22}, {10**23})",
        f"loguniform(1, {10**22})",
        "loguniform(5e-324, 1.7e308)",
    ],
)
def test_the_widest_distributions_can_be_drawn_from(text):
    distribution = parse_value(text).distribution
    drawn = distribution.rvs(size=20, random_state=0)
    assert np.all(np.isfinite(drawn))
    assert len(set(drawn)) == 20


@pytest.mark.parametrize(("first", "last"), [(10**22, 10**22 + 4), (5, -5)])
@pytest.mark.parametrize("step", [-4, -3, -1, 1, 2, 3])
def test_ranges_of_any_size_are_those_of_python(first, last, step):
    values = parse_value(f"[7, range({first}, {last}, {step})]")
    assert values == [7, *range(first, last, step)]


def test_the_longest_range_has_as_many_values_as_is_allowed():
    assert len(parse_value(f"range(0, {3 * LARGEST - 2}, 3)")) == LARGEST
    with pytest.raises(GridSyntaxError, match=f"number of values is {LARGEST + 1},"):
        parse_value(f"range(0, {3 * LARGEST + 1}, 3)")


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
        ("alpha=linspace(-1e308, 1e308, 3)", 7, "beyond what a number can hold"),
        (f"alpha=logspace(0, {10**22}, 3)", 7, "beyond what a number can hold"),
        ("alpha=geomspace(0, 1, 3)", 7, "not positive"),
        ("alpha=range(0.5, 3)", 7, "whole numbers"),
        ("alpha=range(0, 3, 0)", 7, "never arrives"),
        ("alpha=uniform(2, 1)", 7, "must be below"),
        ("alpha=loguniform(0, 1)", 7, "must be positive"),
        ("alpha=randint(0, 1.5)", 7, "whole numbers"),
        (f"alpha=range({10**22})", 7, f"number of values is {10**22}, but must be"),
        (f"alpha=range(0, -{10**22}, -3)", 7, f"is {10**22 // 3 + 1}, but must be"),
        (f"alpha=randint(0, {10**22})", 7, f"its end {10**22} is beyond"),
        (f"alpha=randint(-{10**22}, 0)", 7, f"its end -{10**22} is beyond"),
        ("alpha=uniform(-1e308, 1e308)", 7, "further apart than a number can hold"),
        ("alpha=logspace(0, 1, 3, base=2, base=3)", 33, "'base' is given twice"),
        ("alpha=[1, uniform(0, 1)]", 11, "cannot be part of a list"),
        ("alpha=3abc", 7, "neither a number"),
        ("alpha=1e999", 7, "more than a number can hold"),
        ("alpha='x", 7, "never closed"),
        ("alpha=@", 7, "means nothing here"),
        ("max_depth=2,4,8", 13, "brackets, as in max_depth=[2, 4]"),
        ("kernel=rbf, linear C=1", 13, "brackets, as in kernel=[rbf, linear]"),
        ("alpha=[1, 2], 3", 15, "expected a parameter"),
        ("alpha=range(3), 3", 17, "expected a parameter"),
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


def test_of_a_long_text_the_place_of_the_error_is_shown():
    """Grids are made by programs, too: a refusal is no page of text."""
    text = f"alpha=[{'1, ' * 300}@{', 2' * 300}]"
    with pytest.raises(GridSyntaxError) as caught:
        parse_grid(text)
    _, line, caret = str(caught.value).split("\n")
    assert len(line) < 220
    assert line[caret.index("^")] == "@"


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    """No text makes the reader fail in another way, or run anything."""
    with contextlib.suppress(GridSyntaxError):
        parse_grid(text)
