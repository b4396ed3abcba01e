"""The hooks of pre-commit find their tools, with and without ``make setup``."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "tools" / "tool.sh"

pytestmark = pytest.mark.skipif(
    not SCRIPT.exists() or sys.platform == "win32",
    reason="needs the checkout and a shell",
)


def put(folder, text):
    """Put a tool into a folder that prints a text and its arguments."""
    folder.mkdir(parents=True)
    tool = folder / "sometool"
    tool.write_text(f'#!/bin/sh\necho {text} "$@"\n', encoding="utf-8")
    tool.chmod(0o755)


def run(folder, path):
    shell = shutil.which("sh")
    return subprocess.run(
        [shell, str(SCRIPT), "sometool", "check", "a b.py"],
        cwd=folder,
        env={"PATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_tools_of_make_setup_come_first(tmp_path):
    put(tmp_path / ".venv" / "bin", "own")
    put(tmp_path / "elsewhere", "other")
    found = run(tmp_path, tmp_path / "elsewhere")
    assert (found.stdout, found.returncode) == ("own check a b.py\n", 0)


def test_without_them_those_on_the_path_are_taken(tmp_path):
    put(tmp_path / "elsewhere", "other")
    found = run(tmp_path, tmp_path / "elsewhere")
    assert (found.stdout, found.returncode) == ("other check a b.py\n", 0)


def test_a_missing_tool_is_told(tmp_path):
    found = run(tmp_path, tmp_path)
    assert found.returncode == 127
    assert "sometool is not installed. Run: make setup" in found.stderr


def test_every_hook_runs_its_tool_so():
    yaml = pytest.importorskip("yaml")
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    [repo] = yaml.safe_load(text)["repos"]
    entries = [hook["entry"] for hook in repo["hooks"]]
    assert all(entry.startswith("sh tools/tool.sh ") for entry in entries)
    names = {entry.split()[2] for entry in entries}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipes = makefile.partition("\nlint: ")[2].partition("\nunit: ")[0]
    assert all(f"$(BIN)/{name}" in recipes for name in names)
