"""Real signals in every stage of ``cvst search``: what is known is told and kept."""

from __future__ import annotations

import importlib
import json
import os
import signal
from functools import cache, wraps

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

# Where the signal comes, by stage: the module or class, what is called there, which of
# its calls, and how many looks are known by then; None stands for all.
STAGES = {
    "reading the table": ("cvst.cli.commands._job", "read_table", 1, 0),
    "preparing the race": ("cvst.search._base", "prepare", 1, 0),
    "timing for a budget": ("cvst.search._base", "start_budget", 1, 0),
    "opening the checkpoint": ("cvst.search.checkpoint._opening", "fingerprint", 1, 0),
    "the first look": ("cvst.search._watched:WatchedSource", "take", 1, 0),
    "a later look": ("cvst.search._watched:WatchedSource", "take", 3, 2),
    "between looks": ("cvst.search._base", "log_look", 2, 2),
    "the end of the checkpoint": (
        "cvst.search.checkpoint._recorder:Recorder",
        "end",
        1,
        None,
    ),
    "the table of results": ("cvst.search._fitted", "results_table", 1, None),
    "the estimate": ("cvst.search._base:BaseRaceSearch", "_estimate", 1, None),
    "the final fit": ("cvst.search._base", "rows_to_refit", 1, None),
    "summing up": ("cvst.cli.commands._search_run", "summarise", 1, None),
    "packing the model": ("cvst.cli.commands._search_document", "model_bytes", 1, None),
    "writing the report": ("cvst.cli.commands._search_document", "page_html", 1, None),
    "writing the files": ("cvst.cli.results._folder", "_exchange", 1, None),
}


@pytest.fixture
def command(tmp_path):
    """Return a search on few numbers that need no preparation: its stages count."""
    rows = np.random.default_rng(0).normal(size=(60, 2)).round(3).tolist()
    lines = ["x,cost", *(f"{x},{x + noise}" for x, noise in rows)]
    (tmp_path / "table.csv").write_text("\n".join(lines), encoding="utf-8")
    return [
        "search", tmp_path / "table.csv", "-t", "cost", "-m", "knn", "--raw",
        "--json", "--quiet",
        "-g", "n_neighbors=[1, 5, 20]", "--strategy", "cross_validation",
        "--checkpoint", tmp_path / "race", "--out", tmp_path / "out", "--overwrite",
    ]  # fmt: skip


def signal_at(place, name, call, number, monkeypatch):
    """Let the process get a signal when something is called for the n-th time."""
    module, _, owner = place.partition(":")
    holder = importlib.import_module(module)
    holder = getattr(holder, owner) if owner else holder
    function = getattr(holder, name)
    calls = []

    @wraps(function)
    def signalled(*args, **kwargs):
        calls.append(1)
        if len(calls) == call:
            os.kill(os.getpid(), number)
        return function(*args, **kwargs)

    monkeypatch.setattr(holder, name, signalled)
    return calls


@cache
def undisturbed():
    return {}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=str)
@pytest.mark.parametrize("stage", STAGES)
def test_a_signal_in_any_stage(stage, number, command, cvst, tmp_path, monkeypatch):
    place, name, call, n_looks = STAGES[stage]
    if stage == "timing for a budget":
        command = [*command, "--time-budget", "1h"]
    # What nobody handles must not end the tests.
    stray = []
    before = signal.signal(signal.SIGTERM, lambda *_: stray.append(1))
    old = tmp_path / "out"
    old.mkdir()
    (old / "winner.json").write_text("old", encoding="utf-8")
    try:
        with monkeypatch.context() as patch:
            calls = signal_at(place, name, call, number, patch)
            result = cvst(*command)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert len(calls) >= call
    assert not stray
    assert result.code == 130
    assert not (tmp_path / "race.lock").exists()
    assert {path.name for path in old.iterdir()} >= {"winner.json"}
    quiet = of_quiet(command, cvst, tmp_path)
    if n_looks == 0:
        assert result.out == ""
        assert "interrupted" in result.err
        assert result.err.count("\n") == 1
    else:
        told = json.loads(result.out)
        n_known = len(quiet["looks"]) if n_looks is None else n_looks
        assert same(told["looks"]) == same(quiet["looks"][:n_known])
        assert told["winner"]["params"]
        if n_looks is None:
            assert told["winner"]["params"] == quiet["winner"]["params"]
            assert told["winner"]["score"] == quiet["winner"]["score"]
    again = cvst(*command)
    assert again.code == 0, again.err
    assert json.loads(again.out)["winner"] == quiet["winner"]
    assert same(json.loads(again.out)["looks"]) == same(quiet["looks"])
    written = json.loads((old / "winner.json").read_text(encoding="utf-8"))
    assert written["params"] == quiet["winner"]["params"]
    assert not [path for path in old.iterdir() if path.name.startswith(".")]


def of_quiet(command, cvst, tmp_path):
    """Return what the same command finds that nobody disturbs."""
    known = undisturbed()
    key = "--time-budget" in command
    if key not in known:
        command = [*command]
        for name in ("--checkpoint", "--out"):
            place = command.index(name) + 1
            command[place] = tmp_path / f"quiet-{name.strip('-')}"
        known[key] = json.loads(cvst(*command).out)
    return known[key]


def same(looks):
    return [{k: v for k, v in look.items() if "second" not in k} for look in looks]
