"""Classes in modules beside the script, which people edit between two runs."""

from __future__ import annotations

import importlib
import sys
import types

import pytest
from sklearn.tree import DecisionTreeRegressor

from cvst import RaceGridSearchCV
from cvst.exceptions import CheckpointError
from cvst.search.checkpoint._digest import digest, digest_of_code
from cvst.search.checkpoint._edited import is_edited

SOURCE = """
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor
{version}

class Model(DecisionTreeRegressor):
    def __init__(self, max_depth=None, kind=None):
        super().__init__(max_depth=max_depth)
        self.kind = kind

    def predict(self, X):
        return super().predict(X) * {factor}

class Folds(KFold):
    def split(self, X, y=None, groups=None):
        for train, test in super().split(X):
            yield train[::{factor}], test

class Score:
    def __call__(self, model, X, y):
        return model.score(X, y) * {factor}
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return a function that writes a module, imports it and returns it."""
    # The time of a file tells whole seconds only.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def made(factor=1, folder=tmp_path, version=""):
        folder.mkdir(exist_ok=True)
        (folder / "beside.py").write_text(SOURCE.format(factor=factor, version=version))
        monkeypatch.delitem(sys.modules, "beside", raising=False)
        monkeypatch.syspath_prepend(folder)
        importlib.invalidate_caches()
        return importlib.import_module("beside")

    yield made
    sys.modules.pop("beside", None)


def model(beside):
    return beside.Model(), {}


def derived(beside):
    return type("Mine", (beside.Model,), {"__module__": "__main__"})(), {}


def value(beside):
    return Told(), {"param_grid": {"kind": [None, beside.Score()]}}


def kind(beside):
    return Told(), {"param_grid": {"kind": [None, beside.Model]}}


def folds(beside):
    return DecisionTreeRegressor(), {"cv": beside.Folds(3)}


def score(beside):
    return DecisionTreeRegressor(), {"scoring": beside.Score()}


class Told(DecisionTreeRegressor):
    def __init__(self, max_depth=None, kind=None):
        super().__init__(max_depth=max_depth)
        self.kind = kind


def fit(made, rows, path):
    estimator, options = made
    options = {"param_grid": {"max_depth": [1, 2]}, "random_state": 0, **options}
    RaceGridSearchCV(
        estimator, **options, max_looks=1, refit=False, checkpoint=path
    ).fit(*rows)


@pytest.mark.parametrize("use", [model, derived, value, kind, folds, score])
def test_a_class_of_a_module_beside_the_script_that_was_edited_is_refused(
    use, module, rows, tmp_path
):
    path = tmp_path / "race"
    fit(use(module()), rows, path)
    fit(use(module()), rows, path)
    with pytest.raises(CheckpointError, match="belongs to another search"):
        fit(use(module(factor=-1)), rows, path)


def test_an_installed_package_counts_with_its_version(module, tmp_path):
    """Without one, or elsewhere, nothing tells of its changes but its methods."""
    installed = tmp_path / "site-packages"

    def code(**options):
        return digest_of_code(module(**options).Model)

    told = {"folder": installed, "version": "__version__ = '1.0'"}
    assert code(factor=1, **told) == code(factor=2, **told)
    assert code(factor=1, folder=installed) != code(factor=2, folder=installed)
    elsewhere = {"folder": tmp_path / "packages", "version": "__version__ = '1.0'"}
    assert code(factor=1, **elsewhere) != code(factor=2, **elsewhere)


def test_modules_that_cannot_be_told_count_as_edited(monkeypatch):
    for foreign in (object(), types.ModuleType("foreign")):
        monkeypatch.setitem(sys.modules, "foreign", foreign)
        assert is_edited("foreign.models")
    assert is_edited("nowhere")
    assert is_edited(None)
    for known in ("builtins", "abc", "_abc", "pandas.core", "cvst.search", "sklearn"):
        assert not is_edited(known)


def test_methods_of_many_objects_of_a_class_are_read_once(module, monkeypatch):
    """A grid may hold thousands."""
    asked = []
    monkeypatch.setattr(
        "cvst.search.checkpoint._digest.is_edited",
        lambda name: asked.append(name) or is_edited(name),
    )
    beside = module()
    digest([beside.Model(max_depth=depth) for depth in range(9)])
    assert asked.count("beside") == 1
