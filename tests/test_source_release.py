"""A source release has what its tests read."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(
    not (ROOT / ".git").exists() or shutil.which("git") is None,
    reason="needs the checkout",
)
def test_it_has_all_that_the_checkout_has():
    """Pages, results and scripts are compared by tests, which are in it too."""
    said = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = said["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tracked = {name.split("/")[0] for name in listed.stdout.splitlines()}
    missing = tracked - {name.removeprefix("/") for name in included}
    # Hatch adds two of them by itself; the last is for machines that test a checkout.
    assert missing <= {"pyproject.toml", ".gitignore", ".ci"}
    assert all((ROOT / name.removeprefix("/")).exists() for name in included)
