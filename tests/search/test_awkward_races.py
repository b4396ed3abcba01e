"""Tracking and confirming on awkward but legal input, through the searches."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cvst.exceptions import (
    AllFitsFailedError,
    CVSTWarning,
    FallbackWarning,
    InvalidInputError,
)
from cvst.race import TrackAndConfirm
from cvst.search import RaceGridSearchCV

GRID = {"max_depth": [1, 2, 3, 4, 5, 6], "min_samples_leaf": [1, 2, 4, 8, 16, 32]}
QUICK = TrackAndConfirm(min_rows=40, n_folds=3, final_folds=4)


@pytest.fixture
def wave():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(300, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(scale=0.3, size=300)


class Hungry(Ridge):
    """Ridge that cannot be fitted on few rows."""

    def __init__(self, alpha=1.0, least=0):
        super().__init__(alpha=alpha)
        self.least = least

    def fit(self, X, y):
        if len(X) < self.least:
            raise ValueError(f"{len(X)} rows are too few")
        return super().fit(X, y)


def test_components_beyond_the_rows_of_a_subset_can_win():
    """All 60 inputs count; the first looks have 60 and 120 rows of 300, less than 70.

    Full cross-validation is the witness.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 90))
    y = X @ rng.normal(size=90) + rng.normal(size=300)
    grid = {"pca__n_components": list(range(2, 91, 2))}
    model = make_pipeline(PCA(random_state=0), Ridge())
    search = RaceGridSearchCV(model, grid, strategy=QUICK, random_state=0)
    with pytest.warns(FitFailedWarning, match="n_components"):
        search.fit(X, y)
    full = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.race_.observations[0].look.n_train < 90
    assert search.best_params_ == full.best_params_ == {"pca__n_components": 90}
    failure = search.cv_results_["failure"][search.best_index_]
    assert "n_components" in failure
    assert search.cv_results_["drop_reason"][search.best_index_] == ""


@pytest.mark.parametrize("least", [80, 150])
def test_models_that_need_most_rows_are_chosen_by_the_folds(wave, least):
    """If every fit fails on a subset, all configurations continue."""
    grid = {"alpha": np.logspace(-3, 6, 35), "least": [least]}
    search = RaceGridSearchCV(Hungry(), grid, strategy=QUICK, random_state=0)
    with pytest.warns(FitFailedWarning, match="35 of 35 configurations failed"):
        search.fit(*wave)
    full = GridSearchCV(Hungry(), grid, cv=3).fit(*wave).cv_results_
    chosen = full["mean_test_score"][search.best_index_]
    assert chosen > full["mean_test_score"].max() - 1e-3
    assert np.isfinite(search.best_score_)


class Cliff(Ridge):
    """Ridge whose best level is 15 on subsets and, beside a cliff, 18 on folds."""

    def __init__(self, level=0):
        super().__init__()
        self.level = level

    def fit(self, X, y):
        if self.level > 18 and len(X) > 150:
            raise ValueError("over the cliff")
        self.best_ = 18 if len(X) > 150 else 15
        return super().fit(X, y)

    def predict(self, X):
        return super().predict(X) * (1 - abs(self.level - self.best_) / 40)


def test_winner_beside_a_cliff_is_found(wave):
    """In its climb the only unseen neighbour cannot be fitted."""
    grid = {"level": list(range(40))}
    narrow = {"n_tracked": 1, "n_leaders": 1, "n_hedges": 0, "n_folds": 3}
    strategy = TrackAndConfirm(min_rows=40, **narrow)
    search = RaceGridSearchCV(
        Cliff(),
        grid,
        strategy=strategy,
        scoring="neg_mean_squared_error",
        random_state=0,
    )
    with pytest.warns(FitFailedWarning, match="over the cliff"):
        search.fit(*wave)
    assert search.best_params_ == {"level": 18}
    climbs = [o for o in search.race_.observations if "climb" in o.look.stage]
    assert climbs[-1].look.configurations.tolist() == [19]
    assert list(climbs[-1].failures) == [19]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("max_looks", [None, 1])
