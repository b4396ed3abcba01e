"""The suite runs where numba is absent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
COLLECT = """
import sys
sys.modules.update(numba=None, llvmlite=None)
import pytest
quiet = ["--collect-only", "-q", "-p", "no:cacheprovider"]
sys.exit(pytest.main([*quiet, *sys.argv[1:]]))
"""


@pytest.mark.skipif(
    not (ROOT / "src" / "cvst").exists(), reason="the library is installed"
)
def test_examples_are_found_without_numba():
    """Those of the compiled solver are left out, all others are there."""
    evaluation = ROOT / "src" / "cvst" / "evaluation"
    rooms = [str(evaluation / name) for name in ("kernels", "svm")]
    found = subprocess.run(
        [sys.executable, "-c", COLLECT, *rooms],
        capture_output=True,
        text=True,
        cwd=ROOT,
        # Options of the outer run would change what is printed.
        env={k: v for k, v in os.environ.items() if k != "PYTEST_ADDOPTS"},
        check=False,
    )
    assert found.returncode == 0, found.stdout
    assert "kernels/_" in found.stdout
    assert "compiled" not in found.stdout
