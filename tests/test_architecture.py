"""The house rules that no linter checks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import cvst

SOURCE = Path(cvst.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(path):
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_module_says_what_is_inside(path):
    """Every module has a docstring."""
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_module_is_about_one_idea(path):
    """No module is longer than 500 lines."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_private_modules_stay_inside_their_package(path):
    """Another package's underscore modules are never imported."""
    own = path.relative_to(SOURCE).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        parts = node.module.split(".")
        if parts[0] != "cvst" or len(parts) < 3 or not parts[2].startswith("_"):
            continue
        assert own[:1] == (parts[1],), f"{name_of(path)} imports {node.module}"
