"""What is public is listed, importable and documented."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest

import cvst


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
