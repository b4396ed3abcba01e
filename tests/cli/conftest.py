from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from cvst.cli import main


@dataclass
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def cvst(capsys):
    """Run a command in this process and return exit code and output."""

    def call(*arguments: str) -> Result:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code or 0
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def environment():
    """Return an environment for real processes: one thread, no surprises."""
    return {
        **os.environ,
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "ignore",
        "TERM": "xterm-256color",
        "COLUMNS": "100",
        "LINES": "40",
    }


@pytest.fixture
def cvst_process(environment, tmp_path):
    """Run a command as a process of its own, in an empty folder."""

    def call(*arguments: str) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "cvst", *map(str, arguments)],
            capture_output=True,
            text=True,
            env=environment,
            cwd=tmp_path,
            check=False,
            timeout=900,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def people():
    """Return a table of all kinds of columns, with gaps."""
    rng = np.random.default_rng(0)
    n_rows = 240
    frame = pd.DataFrame(
        {
            "name": [f"P{number:04d}" for number in range(n_rows)],
            "age": rng.integers(18, 90, n_rows).astype(float),
            "income": rng.lognormal(10, 1, n_rows),
            "city": rng.choice(["Ulm", "Köln", "Kiel"], n_rows),
            "member": rng.random(n_rows) < 0.4,
            "clinic": rng.integers(0, 40, n_rows),
        }
    )
    signal = 0.04 * frame["age"] + 1.5 * (frame["city"] == "Ulm") - frame["member"]
    noise = rng.normal(0, 0.3, n_rows)
    frame["ill"] = np.where(signal + noise > signal.median(), "yes", "no")
    frame["cost"] = 1000 + 100 * (signal + noise)
    frame.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "city"] = None
    return frame


@pytest.fixture
def people_csv(people, tmp_path):
    path = tmp_path / "people.csv"
    people.to_csv(path, index=False)
    return path
