"""Tracking and confirming through the searches: data, folds, weights, failures."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.stats import randint
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cvst.race import TrackAndConfirm
from cvst.search import RaceGridSearchCV, RaceRandomSearchCV
from cvst.search._setup import resolve_strategy

GRID = {"max_depth": [1, 2, 3, 4, 5, 6], "min_samples_leaf": [1, 2, 4, 8, 16, 32]}


def quick(**options):
    """Return the strategy with looks and folds that small data allow."""
    defaults = {
        "min_rows": 40,
        "max_survivors": 8,
        "n_tracked": 5,
        "n_leaders": 2,
        "n_folds": 3,
        "final_folds": 4,
    }
    return TrackAndConfirm(**(defaults | options))


@pytest.fixture
def waves():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(300, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(scale=0.3, size=300)


@pytest.fixture
def blobs():
    return make_classification(
        300, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0
    )


def search_for(data, grid=GRID, **options):
    """Race regression trees, or classification trees where the targets are classes."""
    is_classes = data[1].dtype.kind == "i"
    model = (DecisionTreeClassifier if is_classes else DecisionTreeRegressor)()
    defaults = {"strategy": quick(), "random_state": 0, "return_pointwise": True}
    return RaceGridSearchCV(model, grid, **(defaults | options))


def stages(search):
    return [observation.look.stage for observation in search.race_.observations]


def test_stages_are_run_and_the_winner_is_among_the_best_of_full_search(waves):
    """Plain cross-validation of the whole grid is the witness."""
    search = search_for(waves).fit(*waves)
    assert stages(search)[:2] == ["first look", "late look"]
    assert stages(search)[2:5] == ["confirm"] * 3
    assert search.stop_reason_ == ("confirmed" if search.tie_ is None else "tie")
    folds = KFold(5, shuffle=True, random_state=0)
    full = GridSearchCV(
        search.estimator.set_params(random_state=0),
        GRID,
        cv=folds,
        scoring="neg_mean_squared_error",
    ).fit(*waves)
    losses = -full.cv_results_["mean_test_score"]
    assert losses[search.best_index_] < 1.1 * losses.min()


def test_every_look_is_stratified(blobs):
    """Each class has its share of every training and test part."""
    search = search_for(blobs).fit(*blobs)
    y = blobs[1]
    shares = np.bincount(y) / len(y)
    for _, test_rows, _ in search.pointwise_losses_:
        expected = shares * len(test_rows)
        assert np.abs(np.bincount(y[test_rows], minlength=3) - expected).max() < 3


def test_looks_have_a_few_rows_of_every_class():
    """With a class of one row in thirty, five of it take more than forty rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = (np.arange(600) % 30 == 0).astype(int)
    X[y == 1] += 2
    search = search_for((X, y)).fit(X, y)
    first = search.race_.observations[0]
    assert first.look.stage == "first look"
    tested = search.pointwise_losses_[0][1]
    trained = np.setdiff1d(np.arange(600), tested)
    assert y[trained].sum() >= 5
    bare = search_for((X, y), strategy=quick(first_fraction=0.05)).fit(X, y)
    # 40 rows would be enough for the strategy, but hold one or two of that class.
    assert bare.race_.observations[0].look.n_train >= 5 * 30 - 30


def test_groups_are_never_split(waves):
    """Each group is tested as a whole or not at all, on subsets and in folds."""
    groups = np.arange(300) // 6
    search = search_for(waves).fit(*waves, groups=groups)
    assert {"first look", "confirm"} <= set(stages(search))
    for _, test_rows, _ in search.pointwise_losses_:
        sizes = np.bincount(groups[test_rows], minlength=50)
        assert set(sizes.tolist()) <= {0, 6}


