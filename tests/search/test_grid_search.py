"""The searches as their users meet them."""

from __future__ import annotations

import logging
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.stats import loguniform
from sklearn import config_context
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cvst import CVST, PointwiseLoss, RaceGridSearchCV, RaceRandomSearchCV
from cvst.exceptions import UnusedArgumentWarning
from cvst.report import notebook_html, summary

GRID = {"alpha": [1e-3, 1e-1, 10.0, 1e3], "gamma": [0.01, 1.0, 10.0]}


def krr_search(**options):
    options = {"strategy": "cvst", "random_state": 0, **options}
    return RaceGridSearchCV(KernelRidge(kernel="rbf"), GRID, **options)


def test_winner_is_refitted_on_all_rows(regression):
    """The best estimator is what a plain fit of the best parameters gives."""
    X, y = regression
    search = krr_search().fit(X, y)
    plain = KernelRidge(kernel="rbf").set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), plain.predict(X))
    assert search.refit_time_ >= 0
    assert search.n_features_in_ == 1


def test_race_finds_what_full_cross_validation_finds(regression):
    """On an easy problem both pick equally good parameters."""
    X, y = regression
    grid = {"alpha": [1e-3, 1e-1, 10.0], "gamma": [0.01, 1.0, 100.0]}
    ours = RaceGridSearchCV(KernelRidge(kernel="rbf"), grid, random_state=0).fit(X, y)
    full = GridSearchCV(KernelRidge(kernel="rbf"), grid).fit(X, y)
    assert ours.best_params_["gamma"] == full.best_params_["gamma"] == 1.0


def test_losses_of_a_look_are_those_of_plain_fits_on_the_prefix(regression):
    """One permutation, contiguous prefixes, alpha scaled by n / N: checked by hand."""
    X, y = regression
    search = krr_search(return_pointwise=True).fit(X, y)
    _, rows, _ = search.pointwise_losses_[0]
    train = np.setdiff1d(np.arange(220), rows)
    assert len(train) == 20
    for index, params in enumerate(search.cv_results_["params"]):
        model = KernelRidge(
            kernel="rbf", gamma=params["gamma"], alpha=params["alpha"] * 20 / 220
        ).fit(X[train], y[train])
        # r2 compares squared errors in units of the targets' spread.
        errors = (model.predict(X[rows]) - y[rows]) ** 2 / y[rows].var()
        np.testing.assert_allclose(
            search.race_.mean_losses[index, 0], errors.mean(), rtol=1e-6
        )


def test_results_load_into_a_data_frame(regression):
    """One row per configuration, rank 1 is the winner, no rank twice."""
    X, y = regression
    search = krr_search().fit(X, y)
    table = pd.DataFrame(search.cv_results_)
    assert len(table) == 12
    assert sorted(table["rank_test_score"]) == list(range(1, 13))
    assert table["rank_test_score"].idxmin() == search.best_index_
    assert table.loc[search.best_index_, "params"] == search.best_params_
    survivors = table[table["dropped_at"] == 0].sort_values("rank_test_score")
    assert survivors["params"].tolist() == search.surviving_params_
    dropped = table[table["dropped_at"] > 0]
    assert (dropped["drop_reason"] != "").all()
    assert dropped["rank_test_score"].min() > survivors["rank_test_score"].max()
    assert {"mean_fit_time", "mean_score_time", "param_alpha"} <= set(table)
    assert table[f"look{search.n_looks_}_test_score"].notna().sum() == len(
        search.race_.observations[-1].look.configurations
    )


def test_state_has_one_column_per_look(regression):
    """Traces, losses and sizes fit together."""
    X, y = regression
    search = krr_search().fit(X, y)
    assert search.race_.traces.shape == (12, search.n_looks_)
    assert search.race_.mean_losses.shape == (12, search.n_looks_)
    assert search.race_.active.shape == (12,)
    assert len(search.race_.subset_sizes) == search.n_looks_
    assert search.stop_reason_ in ("similar_performance", "one_survivor", "max_steps")
    assert search.rescale_ == {"alpha": 1}


