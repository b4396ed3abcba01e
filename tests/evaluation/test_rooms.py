"""The rooms of the evaluation: what may be in them, and what they export."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import cvst

SOURCE = Path(cvst.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
GUEST = SOURCE / "evaluation" / "svm" / "compiled"
FAMILIES = ["ensembles", "kernels", "klr", "linear", "neighbours", "pipelines", "svm"]
TOP = {
    "protocol",
    "scratch",
    "dispatch",
    "rows",
    "source",
    "work",
    "scored",
    "stand_ins",
    "keeping",
    "responses",
    "failed",
    "faults",
    "one_by_one",
    "on_dask",
    "incremental",
    "check",
    "ahead",
    "folds_on_device",
    "predictions",
    "stored",
    "side_by_side",
    "telling",
}


def imported(path):
    """Yield every module that a file names in an import."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_numba_is_imported_by_its_guest_only():
    """The compiled solver can be left out with its folder."""
    users = [
        path
        for path in MODULES
        if any(name.split(".")[0] in ("numba", "llvmlite") for name in imported(path))
    ]
    assert users
    assert all(path.is_relative_to(GUEST) for path in users)


def test_the_compiled_solver_has_one_door():
    """One import leads in, and it names the package, not what is behind it."""
    package = "cvst.evaluation.svm.compiled"
    doors = [
        (path.name, name)
        for path in MODULES
        if not path.is_relative_to(GUEST)
        for name in imported(path)
        if name.startswith(package)
    ]
    assert doors == [("_fits.py", package)]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_exports_nothing(family):
    """It registers its evaluators by being imported."""
    assert importlib.import_module(f"cvst.evaluation.{family}").__all__ == []


def test_torch_is_imported_by_one_module_and_on_first_use():
    """Without it, everything but a device works."""
    users = [
        path.relative_to(SOURCE).as_posix()
        for path in MODULES
        if any(name.split(".")[0] == "torch" for name in imported(path))
    ]
    assert users == ["evaluation/device/_torch.py"]
    code = "import sys, cvst.search, cvst.evaluation; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_top_holds_what_all_rooms_share():
    """Whatever belongs to a family is in the family's room."""
    files = {path.stem for path in (SOURCE / "evaluation").glob("_*.py")}
    assert files - {"__init__"} <= {f"_{name}" for name in TOP}
