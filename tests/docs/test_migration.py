"""Pages for those who come from other searches name what is different.

Witnesses are scikit-learn's own searches: what they have and ours lack, and defaults
that differ, must stand on the page.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from docs_pages import page
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_digits, load_iris
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - its switch
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cvst import RaceGridSearchCV, RaceRandomSearchCV
from cvst.evaluation import batch_evaluator_for
from cvst.exceptions import InvalidInputError

GRID_PAGE = "docs/migration/from_grid_search.md"
HALVING_PAGE = "docs/migration/from_halving.md"
SPACE = {"max_depth": [1, 2, 3, 4], "min_samples_leaf": [1, 5]}


def names_on(name):
    """Return what a page writes as code in the topics of its table."""
    text = page(name).split("## What is different")[1]
    topics = [line.split("|")[1] for line in text.splitlines() if line.startswith("|")]
    return " ".join(topics)


@pytest.mark.parametrize(
    ("theirs", "ours", "name"),
    [
        (GridSearchCV, RaceGridSearchCV, GRID_PAGE),
        (RandomizedSearchCV, RaceRandomSearchCV, GRID_PAGE),
        (HalvingGridSearchCV, RaceGridSearchCV, HALVING_PAGE),
        (HalvingRandomSearchCV, RaceRandomSearchCV, HALVING_PAGE),
    ],
)
def test_parameters_that_are_missing_or_differ_are_told(theirs, ours, name):
    there, here = (inspect.signature(one).parameters for one in (theirs, ours))
    told = names_on(name)
    for parameter, value in there.items():
        if parameter not in here:
            assert parameter in told, parameter
        elif repr(here[parameter].default) != repr(value.default):
            assert f"`{parameter}`" in told, parameter


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=200)
    model = DecisionTreeRegressor(random_state=0)
    halving = {"random_state": 0, "min_resources": 50}
    return {
        "race": RaceGridSearchCV(model, SPACE, cv=3, random_state=0).fit(X, y),
        GRID_PAGE: GridSearchCV(model, SPACE, cv=3).fit(X, y),
        HALVING_PAGE: HalvingGridSearchCV(model, SPACE, **halving).fit(X, y),
    }


@pytest.mark.parametrize("name", [GRID_PAGE, HALVING_PAGE])
def test_attributes_that_are_missing_are_told(fitted, name):
    def public(search):
        return {one for one in dir(search) if not one.startswith("_")}

    missing = public(fitted[name]) - public(fitted["race"])
    told = names_on(name)
    assert all(f"`{one}`" in told for one in missing), missing
    keys = set(fitted[name].cv_results_) - set(fitted["race"].cv_results_)
    text = page(name)
    for key in keys:
        if key.endswith("train_score"):
            assert "`return_train_score`" in told, key
            continue
        kind = "split0_test_score" if key.startswith("split") else key
        assert f"`{kind}`" in text, key
    more = set(fitted["race"].cv_results_) - set(fitted[GRID_PAGE].cv_results_)
    for key in more:
        if not key.startswith("look"):
            assert f"`{key}`" in page(GRID_PAGE), key


def test_both_random_searches_draw_the_same():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    drawn = [
        kind(DecisionTreeRegressor(), SPACE, n_iter=4, random_state=3, cv=2).fit(X, y)
        for kind in (RandomizedSearchCV, RaceRandomSearchCV)
    ]
    first, second = (search.cv_results_["params"] for search in drawn)
    assert first == second


def rows_of(name):
    """Return the cells of a page's table behind their topics."""
    lines = page(name).split("## What is different")[1].splitlines()
    table = (line.strip("| ").split(" | ") for line in lines if line.startswith("|"))
    return {topic: rest for topic, *rest in table}


@pytest.mark.parametrize(
    ("model", "grid", "shared", "single"),
    [
        # More leaves than the rows fill change nothing.
        (
            DecisionTreeClassifier(random_state=0),
            {"max_leaf_nodes": [2, 50, 60, 70]},
            [4, 1, 1, 1],
            [4, 1, 2, 3],
        ),
        # More neighbours than rows fail.
        (
            KNeighborsClassifier(),
            {"n_neighbors": [5, 10_000, 20_000]},
            [1, 2, 2],
            [1, 2, 3],
        ),
    ],
    ids=["equal", "failed"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:Scoring failed|One or more:UserWarning")
def test_equal_ranks_are_shared_there_and_not_here(model, grid, shared, single):
    told = rows_of(GRID_PAGE)["`rank_test_score`"]
    assert told[0] == "equal means share a rank; so do failed configurations"
    assert told[1] == "each rank once: of equal ones the first in the grid ranks first"
    X, y = load_iris(return_X_y=True)
    theirs, ours = (
        kind(model, grid, cv=3).fit(X, y).cv_results_["rank_test_score"].tolist()
        for kind in (GridSearchCV, RaceGridSearchCV)
    )
    assert (theirs, ours) == (shared, single)


class AnyTarget(RegressorMixin, BaseEstimator):
    """Leaves missing targets out, and counts its fits."""

    fits = 0

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, y):
        type(self).fits += 1
        self.mean_ = self.factor * np.nanmean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_missing_targets_reach_the_estimator_there_and_not_here():
    told = rows_of(GRID_PAGE)["missing values in `y`"]
    assert told == ["left to the estimator", "refused before any fit"]
    X, y = np.arange(60.0).reshape(-1, 1), np.arange(60.0)
    y[3] = np.nan

    def score(model, X, y):
        return -np.nanmean((y - model.predict(X)) ** 2)

    kinds = GridSearchCV, RaceGridSearchCV
    theirs, ours = (
        kind(AnyTarget(), {"factor": [0.9, 1.0]}, cv=3, scoring=score) for kind in kinds
    )
    assert np.isfinite(theirs.fit(X, y).best_score_)
    before = AnyTarget.fits
    assert before > 0
    with pytest.raises(InvalidInputError, match="y contains NaN"):
        ours.fit(X, y)
    assert AnyTarget.fits == before


def test_where_fits_run_differs_between_estimators():
    told = rows_of(GRID_PAGE)["where `n_jobs` runs fits"]
    assert told[1].startswith("in threads for evaluators of compiled code")
    found = {
        type(model).__name__: batch_evaluator_for(model).prefer
        for model in (DecisionTreeRegressor(), KNeighborsClassifier(), SVC())
    }
    assert set(found.values()) == {"threads", "processes"}, found


def test_what_is_said_of_the_rounds_of_halving():
    """On the page's own rows and grid."""
    X, y = load_digits(return_X_y=True)
    grid = {"C": np.logspace(-1, 3, 9), "gamma": np.logspace(-6, -1, 11)}
    search = HalvingGridSearchCV(SVC(), grid, factor=3, random_state=0, refit=False)
    search.fit(X[:600], y[:600])
    text = page("docs/migration/from_halving.md")
    assert (search.n_resources_, search.n_candidates_) == ([100, 300], [99, 33])
    assert "twice the folds times the classes: 100 of these 600" in text
    assert 2 * 5 * len(np.unique(y)) == 100
    assert "(33 of 99 configurations on half of 600 rows)" in text
