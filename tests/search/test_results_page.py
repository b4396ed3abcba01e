"""The page about results runs, and explains all that there is."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV

PAGE = Path(__file__).parents[2] / "docs" / "user_guide" / "results.md"

pytestmark = pytest.mark.skipif(
    not PAGE.exists(), reason="source distributions have no pages"
)


def test_its_examples_run():
    failures, examples = doctest.testfile(str(PAGE), module_relative=False)
    assert examples > 5
    assert not failures


def test_every_column_is_explained():
    grid = {"max_depth": [1, 2, 3]}
    search = RaceGridSearchCV(DecisionTreeClassifier(), grid).fit(
        *load_iris(return_X_y=True)
    )
    names = {re.sub(r"^look\d+_", "look<n>_", name) for name in search.cv_results_} - {
        "param_max_depth"
    }
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []
