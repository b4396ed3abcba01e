"""Property tests draw the same examples whatever else has been run before them."""

from __future__ import annotations

import importlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# Unlike any number that is drawn by chance.
ODD = 918_273_645


def draws():
    """Return what a property test draws."""
    seen = []

    @settings(max_examples=200)
    @given(st.integers(-(2**40), 2**40))
    def drawn(number):
        seen.append(number)

    drawn()
    return seen


@pytest.mark.skipif(not settings().derandomize, reason="draws are to differ")
def test_a_module_that_is_imported_changes_no_draws(tmp_path, monkeypatch):
    """Its constants would be drawn else, and a rare failure would come and go."""
    before = draws()
    (tmp_path / "odd_constants.py").write_text(f"ODD = {ODD}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("odd_constants")
    assert module.ODD == ODD
    after = draws()
    assert len(before) > 100
    assert after == before
    assert ODD not in after
