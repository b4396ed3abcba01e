from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cvst.cli._printing import listed
from cvst.cli.table import _columns
from cvst.cli.table._columns import ColumnOptions, learning_problem
from cvst.cli.table._kinds import column_kind
from cvst.exceptions import InvalidInputError


def test_columns_are_told_apart(people):
    """Numbers, categories (text and truth values) and what is of no use."""
    people["nothing"] = np.nan
    learning = learning_problem(people, ColumnOptions("ill", drop=["cost"]))
    assert learning.numbers == ["age", "income", "clinic"]
    assert learning.categories == ["city", "member"]
    assert len(learning.notes) == 2
    assert "'nothing' is empty" in learning.notes[0]
    assert "'name' is different in nearly every row" in learning.notes[1]


def test_rows_without_a_target_are_left_out_and_counted(people):
    people.loc[3:9, "ill"] = None
    learning = learning_problem(people, ColumnOptions("ill"))
    expected = people.drop(index=range(3, 10))
    assert "7 rows have no value of 'ill'" in learning.notes[0]
    np.testing.assert_array_equal(learning.target.values, expected["ill"])
    np.testing.assert_array_equal(learning.X["income"], expected["income"])


def test_rows_are_sorted_by_time_and_stay_together(people):
    """Sorting moves whole rows, keeps ties in place and drops the column."""
    people["year"] = np.arange(len(people))[::-1] // 2
    learning = learning_problem(people, ColumnOptions("cost", time_order="year"))
    expected = people.sort_values("year", kind="stable")
    assert learning.in_order
    assert "year" not in learning.X
    np.testing.assert_array_equal(learning.X["income"], expected["income"])
    np.testing.assert_array_equal(learning.target.values, expected["cost"])


def test_groups_are_no_features(people):
    learning = learning_problem(people, ColumnOptions("cost", groups="clinic"))
    np.testing.assert_array_equal(learning.groups, people["clinic"])
    assert "clinic" not in learning.X


@pytest.mark.parametrize(
    ("change", "said", "words"),
    [
        ({}, {"target": "ills"}, "no column 'ills'. Did you mean 'ill'?"),
        ({}, {"target": "zzz"}, "Their columns are name, age"),
        ({}, {"target": "ill", "groups": "city"}, "not every row has a group"),
        ({}, {"target": "ill", "time_order": "age"}, "cannot be sorted by it"),
        ({"ill": None}, {"target": "ill"}, "empty in all rows"),
        ({"ill": "no"}, {"target": "ill"}, "same value in all rows"),
        ({"on": "2024-02-29"}, {"target": "ill"}, "'on' holds dates"),
        ({"on": "29.2.2024"}, {"target": "ill"}, "'on' holds dates"),
        ({"on": pd.Timestamp(0)}, {"target": "ill"}, "'on' holds dates"),
        ({"on": 1j}, {"target": "ill"}, "neither numbers nor text"),
        ({"age": np.inf}, {"target": "ill"}, "'age' is infinite in 240 rows"),
        ({}, {"target": "ill", "raw": True}, "'name' holds text"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(change, said, words, people):
    with pytest.raises(InvalidInputError) as caught:
        learning_problem(people.assign(**change), ColumnOptions(**said))
    assert words in str(caught.value)


LONG = "w" * 5000


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1.0, 2.0], {"target": "ill"}),  # refused with the names of all columns
        ([1.0, 2.0], {"target": f"{LONG}v"}),
        ([1.0, np.nan], {"target": "y", "time_order": LONG}),
        ([1.0, np.nan], {"target": "y", "groups": LONG}),
        ([1.0, np.inf], {"target": "y"}),
        ([1.0, np.inf], {"target": LONG}),
        ([np.nan, np.nan], {"target": LONG}),
        ([1.0, 1.0], {"target": LONG}),
        ([1.5, 2.0], {"target": LONG, "task": "classification"}),
        (["a", "b"], {"target": LONG, "task": "regression"}),
        (["a", "b"], {"target": LONG, "tasks": ("regression",)}),
        (["a", "b"], {"target": "y", "raw": True}),
        ([1j, 2j], {"target": "y"}),
        ([1j, 2j], {"target": LONG}),
        ([pd.Timestamp(0)] * 2, {"target": "y"}),
        ([1.0, 2.0], {"target": LONG, "drop": ["x", "y"]}),
    ],
)
def test_long_names_are_cut_where_columns_are_refused(values, said):
    """Names come from files, and whoever reads the sentence has a screen."""
    columns = {"x": [1.0, 2.0], "y": [3.5, 4.0], LONG: values}
    if said["target"] == "ill":
        columns |= {f"{n}{LONG}": values for n in range(20)}
    with pytest.raises(InvalidInputError) as caught:
        learning_problem(pd.DataFrame(columns), ColumnOptions(**said))
    text = str(caught.value)
    assert "w…" in text
    assert len(text) < 800


