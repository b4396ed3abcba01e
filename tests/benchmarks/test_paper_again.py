"""Races that were run again: held against the stored ones, and counted in no table."""

from __future__ import annotations

from pathlib import Path

import pages
import pandas as pd
from again import again_words, extra_words, mixed_rows, run_again
from claims import Evidence
from profiles import PROFILES
from store import COLUMNS

ROOT = Path(__file__).parents[2]
SMOKE = PROFILES["smoke"]


def line(method, seconds, **other):
    """Return a line on banana with SVM."""
    blank = dict.fromkeys(COLUMNS, "")
    known = {
        "profile": "smoke", "data": "banana", "learner": "SVM", "n_train": 120,
        "n_rows_paper": 240, "n_configurations": 9, "repetition": 0,
        "method": method, "error": 0.1,
        "seconds": seconds, "survivors": "9;4", "params": "{}",
        "machine": "sixteen-cores", "day": "2026-11-17",
    }  # fmt: skip
    return blank | known | other


def write(folder, name, *lines):
    """Write a file of runs."""
    pd.DataFrame(lines, columns=list(COLUMNS)).to_csv(folder / name, index=False)


def test_races_run_again_are_compared_and_change_no_speed(tmp_path):
    """Half the seconds, and another winner in one of two."""
    later = {"machine": "later", "day": "2026-11-19"}
    first, second = line("cvst", 2.0), line("cvst", 4.0, data="german")
    write(tmp_path, "runs.csv", first, second, line("cv", 8.0, day="2026-11-18"))
    write(
        tmp_path,
        "control.csv",
        first | later | {"seconds": 1.0},
        second | later | {"seconds": 2.0, "params": '{"nu": 1}'},
    )
    evidence = Evidence(tmp_path, SMOKE)

    assert run_again(evidence)["share"].tolist() == [0.5, 0.5]
    words = again_words(evidence)
    assert "1 of 2 have the same survivors" in words
    assert "They took 0.50 times the stored seconds" in words
    assert "in 1 of 30 rows of Table 1 (banana SVM) and plain search in 0" in words
    assert mixed_rows(evidence.runs, "cv") == [("banana", "SVM")]
    assert len(evidence.runs) == 3


def test_of_speeds_of_one_day_no_other_day_is_told(tmp_path):
    again = {"machine": "later", "day": "2026-11-19", "seconds": 1.0}
    first = line("cvst", 2.0)
    write(tmp_path, "runs.csv", first, line("cv", 8.0), line("plain_grid", 9.0))
    write(tmp_path, "control.csv", first | again)
    evidence = Evidence(tmp_path, SMOKE)
    assert mixed_rows(evidence.runs, "cv") == []
    words = again_words(evidence)
    assert words.endswith("and no speed beside older races.")


def test_without_races_run_again_nothing_is_said(tmp_path):
    write(tmp_path, "runs.csv", line("cvst", 2.0))
    assert again_words(Evidence(tmp_path, SMOKE)) == ""
    assert extra_words(Evidence(tmp_path, SMOKE), pages.FEW_TITLES) == ""


def test_the_page_says_what_the_stored_control_says():
    folder = ROOT / "benchmarks" / "results" / "paper"
    evidence = Evidence(folder, PROFILES["laptop"])
    page = (ROOT / "docs" / "paper" / "index.md").read_text(encoding="utf-8")
    assert again_words(evidence) in page
    assert extra_words(evidence, pages.FEW_TITLES) in page