@pytest.mark.parametrize("scoring", [None, "r2", "neg_root_mean_squared_error"])
def test_reported_score_is_that_of_the_scorer(regression, scoring):
    """The winner's score equals scikit-learn's scorer on the same model and rows."""
    X, y = regression
    search = krr_search(scoring=scoring, return_pointwise=True, rescale=None).fit(X, y)
    looks = [p for p in search.pointwise_losses_ if search.best_index_ in p[0]]
    rows = looks[-1][1]
    train = np.setdiff1d(np.arange(220), rows)
    assert search.best_score_n_train_ == len(train)
    model = KernelRidge(kernel="rbf", **search.best_params_).fit(X[train], y[train])
    expected = get_scorer(scoring or "r2")(model, X[rows], y[rows])
    assert search.best_score_ == pytest.approx(expected, rel=1e-6)


def test_same_seed_same_race_other_seed_other_rows(regression):
    """The seed decides the order of the rows."""
    X, y = regression
    first = krr_search().fit(X, y).race_.mean_losses
    np.testing.assert_array_equal(first, krr_search().fit(X, y).race_.mean_losses)
    other = krr_search(random_state=5).fit(X, y).race_.mean_losses
    assert not np.array_equal(first[:, 0], other[:, 0])


def test_without_a_seed_every_fit_is_the_same_race(classification):
    """As the unshuffled folds of scikit-learn: one fixed order, one winner."""
    X, y = classification
    grid = {"max_depth": [2, 3, 4], "max_features": [1, None]}
    search = RaceGridSearchCV(DecisionTreeClassifier(), grid)
    first = search.fit(X, y).race_.mean_losses
    np.random.seed(7)  # noqa: NPY002 - the global state must not matter
    second = RaceGridSearchCV(DecisionTreeClassifier(), grid).fit(X, y)
    np.testing.assert_array_equal(first, second.race_.mean_losses)


def test_without_a_seed_draws_still_differ(classification):
    """A random search draws anew, as RandomizedSearchCV does."""
    X, y = classification
    space = {"min_samples_leaf": list(range(1, 500))}
    search = RaceRandomSearchCV(DecisionTreeClassifier(), space, n_iter=5, max_looks=1)
    draws = [str(search.fit(X, y).cv_results_["params"]) for _ in range(2)]
    assert draws[0] != draws[1]


def test_estimators_without_a_seed_share_one(classification):
    """``random_state=None`` is one seed per race, common to all configurations."""
    X, y = classification
    grid = {"max_depth": [3, 4, 3], "min_samples_leaf": [1]}
    search = RaceGridSearchCV(
        DecisionTreeClassifier(max_features=1), grid, random_state=0
    ).fit(X, y)
    np.testing.assert_array_equal(
        search.race_.mean_losses[0], search.race_.mean_losses[2]
    )


@pytest.mark.parametrize(
    "container", ["pandas", "polars", "sparse", "list", "readonly"]
)
def test_every_container_gives_the_same_race(regression, container):
    """Frames, sparse matrices, lists and read-only arrays race like arrays."""
    X, y = regression
    expected = krr_search().fit(X, y)
    containers = {
        "pandas": lambda: (pd.DataFrame(X, columns=["x"]), pd.Series(y)),
        "polars": lambda: (pl.DataFrame(X, schema=["x"]), pl.Series(y)),
        "sparse": lambda: (sparse.csc_array(X), y),
        "list": lambda: (X.tolist(), y.tolist()),
        "readonly": lambda: (X.copy(), y.copy()),
    }
    X_other, y_other = containers[container]()
    if container == "readonly":
        X_other.flags.writeable = y_other.flags.writeable = False
    search = krr_search().fit(X_other, y_other)
    np.testing.assert_allclose(
        search.race_.mean_losses, expected.race_.mean_losses, rtol=1e-6
    )
    assert search.best_params_ == expected.best_params_
    if container in ("pandas", "polars"):
        assert search.feature_names_in_.tolist() == ["x"]


def test_pipelines_inside_and_around(classification):
    """A pipeline can be raced, and a race can be a step of a pipeline."""
    X, y = classification
    inside = RaceGridSearchCV(
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": [0.1, 1, 10]},
        strategy="cvst",
        random_state=0,
    ).fit(X, y)
    around = make_pipeline(
        StandardScaler(), RaceGridSearchCV(SVC(), {"C": [0.1, 1, 10]}, random_state=0)
    ).fit(X, y)
    assert inside.score(X, y) > 0.8
    assert around.score(X, y) > 0.8
    assert inside.rescale_ == {"svc__C": -1}


