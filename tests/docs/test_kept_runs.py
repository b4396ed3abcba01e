"""Tables of small studies are those of the runs that were kept."""

from __future__ import annotations

import json

import pytest
from docs_pages import cells, page, plain, records, script


def test_memory_is_that_of_the_runs():
    memory = script("memory.py")
    runs = records("memory.jsonl")
    text = page("benchmarks/results/memory.md")
    assert memory.table(runs) in text
    asked = [
        (one["kind"], one["strategy"], one["looks"], one["max_memory"]) for one in runs
    ]
    assert asked == memory.CASES
    [refused] = [one["refused"] for one in runs if "refused" in one]
    assert f'"{refused}"' in text


def test_proposers_are_those_of_the_runs():
    pytest.importorskip("optuna")
    pytest.importorskip("lightgbm")
    proposers = script("proposers.py")
    text = page("benchmarks/results/proposers.md")
    assert proposers.report(proposers.RESULTS) in text
    assert proposers.overhead_report(proposers.OVERHEAD) in text


def test_the_r_package_is_shown_as_measured():
    """The table is that of the script, and the guide keeps two of its numbers."""
    pytest.importorskip("optuna")
    pytest.importorskip("numba")
    found = script("r_package/ours.py")
    table = "\n".join(found.lines())
    assert table in page("benchmarks/results/r_package.md")
    theirs = cells(table, found.IN_R)
    ours = cells(table, "`RaceGridSearchCV()`")
    assert theirs[3:] == ours[3:]  # error and winner
    guide = plain("docs/user_guide/which_search.md")
    told = f"in {theirs[2]} processor seconds where `RaceGridSearchCV()` took {ours[2]}"
    assert told in guide
    versions = json.dumps([one.get("versions") for one in found.read()])
    assert "0.2.3" in versions
