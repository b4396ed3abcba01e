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
from pathlib import Path
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
        if Slow.n_fits == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.05)
        return super().fit(X, y)

X = np.random.default_rng(0).normal(size=(240, 3))
grid = {"max_depth": [1, 2, 3, 4, 5, 6], "min_samples_leaf": [1, 20]}
for fatal in map(int, sys.argv[2:]):
    child = os.fork()
    if not child:
        path = Path(sys.argv[1]) / f"race {fatal}"
        RaceGridSearchCV(Slow(), grid, checkpoint=path, random_state=0).fit(X, X[:, 0])
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes of that kind here")
def test_every_group_that_was_finished_is_on_disk_after_a_kill(tmp_path):
    """One fit is one group, and none waits for others if the disk is quick enough."""
    fatal = [2, 9, 12]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), *map(str, fatal)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    ends = [str(int(-signal.SIGKILL))] * len(fatal)
    assert done.stdout.split() == ends, done.stderr
    for fit in fatal:
        checkpoint = load_checkpoint(tmp_path / f"race {fit}")
        assert checkpoint.n_under_way == (fit - 1, 12)


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
