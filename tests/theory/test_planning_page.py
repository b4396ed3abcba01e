"""The numbers on the page that derives them are computed, not remembered."""

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "theory" / "planning.md"


@pytest.mark.skipif(not PAGE.exists(), reason="source distributions have no docs")
def test_every_number_of_the_page_is_what_the_library_computes():
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")

    assert result.attempted > 15
    assert result.failed == 0
