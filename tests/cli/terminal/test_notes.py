from __future__ import annotations

import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning

from cvst.cli.terminal._notes import warnings_as_notes
from cvst.exceptions import FallbackWarning


def test_our_warnings_are_all_kept_and_others_counted():
    notes = ["first"]
    with warnings_as_notes(notes):
        for number in range(5):
            warnings.warn(f"gap {number}", ConvergenceWarning, stacklevel=1)
        warnings.warn("too few\nrows", FallbackWarning, stacklevel=1)
        warnings.warn("too few\nrows", FallbackWarning, stacklevel=1)
        warnings.warn("one configuration", FallbackWarning, stacklevel=1)
        warnings.warn("for programmers", FutureWarning, stacklevel=1)
    assert notes == [
        "first",
        "too few rows",
        "one configuration",
        "gap 0 (5 warnings of this kind.)",
    ]


def test_warnings_before_an_error_are_kept():
    notes = []

    def interrupted():
        with warnings_as_notes(notes):
            warnings.warn("before", UserWarning, stacklevel=1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert notes == ["before"]
