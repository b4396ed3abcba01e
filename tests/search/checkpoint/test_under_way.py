"""The look that a break left half done: it goes on only if it is asked for again."""

from dataclasses import replace

import numpy as np
import pytest

from cvst.exceptions import CheckpointError
from cvst.race import Look
from cvst.search.checkpoint._recorder import Recorder
from cvst.search.checkpoint._records import Record
from cvst.search.checkpoint._story import Group, Story
from cvst.search.checkpoint._under_way import UnderWay, short

LOOK = Look(slice(0, 40), np.arange(40, 60), 40, np.arange(3), stage="first")
GROUPS = [[0], [1], [2]]


def recorder():
    """Return one that has read half of the look."""
    outcomes = [{"configuration": 0}, {"configuration": 2}]
    story = Story(outcomes=outcomes, under_way=short(LOOK))
    return Recorder(None, story, lambda: 0.0, {})


def test_the_same_look_is_not_begun_anew():
    again = replace(LOOK, configurations=np.arange(3))
    known = recorder().known(again, GROUPS)
    assert [one["configuration"] for one in known] == [0, 2]


@pytest.mark.parametrize(
    "change",
    [
        {"train": slice(0, 39)},
        {"test": np.arange(41, 61)},
        {"configurations": np.array([0, 2])},
        {"stage": "late"},
        {"rounds": 50},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_look_is_done_as_a_whole(change):
    """With less time left a race may ask for other rows: old losses are not its own."""
    read = recorder()
    assert read.known(replace(LOOK, **change), GROUPS) == []
    assert read._alone.done == set()


def overlapping():
    """Return one that has read two groups of looks that overlapped."""
    place = UnderWay(LOOK).place
    pair = [{"configuration": 0}, {"configuration": 2}]
    groups = {
        (place, (0, 2)): Group(4, 3, pair),
        (place, (5,)): Group(7, 1, [{"configuration": 5}]),
    }
    return Recorder(None, Story(beside=groups, last_ticket=7), lambda: 0.0, {})


@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize(
    ("change", "groups", "numbers"),
    [
        ({}, [[0, 2], [1]], [0, 2]),
        ({"configurations": np.array([0, 2, 5])}, [[2, 0], [5]], [0, 2, 5]),
        ({"stage": "late"}, [[0, 2]], [0, 2]),
        ({}, [[0], [2]], []),
        ({}, [[0, 1, 2]], []),
        ({"train": slice(0, 39)}, [[0, 2]], []),
        ({"test": np.arange(41, 61)}, [[0, 2]], []),
        ({"n_train": 39}, [[0, 2]], []),
        ({"rounds": 50}, [[0, 2]], []),
    ],
)
def test_a_group_of_overlapping_looks_is_known_on_the_same_rows_and_as_a_whole(
    change, groups, numbers, beside
):
    """Whatever look asks for it; what was worked on together may round otherwise."""
    read = overlapping()
    known = read.known(replace(LOOK, **change), groups, beside=beside)
    assert [one["configuration"] for one in known] == numbers
    again = read.known(replace(LOOK, **change), groups, beside=beside)
    assert again == []


def test_tickets_of_an_earlier_run_are_not_given_again():
    """Else groups that are of no use any more would stay in the file."""
    read = overlapping()
    read.known(LOOK, GROUPS, beside=True)
    assert [one.ticket for one in read._beside.values()] == [8]


GOOD = {
    "ticket": 1,
    "place": "somewhere",
    "groups": [[3]],
    "n_configurations": 1,
    "outcomes": [{"configuration": 3}],
}


@pytest.mark.parametrize(
    "change",
    [
        {"ticket": [1]},
        {"ticket": float("inf")},
        {"ticket": float("nan")},
        {"n_configurations": float("inf")},
        {"n_configurations": {}},
        {"groups": [[4]]},
        {"groups": 5},
        {"groups": [["x"]]},
        {"outcomes": [{}]},
        {"outcomes": 3},
    ],
    ids=str,
)
def test_groups_that_cvst_has_not_written_are_one_sentence(tmp_path, change):
    """Whoever forges the checksum as well gets no traceback out of it."""
    path = tmp_path / "race"
    records = [Record("groups", GOOD, ()), Record("groups", GOOD | change, ())]
    with pytest.raises(CheckpointError, match=r"its record 2 \(groups\) cannot be"):
        Story.of(path, records, {})
