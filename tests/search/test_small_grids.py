"""Searches of few configurations fit no more rows than ``GridSearchCV()``."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import GridSearchCV

from cvst import RaceGridSearchCV
from cvst.search.estimate._growth import USUAL

N_ROWS = 301


class Counted(RegressorMixin, BaseEstimator):
    """Predicts the mean plus a shift, and counts the rows that it is fitted to."""

    rows: ClassVar[list[int]] = []

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        Counted.rows.append(len(y))
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        # Some noise of one's own, so that no two are the same.
        return self.mean_ + self.shift + 0.01 * np.sin(1e3 * self.shift + X[:, 0])


# How far apart configurations are: all alike, some worse, all but one worse.
SPREADS = {"alike": 1e-3, "some": 0.5, "clear": 3.0}


SIZES = 2, 3, 4, 5, 6, 9, 15, 22, 29, 30


def rows_fitted(search, data):
    Counted.rows.clear()
    search.fit(*data)
    return sum(Counted.rows)


def drawn(n_rows):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_rows, 1)), rng.normal(size=n_rows)


@pytest.fixture(scope="module")
def data():
    return drawn(N_ROWS)


@pytest.mark.parametrize("spread", SPREADS.values(), ids=SPREADS)
@pytest.mark.parametrize("n_configurations", SIZES)
def test_no_grid_of_2_to_30_fits_more_rows_than_a_plain_search(
    data, n_configurations, spread
):
    """Race, estimate of the score and final fit against folds and final fit."""
    grid = {"shift": np.linspace(0, spread, n_configurations).tolist()}
    plain = rows_fitted(GridSearchCV(Counted(), grid), data)
    search = RaceGridSearchCV(Counted(), grid)
    assert rows_fitted(search, data) <= plain


@pytest.mark.parametrize("spread", SPREADS.values(), ids=SPREADS)
@pytest.mark.parametrize("n_rows", [100, 150, 200, 249, 260])
def test_thirty_on_few_rows_fit_no_more_either(n_rows, spread):
    """There is no room for subsets, so a final would come on top of all folds."""
    grid, rows = {"shift": np.linspace(0, spread, 30).tolist()}, drawn(n_rows)
    plain = rows_fitted(GridSearchCV(Counted(), grid), rows)
    assert rows_fitted(RaceGridSearchCV(Counted(), grid), rows) <= plain


@pytest.mark.parametrize("shift", [1e-3, 0.1, 0.2, 0.25, 0.3, 0.5, 3.0])
def test_no_race_makes_more_fits_than_a_plain_search(data, shift):
    """Two that part late: what was saved is one fit, and two halves would be more."""
    grid = {"shift": [0.0, shift]}
    rows_fitted(RaceGridSearchCV(Counted(), grid), data)
    assert len(Counted.rows) <= 2 * 5 + 1


@pytest.mark.parametrize("spread", SPREADS.values(), ids=SPREADS)
def test_the_winner_is_looked_at_again_only_with_rows_that_were_saved(data, spread):
    """Without any drop the folds are those of a plain search, and that is all."""
    grid = {"shift": np.linspace(0, spread, 4).tolist()}
    search = RaceGridSearchCV(Counted(), grid).fit(*data)
    looks = [seen.look for seen in search.race_.observations]
    raced = sum(len(look.configurations) * look.n_train for look in looks)
    fitted = rows_fitted(search, data) - N_ROWS
    saved = 4 * sum(look.n_train for look in looks) - raced
    halves = sum(-(-look.n_train // 2) for look in looks[:2])
    assert fitted - raced == min(saved, halves)
    assert (saved == 0) == (spread == SPREADS["alike"])
    told = search.best_score_estimate_.evidence
    # Without a further look it is guessed from the standard error.
    guessed = told.growth.gain == pytest.approx(USUAL * told.error)
    assert guessed == (saved == 0)


class Rounds(Counted):
    """Better with more rounds, each of which takes the rows once."""

    def __init__(self, n_estimators=1):
        self.n_estimators = n_estimators

    def fit(self, X, y):
        self.shift = 3.0 / self.n_estimators
        super().fit(X, y)
        Counted.rows[-1] *= self.n_estimators
        return self


@pytest.mark.parametrize("dear", [10, 100])
@pytest.mark.parametrize("order", [1, -1])
def test_cheap_fits_that_were_saved_do_not_pay_for_dear_ones(data, dear, order):
    """Two of few rounds are dropped, and the winner has many."""
    grid = {"n_estimators": [2, 3, dear][::order]}
    plain = rows_fitted(GridSearchCV(Rounds(), grid), data)
    search = RaceGridSearchCV(Rounds(), grid)
    assert rows_fitted(search, data) <= plain
    assert search.best_params_ == {"n_estimators": dear}
    # What was saved is enough to look at few rounds again, and not at many.
    told = search.best_score_estimate_.evidence
    guessed = told.growth.gain == pytest.approx(USUAL * told.error)
    assert guessed == (dear == 100)


class Deep(Counted):
    """Worse by its shift if it is deep."""

    def __init__(self, max_depth=1, max_leaf_nodes=7, shift=0.0, worse=0.0):
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.shift = shift
        self.worse = worse

    def predict(self, X):
        return super().predict(X) + self.worse * (self.max_depth > 1)


@pytest.mark.parametrize("worse", [0.1, 0.15, 0.2, 0.25, 0.3, 0.5])
def test_dear_fits_that_were_saved_do_not_pay_for_more_cheap_ones(data, worse):
    """Two that part late: one dear fit was saved, and two halves would be more."""
    search = RaceGridSearchCV(Deep(worse=worse), {"max_depth": [1, 100]})
    rows_fitted(search, data)
    assert len(Counted.rows) <= 2 * 5 + 1


@pytest.mark.parametrize("shift", [0.1, 0.2, 0.3, 0.5, 3.0])
def test_work_that_is_the_same_for_all_changes_nothing(data, shift):
    """Roots of leaves do not add up to whole numbers."""
    grid = {"shift": [0.0, 0.0, shift, shift]}
    plain = RaceGridSearchCV(Deep(), grid).fit(*data)
    for leaves in (3, 7, 15, 31):
        known = RaceGridSearchCV(Deep(), grid | {"max_leaf_nodes": [leaves]})
        told = known.fit(*data).best_score_estimate_
        assert told.evidence == plain.best_score_estimate_.evidence
