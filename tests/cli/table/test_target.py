from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cvst.cli.table._target import MOST_CLASSES, read_target, with_numbered_classes
from cvst.exceptions import InvalidInputError

BOTH = ("classification", "regression")


@pytest.mark.parametrize(
    ("values", "tasks", "task"),
    [
        (["a", "b", "a"], BOTH, "classification"),
        ([True, False, True], BOTH, "classification"),
        ([0.0, 1.0, 1.0], BOTH, "classification"),
        (range(MOST_CLASSES), BOTH, "classification"),
        (range(MOST_CLASSES + 1), BOTH, "regression"),
        ([0.5, 1, 1], BOTH, "regression"),
        ([0, 1, 1], ("regression",), "regression"),
        ([1e19, 3e19, 1, 2], BOTH, "regression"),
        ([2**53, 2**53 - 1, 0], BOTH, "classification"),
        ([-(2**63), 2**62, 0], BOTH, "regression"),
        (range(99), ("classification",), "classification"),
    ],
)
def test_the_task_is_recognised(values, tasks, task):
    """Text and few whole numbers are classes; where it is open, the model decides."""
    target = read_target(pd.Series(list(values), name="y"), None, tasks)
    assert target.task == task
    assert target.sentence.startswith(task.capitalize())
    assert target.values.tolist() == list(values)


def test_whole_numbers_stay_so_and_texts_stay_texts():
    whole = read_target(pd.Series([1.0, 2.0], name="y"), None, BOTH)
    text = read_target(pd.Series(["b", "a"], name="y"), None, BOTH)
    forced = read_target(pd.Series([1, 2], name="y"), "regression", BOTH)
    assert whole.values.dtype == np.int64
    assert text.values.dtype.kind == "U"
    assert forced.values.dtype == float


def test_an_open_choice_names_the_other_way():
    target = read_target(pd.Series([1, 2, 2], name="y"), None, BOTH)
    assert "--task regression" in target.sentence


@pytest.mark.parametrize(
    ("values", "task", "tasks", "words"),
    [
        (["a", "b"], "regression", BOTH, "needs numbers"),
        ([0.5, 1.5], "classification", BOTH, "needs classes"),
        (["a", "b"], None, ("regression",), "calls for classification"),
        ([0.5, 1.5], None, ("classification",), "calls for regression"),
        ([1e19, 3e19, 1, 2], "classification", BOTH, "beyond 9,007"),
        ([1.0, 2.0, np.inf], None, BOTH, "infinite"),
        ([1.5, 2.0, -np.inf], "regression", BOTH, "infinite"),
        ([1, 1], None, BOTH, "same value in all rows"),
        (["2024-01-01", "2024-01-02"], None, BOTH, "holds dates"),
        ([[1], [2]], None, BOTH, "neither numbers nor text"),
        ([f"id{number}" for number in range(30)], None, BOTH, "identifier"),
    ],
)
def test_unfit_targets_are_refused(values, task, tasks, words):
    with pytest.raises(InvalidInputError) as caught:
        read_target(pd.Series(values, name="y"), task, tasks)
    assert words in str(caught.value)
    assert "'y'" in str(caught.value)


def test_a_class_forges_no_line():
    """Whoever wrote the table could else tell of a winner."""
    column = pd.Series(["a\nWinner: b", "c"], name="y")
    target = read_target(column, None, BOTH)
    assert r"(a\nWinner: b, c)" in target.sentence
    assert r"0 = a\nWinner: b, " in with_numbered_classes(target)[1]


def test_numbers_of_classes_lead_back_to_their_names():
    target = read_target(pd.Series(["b", "a", "c", "a"], name="y"), None, BOTH)
    numbered, note = with_numbered_classes(target)
    names = note.split(": ")[1].rstrip(".").split(", ")
    lookup = dict(name.split(" = ") for name in names)
    assert [lookup[str(code)] for code in numbered.values] == ["b", "a", "c", "a"]


@pytest.mark.parametrize("values", [[0, 1, 1], [0.5, 1.5, 2.5]])
def test_what_is_numbered_or_no_class_stays(values):
    target = read_target(pd.Series(values, name="y"), None, BOTH)
    assert with_numbered_classes(target) == (target, "")


@pytest.mark.parametrize("values", [["w" * 5000, "v" * 5000], [1.5, 2.5]])
def test_long_names_and_classes_are_cut(values):
    target = read_target(pd.Series(values, name="y" * 5000), None, BOTH)
    assert len(target.sentence) < 300
    assert target.name == "y" * 5000
    assert len(with_numbered_classes(target)[1]) < 300
