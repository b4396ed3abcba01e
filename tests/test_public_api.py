"""What is public is listed, importable and documented."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import cvst

ROOT = Path(__file__).parents[1]


def packages():
    names = [
        module.name
        for module in pkgutil.iter_modules(cvst.__path__, prefix="cvst.")
        if not module.name.rsplit(".", 1)[-1].startswith("_")
    ]
    return ["cvst", *names]


def public_objects():
    return [
        (package, name)
        for package in packages()
        for name in importlib.import_module(package).__all__
    ]


@pytest.mark.parametrize("package", packages())
def test_public_names_exist_and_are_sorted(package):
    """``__all__`` lists what can be imported, each name once, in order."""
    module = importlib.import_module(package)
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        assert hasattr(module, name), name


@pytest.mark.parametrize(("package", "name"), public_objects())
def test_public_object_is_documented(package, name):
    """Every public class and function has a docstring of its own."""
    value = getattr(importlib.import_module(package), name)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert value.__doc__, f"{package}.{name}"


def imports_of(package):
    """Return the names that other packages of the library import from a package."""
    source = Path(cvst.__file__).parent
    own = source / package.split(".")[0]
    return {
        alias.name
        for path in source.rglob("*.py")
        if not path.is_relative_to(own)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == f"cvst.{package}"
        for alias in node.names
    }


def shown_to_users():
    """Return all words of the pages and examples."""
    texts = [
        path.read_text(encoding="utf-8")
        for folder in ("docs/user_guide", "docs/developer", "examples")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".md", ".py"}
    ]
    return set(re.findall(r"\w+", " ".join(texts)))


def named_by(package):
    """Return the words in docstrings and signatures of what a package exports."""
    module = importlib.import_module(f"cvst.{package}")
    words = {}
    for name in module.__all__:
        value = getattr(module, name)
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        texts = [inspect.getdoc(value) or ""]
        members = inspect.getmembers(value) if inspect.isclass(value) else [("", value)]
        for _, member in members:
            function = getattr(member, "fget", member)
            if inspect.isfunction(function):
                texts += [inspect.getdoc(function) or ""]
                texts += map(str, inspect.get_annotations(function).values())
        texts += map(str, inspect.get_annotations(value).values())
        words[name] = set(re.findall(r"\w+", " ".join(texts)))
    return words


def without_use(package, used):
    """Return names that are neither used nor part of what else is public."""
    words = named_by(package)
    return [
        name
        for name in set(importlib.import_module(f"cvst.{package}").__all__) - used
        if not any(name in words[other] for other in words if other != name)
    ]


with_pages = pytest.mark.skipif(
    not (ROOT / "docs").exists(), reason="the pages are not here"
)


@with_pages
@pytest.mark.parametrize(
    "package",
    [
        "datasets",
        "evaluation",
        "integrations",
        "learners",
        "race",
        "report",
        "search",
        "spaces",
    ],
)
def test_a_package_lists_what_users_need(package):
    """What the library alone imports is not public: it is in ``machinery``."""
    assert without_use(package, shown_to_users()) == []


@pytest.mark.parametrize(
    "door", ["evaluation.machinery", "parallel", "race.machinery", "report.machinery"]
)
def test_a_door_lists_what_others_import(door):
    """Each name that stands open for other packages is imported by one."""
    listed = importlib.import_module(f"cvst.{door}").__all__
    assert sorted(set(listed) - imports_of(door)) == []
