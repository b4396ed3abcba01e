from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from importlib.util import find_spec

import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import ParameterGrid
from sklearn.tree import DecisionTreeClassifier

from cvst.cli._extras import MissingExtraError
from cvst.cli.grid._grid import parameter_grids, read_grid
from cvst.cli.models._catalogue import MODELS, find_model
from cvst.cli.table._columns import ColumnOptions, learning_problem
from cvst.cli.table._preparation import prepared_model
from cvst.cli.table._target import with_numbered_classes
from cvst.exceptions import InvalidInputError

TARGETS = {"classification": "ill", "regression": "cost"}
CASES = [
    pytest.param(
        model,
        task,
        marks=pytest.mark.skipif(
            bool(model.install) and find_spec(model.install) is None,
            reason=f"{model.install} is not installed",
        ),
        id=f"{model.name}-{task}",
    )
    for model in MODELS.values()
    for task in model.tasks
]


@pytest.mark.parametrize(("model", "task"), CASES)
def test_a_default_grid_holds_something_better_than_a_constant(model, task, people):
    """Mixed columns with gaps, default pipeline, configurations across the grid."""
    others = [name for name in TARGETS.values() if name != TARGETS[task]]
    learning = learning_problem(
        people, ColumnOptions(TARGETS[task], drop=others, task=task)
    )
    if model.numbered_classes:
        learning = replace(learning, target=with_numbered_classes(learning.target)[0])
    prepared = prepared_model(model, learning, raw=False)
    grids = parameter_grids(
        read_grid(model.choice(task).grid), prepared.estimator, prepared.prefix
    )
    configurations = list(ParameterGrid(grids))
    X, y = learning.X, learning.target.values
    train, test = slice(0, 160), slice(160, None)
    dummy = DummyClassifier() if task == "classification" else DummyRegressor()
    constant = dummy.fit(X[train], y[train]).score(X[test], y[test])

    scores = []
    for configuration in configurations[:: max(1, len(configurations) // 4)]:
        fitted = clone(prepared.estimator).set_params(**configuration)
        # Small, for speed; the grid does not touch the number of trees of a forest.
        for name in ("n_estimators", "max_iter"):
            full = f"{prepared.prefix}{name}"
            if (fitted.get_params().get(full) or 0) > 20:
                fitted.set_params(**{full: 20})
        scores.append(fit_quietly(fitted, X[train], y[train]).score(X[test], y[test]))

    assert len(configurations) >= 20
    assert max(scores) > constant + 0.1


def fit_quietly(estimator, X, y):
    """Fit, whether it converges or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y)


def test_an_import_path_is_a_model(tmp_path, monkeypatch):
    """Also one in the current folder, which a console script does not look in."""
    (tmp_path / "my_models.py").write_text(
        "from sklearn.tree import DecisionTreeClassifier as Mine\nnumber = 3\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != ""])
    model = find_model("my_models:Mine", has_grid=True)
    assert model.tasks == ("classification",)
    assert isinstance(model.estimator("classification"), DecisionTreeClassifier)
    with pytest.raises(InvalidInputError, match="cannot be made without arguments"):
        find_model("my_models:number", has_grid=True)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("forst", "Did you mean 'forest'? Known are krr"),
        ("zzz", "is not known. Known are"),
        ("no_such_package.module:Class", "No module named 'no_such_package'"),
        ("sklearn.tree:NoTree", "names 'NoTree', which the module 'sklearn.tree'"),
        ("collections:OrderedDict", "is not an estimator"),
        (":Class", "is not an import path"),
    ],
)
def test_unknown_models_are_refused_in_one_sentence(name, words):
    with pytest.raises(InvalidInputError) as caught:
        find_model(name, has_grid=True)
    assert words in str(caught.value)


def test_an_import_path_needs_a_grid():
    with pytest.raises(InvalidInputError, match="has no default grid"):
        find_model("sklearn.tree:DecisionTreeClassifier", has_grid=False)


@pytest.mark.skipif(find_spec("lightgbm") is not None, reason="lightgbm is installed")
def test_a_missing_package_is_named_with_the_command_that_installs_it():
    with pytest.raises(MissingExtraError, match="pip install 'lightgbm'"):
        find_model("lightgbm", has_grid=False).estimator("regression")