def test_nested_in_cross_validation(classification):
    """The search is an estimator, so it can be cross-validated."""
    X, y = classification
    search = RaceGridSearchCV(SVC(), {"C": [0.01, 1]}, random_state=0)
    assert cross_val_score(search, X, y, cv=3).mean() > 0.7


def test_clone_and_pickle(regression):
    """Parameters survive cloning, fitted attributes survive pickling."""
    X, y = regression
    search = krr_search(strategy=CVST(max_steps=8)).fit(X, y)
    again = clone(search).fit(X, y)
    loaded = pickle.loads(pickle.dumps(search))
    assert again.best_params_ == loaded.best_params_ == search.best_params_
    np.testing.assert_array_equal(loaded.predict(X), search.predict(X))


def test_parameters_of_the_strategy_are_reachable(regression):
    """``strategy__max_steps`` works for objects and for names."""
    X, y = regression
    by_name = krr_search().set_params(strategy__max_steps=8)
    by_object = krr_search(strategy=CVST()).set_params(strategy__max_steps=8)
    by_name.fit(X, y)
    by_object.fit(X, y)
    assert by_name.race_.subset_sizes[0] == by_object.race_.subset_sizes[0] == 220 // 9
    assert by_name.get_params()["strategy__max_steps"] == 8


def test_groups_stay_together(classification):
    """No subset ends inside a group."""
    X, y = classification
    groups = np.random.default_rng(0).integers(0, 40, size=330)
    search = RaceGridSearchCV(
        KNeighborsClassifier(),
        {"n_neighbors": [1, 5, 15]},
        random_state=0,
        return_pointwise=True,
    ).fit(X, y, groups=groups)
    for _, rows, _ in search.pointwise_losses_:
        train = np.setdiff1d(np.arange(330), rows)
        assert not set(groups[train]) & set(groups[rows])


def test_time_order_keeps_the_rows_in_place(regression):
    """With ``ordering="given"`` every test row comes after every training row."""
    X, y = regression
    search = krr_search(ordering="given", return_pointwise=True).fit(X, y)
    for observation, (_, rows, _) in zip(
        search.race_.observations, search.pointwise_losses_, strict=True
    ):
        np.testing.assert_array_equal(rows, np.arange(observation.look.n_train, 220))


def test_every_prefix_holds_every_class(classification):
    """Stratified order: class shares in a subset are those of the data."""
    X, y = classification
    search = RaceGridSearchCV(
        KNeighborsClassifier(),
        {"n_neighbors": [1, 5]},
        random_state=0,
        return_pointwise=True,
    ).fit(X, y)
    rows = search.pointwise_losses_[0][1]
    train = np.setdiff1d(np.arange(330), rows)
    share = np.bincount(y[train]) / len(train)
    np.testing.assert_allclose(share, np.bincount(y) / 330, atol=1.5 / len(train))


def test_sample_weights_weigh_fits_and_means(regression):
    """Weights of 0 and 2 do what removing and repeating rows would do to the mean."""
    X, y = regression
    weight = np.random.default_rng(0).integers(0, 3, size=220).astype(float)
    search = RaceGridSearchCV(
        Ridge(),
        {"alpha": [0.1, 100.0]},
        scoring="neg_mean_squared_error",
        random_state=0,
        rescale=None,
        return_pointwise=True,
    ).fit(X, y, sample_weight=weight)
    _, rows, losses = search.pointwise_losses_[0]
    train = np.setdiff1d(np.arange(220), rows)
    assert losses.shape[1] == (weight[rows] > 0).sum()
    model = Ridge(alpha=0.1).fit(X[train], y[train], sample_weight=weight[train])
    errors = (model.predict(X[rows]) - y[rows]) ** 2
    expected = np.average(errors, weights=weight[rows])
    assert search.race_.mean_losses[0, 0] == pytest.approx(expected)


