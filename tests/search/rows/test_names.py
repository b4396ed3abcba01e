"""Names of columns: what would be refused after the race is refused before it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from cvst import RaceGridSearchCV
from cvst.exceptions import InvalidInputError


@pytest.fixture
def regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    return X, X[:, 0] + rng.normal(size=60)


@pytest.mark.parametrize("table", ["X", "X_val"])
@pytest.mark.parametrize("pipe", [False, True])
def test_names_by_text_and_numbers_are_refused_before_the_race(regression, pipe, table):
    """Kernel machines were told so by their final fit, after the race."""
    X, y = regression
    mixed = pd.DataFrame(X[:, :2], columns=["a", 1])
    plain = mixed.rename(columns=str)
    rows = {"X": plain, "X_val": plain, "y_val": y} | {table: mixed}
    model = make_pipeline(StandardScaler(), SVR()) if pipe else SVR()
    grid = {"svr__C" if pipe else "C": [1.0, 10.0]}
    words = f"{table} has columns named by text .* 'a' and 1 .int.*rename.columns=str"
    with pytest.raises(InvalidInputError, match=words):
        RaceGridSearchCV(model, grid, random_state=0).fit(y=y, **rows)
    rows[table] = plain
    RaceGridSearchCV(model, grid, random_state=0).fit(y=y, **rows)


def test_names_that_an_estimator_accepts_are_raced(regression):
    """By text and by numbers, where it is not scikit-learn that reads them."""
    X, y = regression

    class Level(RegressorMixin, BaseEstimator):
        def __init__(self, shift=0.0):
            self.shift = shift

        def fit(self, X, y):
            self.level_ = np.mean(y) + self.shift
            return self

        def predict(self, X):
            return np.full(len(X), self.level_)

    mixed = pd.DataFrame(X[:, :2], columns=["a", 1])
    search = RaceGridSearchCV(Level(), {"shift": [0.0, 900.0]}, random_state=0)
    assert search.fit(mixed, y).best_params_ == {"shift": 0.0}
