from __future__ import annotations

import pytest

from cvst.cli.results._text import _ending, result_text


@pytest.mark.parametrize(
    ("rows", "trained_on", "told"),
    [
        ([90, 90], 90, "trained on 90 of 100 rows"),
        ([40, 90], 90, "trained on 40 to 90 of 100 rows"),
        # The winner did not run the last step: its score is of an earlier stage.
        ([40, 90], 66, "trained on 66 of 100 rows"),
    ],
)
def test_rows_of_the_last_folds_are_told_from_least_to_most(rows, trained_on, told):
    """In order of time each fold trains on more rows, and the score is of all."""
    look = {"tested": 2, "top": 2, "dropped": 0, "left": 2, "score": 0.5, "leader": {}}
    stages = [("confirm", 66), *(("final", n) for n in rows)]
    text = result_text(
        {
            "heading": [],
            "notes": [],
            "data": {"rows": 100},
            "scoring": "r2",
            "looks": [
                {**look, "look": number, "stage": stage, "rows": n}
                for number, (stage, n) in enumerate(stages, start=1)
            ],
            "stop_sentence": "",
            "finished": True,
            "winner": {
                "params": {},
                "score": 0.5,
                "trained_on": trained_on,
                "over_folds": True,
            },
            "seconds": {"total": 1.0, "final_fit": 0.1},
            "files": [],
        }
    )
    assert told in text


@pytest.mark.parametrize(
    ("command", "files", "told"),
    [
        ("cvst search a.csv --out o", ["o/winner.json"], "--out o --overwrite"),
        ("cvst search a.csv --out o --overwrite", ["o/winner.json"], "o --overwrite"),
        ("cvst search a.csv --checkpoint c", [], "a.csv --checkpoint c"),
    ],
)
def test_the_command_that_goes_on_may_replace_what_was_just_written(
    command, files, told
):
    """Else it would be refused: the folder holds the leader so far."""
    lines = _ending(
        {
            "finished": False,
            "seconds": {"total": 1.0},
            "files": files,
            "repeat": "cvst search",
            "checkpoint": "c",
            "command": command,
        }
    )
    # Nothing in that command says where it ended.
    assert lines[0].endswith(
        "no final model is fitted. To search again:\n  cvst search"
    )
    going_on = next(one for one in lines if one.startswith("To go on"))
    assert going_on.endswith(told)
    assert going_on.count("--overwrite") == told.count("--overwrite")


def test_a_command_that_ends_where_the_race_ended_is_said_to_do_so():
    command = "cvst search a.csv --max-looks 3"
    lines = _ending(
        {
            "finished": False,
            "seconds": {"total": 1.0},
            "files": [],
            "repeat": command,
            "command": "cvst search a.csv",
        }
    )
    assert lines[0].endswith(f"To get here again and fit it:\n  {command}")