def test_pointwise_losses_come_with_the_rows_that_count(regression):
    """Rows of weight zero have no losses; plain fits are the witness."""
    X, y = regression
    weight = (np.arange(220) % 3 > 0).astype(float)
    search = RaceGridSearchCV(
        Ridge(),
        {"alpha": [0.1, 10]},
        strategy="cvst",
        rescale=None,
        return_pointwise=True,
    ).fit(X, y, sample_weight=weight)
    order = search.pointwise_losses_[-1][1]
    for configurations, rows, losses in search.pointwise_losses_:
        assert losses.shape == (len(configurations), len(rows))
        assert weight[rows].all()
        assert set(order) <= set(rows)
    _, rows, losses = search.pointwise_losses_[0]
    mean = losses.mean(axis=1)
    np.testing.assert_allclose(mean, search.race_.mean_losses[:, 0])
    score = search.cv_results_["look1_test_score"]
    np.testing.assert_allclose(score, 1 - mean)


def test_folds_of_time_mean_that_the_race_goes_forward_too(regression):
    """Users of grid searches over time must not see the future of test rows."""
    X, y = regression
    search = RaceGridSearchCV(
        Ridge(),
        {"alpha": [0.1, 10]},
        strategy="cvst",
        cv=TimeSeriesSplit(3),
        return_pointwise=True,
    ).fit(X, y)
    for n_train, (_, rows, _) in zip(
        search.race_.subset_sizes, search.pointwise_losses_, strict=True
    ):
        np.testing.assert_array_equal(rows, np.arange(n_train, 220))


def test_metadata_routing_sends_weights_where_they_are_requested(regression):
    """With routing enabled the estimator gets weights only if it asks for them."""
    X, y = regression
    weight = np.linspace(0.1, 2, 220)
    with config_context(enable_metadata_routing=True):
        asks = Ridge().set_fit_request(sample_weight=True)
        scorer = get_scorer("r2").set_score_request(sample_weight=True)
        grid = {"alpha": [0.1, 100.0]}
        search = RaceGridSearchCV(asks, grid, scoring=scorer, random_state=0)
        search.fit(X, y, sample_weight=weight)
        expected = Ridge(**search.best_params_).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(search.predict(X), expected.predict(X))
        with pytest.raises(ValueError, match="not explicitly set as requested"):
            RaceGridSearchCV(Ridge(), grid).fit(X, y, sample_weight=weight)
        search.fit(X, y, sample_weight=weight, groups=np.arange(220))


def test_separate_test_set_is_used_at_every_look(regression):
    """With ``X_val`` the steps reach all rows, and the losses are those on it."""
    X, y = regression
    search = krr_search(rescale=None).fit(
        X[:110], y[:110], X_val=X[110:], y_val=y[110:]
    )
    assert search.race_.subset_sizes[0] == 11
    assert all(o.look.test == slice(110, 220) for o in search.race_.observations)


@pytest.mark.parametrize(
    "scoring",
    [
        "neg_mean_absolute_error",
        make_scorer(mean_absolute_error, greater_is_better=False),
        PointwiseLoss(lambda y, p: np.abs(y - p)),
    ],
)
def test_scorers_names_and_own_losses_agree(regression, scoring):
    """Three ways to say absolute error give one race."""
    X, y = regression
    search = krr_search(scoring=scoring).fit(X, y)
    expected = krr_search(scoring="neg_mean_absolute_error").fit(X, y)
    np.testing.assert_array_equal(search.race_.mean_losses, expected.race_.mean_losses)
    assert search.best_score_ == expected.best_score_
    assert search.score(X, y) == pytest.approx(expected.score(X, y))