def test_what_could_not_be_fitted_does_not_win(wave, max_looks):
    """Neither on the folds nor when the race is cut before them."""
    grid = {"alpha": np.logspace(-3, 6, 35)}
    model = Hungry(least=1000)
    search = RaceGridSearchCV(model, grid, strategy=QUICK, max_looks=max_looks)
    with pytest.raises(AllFitsFailedError, match="rows are too few"):
        search.fit(*wave)


@pytest.mark.parametrize(
    ("where", "what"), [(slice(150), "train"), (slice(90, 300), "test")]
)
def test_weights_of_zero_are_refused_before_the_first_fit(wave, where, what):
    """A subset without any weight is named, not found by a failed fit."""
    weights = np.ones(300)
    weights[where] = 0

    class Unfit(DecisionTreeRegressor):
        def fit(self, X, y, sample_weight=None):
            raise AssertionError("fitted")

    search = RaceGridSearchCV(Unfit(), GRID, strategy=QUICK, ordering="given")
    with pytest.raises(InvalidInputError, match=f"would {what} on"):
        search.fit(*wave, sample_weight=weights)


def test_own_folds_may_be_a_generator(wave):
    """They can be asked for once only, as in scikit-learn."""
    folds = list(KFold(3, shuffle=True, random_state=1).split(wave[0]))
    races = [
        RaceGridSearchCV(
            DecisionTreeRegressor(), GRID, strategy=QUICK, cv=cv, random_state=0
        ).fit(*wave)
        for cv in (folds, iter(folds))
    ]
    scores = [search.cv_results_["mean_test_score"] for search in races]
    np.testing.assert_array_equal(*scores)


def test_own_folds_drawn_at_random_are_not_run_twice(wave):
    """There is no final on other draws of the same splitter."""
    search = RaceGridSearchCV(
        DecisionTreeRegressor(), GRID, strategy=QUICK, cv=ShuffleSplit(3)
    )
    search.fit(*wave)
    stages = {observation.look.stage for observation in search.race_.observations}
    assert "confirm" in stages
    assert "final" not in stages


def test_sorted_classes_are_compared_by_folds_and_the_order_is_named():
    """The first look would have one class; more rows would not help."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = np.repeat([0, 1], 150)
    folds = list(KFold(3, shuffle=True, random_state=1).split(X))
    search = RaceGridSearchCV(
        DecisionTreeClassifier(), GRID, strategy=QUICK, ordering="given", cv=iter(folds)
    )
    with pytest.warns(FallbackWarning, match="300 rows cannot be raced on in this ord"):
        search.fit(X, y)
    looks = [observation.look for observation in search.race_.observations]
    assert [look.test.tolist() for look in looks] == [t.tolist() for _, t in folds]


@pytest.mark.parametrize("n_rows", [6, 12, 20, 31])
def test_few_rows_in_time_order_have_a_score(n_rows):
    """Every fold forward in time tests on two rows: one alone has no r2."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 1))
    y = X[:, 0] + rng.normal(scale=0.1, size=n_rows)
    grid = {"alpha": [0.01, 0.1, 1.0]}
    search = RaceGridSearchCV(Ridge(), grid, ordering="given").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert all(len(seen.look.test) >= 2 for seen in search.race_.observations)


class Blown(Ridge):
    """Ridge whose predictions are so far off that no square of them fits."""

    def predict(self, X):
        return super().predict(X) + 1e200


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_races_of_infinite_losses_are_short(wave):
    """No test can tell them apart, so ranks alone decide which go on."""
    grid = {"alpha": np.logspace(-3, 6, 35)}
    search = RaceGridSearchCV(Blown(), grid, strategy=QUICK, random_state=0)
    with pytest.warns(CVSTWarning, match="score is -inf in 3 of the 3 .*nothing tells"):
        search.fit(*wave)
    final = search.race_.observations[-1].look
    assert final.stage == "final"
    assert len(final.configurations) == 2
