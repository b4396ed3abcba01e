"""The summary of everyday tuning: which cells it is about."""

from __future__ import annotations

import json
import sys
from importlib import util
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "everyday"


@pytest.fixture
def summary(monkeypatch):
    """Return the script, with those that lie beside it."""
    monkeypatch.syspath_prepend(FOLDER)
    spec = util.spec_from_file_location("everyday_summary", FOLDER / "summary.py")
    module = util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "everyday_summary", module)
    spec.loader.exec_module(module)
    return module


def test_a_split_that_is_not_there_is_named(summary, tmp_path):
    """With those that are; the cells of the split asked for are returned."""
    cell = {"task": "a", "search": "default", "seconds": 15, "seed": 0, "end": "done"}
    path = tmp_path / "cells.jsonl"
    path.write_text(json.dumps(cell | {"split": "later"}))
    with pytest.raises(SystemExit, match=r"'dev'.*--split one of later, or all"):
        summary.read([path], "dev")
    assert list(summary.read([path], "later")["task"]) == ["a"]
    assert list(summary.read([path], "all")["task"]) == ["a"]
