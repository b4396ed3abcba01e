"""The command line as a process, in a pipe and in a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pandas as pd
import pytest

from cvst import __version__

SLOW_MODEL = """
import time
from sklearn.linear_model import Ridge

class Slow(Ridge):
    def fit(self, X, y, sample_weight=None):
        time.sleep({seconds})
        return super().fit(X, y, sample_weight)
"""

# Runs a command in a terminal of its own; what is typed comes from standard input.
TERMINAL = (
    "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
)


@pytest.fixture
def folder(tmp_path):
    """Make a folder with a table and a model that takes its time."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "y"])
    table["y"] += 2 * table["a"]
    table.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path


def slow_search(folder, seconds):
    (folder / "slow.py").write_text(
        SLOW_MODEL.format(seconds=seconds), encoding="utf-8"
    )
    grid = "alpha=logspace(-3, 5, 20)"
    return [
        *["search", "data.csv", "-t", "y", "-m", "slow:Slow", "-g", grid],
        *["--strategy", "cvst", "--out", "results"],
    ]


def start_in_terminal(arguments, folder, environment):
    return subprocess.Popen(
        [sys.executable, "-c", TERMINAL, sys.executable, "-m", "cvst", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        cwd=folder,
    )


def read_until(process, words, seconds=600):
    """Return what the terminal showed up to and including some words."""
    seen = b""
    limit = time.monotonic() + seconds
    while words.encode() not in seen and time.monotonic() < limit:
        chunk = process.stdout.read1(4096)
        if not chunk:
            break
        seen += chunk
    assert words.encode() in seen, seen.decode(errors="replace")
    return seen.decode(errors="replace")


def test_the_module_runs_as_a_command(cvst_process):
    assert cvst_process("--version").out == f"cvst {__version__}\n"


HEAVY = ["numpy", "scipy", "sklearn", "pandas", "numba", "joblib", "rich", "yaml"]

SPY = """
import sys
from cvst.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(*sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        *([name, "--help"] for name in ("search", "report", "plan", "demo")),
        ["datasets", "--help"],
        ["--print-completion", "bash"],
        ["search", "--target"],
    ],
)
def test_help_does_not_wait_for_large_packages(arguments, environment):
    """Importing scikit-learn alone takes longer than anybody waits for a help page."""
    done = subprocess.run(
        [sys.executable, "-c", SPY, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    imported = done.stderr.splitlines()[-1].split()
    assert "argparse" in imported
    assert not set(HEAVY) & set(imported)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "1000"),
        ({"GOMP_SPINCOUNT": "7"}, "7"),
        ({"OMP_WAIT_POLICY": "active"}, None),
    ],
)
def test_threads_that_wait_sleep_soon(given, expected, environment):
    """On a busy machine they would hold up each other; what a user sets stays.

    GNU OpenMP reads it when scikit-learn is imported: see the test above.
    """
    code = (
        "import os\nfrom cvst.cli import main\n"
        "try:\n    main(['--version'])\nexcept SystemExit:\n    pass\n"
        "print(os.environ.get('GOMP_SPINCOUNT'))"
    )
    names = "GOMP_SPINCOUNT", "OMP_WAIT_POLICY"
    clean = {name: value for name, value in environment.items() if name not in names}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=clean | given,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == str(expected)


def test_help_lists_commands_models_and_examples(cvst):
    general = cvst("--help")
    search = cvst("search", "--help")
    assert general.code == search.code == 0
    for name in ("search", "demo", "plan", "datasets"):
        assert f"  {name} " in general.out
    assert "  krr " in search.out
    assert "examples:\n  cvst search" in search.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "required: COMMAND"),
        (["fly"], "invalid choice: 'fly'"),
        (["datasets", "--tasks", "x"], "unrecognized arguments"),
    ],
)
def test_wrong_arguments_are_one_sentence(arguments, words, cvst):
    result = cvst(*arguments)
    assert result.code == 2
    assert words in result.err
    assert "--help" in result.err
    assert result.err.count("\n") == 1


def test_a_process_fails_with_one_sentence_and_exit_code_2(cvst_process):
    result = cvst_process("search", "nowhere.csv", "-t", "y", "-m", "ridge")
    assert result.code == 2
    assert result.out == ""
    assert result.err == (
        "cvst search: The data file 'nowhere.csv' cannot be read: No such file or "
        "directory.\n"
    )


def test_a_process_in_a_pipe_writes_lines_and_draws_nothing(
    folder, cvst_process, cvst, environment, monkeypatch
):
    """Even where colours are forced, as many build servers do; --quiet is quiet."""
    environment["FORCE_COLOR"] = "1"
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.chdir(folder)
    monkeypatch.delitem(sys.modules, "slow", raising=False)
    arguments = slow_search(folder, seconds=0)
    result = cvst_process(*arguments)
    assert result.code == 0
    assert "Winner: alpha=" in result.out
    assert "\x1b" not in result.out + result.err
    lines = result.err.splitlines()
    assert lines
    assert all(line.startswith("Look ") for line in lines)
    quiet = cvst(*arguments, "--overwrite", "--quiet")
    assert "Winner: alpha=" in quiet.out
    assert quiet.err == ""


def test_a_reader_who_leaves_early_is_no_error(environment, folder):
    command = f"{sys.executable} -m cvst datasets; echo code $? >&2"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; ({command}) | head -1"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.stderr == "code 0\n"
    assert done.stdout.startswith("name ")


def test_a_terminal_shows_the_race_while_it_runs(folder, environment):
    """Steps, survivors, leader and a forecast are on the screen before the end."""
    with start_in_terminal(slow_search(folder, 0.04), folder, environment) as process:
        shown = read_until(process, "Look 3 of 10")
        if "at most" not in shown:  # the first half of a frame
            shown += read_until(process, "at most")
        rest, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    for words in ("20 configurations on 27 rows", "leader", "so far", "at most"):
        assert words in shown
    assert "Winner: " not in shown
    assert "Winner: " in rest.decode(errors="replace")


def test_a_live_page_follows_the_race(folder, environment):
    """While steps are still to come, the page on this machine shows those made."""
    command = [*slow_search(folder, 0.03), "--live", "--json"]
    with subprocess.Popen(
        [sys.executable, "-m", "cvst", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=folder,
    ) as process:
        said = process.stderr.readline()
        url = said.removeprefix("The race is shown at ").strip()
        page = ""
        while '"n_train":27' not in page and process.poll() is None:
            time.sleep(0.1)
            with urlopen(url, timeout=300) as answer:
                page = answer.read().decode()
        # A page that is open asks until it has heard of the end.
        while process.poll() is None:
            time.sleep(0.5)
            with suppress(OSError), urlopen(f"{url}news.json", timeout=300):
                pass
        summary = json.loads(process.stdout.read())
    assert url.startswith("http://127.0.0.1:")
    assert '"n_train":27' in page
    assert '"finished":false' in page
    assert summary["finished"] is True


def test_json_is_quiet_in_a_terminal_too(folder, environment):
    arguments = [*slow_search(folder, 0), "--json"]
    with start_in_terminal(arguments, folder, environment) as process:
        shown, _ = process.communicate(timeout=600)
    assert json.loads(shown.decode())["finished"] is True


def test_ctrl_c_keeps_the_leader_and_writes_the_results(folder, environment):
    """Typed in the terminal after the first look: exit code 130, no final model.

    The command that is told leads to the same place, and on to a model.
    """
    with start_in_terminal(slow_search(folder, 0.05), folder, environment) as process:
        read_until(process, "Look 2 of 10")
        process.stdin.write(b"\x03")
        process.stdin.flush()
        rest = process.stdout.read().decode(errors="replace")
    assert process.returncode == 130

    assert "Leader so far: alpha=" in rest
    assert "Traceback" not in rest
    results = folder / "results"
    assert sorted(path.name for path in results.iterdir()) == [
        "command.txt",
        "cv_results.csv",
        "race.json.gz",
        "report.html",
        "summary.json",
        "winner.json",
    ]
    summary = json.loads((results / "summary.json").read_text(encoding="utf-8"))
    assert summary["stop_reason"] == "interrupted"
    assert summary["finished"] is False
    winner = json.loads((results / "winner.json").read_text(encoding="utf-8"))
    assert winner["params"] == summary["looks"][-1]["leader"]

    # The command that was printed is typed into a shell as it stands.
    command = (results / "command.txt").read_text(encoding="utf-8")
    assert command.strip() in " ".join(rest.split())
    python = Path(sys.executable).parent
    environment["PATH"] = f"{python}{os.pathsep}{environment['PATH']}"
    subprocess.run(
        command,
        shell=True,
        check=True,
        cwd=folder,
        env=environment,
        capture_output=True,
    )
    again = json.loads((results / "summary.json").read_text(encoding="utf-8"))
    # Nothing is fitted after an interrupt, for a better estimate neither.
    for winner in (again["winner"], summary["winner"]):
        del winner["estimate"]
    assert again["winner"] == summary["winner"]
    assert (results / "model.skops").exists()


def test_ctrl_c_before_the_first_look_leaves_nothing(folder, environment):
    with start_in_terminal(slow_search(folder, 1.0), folder, environment) as process:
        read_until(process, "Look 1 of 10")
        process.stdin.write(b"\x03")
        process.stdin.flush()
        rest = process.stdout.read().decode(errors="replace")
    assert process.returncode == 130
    assert "interrupted, nothing to keep" in rest
    assert not (folder / "results").exists()
