"""The look that a break left half done: it goes on only if it is asked for again."""

from dataclasses import replace

import numpy as np
import pytest

from cvst.race import Look
from cvst.search.checkpoint._recorder import Recorder, _short
from cvst.search.checkpoint._story import Story

LOOK = Look(slice(0, 40), np.arange(40, 60), 40, np.arange(3), stage="first")


def recorder():
    """Return one that has read half of the look."""
    outcomes = [{"configuration": 0}, {"configuration": 2}]
    story = Story(outcomes=outcomes, under_way=_short(LOOK))
    return Recorder(None, story, lambda: 0.0, {})


def test_the_same_look_is_not_begun_anew():
    again = replace(LOOK, configurations=np.arange(3))
    assert [one["configuration"] for one in recorder().known(again)] == [0, 2]


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
    assert read.known(replace(LOOK, **change)) == []
    assert read._done == set()
