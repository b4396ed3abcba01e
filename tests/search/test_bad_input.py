"""Bad input, small data and failing fits: one clear sentence each."""

from __future__ import annotations

import re
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import FitFailedWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC
from sklearn.tree import DecisionTreeRegressor

from cvst import CVST, RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV
from cvst.exceptions import (
    AllFitsFailedError,
    FallbackWarning,
    InvalidInputError,
    TooFewRowsError,
    TooFewStepsError,
)
from cvst.race import CrossValidation


class Fussy(RegressorMixin, BaseEstimator):
    """Predicts the mean, or fails as told."""

    fits = 0

    def __init__(self, mood="good", least=0):
        self.mood = mood
        self.least = least

    def fit(self, X, y):
        type(self).fits += 1
        if self.mood == "raises" or len(X) < self.least:
            raise ValueError(f"{len(X)} rows are not to my taste")
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        value = {"nan": np.nan, "inf": np.inf, "huge": 1e200}.get(self.mood, self.mean_)
        return np.full(len(X), value)


@pytest.fixture(autouse=True)
def count_fits():
    Fussy.fits = 0


def refused(search, X, y, error, message, **params):
    """Check that nothing is fitted and that the error is one sentence or two."""
    with pytest.raises(error, match=message) as caught:
        search.fit(X, y, **params)
    assert Fussy.fits == 0
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 400


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"strategy": CVST(loser_level=2)},
            InvalidInputError,
            "loser_level=2 must lie",
        ),
        ({"strategy": CVST(max_steps=3)}, TooFewStepsError, "at least 7 steps"),
        (
            {"strategy": CVST(stopping_window=12)},
            InvalidInputError,
            "stopping_window=12 is larger than max_steps=10",
        ),
        ({"strategy": CVST}, InvalidInputError, "is not a strategy"),
        ({"strategy": 3}, InvalidInputError, "derives from cvst.race.Strategy"),
        (
            {"strategy": CVST(similarity_level="0.05")},
            InvalidInputError,
            "similarity_level='0.05' must lie",
        ),
        ({"strategy": "halving"}, InvalidInputError, "strategy='halving' is not known"),
        ({"scoring": "roc_auc"}, InvalidInputError, "roc_auc"),
        (
            {"scoring": ["r2", "neg_mean_squared_error"]},
            InvalidInputError,
            "refit=True does not say which of the scores 'r2', 'neg_mean_squared",
        ),
        ({"rescale": {"moood": 1}}, InvalidInputError, "moood"),
        ({"rescale": {"least": np.nan}}, InvalidInputError, "not a finite number"),
        (
            {"incremental": True},
            InvalidInputError,
            "needs an estimator with partial_fit",
        ),
    ],
)
def test_bad_options_are_refused_before_any_fit(regression, options, error, message):
    """The value, the rule it breaks, the way out."""
    search = RaceGridSearchCV(Fussy(), {"least": [0, 1]}, **options)
    refused(search, *regression, error, message)


def test_unknown_parameter_names_are_refused(regression):
    """Also inside a pipeline."""
    search = RaceGridSearchCV(Fussy(), {"mod": ["good"]})
    refused(search, *regression, InvalidInputError, "'mod' is not a parameter of Fussy")
    search = RaceGridSearchCV(
        make_pipeline(StandardScaler(), Fussy()), {"fussy__mod": ["good", "bad"]}
    )
    refused(search, *regression, InvalidInputError, "'fussy__mod' is not a parameter")


@pytest.mark.parametrize(
    ("wrong", "meant"), [("mood", "fussy__mood"), ("fussy__mod", "fussy__mood")]
)
def test_the_nearest_name_is_told(regression, wrong, meant):
    """A step is forgotten more often than a letter."""
    pipeline = make_pipeline(StandardScaler(), Fussy())
    search = RaceGridSearchCV(pipeline, {wrong: ["good", "bad"]})
    refused(search, *regression, InvalidInputError, rf"Did you mean '{meant}'\?")
    search = RaceGridSearchCV(Fussy(), {"LEAST": [0, 1]})
    refused(search, *regression, InvalidInputError, r"Did you mean 'least'\? Its")


@pytest.mark.parametrize("name", ["least__mood", 1])
def test_names_that_no_estimator_can_have_are_refused(regression, name):
    """A part of something that has no parts, and a name that is not text."""
    search = RaceGridSearchCV(Fussy(), {name: [1, 2]})
    refused(search, *regression, InvalidInputError, f"{name!r} is not a parameter of")


