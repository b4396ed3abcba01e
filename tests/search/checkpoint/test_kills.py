"""Processes that are really killed; ``benchmarks/faults/kills.py`` does it for long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cvst import load_checkpoint

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "faults" / "kills.py"

NAMES = (
    "grid, trees",
    "random, forest",
    "proposals, ensemble",
    "grid, incremental",
    "grid, in turn, two threads, time budget",
)


KILLED = """
import os, signal, sys, time
import numpy as np
from sklearn.tree import DecisionTreeRegressor
from cvst import RaceGridSearchCV
from cvst.search.checkpoint import _pace

# A busy disk or processor must not make groups wait for each other.
_pace.SHARE = float("inf")

class Slow(DecisionTreeRegressor):
    n_fits = 0
    def fit(self, X, y):
        Slow.n_fits += 1
        if Slow.n_fits == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.05)
        return super().fit(X, y)

X = np.random.default_rng(0).normal(size=(240, 3))
grid = {"max_depth": [1, 2, 3, 4, 5, 6], "min_samples_leaf": [1, 20]}
RaceGridSearchCV(Slow(), grid, checkpoint=sys.argv[1], random_state=0).fit(X, X[:, 0])
"""


@pytest.mark.skipif(os.name != "posix", reason="no such signal here")
@pytest.mark.parametrize("fit", [2, 9, 12])
def test_every_group_that_was_finished_is_on_disk_after_a_kill(fit, tmp_path):
    """One fit is one group, and none waits for others if the disk is quick enough."""
    path = tmp_path / "race"
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(path), str(fit)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
        timeout=900,
    )
    assert done.returncode == -signal.SIGKILL
    assert load_checkpoint(path).n_under_way == (fit - 1, 12)


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
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.strip().splitlines()[-1].split()
    assert int(last[1]) >= 12
    assert last[2] == last[4]