def test_long_names_are_cut_in_notes(people):
    people = people.assign(**{f"{n}{LONG}": np.nan for n in range(20)})
    people.loc[3, "ill"] = None
    learning = learning_problem(people, ColumnOptions("ill"))
    assert "and 8 more are empty" in " ".join(learning.notes)
    assert max(map(len, learning.notes)) < 800


def test_lists_in_cells_are_refused(people):
    people["many"] = [[1, 2]] * len(people)
    with pytest.raises(InvalidInputError, match="'many' holds neither"):
        learning_problem(people, ColumnOptions("ill"))


def test_nothing_left_to_learn_from_is_refused(people):
    with pytest.raises(InvalidInputError, match="No column is left"):
        learning_problem(people[["name", "ill"]], ColumnOptions("ill"))


def test_a_hundred_thousand_columns_are_looked_at_in_blocks(monkeypatch):
    """Neither the work nor what is said grows faster than the columns."""
    seen = []
    monkeypatch.setattr(
        _columns, "column_kind", lambda column: seen.append(1) or column_kind(column)
    )
    values = np.random.default_rng(0).normal(size=(30, 100_000))
    values[:, 5000:] = np.nan
    frame = pd.DataFrame(values, columns=[f"c{n}" for n in range(100_000)])
    frame.insert(0, "text", ["a", "b"] * 15)
    frame["y"] = np.arange(30.0)
    learning = learning_problem(frame, ColumnOptions("y", drop=["text"]))
    assert len(seen) == 0
    learning_problem(frame, ColumnOptions("y"))
    assert len(seen) == 1  # the text
    assert learning.X.shape == (30, 5000)
    [note] = learning.notes
    assert "'c5011' and 94,988 more are empty" in note
    assert len(note) < 300


def odd_columns():
    gaps = [1.0, np.nan, 3.0, np.nan]
    return {
        "whole": [1, 2, 3, 4],
        "gaps": gaps,
        "single": np.array(gaps, dtype="float32"),
        "small": np.arange(4, dtype="uint8"),
        "empty": [np.nan] * 4,
        "endless": [1.0, np.inf, -np.inf, 2.0],
        "complex": np.arange(4) * 1j,
        "truth": [True, False, True, True],
        "nullable": pd.array([1, None, 3, 4], dtype="Int64"),
        "text": ["a", "b", "a", None],
        "date": pd.date_range("2024-01-01", periods=4),
        "nothing": [None] * 4,
    }


@pytest.mark.parametrize("name", odd_columns())
def test_columns_in_blocks_are_what_they_are_one_by_one(name, monkeypatch):
    """With the same refusals, whatever else is in the table."""
    frame = pd.DataFrame({"first": [1.0, 2, 3, 4], name: odd_columns()[name]})
    frame["y"] = [0.5, 1.5, 2.5, 3.5]

    def outcome():
        try:
            found = learning_problem(frame, ColumnOptions("y"))
        except InvalidInputError as error:
            return str(error)
        return found.numbers, found.categories, found.notes

    blocks = outcome()
    monkeypatch.setattr(_columns, "_plain_numbers", lambda X: ({}, set()))
    assert outcome() == blocks


def test_names_of_columns_forge_no_line():
    assert listed(["a\nWinner: b", "c"]) == r"a\nWinner: b, c"