@pytest.mark.parametrize("search", [RaceGridSearchCV, RaceRandomSearchCV])
def test_grids_without_configurations_are_refused(regression, search):
    """An empty list of grids holds nothing to race."""
    message = "no configurations"
    refused(search(Fussy(), []), *regression, InvalidInputError, message)


def test_empty_lists_in_a_grid_are_refused(regression):
    """Nothing to try is a mistake."""
    search = RaceGridSearchCV(Fussy(), {"mood": []})
    refused(search, *regression, ValueError, "non-empty sequence")


def test_fewer_groups_than_steps_are_refused(regression):
    """A race of ten steps needs eleven groups."""
    X, y = regression
    search = RaceGridSearchCV(Fussy(), {"least": [0, 1]}, strategy="cvst")
    groups = np.arange(len(y)) % 10
    message = "groups are too few for max_steps=10"
    refused(search, X, y, InvalidInputError, message, groups=groups)


def test_nan_targets_are_refused(regression):
    """NaN and infinity in y."""
    X, y = regression
    y = y.copy()
    y[3] = np.nan
    search = RaceGridSearchCV(Fussy(), {"least": [0, 1]})
    refused(search, X, y, InvalidInputError, "Input y contains NaN")
    y[3] = np.inf
    refused(search, X, y, InvalidInputError, "Input y contains infinity")


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("kind", [np.array, pd.Series, list])
def test_missing_labels_are_refused(classification, missing, kind):
    """Labels that are not numbers may be missing too."""
    X, _ = classification
    y = np.array(["ham", "spam", "ham"] * 110, dtype=object)
    y[7] = missing
    search = RaceGridSearchCV(LogisticRegression(), {"C": [0.1, 1]})
    refused(search, X, kind(y), InvalidInputError, "Input y contains NaN")
    search = RaceGridSearchCV(Fussy(), {"least": [0, 1]})
    numbers = np.arange(330.0).astype(object)
    numbers[7] = missing
    refused(search, X, kind(numbers), InvalidInputError, "Input y contains NaN")


def test_missing_categories_are_refused(classification):
    """Extension types of pandas have gaps of their own."""
    X, _ = classification
    y = pd.Series(["ham", "spam", None] * 110)
    search = RaceGridSearchCV(LogisticRegression(), {"C": [0.1, 1]})
    for dtype in "category", "string":
        refused(search, X, y.astype(dtype), InvalidInputError, "Input y contains NaN")


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([None, *range(219)], "groups contains NaN or None"),
        (np.r_[np.nan, np.arange(219.0)], "groups contains NaN or None"),
        (pd.Series([pd.NA, *"ab" * 109, "c"]), "groups contains NaN or None"),
        (np.zeros((220, 2)), r"groups has shape \(220, 2\)"),
        (np.zeros(220), "^1 groups are too few"),
    ],
)
def test_groups_that_make_no_sense_are_refused(regression, groups, message):
    """Every row belongs to one group."""
    search = RaceGridSearchCV(Fussy(), {"least": [0, 1]}, strategy="cvst")
    refused(search, *regression, InvalidInputError, message, groups=groups)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_is_refused_before_the_race(regression):
    """Not by the final fit, when all is over."""
    X, y = regression
    search = RaceGridSearchCV(Ridge(), {"alpha": [0.1, 1.0]})
    with pytest.raises(InvalidInputError, match=r"Pass np\.asarray\(X\)"):
        search.fit(np.asmatrix(X), y)
    assert not hasattr(search, "best_params_")


def test_data_without_rows_are_refused(regression):
    """Neither training nor test data may be empty."""
    X, y = regression
    search = RaceGridSearchCV(Fussy(), {"least": [0, 1]})
    refused(search, X[:0], y[:0], InvalidInputError, "X has no rows")
    empty = {"X_val": X[:0], "y_val": y[:0]}
    refused(search, X, y, InvalidInputError, "X_val has no rows", **empty)


