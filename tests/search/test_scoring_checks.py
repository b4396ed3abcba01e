"""What cannot work is refused before the first fit."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from cvst import CVST, PointwiseLoss, RaceGridSearchCV
from cvst.evaluation.losses import constant_loss
from cvst.exceptions import InvalidInputError, UnsupportedScoreError
from cvst.race import PrefixSimilarity, TrackAndConfirm
from cvst.search._scoring_checks import asked_within

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
LABELS = (X[:, 0] + 0.5 * RNG.normal(size=120) > 0).astype(int)
VALUES = X[:, 0] + RNG.normal(size=120)
N_FITS = []
GRID = {"alpha": [0.1, 1.0]}


class CountedRidge(Ridge):
    """Remembers that it was fitted."""

    def fit(self, X, y, sample_weight=None):
        N_FITS.append(len(X))
        return super().fit(X, y, sample_weight)


class CountedClassifier(RidgeClassifier):
    """Remembers that it was fitted."""

    def fit(self, X, y, sample_weight=None):
        N_FITS.append(len(X))
        return super().fit(X, y, sample_weight)


def refusal(estimator, y, **options):
    N_FITS.clear()
    search = RaceGridSearchCV(estimator, {"alpha": [0.1, 1.0, 10.0]}, **options)
    with pytest.raises(InvalidInputError) as caught:
        search.fit(X, y)
    assert not N_FITS, "something was fitted before the refusal"
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    "similarity",
    ["friedman", "kruskal_wallis", "cochran", PrefixSimilarity(0.05, "friedman")],
)
@pytest.mark.parametrize("scoring", ["roc_auc", "f1", lambda model, X, y: 0.5])
def test_tests_of_single_rows_refuse_a_score_of_all_rows(similarity, scoring):
    """The paper's tests rank or count single rows, which ROC AUC does not have."""
    text = refusal(
        CountedClassifier(),
        LABELS,
        scoring=scoring,
        strategy=CVST(similarity=similarity),
    )
    assert "single rows" in text
    assert "similarity='auto'" in text


@pytest.mark.parametrize(
    "similarity", ["cochran", "wilson", PrefixSimilarity(0.05, "cochran")]
)
@pytest.mark.parametrize("y", [VALUES, LABELS], ids=["real", "whole"])
def test_tests_of_zeros_and_ones_refuse_real_losses(similarity, y):
    """Targets of 0 and 1 do not make the losses of a regression 0 or 1."""
    text = refusal(CountedRidge(), y, strategy=CVST(similarity=similarity))
    assert "losses of 0 and 1" in text


def test_outliers_of_a_classifier_are_refused():
    text = refusal(CountedClassifier(), LABELS, strategy=CVST(similarity="outliers"))
    assert "residuals" in text


@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score"])
def test_probabilities_are_asked_of_models_that_have_them(scoring):
    text = refusal(CountedClassifier(), LABELS, scoring=scoring)
    assert "predict_proba" in text
    assert "CountedClassifier" in text


def test_the_last_step_of_a_pipeline_is_asked():
    search = RaceGridSearchCV(
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": [1.0, 10.0]},
        scoring="neg_log_loss",
    )
    with pytest.raises(InvalidInputError, match="SVC does not have"):
        search.fit(X, LABELS)


def within(y_true, y_pred):
    return (np.abs(y_true - y_pred) > 1.0).astype(float)


@pytest.mark.parametrize(
    ("estimator", "grid", "y", "options"),
    [
        (
            make_pipeline(StandardScaler(), RidgeClassifier()),
            {"ridgeclassifier": [LogisticRegression(), GaussianNB()]},
            LABELS,
            {"scoring": "neg_log_loss"},
        ),
        (
            StackingClassifier([("nb", GaussianNB())], LogisticRegression(), cv=2),
            {"passthrough": [False, True]},
            LABELS,
            {"scoring": "neg_log_loss"},
        ),
        (
            Ridge(),
            {"alpha": [0.1, 1.0, 10.0]},
            VALUES,
            {"scoring": PointwiseLoss(within), "strategy": CVST(similarity="cochran")},
        ),
        (
            LogisticRegression(),
            {"C": [0.1, 1.0, 10.0]},
            LABELS.astype(str),
            {"strategy": CVST(similarity="wilson")},
        ),
        (
            Ridge(),
            {"alpha": [0.1, 1.0, 10.0]},
            VALUES,
            {"strategy": CVST(similarity="outliers")},
        ),
    ],
    ids=["step replaced", "stack", "own loss", "text labels", "residuals"],
)
def test_what_can_work_is_not_refused(estimator, grid, y, options):
    search = RaceGridSearchCV(estimator, grid, random_state=0, **options)
    assert np.isfinite(search.fit(X, y).best_score_)


