"""The page on shared work says what is served, no less and no more."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from cvst.evaluation import OneByOne, batch_evaluator_for
from cvst.evaluation._dispatch import _BY_NAME

PAGE = Path(__file__).parents[2] / "docs" / "user_guide" / "shared_work.md"
OURS = ("sklearn.", "cvst.")

pytestmark = pytest.mark.skipif(
    not PAGE.exists(), reason="source distributions have no docs"
)


def test_the_table_lists_who_is_served():
    """The first column holds the classes of the dispatch, and only those."""
    table = re.findall(r"^\| (`.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    listed = set(re.findall(r"`(\w+)`", " ".join(table)))
    served = {
        estimator_class.__name__
        for estimator_class in batch_evaluator_for.registry
        if estimator_class.__module__.startswith(OURS)
    }
    # Served where these libraries are installed; what fits one by one shares nothing.
    optional = {
        name
        for (module, name), evaluator in _BY_NAME.items()
        if not module.startswith(OURS) and not isinstance(evaluator, OneByOne)
    }
    assert listed == served | optional


def test_the_examples_run():
    """What the page shows is what comes out."""
    results = doctest.testfile(str(PAGE), module_relative=False)
    assert results.attempted > 0
    assert results.failed == 0