def test_test_sets_of_other_columns_or_targets_are_refused(regression):
    """A separate test set looks like the training data."""
    X, y = regression
    search = RaceGridSearchCV(Fussy(), {"least": [0, 1]})
    message = "y_val has .* targets per row"
    other = {"X_val": X, "y_val": np.column_stack([y, y])}
    refused(search, X, y, InvalidInputError, message, **other)
    frame, renamed = pd.DataFrame(X, columns=["a"]), pd.DataFrame(X, columns=["b"])
    other = {"X_val": renamed, "y_val": y}
    refused(search, frame, y, InvalidInputError, "X_val lacks the column 'a'", **other)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(220), "is 0 for every row"),
        (np.r_[np.ones(200), np.zeros(20)], "would test on"),
        (np.r_[np.zeros(20), np.ones(200)], "would train on"),
        (np.ones((220, 2)), "is not a list of numbers"),
        (["much"] * 220, "is not a list of numbers"),
        (3, "sample_weight=3 is not a list of numbers"),
    ],
)
def test_weights_that_make_no_sense_are_refused(regression, weights, message):
    """Every subset needs rows that count."""
    search = RaceGridSearchCV(
        Fussy(), {"least": [0, 1]}, strategy="cvst", ordering="given"
    )
    refused(search, *regression, InvalidInputError, message, sample_weight=weights)


def test_lengths_that_differ_are_refused(regression):
    """Targets, groups and weights have one entry per row."""
    X, y = regression
    search = RaceGridSearchCV(Fussy(), {"least": [0, 1]})
    refused(search, X, y[:-1], ValueError, r"inconsistent.*220, 219")
    message = "groups has 3 entries for 220 rows"
    refused(search, X, y, InvalidInputError, message, groups=[1, 2, 3])
    message = "sample_weight has 3 entries"
    refused(search, X, y, InvalidInputError, message, sample_weight=[1, 2, 3])
    message = "pass both or neither"
    refused(search, X, y, InvalidInputError, message, X_val=X)
    message = "same columns"
    wide = np.hstack([X, X])
    refused(search, X, y, InvalidInputError, message, X_val=wide, y_val=y)


def test_negative_weights_are_refused(regression):
    """A weight is 0 or more."""
    X, y = regression
    search = RaceGridSearchCV(Ridge(), {"alpha": [0, 1]})
    weight = np.ones(len(y))
    weight[0] = -1
    refused(search, X, y, InvalidInputError, "negative", sample_weight=weight)


@pytest.mark.parametrize("n_rows", [5, 12, 21])
def test_too_few_rows_are_compared_by_folds(regression, n_rows):
    """The warning says how many rows a race needs; that many do race."""
    X, y = regression
    search = RaceGridSearchCV(
        Ridge(), {"alpha": [0.1, 1.0, 100.0]}, strategy="cvst", random_state=0
    )
    with pytest.warns(FallbackWarning, match="too few to race") as record:
        search.fit(X[:n_rows], y[:n_rows])
    assert search.stop_reason_ == "all_folds"
    assert search.race_.active.all()
    needed = int(re.search(r"needs about (\d+) rows", str(record[0].message))[1])
    assert needed == 22
    search.fit(X[:needed], y[:needed])
    assert search.stop_reason_ != "all_folds"


@pytest.mark.parametrize("strategy", ["cvst", "cross_validation"])
def test_separate_test_set_serves_small_data_too(regression, strategy):
    """Trained on all rows and tested where the user wants: witnessed by plain fits."""
    X, y = regression
    search = RaceGridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, strategy=strategy)
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        search.fit(X[:8], y[:8], X_val=X[20:], y_val=y[20:])
    assert len(record) == (strategy == "cvst")
    assert all("compared on X_val" in str(warning.message) for warning in record)
    expected = [
        Ridge(alpha=alpha).fit(X[:8], y[:8]).score(X[20:], y[20:])
        for alpha in (0.1, 10.0)
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected)
    assert search.race_.subset_sizes.tolist() == [8]


def test_numbers_of_folds_that_are_none_are_refused(regression):
    """Plain cross-validation needs two folds."""
    for n_folds in 1, 2.5, True, "5":
        strategy = CrossValidation(n_folds)
        search = RaceGridSearchCV(Fussy(), {"least": [0, 1]}, strategy=strategy)
        message = f"n_folds={n_folds!r} must be a whole number"
        refused(search, *regression, InvalidInputError, message)