def test_probabilities_of_classes_missing_in_a_subset_are_filled_in():
    """A class too rare for the first subset is a warning, and log loss still works."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(220, 2))
    y = np.array(["a"] * 110 + ["b"] * 105 + ["rare"] * 5)
    search = RaceGridSearchCV(
        LogisticRegression(),
        {"C": [0.1, 1]},
        scoring="neg_log_loss",
        strategy="cvst",
        random_state=0,
    )
    with pytest.warns(UserWarning, match="'rare', are too rare to reach"):
        search.fit(X, y)
    assert np.isfinite(search.race_.mean_losses).all()


def test_multi_output_regression(regression):
    """Several targets race on their mean loss."""
    X, y = regression
    search = krr_search().fit(X, np.column_stack([y, y**2]))
    assert search.predict(X).shape == (220, 2)


def test_refit_may_choose(regression):
    """A callable gets the results and returns an index; no rank follows from it."""
    X, y = regression
    search = krr_search(refit=lambda results: 3).fit(X, y)
    assert search.best_index_ == 3
    assert search.best_params_ == search.cv_results_["params"][3]
    ranks = search.cv_results_["rank_test_score"]
    plain = krr_search().fit(X, y)
    assert plain.best_index_ != 3
    np.testing.assert_array_equal(ranks, plain.cv_results_["rank_test_score"])
    page = summary(search)
    assert page["winner"]["index"] == 3
    assert [one["rank"] for one in page["configurations"]] == ranks.tolist()
    assert "The refit function chose it" in " ".join(page["winner"]["why"])
    with pytest.raises(IndexError, match="there are 12 configurations"):
        krr_search(refit=lambda results: 12).fit(X, y)
    with pytest.raises(TypeError, match="not a whole number"):
        krr_search(refit=lambda results: "best").fit(X, y)


def test_without_refit_there_is_no_model(regression):
    """Parameters are there, predictions are not."""
    X, y = regression
    search = krr_search(refit=False).fit(X, y)
    assert search.best_params_
    assert not hasattr(search, "best_estimator_")
    assert not hasattr(search, "predict")


def test_unused_arguments_are_answered_once(regression):
    """What a race has no use for is accepted with one warning."""
    X, y = regression
    with pytest.warns(UnusedArgumentWarning, match="return_train_score") as record:
        krr_search(return_train_score=True, pre_dispatch="all").fit(X, y)
    assert len(record) == 1


def test_random_search_draws_and_races(regression):
    """As many configurations as asked for, the same for the same seed."""
    X, y = regression
    space = {"alpha": loguniform(1e-4, 1e3), "gamma": loguniform(1e-2, 1e2)}
    search = RaceRandomSearchCV(
        KernelRidge(kernel="rbf"), space, n_iter=20, random_state=0
    )
    first = search.fit(X, y).best_params_
    assert len(search.cv_results_["params"]) == 20
    assert clone(search).fit(X, y).best_params_ == first


def test_transformed_output_is_set_on_the_winner(regression):
    """``set_output`` reaches a pipeline inside the search."""
    X, y = regression
    frame = pd.DataFrame(X, columns=["x"])
    pipeline = make_pipeline(StandardScaler(), Ridge()).set_output(transform="pandas")
    search = RaceGridSearchCV(pipeline, {"ridge__alpha": [0.1, 10]}, random_state=0)
    search.fit(frame, y)
    assert search.best_estimator_[:-1].transform(frame).columns.tolist() == ["x"]


def test_verbose_goes_through_logging(regression, capsys, caplog):
    """Events are log records with data; ``verbose`` shows them on standard output."""
    X, y = regression
    with caplog.at_level(logging.INFO, logger="cvst"):
        search = krr_search(verbose=1).fit(X, y)
    shown = capsys.readouterr().out
    assert shown.count("[cvst] look") == search.n_looks_
    looks = [r.cvst for r in caplog.records if r.cvst["event"] == "look"]
    assert [look["n_train"] for look in looks] == search.race_.subset_sizes.tolist()
    krr_search().fit(X, y)
    assert not capsys.readouterr().out


def test_precomputed_kernels_are_cut_in_rows_and_columns(classification):
    """A pairwise matrix is sliced on both sides.

    Products of whole numbers are exact, so both searches see the very same kernel.
    """
    X, y = classification
    X = np.round(4 * X)
    kernel = X @ X.T
    grid = {"C": [1e-3, 1e-1, 10]}
    pairwise = RaceGridSearchCV(SVC(kernel="precomputed"), grid, random_state=0).fit(
        kernel, y
    )
    plain = RaceGridSearchCV(SVC(kernel="linear"), grid, random_state=0).fit(X, y)
    np.testing.assert_array_equal(pairwise.race_.mean_losses, plain.race_.mean_losses)


def test_user_folds_serve_small_data(classification):
    """The fallback uses the user's own folds."""
    X, _ = classification
    search = RaceGridSearchCV(
        KNeighborsRegressor(2),
        {"weights": ["uniform", "distance"]},
        strategy="cvst",
        cv=KFold(4),
    )
    with pytest.warns(UserWarning, match="too few to race"):
        search.fit(X[:20], X[:20, 0])
    assert search.n_looks_ == 4
    assert search.stop_reason_ == "all_folds"


