"""The page about proposing while racing says what runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "user_guide" / "proposing.md"

pytestmark = pytest.mark.skipif(
    not PAGE.exists(), reason="source distributions have no pages"
)


def test_its_code_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    assert "learning_rate" in capsys.readouterr().out
    assert names["search"].race_.n_looks >= 1


@pytest.mark.parametrize(
    ("file", "seconds", "row"),
    [
        ("everyday_held_out.jsonl", 60.0, "first look | .19, .18 | .19, .01"),
        ("everyday_held_out_again.jsonl", 60.0, "showed | .13, .04 | .16, .05"),
    ],
)
def test_its_results_are_stored(file, seconds, row):
    """Twelve tasks that decided nothing, and the row stands on the page."""
    text = (ROOT / "benchmarks" / "results" / file).read_text(encoding="utf-8")
    cells = [json.loads(line) for line in text.splitlines()]
    ours = [
        cell for cell in cells if (cell["search"], cell["seconds"]) == ("race", seconds)
    ]
    assert len({cell["task"] for cell in ours}) == 12
    assert all(cell["held_out"] for cell in ours)
    assert row in PAGE.read_text(encoding="utf-8")
