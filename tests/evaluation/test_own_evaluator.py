from __future__ import annotations

import doctest
import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.metrics import euclidean_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cvst import RaceGridSearchCV
from cvst.evaluation import OneByOne, RaceRows, Scratch, Task, batch_evaluator_for

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "own_estimators" / "batch_evaluator.py"
PAGE = ROOT / "docs" / "developer" / "add_a_batch_evaluator.md"
LONGEST = 30

pytestmark = pytest.mark.skipif(
    not EXAMPLE.exists(), reason="source distributions have no examples"
)


@pytest.fixture(scope="module")
def example():
    """Import the example, which registers its evaluator."""
    spec = importlib.util.spec_from_file_location("batch_evaluator", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def evaluator_source():
    text = EXAMPLE.read_text(encoding="utf-8")
    return text.split("# [evaluator]\n")[1].split("# [end]")[0].rstrip()


def rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 4))
    return X, X @ [1.0, 2.0, 0.0, -1.0] + rng.normal(size=50)


@settings(max_examples=30, deadline=None)
@given(
    grid=st.lists(
        st.dictionaries(
            st.sampled_from(["n_components", "nonsense"]),
            st.sampled_from([1, 2, 3, 4, 5, 0, 2.0, np.int64(2), "two"]),
        ),
        min_size=1,
        max_size=5,
    ),
    seed=st.integers(0, 3),
    broken=st.booleans(),
)
def test_the_example_is_exact(example, assert_same_as_one_by_one, grid, seed, broken):
    """The evaluator on the page agrees with one fit at a time, odd values included."""
    X, y = rows(seed)
    if broken:
        X[0, 0] = np.nan
    estimator = example.PrincipalComponentRegression()
    assert_same_as_one_by_one(
        Task(estimator, dict(enumerate(grid)), X[:30], y[:30], X[30:])
    )


def test_the_example_shares(example, monkeypatch):
    """One decomposition for a grid of four, also behind a scaler."""
    calls = []
    svd = np.linalg.svd
    monkeypatch.setattr(
        np.linalg,
        "svd",
        lambda *args, **kwargs: calls.append(1) or svd(*args, **kwargs),
    )
    X, y = rows(0)
    estimator = example.PrincipalComponentRegression()
    assert isinstance(batch_evaluator_for(estimator), example.AllComponents)
    for model, prefix in (
        (estimator, ""),
        (make_pipeline(StandardScaler(), estimator), "principalcomponentregression__"),
    ):
        calls.clear()
        grid = [{f"{prefix}n_components": k} for k in (1, 2, 3, 4)]
        task = Task(model, dict(enumerate(grid)), X[:30], y[:30], X[30:])
        outcomes = list(batch_evaluator_for(model).evaluate(task))
        assert [outcome.error for outcome in outcomes] == [None] * 4
        assert len(calls) == 1
        calls.clear()
        assert len(list(OneByOne().evaluate(task))) == 4
        assert len(calls) == 4


def test_a_search_uses_the_example(example):
    """As the page says, without another word; the doctest runs the bare estimator."""
    X, y = rows(0)
    search = RaceGridSearchCV(
        make_pipeline(StandardScaler(), example.PrincipalComponentRegression()),
        {"principalcomponentregression__n_components": [1, 2, 3, 4]},
        random_state=0,
    )
    assert (
        search.fit(X, y).best_params_["principalcomponentregression__n_components"] > 1
    )
    assert doctest.testmod(example).failed == 0


@pytest.mark.skipif(not PAGE.exists(), reason="source distributions have no docs")
def test_the_page_runs(example):
    """Every piece of code on the page, one after the other."""
    X, y = rows(0)
    X, y = np.tile(X, (2, 1)), np.tile(y, 2)
    grid = [{"n_components": k} for k in (1, 2, 7)]

    class MyEstimator(example.PrincipalComponentRegression):
        solver = "exact"

    names = {
        **vars(example),
        "X": X,
        "y": y,
        "grid": grid,
        "RaceGridSearchCV": RaceGridSearchCV,
        "make_pipeline": make_pipeline,
        "StandardScaler": StandardScaler,
        "MyEstimator": MyEstimator,
        "MyEvaluator": example.AllComponents,
        "pairwise": euclidean_distances,
    }
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        if "task.race_rows" in block:
            whole = RaceRows(X, slice(0, 80), slice(80, 100), Scratch())
            names["task"] = replace(names["task"], race_rows=whole)
        # The class itself was tested where it can be pickled.
        if "class AllComponents" not in block:
            exec(block, names)
    assert names["search"].get_params()["estimator__standardscaler"] is not None
    assert isinstance(batch_evaluator_for(MyEstimator()), example.AllComponents)
    apart = names["distances_of"](names["task"])
    np.testing.assert_allclose(apart, euclidean_distances(X[:80]), atol=1e-6)


@pytest.mark.skipif(not PAGE.exists(), reason="source distributions have no docs")
def test_the_page_shows_the_example():
    """The code on the page is the code that was tested, and it is short."""
    code = evaluator_source()
    assert f"```python\n{code}\n```" in PAGE.read_text(encoding="utf-8")
    lines = [line for line in code.splitlines() if line.strip() and '"""' not in line]
    assert len(lines) <= LONGEST