def test_large_inputs_reach_worker_processes_through_a_file(classification):
    """Rows in a memory map give the same race as rows in memory."""
    X, y = classification
    wide = np.hstack([X, np.zeros((330, 500))])
    assert wide.nbytes > 1_000_000
    grid = {"max_depth": [1, 2, 3]}
    one = RaceGridSearchCV(DecisionTreeClassifier(), grid, random_state=0)
    two = RaceGridSearchCV(DecisionTreeClassifier(), grid, random_state=0, n_jobs=2)
    one.fit(wide, y)
    two.fit(wide, y)
    np.testing.assert_array_equal(one.race_.mean_losses, two.race_.mean_losses)


class Text(str):
    """A string that counts how often it is sent away."""

    sent = 0

    def __reduce__(self):
        """Travel as a plain string."""
        Text.sent += 1
        return str, (str(self),)


def test_rows_are_sent_to_workers_once():
    """However many looks there are, and chunks in each."""
    rng = np.random.default_rng(0)
    words = np.array(["red", "green", "blue", "brown"])[rng.integers(0, 4, size=240)]
    X = pd.DataFrame({"word": [Text(word) for word in words]}, dtype=object)
    y = (words == "red") ^ (rng.random(240) < 0.1)
    pipeline = make_pipeline(OneHotEncoder(), DecisionTreeClassifier(random_state=0))
    grid = {"decisiontreeclassifier__max_depth": [1, 2, 3, 4, 5, 6]}
    one = RaceGridSearchCV(pipeline, grid, random_state=0).fit(X, y)
    Text.sent = 0
    two = RaceGridSearchCV(pipeline, grid, random_state=0, n_jobs=2).fit(X, y)
    assert Text.sent == 240
    assert two.n_looks_ > 1
    for name, values in one.cv_results_.items():
        if "time" not in name:
            np.testing.assert_array_equal(two.cv_results_[name], values)


def test_notebooks_show_the_race(regression):
    """The HTML of a fitted search tells of the race; before, it is scikit-learn's."""
    X, y = regression
    search = krr_search()
    assert "KernelRidge" in search._repr_mimebundle_()["text/html"]
    page = search.fit(X, y)._repr_mimebundle_()["text/html"]
    assert page.startswith(notebook_html(search))
    assert "KernelRidge" in page


@pytest.mark.parametrize("pipeline", [False, True])
def test_transformers_that_write_into_their_input_get_a_copy(classification, pipeline):
    """``copy=False`` neither fails nor changes the rows that others look at."""
    X, y = classification

    class Rude(KNeighborsClassifier):
        """Scales its training rows in place."""

        def fit(self, X, y):
            X -= X.mean(axis=0)
            return super().fit(X, y)

    rude = Rude()
    polite = KNeighborsClassifier()
    if pipeline:
        rude = make_pipeline(StandardScaler(copy=False), polite)
        polite = make_pipeline(StandardScaler(), polite)
        name = "kneighborsclassifier__n_neighbors"
    else:
        name = "n_neighbors"
    grid = {name: [1, 3, 9]}
    first = RaceGridSearchCV(rude, grid, random_state=0, refit=False).fit(X, y)
    again = RaceGridSearchCV(rude, grid, random_state=0, refit=False).fit(X, y)
    np.testing.assert_array_equal(first.race_.mean_losses, again.race_.mean_losses)
    assert np.isfinite(first.race_.mean_losses[:, 0]).all()
    if pipeline:
        expected = RaceGridSearchCV(polite, grid, random_state=0).fit(X, y)
        np.testing.assert_array_equal(
            first.race_.mean_losses, expected.race_.mean_losses
        )


def test_progress_within_a_look_is_logged(regression, caplog):
    """Every look begins, advances to its end and is over, in that order."""
    X, y = regression
    with caplog.at_level(logging.DEBUG, logger="cvst"):
        search = krr_search().fit(X, y)
    events = [record.cvst for record in caplog.records]
    begins = [event for event in events if event["event"] == "begin"]
    assert len(begins) == search.n_looks_
    names = [event["event"] for event in events]
    first = names[: names.index("look") + 1]
    assert first[:2] == ["start", "begin"]
    assert set(first[2:-1]) == {"progress"}
    assert events[len(first) - 2] == {"event": "progress", "done": 12, "total": 12}
