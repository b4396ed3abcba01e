"""Warnings show the line of the user's, by whichever way the call came."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV
from cvst._users_line import users_line
from cvst.exceptions import CheckpointWarning, CVSTWarning, FallbackWarning


@pytest.mark.parametrize("way", ["fit", "plan"])
def test_the_line_is_that_of_the_call(way):
    """scikit-learn wraps one of the two, and the other has no race below it."""
    X = np.arange(12.0)[:, None]
    grid = {"max_depth": [1, 2, 3]}
    search = RaceGridSearchCV(DecisionTreeClassifier(), grid, strategy="cvst")
    with pytest.warns(FallbackWarning, match="12 rows are too few") as told:
        getattr(search, way)(X, np.arange(12) % 2)
    assert {one.filename for one in told} == {__file__}


def test_that_a_score_or_a_file_fails_is_told_there_too(tmp_path):
    X, y, path = np.arange(60.0)[:, None], np.arange(60) // 3 % 2, tmp_path / "race"
    scoring = {"right": "accuracy", "none": lambda *_: 1 / 0}
    search = RaceGridSearchCV(
        DecisionTreeClassifier(),
        {"max_depth": [1, 2, 3]},
        scoring=scoring,
        refit="right",
        checkpoint=path,
        random_state=0,
    )
    with pytest.warns(CVSTWarning, match="'none' could not be computed") as told:
        search.fit(X, y)
    for rest in (path.read_bytes()[:-5], path.read_bytes()[:30]):
        path.write_bytes(rest)
        with pytest.warns(CVSTWarning) as of_file:
            search.fit(X, y)
        kinds = {one.category for one in of_file}
        assert CheckpointWarning in kinds
        assert {one.filename for one in [*told, *of_file]} == {__file__}


def test_a_call_from_outside_is_the_line_itself():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("here", CVSTWarning, stacklevel=users_line())
    assert caught[0].filename == __file__
