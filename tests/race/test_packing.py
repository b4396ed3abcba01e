"""A race in a pickle: small, and the same again."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit

from cvst import RaceGridSearchCV
from cvst.race import RaceState
from cvst.race._packing import PackedFolds
from cvst.report import summary


@pytest.mark.parametrize("n_folds", [2, 5, 300])
def test_folds_are_unpacked_as_they_were(n_folds):
    """Whatever the number of folds, up to one row each."""
    X = np.zeros((300, 1))
    folds = tuple(KFold(n_folds, shuffle=True, random_state=0).split(X))
    packed = PackedFolds.of(folds, 300)
    assert packed is not None
    assert packed.fold_of_row.nbytes <= 600
    for fold, again in zip(folds, packed.unpacked(), strict=True):
        for one, other in zip(fold, again, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "folds",
    [
        tuple(TimeSeriesSplit(3).split(np.zeros((20, 1)))),
        ((np.arange(10), np.arange(10, 20)), (np.arange(5, 20), np.arange(5))),
        ((np.arange(5), np.arange(10, 20)), (np.arange(10, 20), np.arange(10))),
        ((np.arange(19, 9, -1), np.arange(10)), (np.arange(10), np.arange(10, 20))),
    ],
)
def test_folds_of_another_kind_stay_as_they_are(folds):
    """Forward in time, overlapping, with rows left out, or in another order."""
    assert PackedFolds.of(folds, 20) is None


@pytest.fixture(scope="module", params=["few", "many", "time", "own", "cvst"])
def search(request):
    X, y = make_classification(600, 8, flip_y=0.2, random_state=0)
    kinds = {
        "few": (5, {}),
        "many": (35, {}),
        "time": (5, {"cv": TimeSeriesSplit(3)}),
        "own": (5, {"cv": StratifiedKFold(4)}),
        "cvst": (5, {"strategy": "cvst"}),
    }
    size, options = kinds[request.param]
    grid = {"C": np.logspace(-4, 2, size).tolist()}
    return RaceGridSearchCV(LogisticRegression(), grid, **options).fit(X, y)


def test_a_state_is_the_same_after_a_pickle(search):
    """Rows of looks and folds, losses and all tables."""
    state = search.race_
    again = pickle.loads(pickle.dumps(state))
    assert list(again.problem.folds) == list(state.problem.folds)
    for seen, other in zip(state.observations, again.observations, strict=True):
        np.testing.assert_array_equal(seen.look.test, other.look.test)
        np.testing.assert_array_equal(seen.look.train, other.look.train)
        np.testing.assert_array_equal(seen.losses, other.losses)
    np.testing.assert_array_equal(state.mean_losses, again.mean_losses)
    assert isinstance(again, RaceState)


def test_a_pickled_search_tells_the_same_story(search):
    """Without its losses it ranks, reports and names ties as before."""
    again = pickle.loads(pickle.dumps(search))
    assert all(seen.losses is None for seen in again.race_.observations)
    before, after = summary(search), summary(again)
    assert before == after
    ranking = search.strategy_.ranking(search.race_)
    np.testing.assert_array_equal(again.strategy_.ranking(again.race_), ranking)
    assert again.tie_ == search.tie_


def test_a_pickle_grows_by_a_byte_per_row_and_set_of_folds():
    """Not by the rows times the fits; with ``return_pointwise`` it may."""
    sizes = {}
    for n in (500, 2500):
        X, y = make_classification(n, 5, random_state=0)
        grid = {"C": [0.01, 0.1, 1.0, 10.0]}
        for keep in (False, True):
            search = RaceGridSearchCV(
                LogisticRegression(), grid, return_pointwise=keep
            ).fit(X, y)
            sizes[n, keep] = len(pickle.dumps(search))
    assert sizes[2500, False] - sizes[500, False] <= 2 * 2000 + 500
    assert sizes[2500, True] - sizes[500, True] > 8 * 2000
