from __future__ import annotations

import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO

import numpy as np
import pandas as pd
import pytest

from cvst.cli import main


@dataclass
class Result:
    code: int
    out: str
    err: str


def exit_code(arguments) -> int:
    """Run a command in this process."""
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code or 0


@pytest.fixture
def cvst(capsys):
    """Run a command in this process and return exit code and output."""

    def call(*arguments: str) -> Result:
        code = exit_code(arguments)
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def cvst_once():
    """Return what runs a command of which several tests look at the results."""

    def call(*arguments: str) -> Result:
        with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
            code = exit_code(arguments)
        return Result(code, out.getvalue(), err.getvalue())

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


def table_of_people():
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
def people():
    """Return a table of all kinds of columns, with gaps."""
    return table_of_people()


@pytest.fixture(scope="session")
def shared_people_csv(tmp_path_factory):
    """Write the table of people where no test changes it."""
    path = tmp_path_factory.mktemp("people") / "people.csv"
    table_of_people().to_csv(path, index=False)
    return path


@pytest.fixture
def people_csv(people, tmp_path):
    path = tmp_path / "people.csv"
    people.to_csv(path, index=False)
    return path
