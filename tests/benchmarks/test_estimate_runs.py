"""Draws of the study of the estimate are written, gone on with and read gzipped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ESTIMATE = Path(__file__).parents[2] / "benchmarks" / "estimate"
KEPT = ESTIMATE.parent / "results" / "estimate_held_out.jsonl.gz"


def run(output):
    """Run the script as a user does, for no more than the two draws that are begun."""
    asked = ("held_out", "--first", "900", "--draws", "1", "--seconds", "0")
    command = [sys.executable, ESTIMATE / "run.py", *asked, "--output", output]
    return subprocess.run(command, check=True, capture_output=True, text=True).stderr


@pytest.fixture
def stored(monkeypatch):
    monkeypatch.syspath_prepend(ESTIMATE)
    import stored

    yield stored
    sys.modules.pop("stored")


def test_a_gzipped_file_is_gone_on_with(stored, tmp_path):
    """Witness: the draws that are kept, which have the same rows."""
    output = tmp_path / "draws.jsonl.gz"
    assert "2 draws" in run(output)
    assert "4 draws" in run(output)
    found = stored.read(output)
    kept = [one for one in stored.read(KEPT) if one["draw"] == 900]
    expected = {one["problem"]: one["controls"] for one in kept}
    assert len({one["problem"] for one in found}) == 4
    for one in found:
        assert one["draw"] == 900
        # The luck of the rows, kept to six digits; the rest comes from models.
        assert one["controls"][0] == pytest.approx(
            expected[one["problem"]][0], rel=1e-4
        )


def test_a_file_broken_off_before_packing_is_read(stored, tmp_path):
    """Packed or not, gzipped or not, the draws are those that were appended."""
    draws = [{"problem": "a", "draw": one, "score": one / 3} for one in range(30)]
    gzipped, plain = tmp_path / "a.jsonl.gz", tmp_path / "a.jsonl"
    assert stored.read(gzipped) == []
    for one in draws:
        stored.append(gzipped, one)
        stored.append(plain, one)
    assert stored.read(gzipped) == stored.read(plain) == draws
    before = gzipped.stat().st_size
    stored.pack(gzipped)
    stored.pack(plain)
    assert stored.read(gzipped) == stored.read(plain) == draws
    assert gzipped.stat().st_size < before / 4
    assert plain.read_text().count("\n") == len(draws)