def test_first_subset_of_one_class_is_compared_by_folds():
    """Two classes must reach the first subset."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.r_[np.zeros(56), np.ones(4)]
    search = RaceGridSearchCV(
        LogisticRegression(), {"C": [0.1, 1]}, strategy="cvst", random_state=0
    )
    with pytest.warns(FallbackWarning, match="rows of 1 class. All"):
        search.fit(X, y)
    assert search.stop_reason_ == "all_folds"
    assert search.predict(X).shape == (60,)


def test_data_too_small_for_folds_are_an_error():
    """One row cannot be split."""
    search = RaceGridSearchCV(Ridge(), {"alpha": [0.1, 1.0]})
    with pytest.raises(TooFewRowsError, match="n_samples=1 is too few"):
        search.fit([[1.0]], [2.0])


def test_one_configuration_is_fitted_and_said_so(regression):
    """Nothing to race, but everything a fitted search has is there."""
    X, y = regression
    search = RaceGridSearchCV(Ridge(), {"alpha": [3.0]}, random_state=0)
    with pytest.warns(FallbackWarning, match="one configuration only"):
        search.fit(X, y)
    assert search.best_params_ == {"alpha": 3.0}
    assert search.stop_reason_ == "single_configuration"
    assert search.n_looks_ == 5
    assert np.isfinite(search.best_score_)
    assert search.predict(X).shape == (220,)


@pytest.mark.parametrize("mood", ["raises", "nan", "inf"])
def test_failing_configuration_is_a_flop_with_a_reason(regression, mood):
    """Raised errors and impossible predictions are warned of once."""
    X, y = regression
    search = RaceGridSearchCV(Fussy(), {"mood": ["good", mood]}, random_state=0)
    with pytest.warns(FitFailedWarning, match="1 of 2 configurations failed") as record:
        search.fit(X, y)
    assert len(record) == 1
    assert mood in str(record[0].message)
    assert search.best_params_ == {"mood": "good"}
    assert search.cv_results_["rank_test_score"].tolist() == [1, 2]
    assert search.cv_results_["failure"][1]
    assert np.isnan(search.cv_results_["look1_test_score"][1])


def test_diverged_model_is_a_flop_without_noise(regression):
    """Losses beyond all numbers warn of nothing and never win."""
    search = RaceGridSearchCV(Fussy(), {"mood": ["huge", "good"]}, random_state=0)
    search.fit(*regression)
    assert search.best_params_ == {"mood": "good"}
    assert search.cv_results_["mean_test_score"][0] == -np.inf
    assert not search.race_.traces[0].any()


def test_error_score_stands_for_failed_fits(regression):
    """A number replaces the missing score in the results, not in the race."""
    X, y = regression
    search = RaceGridSearchCV(
        Fussy(), {"mood": ["good", "raises"]}, error_score=-7, random_state=0
    )
    with pytest.warns(FitFailedWarning):
        search.fit(X, y)
    assert search.cv_results_["look1_test_score"][1] == -7
    assert search.best_params_ == {"mood": "good"}


def test_errors_can_be_raised(regression):
    """``error_score="raise"`` gives the user's own exception."""
    search = RaceGridSearchCV(
        Fussy(), {"mood": ["good", "raises"]}, error_score="raise"
    )
    with pytest.raises(ValueError, match="not to my taste"):
        search.fit(*regression)


def test_all_failing_is_one_error_with_the_first_traceback(regression):
    """There is no winner if every fit fails."""
    search = RaceGridSearchCV(Fussy(mood="raises"), {"least": [0, 1]}, strategy="cvst")
    with pytest.raises(AllFitsFailedError, match="not to my taste") as caught:
        search.fit(*regression)
    assert "Traceback" in str(caught.value)
    assert "All 2 configurations failed on 20 rows" in str(caught.value)


def test_configuration_that_needs_more_rows_may_still_win(regression):
    """A flop at the first look is not a loser yet: k larger than n."""
    X, y = regression
    grid = {"n_neighbors": [1, 25, 200]}
    search = RaceGridSearchCV(
        KNeighborsRegressor(), grid, strategy="cvst", random_state=0
    )
    with pytest.warns(FitFailedWarning, match="n_neighbors"):
        search.fit(X, y)
    traces = search.race_.traces
    assert not traces[1, 0]
    assert np.isfinite(search.race_.mean_losses[1, 1])


def test_infeasible_nu_is_a_flop(classification):
    """An SVM that has no solution does not stop the race."""
    X, y = classification
    rare = (y == 0) & (np.arange(330) % 3 == 0)
    search = RaceGridSearchCV(NuSVC(), {"nu": [0.1, 0.99]}, random_state=0)
    with pytest.warns(FitFailedWarning, match="nu is infeasible"):
        search.fit(X, rare.astype(int))
    assert search.best_params_ == {"nu": 0.1}


