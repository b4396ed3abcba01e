"""Hostile command lines, drawn: 0, or 2 and one sentence, and nothing left behind.

``python benchmarks/hostile run cli.jsonl --commands`` draws the same by the thousand.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="names and signals of POSIX"
)

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "hostile"))

import hostile_commands  # noqa: E402 - after the path
from hostile_command_lines import Command, draw_command  # noqa: E402
from hostile_commands import run_command  # noqa: E402

RIDGE = (
    "search",
    "table.csv",
    "-t",
    "y",
    "-m",
    "ridge",
    "--grid",
    "alpha=1",
    "--quiet",
)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("first", [10, 20, 30, 40])
def test_drawn_commands_are_explained(first):
    """Those before them race the default grids, for half of the time of all others."""
    results = [run_command(draw_command(seed)) for seed in range(first, first + 10)]
    assert [one for one in results if one.trouble] == []


def test_commands_of_every_kind_are_drawn():
    """A generator that always draws the same would find nothing."""
    drawn = [draw_command(seed) for seed in range(300)]
    words = {word for one in drawn for word in one.arguments}
    assert {"search", "report", "plan", "--grid", "g.yaml", "--checkpoint"} <= words
    assert {"--out", "--groups", "--time-order", "--drop", "--max-memory"} <= words
    endings = {Path(name).suffix for one in drawn for name in one.files}
    assert {".csv", ".tsv", ".parquet", ".feather", ".arrow", ".gz"} <= endings
    assert draw_command(7) == draw_command(7)
    assert json.dumps([one.arguments for one in drawn])


def ended(monkeypatch, code=0, out="done", err="", trouble=None):
    """Return what is found if a command ends like this."""

    def main(arguments):
        sys.stdout.write(f"{out}\n")
        sys.stderr.write(err)
        if trouble is not None:
            trouble()
        return code

    monkeypatch.setattr("cvst.cli.main", main)
    return run_command(Command(0, RIDGE)).trouble


def test_what_must_not_be_is_noticed(monkeypatch):
    """The check itself: an end of each kind that nobody should see."""
    sentence = "cvst search: The data file 'table.csv' has no rows.\n"
    assert ended(monkeypatch) == []
    assert ended(monkeypatch, 2, err=sentence) == []

    def fail():
        raise KeyError("folds")

    assert "raised KeyError" in ended(monkeypatch, trouble=fail)[0]
    assert ended(monkeypatch, 1, err=sentence)
    assert ended(monkeypatch, 2, err=f"Traceback\n{sentence}")
    assert ended(monkeypatch, 2, err="cvst search: 'folds'\n")
    assert ended(monkeypatch, 2, err=f"{sentence}{sentence}")
    assert ended(monkeypatch, 0, out="")
    assert ended(monkeypatch, 0, out="\x1b[31m")
    assert ended(monkeypatch, trouble=lambda: Path("more").write_text("left"))
    assert ended(monkeypatch, trouble=lambda: Path("file").write_text("changed"))
    assert ended(monkeypatch, trouble=lambda: Path("full/dear.txt").unlink())
    assert ended(monkeypatch, trouble=lambda: Path("../more").write_text("left"))


def test_a_command_that_does_not_end_is_noticed(monkeypatch):
    monkeypatch.setattr(hostile_commands, "SECONDS", 0.05)

    def turn():
        while True:
            pass

    assert "hangs" in "".join(ended(monkeypatch, trouble=turn))
