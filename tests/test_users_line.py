"""Warnings show the line of the user's, by whichever way the call came."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV
from cvst._users_line import users_line
from cvst.exceptions import CVSTWarning, FallbackWarning


@pytest.mark.parametrize("way", ["fit", "plan"])
def test_the_line_is_that_of_the_call(way):
    """scikit-learn wraps one of the two, and the other has no race below it."""
    X = np.arange(12.0)[:, None]
    grid = {"max_depth": [1, 2, 3]}
    search = RaceGridSearchCV(DecisionTreeClassifier(), grid, strategy="cvst")
    with pytest.warns(FallbackWarning, match="12 rows are too few") as told:
        getattr(search, way)(X, np.arange(12) % 2)
    assert {one.filename for one in told} == {__file__}


def test_a_call_from_outside_is_the_line_itself():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("here", CVSTWarning, stacklevel=users_line())
    assert caught[0].filename == __file__