def test_time_is_never_turned_back(waves):
    """Training rows come before test rows; folds with most of them come first."""
    search = search_for(waves, ordering="given").fit(*waves)
    rows = np.arange(300)
    for observation in search.race_.observations:
        look = observation.look
        assert rows[look.train].max() < rows[look.test].min()
    sizes = [
        observation.look.n_train
        for observation in search.race_.observations
        if observation.look.stage == "confirm"
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


def test_own_folds_are_used_and_not_run_twice(waves):
    """The test rows are those of the user's splitter; a final would repeat them."""
    folds = KFold(3, shuffle=True, random_state=7)
    search = search_for(waves, cv=folds).fit(*waves)
    assert "final" not in stages(search)
    confirmed = [
        set(rows.tolist())
        for stage, (_, rows, _) in zip(
            stages(search), search.pointwise_losses_, strict=True
        )
        if stage == "confirm"
    ]
    assert confirmed == [set(test.tolist()) for _, test in folds.split(waves[0])]


def test_separate_test_set_replaces_the_folds(waves):
    """The winner's score is that of a model trained on all rows, by hand."""
    X, y = waves
    search = search_for(waves).fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    confirm = [
        observation.look
        for observation in search.race_.observations
        if observation.look.stage == "confirm"
    ]
    assert [look.n_train for look in confirm] == [200]
    assert "final" not in stages(search)
    expected = mean_squared_error(y[200:], search.best_estimator_.predict(X[200:]))
    r2 = 1 - expected / np.var(y[200:])
    assert search.best_score_ == pytest.approx(r2)


def test_weights_weigh_the_means_of_every_look(waves):
    """Weighted by hand from the pointwise losses."""
    weights = np.random.default_rng(1).uniform(0.1, 3, size=300)
    search = search_for(waves).fit(*waves, sample_weight=weights)
    for observation, (_, rows, losses) in zip(
        search.race_.observations, search.pointwise_losses_, strict=True
    ):
        expected = np.average(losses, axis=1, weights=weights[rows])
        np.testing.assert_allclose(observation.mean_losses, expected)


def test_several_classes(blobs):
    """McNemar's test compares 0/1 losses of three classes; probabilities work, too."""
    search = search_for(blobs).fit(*blobs)
    assert set(np.unique(search.predict(blobs[0]))) <= {0, 1, 2}
    smooth = search_for(blobs, scoring="neg_log_loss").fit(*blobs)
    assert smooth.best_score_ < 0


@pytest.mark.parametrize("n_rows", [12, 60])
def test_small_data_go_to_the_folds(waves, n_rows):
    """Without rows for a look, all are in the first fold; nothing warns."""
    X, y = waves[0][:n_rows], waves[1][:n_rows]
    search = search_for((X, y), strategy="track_and_confirm").fit(X, y)
    first = search.race_.observations[0]
    assert first.look.stage == "confirm"
    assert len(first.look.configurations) == 36


def test_few_configurations_go_to_the_folds(waves):
    """A plain cross-validation, raced: no subset before it and no final after it."""
    for count in (4, 12):
        grid = {"max_depth": list(range(1, count + 1))}
        search = search_for(waves, grid).fit(*waves)
        assert set(stages(search)) == {"confirm"}
        assert len(search.race_.observations[0].look.configurations) == count


class Brittle(RegressorMixin, BaseEstimator):
    """A tree that cannot be fitted at some depths."""

    def __init__(self, max_depth=1, min_samples_leaf=1):
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf

    def fit(self, X, y):
        if self.max_depth in (2, 5):
            raise ValueError("cannot grow")
        self.tree_ = DecisionTreeRegressor(
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            random_state=0,
        ).fit(X, y)
        return self

    def predict(self, X):
        return self.tree_.predict(X)


def test_failed_fits_fall_with_their_reason(waves):
    """More rows are a second chance; one that fails there too is out."""
    search = RaceGridSearchCV(Brittle(), GRID, strategy=quick(), random_state=0)
    with pytest.warns(FitFailedWarning, match="cannot grow"):
        search.fit(*waves)
    results = search.cv_results_
    failed = np.isin(np.asarray(results["param_max_depth"]), [2, 5])
    assert all("cannot grow" in text for text in results["failure"][failed])
    assert all("cannot grow" in text for text in results["drop_reason"][failed])
    assert not any(results["failure"][~failed])
    late = search.race_.observations[1].look
    assert late.stage == "late look"
    assert failed[late.configurations].any()
    assert not failed[search.race_.observations[-1].look.configurations].any()
    assert not failed[search.best_index_]


def test_every_exit_has_its_reason(waves):
    """By a test, or by rank; dropped ones have a reason, the others none."""
    search = search_for(waves).fit(*waves)
    results = search.cv_results_
    reasons = np.asarray(results["drop_reason"])
    gone = np.asarray(results["dropped_at"]) > 0
    assert set(reasons[gone]) == {"paired test", "rank"}
    assert set(reasons[~gone]) == {""}
    survivors = [results["params"][i] for i in np.flatnonzero(~gone)]
    assert sorted(map(str, survivors)) == sorted(map(str, search.surviving_params_))


def test_tests_and_ranks_are_told_apart(waves):
    """A test that drops has a small p-value; a rank that sets aside need not."""
    search = search_for(waves, strategy=quick(level=0.01)).fit(*waves)
    n_by_rank = 0
    for observation in search.race_.observations:
        tested = np.isfinite(observation.p_values).sum()
        for index, reason in observation.drops.items():
            if reason == "paired test":
                place = observation.look.places(np.array([index]))
                assert observation.p_values[place] <= 0.01 / tested
            else:
                n_by_rank += 1
    assert n_by_rank > 0


def test_dropped_configurations_come_back(waves):
    """Representatives of a level are looked at again, whatever happened to them."""
    search = search_for(waves).fit(*waves)
    first, late = search.race_.observations[:2]
    back = set(first.drops) & set(late.look.configurations.tolist())
    assert back
    depths = {GRID["max_depth"][index // 6] for index in late.look.configurations}
    assert depths == set(GRID["max_depth"])


def test_siblings_of_one_fit_take_part_together(waves):
    """Fewer trees of the same boosted model are in every first look of a stage."""
    grid = {"learning_rate": [0.02, 0.1, 0.5], "max_depth": [1, 2, 3]}
    grid["n_estimators"] = [1, 3, 10, 20]
    search = RaceGridSearchCV(
        GradientBoostingRegressor(),
        grid,
        strategy=quick(direct_below=5),
        random_state=0,
    ).fit(*waves)
    assert search.race_.problem.space.fits.max() == 8
    params = search.cv_results_["params"]
    for observation in search.race_.observations[:3]:
        there = [params[i] for i in observation.look.configurations]
        for chosen in there:
            for fewer in grid["n_estimators"]:
                if fewer < chosen["n_estimators"]:
                    assert {**chosen, "n_estimators": fewer} in there


def test_one_fit_for_all_is_plain_cross_validation(blobs):
    """All numbers of neighbours share one search: nothing is left to save."""
    X, y = blobs
    grid = {"n_neighbors": list(range(1, 41))}
    strategy = quick(level=1e-9)
    search = RaceGridSearchCV(
        KNeighborsClassifier(), grid, strategy=strategy, random_state=0
    ).fit(X, y)
    assert stages(search) == ["confirm"] * 3
    means = search.race_.mean_losses.mean(axis=1)
    assert means[search.best_index_] == means.min()


def test_random_configurations(waves):
    """Near neighbours of the leaders are confirmed, too."""
    space = {"max_depth": randint(1, 12), "min_samples_leaf": randint(1, 120)}
    search = RaceRandomSearchCV(
        DecisionTreeRegressor(), space, n_iter=45, strategy=quick(), random_state=0
    ).fit(*waves)
    assert {"first look", "late look", "confirm"} <= set(stages(search))
    assert search.best_score_ > 0.5


def test_clones_and_pickles_race_alike(waves):
    """A strategy is cloned by its parameters; a fitted search survives a pickle."""
    search = search_for(waves).fit(*waves)
    again = clone(search).fit(*waves)
    assert again.strategy is not search.strategy
    np.testing.assert_array_equal(again.race_.mean_losses, search.race_.mean_losses)
    thawed = pickle.loads(pickle.dumps(search))
    assert thawed.best_params_ == search.best_params_
    np.testing.assert_array_equal(thawed.predict(waves[0]), search.predict(waves[0]))


def test_parameters_of_a_named_strategy_can_be_set(waves):
    """As in nested scikit-learn estimators."""
    search = search_for(waves, strategy="track_and_confirm")
    search.set_params(strategy__n_folds=2, strategy__min_rows=40)
    search.set_params(strategy__final_folds=0, strategy__climbs=0)
    search.fit(*waves)
    assert stages(search).count("confirm") == 2
    assert "final" not in stages(search)


def test_planned_looks_are_never_exceeded(waves):
    """No stage has more configurations or looks than the plan says."""
    search = search_for(waves).fit(*waves)
    planned = search.strategy_.planned_looks(search.race_.problem)
    for stage in set(stages(search)):
        seen = [o.look for o in search.race_.observations if o.look.stage == stage]
        ahead = [look for look in planned if look.stage == stage]
        assert len(seen) <= len(ahead)
        for look, plan in zip(seen, ahead, strict=False):
            assert len(look.configurations) <= plan.max_configurations
            assert look.n_train == plan.n_train


@pytest.mark.parametrize("cls", [RaceGridSearchCV, RaceRandomSearchCV])
def test_the_default_tracks_and_confirms(cls):
    """The strategy that is as accurate as full cross-validation is the default."""
    assert isinstance(resolve_strategy(cls(None, {}).strategy), TrackAndConfirm)


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (RandomForestClassifier(5, random_state=0), {"max_depth": [2, 4, None]}),
        (SGDClassifier(shuffle=False, random_state=0), {"alpha": [1e-4, 1e-2, 1.0]}),
        (KNeighborsClassifier(), {"n_neighbors": [1, 2, 4, 7]}),
        (KNeighborsClassifier(), {"n_neighbors": [3]}),
        (
            make_pipeline(StandardScaler(), LogisticRegression(tol=0.1)),
            {"logisticregression__C": [0.01, 1.0, 100.0]},
        ),
    ],
    ids=[
        "forest",
        "gradients",
        "equally near rows",
        "one configuration",
        "solver that stops early",
    ],
)
@pytest.mark.filterwarnings("ignore:There is one configuration only")
def test_cross_validation_is_that_of_scikit_learn_for_any_learner(model, grid):
    """Fits get the rows as the user ordered them, and go the solver's own way."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(150, 3)).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=150) > 3).astype(int)
    folds = KFold(4, shuffle=True, random_state=1)
    score = "neg_log_loss" if hasattr(model, "predict_proba") else None
    ours = RaceGridSearchCV(
        *(model, grid),
        cv=folds,
        strategy="cross_validation",
        scoring=score,
        random_state=0,
    ).fit(X, y)
    theirs = GridSearchCV(model, grid, cv=folds, scoring=score).fit(X, y)
    assert ours.best_index_ == theirs.best_index_
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"],
        theirs.cv_results_["mean_test_score"],
        rtol=1e-12,
    )