def test_replaced_steps_bring_their_own_parameters(classification):
    """A grid may swap the final step and set parameters of the new one."""
    X, y = classification
    grid = [
        {"svc": [SVC()], "svc__C": [0.1, 1]},
        {"svc": [KNeighborsClassifier()], "svc__n_neighbors": [3, 5]},
    ]
    search = RaceGridSearchCV(make_pipeline(StandardScaler(), SVC()), grid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, y)
    assert len(search.cv_results_["params"]) == 4


def test_random_search_refuses_to_draw_nothing(regression):
    """``n_iter`` is at least 1."""
    search = RaceRandomSearchCV(KernelRidge(), {"alpha": [1]}, n_iter=0)
    with pytest.raises(ValueError, match="n_iter"):
        search.fit(*regression)


@pytest.mark.parametrize("search_class", [RaceGridSearchCV, RaceSearchCV])
def test_more_workers_than_can_be_counted(search_class):
    search = search_class(DecisionTreeRegressor(), {"max_depth": [1, 2]}, n_jobs=10**30)
    with pytest.raises(ValueError, match=r"range \[-10000, 10000\]"):
        search.fit(np.zeros((20, 1)), np.arange(20.0))


def test_a_time_budget_without_end_is_a_race_without_a_clock():
    X = np.random.default_rng(0).normal(size=(60, 2))
    space = {"max_depth": [1, 2, 3, 4]}
    search = RaceSearchCV(DecisionTreeRegressor(), space, time_budget=1e308, n_iter=3)
    assert search.fit(X, X[:, 0]).stop_reason_ == "n_iter"


class Sentence(DecisionTreeRegressor):
    def fit(self, X, y, sample_weight=None, check_input=True):
        if self.max_depth == 2:
            raise ValueError("Two is not deep enough.")
        return super().fit(X, y, sample_weight, check_input)


def test_an_error_that_is_a_sentence_gets_no_second_full_stop():
    X = np.random.default_rng(0).normal(size=(60, 2))
    search = RaceGridSearchCV(Sentence(), {"max_depth": [1, 2, 3]}, random_state=0)
    with pytest.warns(FitFailedWarning, match=r"deep enough\. Later"):
        search.fit(X, X[:, 0])


@pytest.mark.parametrize("name", ["time_budget", "fit_timeout"])
@pytest.mark.parametrize("kind", [RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV])
def test_a_time_that_is_a_text_is_told_to_be_seconds(name, kind):
    """The command line takes "2m", so people try it in Python too."""
    search = kind(Ridge(), {"alpha": [0.1, 1.0]}, **{name: "2m"})
    X, y = np.random.default_rng(0).normal(size=(2, 60, 1))
    for call in (search.fit, search.plan):
        with pytest.raises(InvalidInputError) as told:
            call(X, y.ravel())
        assert str(told.value) == (
            f"{name}='2m' is a text, but must be a number of seconds. Give {name}=120 "
            "for two minutes."
        )


@pytest.mark.parametrize("name", ["time_budget", "fit_timeout"])
def test_no_error_offers_a_text_for_a_time(name):
    """What one error names as a way out, the next one must not refuse."""
    search = RaceGridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, **{name: -1})
    with pytest.raises(ValueError, match="float in the range") as told:
        search.fit([[0.0]], [0.0])
    assert "None" in str(told.value)
    assert "str" not in str(told.value)


class Locked(Fussy):
    """Takes what no other process can get."""

    def fit(self, X, y, keeper=None):
        return super().fit(X, y)


class Stubborn:
    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise KeyError("not for others")


LOCK = threading.Lock()

UNSENT = {
    "score": {"scoring": lambda model, X, y: LOCK.locked() - model.score(X, y)},
    "parameter": {"grid": {"least": [Stubborn(), 0]}},
    "argument": {"keeper": LOCK},
}


@pytest.mark.parametrize("kind", [RaceGridSearchCV, RaceSearchCV])
@pytest.mark.parametrize("workers", [{"n_jobs": 2}, {"fit_timeout": 60}], ids=str)
@pytest.mark.parametrize("what", UNSENT)
def test_what_cannot_be_sent_to_other_processes(what, workers, kind):
    settings = dict(UNSENT[what])
    params = {name: settings.pop(name) for name in ["keeper"] if name in settings}
    grid = settings.pop("grid", {"least": [0, 1, 2]})
    X, y = np.ones((60, 2)), np.arange(60.0)
    search = kind(Locked(), grid, random_state=0, **settings, **workers)
    why = "KeyError: 'not for others'" if what == "parameter" else "TypeError: .*lock"
    refused(
        search, X, y, InvalidInputError, f"cannot be pickled: {why}.*n_jobs=1", **params
    )
