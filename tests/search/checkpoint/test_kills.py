"""Processes that are really killed; ``benchmarks/faults/kills.py`` does it for long."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "faults" / "kills.py"

NAMES = ("grid, trees", "random, forest", "proposals, trees", "grid, incremental")


@pytest.mark.skipif(not SCRIPT.exists(), reason="the benchmarks are not here")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes of that kind here")
def test_searches_killed_at_random_moments_end_as_quiet_ones():
    only = [word for name in NAMES for word in ("--only", name)]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--kills", "12", "--every-group", *only],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.strip().splitlines()[-1].split()
    assert int(last[1]) >= 12
    assert last[2] == last[4]