def test_a_metric_is_not_a_scorer():
    """It would be called with the model for the targets, at every fit."""
    N_FITS.clear()
    search = RaceGridSearchCV(CountedRidge(), GRID, scoring=mean_absolute_error)
    with pytest.raises(InvalidInputError, match="is a metric, not a scorer") as caught:
        search.fit(X, VALUES)
    assert "make_scorer(mean_absolute_error)" in str(caught.value)
    assert N_FITS == []


def test_a_scorer_that_returns_many_numbers_is_told_once():
    def distances(y_true, y_pred):
        return np.abs(y_true - y_pred)

    search = RaceGridSearchCV(Ridge(), GRID, scoring=make_scorer(distances))
    with pytest.raises(UnsupportedScoreError, match="distances returned an array"):
        search.fit(X, VALUES)


def squares(y_true, y_pred):
    return (y_true - y_pred) ** 2


def squares_that_hang(y_true, y_pred):
    """Wait where all predictions are the same."""
    if np.ptp(y_pred) == 0:
        time.sleep(600)
    return squares(y_true, y_pred)


def test_a_loss_that_hangs_before_the_race_is_given_up(caplog):
    """Others say the same with a limit as without."""
    hanging, plain = PointwiseLoss(squares_that_hang), PointwiseLoss(squares)
    with caplog.at_level("INFO", "cvst"):
        assert asked_within(1.0, constant_loss, hanging, VALUES) is None
    assert "squares_that_hang has no loss of a made-up prediction" in caplog.text
    known = asked_within(60.0, constant_loss, plain, VALUES)
    assert known == asked_within(None, constant_loss, plain, VALUES) == np.var(VALUES)


RUN = TrackAndConfirm(guarantee="run", n_folds=2, final_folds=0)


def told_of(strategy=RUN, scoring="accuracy", **fit):
    """Return what is said of the level before the first fit."""
    N_FITS.clear()
    options = {"cv": fit.pop("cv")} if "cv" in fit else {}
    search = RaceGridSearchCV(
        CountedClassifier(), GRID, strategy=strategy, scoring=scoring, **options
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, LABELS, **fit)
    told = [str(one.message) for one in caught if "does not bound" in str(one.message)]
    assert all(one.filename == __file__ for one in caught)
    return told


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ({"scoring": "roc_auc"}, "'roc_auc_score' belongs to all rows together"),
        ({"sample_weight": np.arange(1.0, 121.0)}, "sample_weight"),
        ({"groups": np.arange(120) // 4}, "rows of a group"),
        ({"cv": TimeSeriesSplit(2)}, "order of time"),
    ],
)
def test_a_level_of_the_run_that_nothing_proves_is_said_once(setting, why):
    """The theorem is about a mean over independent rows that count alike."""
    [told] = told_of(**setting)
    assert why in told
    assert "level=0.05 does not bound this whole race" in told
    # Which of them holds, and no other.
    assert told.split(". ")[0].count(",") == 0


def test_several_reasons_are_said_in_one_warning():
    [told] = told_of(scoring="roc_auc", groups=np.arange(120) // 4)
    assert "all rows together" in told
    assert "rows of a group" in told


@pytest.mark.parametrize("strategy", [RUN, TrackAndConfirm(n_folds=2)])
def test_nothing_is_said_of_a_level_that_holds_or_is_not_claimed(strategy):
    assert told_of(strategy) == []
    if strategy is not RUN:
        assert told_of(strategy, "roc_auc", groups=np.arange(120) // 4) == []
