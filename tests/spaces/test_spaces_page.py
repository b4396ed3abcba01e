"""The examples of the page run, and print what it says they print."""

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "user_guide" / "spaces.md"


@pytest.mark.skipif(not PAGE.exists(), reason="source distributions have no docs")
def test_every_example_of_the_page_runs():
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")

    assert result.attempted > 20
    assert result.failed == 0
