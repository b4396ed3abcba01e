"""Very many rows: an honest sample is raced, and the winner is fitted on all."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import KFold, PredefinedSplit
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV
from cvst.exceptions import InvalidInputError
from cvst.race import TrackAndConfirm
from cvst.search.rows._sampling import draw_rows

N_ROWS, MOST = 1_500, 1_000
RNG = np.random.default_rng(0)
X = np.column_stack([np.arange(N_ROWS), RNG.normal(size=(N_ROWS, 2))])
Y = np.sort(RNG.integers(0, 2, N_ROWS))


class Remembers(ClassifierMixin, BaseEstimator):
    """Remembers the rows it was fitted on."""

    def __init__(self, answer=0):
        self.answer = answer

    def fit(self, X, y, sample_weight=None):
        """Keep what came."""
        self.classes_ = np.unique(y)
        self.rows_, self.y_, self.weights_ = X[:, 0].astype(int), y, sample_weight
        return self

    def predict(self, X):
        """Answer the same for all."""
        return np.full(len(X), self.answer)


def search(**settings):
    """Return a search of two configurations that races a thousand rows at most."""
    settings = {
        "strategy": TrackAndConfirm(max_rows=MOST),
        "random_state": 0,
    } | settings
    return RaceGridSearchCV(Remembers(), {"answer": [0, 1]}, **settings)


def raced_rows(fitted):
    """Return the original rows that were tested in some fold."""
    return np.unique(np.concatenate([rows for _, rows, _ in fitted.pointwise_losses_]))


def test_the_winner_is_fitted_on_all_rows(caplog):
    """Only the race is limited, and the log says so."""
    with caplog.at_level(logging.INFO, logger="cvst"):
        fitted = search(return_pointwise=True).fit(X, Y, sample_weight=X[:, 0] + 1)
    assert fitted.race_.problem.n_samples == MOST
    assert fitted.race_.problem.refit_rows == N_ROWS
    np.testing.assert_array_equal(fitted.best_estimator_.rows_, np.arange(N_ROWS))
    np.testing.assert_array_equal(fitted.best_estimator_.weights_, X[:, 0] + 1)
    told = [record.getMessage() for record in caplog.records]
    assert told[0].startswith("1,000 rows are raced, drawn at random")
    # Rows come from everywhere, and losses are reported under the user's numbers.
    rows = raced_rows(fitted)
    assert len(rows) == MOST
    counts = np.histogram(rows, bins=10, range=(0, N_ROWS))[0]
    assert counts.min() > 80


def test_fewer_rows_are_raced_as_ever():
    """Without anything to draw, the limit changes no bit of the result."""
    grid = {"max_depth": [1, 2, 3, 4, 5, 6], "min_samples_leaf": [1, 5, 10, 20, 40]}
    limited, plain = (
        RaceGridSearchCV(
            DecisionTreeClassifier(),
            grid,
            strategy=TrackAndConfirm(max_rows=most),
            random_state=3,
        ).fit(X[:MOST], Y[:MOST])
        for most in (MOST, None)
    )
    for name, values in plain.cv_results_.items():
        if "time" not in name:
            np.testing.assert_array_equal(limited.cv_results_[name], values)


def test_whole_groups_are_drawn():
    """No group is cut, and not one of them has an advantage."""
    groups = np.repeat(np.arange(150), 10)
    fitted = search(return_pointwise=True).fit(X, Y, groups=groups)
    rows = raced_rows(fitted)
    assert len(rows) == MOST
    assert set(np.bincount(groups[rows], minlength=150)) == {0, 10}
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInputError, match="One group has 4 rows, and 3 are"):
        draw_rows(8, 3, np.array([0, 0, 0, 0, 1, 1, 1, 1]), False, rng)


def test_of_rows_in_the_order_of_time_the_latest_are_raced():
    """What comes next resembles them most."""
    fitted = search(return_pointwise=True, ordering="given").fit(X, Y)
    assert raced_rows(fitted).min() >= N_ROWS - MOST


@pytest.mark.parametrize("cv", [3, KFold(3)])
def test_folds_of_the_user_are_those_of_the_drawn_rows(cv):
    """A number or a splitter does for any rows."""
    fitted = search(cv=cv).fit(X, Y)
    assert fitted.race_.problem.n_samples == MOST


@pytest.mark.parametrize("listed", [True, False])
def test_folds_that_name_rows_keep_all_of_them(listed):
    """A draw would tear them apart, so there is none."""
    cv = PredefinedSplit(np.arange(N_ROWS) % 3)
    fitted = search(cv=list(cv.split()) if listed else cv).fit(X, Y)
    assert fitted.race_.problem.n_samples == N_ROWS


def test_every_row_has_the_same_chance():
    """Twenty thousand draws of two of five: each is there in two fifths of them."""
    rng = np.random.default_rng(0)
    draws = [draw_rows(5, 2, None, False, rng) for _ in range(20_000)]
    counts = np.bincount(np.concatenate(draws), minlength=5)
    # Five standard deviations of a binomial count.
    assert np.abs(counts - 8_000).max() < 5 * np.sqrt(20_000 * 0.4 * 0.6)
    assert all(np.all(np.diff(draw) > 0) for draw in draws)
