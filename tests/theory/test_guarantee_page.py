"""The examples of the page on the level of a run, and of the similarity tests, run."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.skipif(not DOCS.exists(), reason="source distributions have no docs")
@pytest.mark.parametrize(
    "name", ["theory/guarantee.md", "user_guide/similarity_tests.md"]
)
def test_every_example_of_the_page_runs(name):
    result = doctest.testfile(str(DOCS / name), module_relative=False, encoding="utf-8")

    assert result.attempted > 1
    assert result.failed == 0
