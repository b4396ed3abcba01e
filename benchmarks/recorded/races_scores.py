"""Races on every kind of score and loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from problems import blobs, counts, labels, lines, two_targets, wave
from race_definition import Race, grid_race, quick
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import (
    d2_pinball_score,
    fbeta_score,
    get_scorer_names,
    hamming_loss,
    jaccard_score,
    log_loss,
    make_scorer,
    mean_absolute_error,
    mean_pinball_loss,
    mean_squared_error,
    mean_tweedie_deviance,
    r2_score,
    top_k_accuracy_score,
    zero_one_loss,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cvst import PointwiseLoss

__all__ = ["SCORES"]

NEIGHBOURS = {"n_neighbors": [1, 3, 8, 20, 40]}
COSTS = {"C": [0.001, 0.1, 10.0]}

REGRESSION = (
    "r2", "neg_mean_squared_error", "neg_root_mean_squared_error",
    "neg_mean_absolute_error", "neg_mean_absolute_percentage_error",
    "neg_mean_squared_log_error", "neg_root_mean_squared_log_error",
    "neg_mean_poisson_deviance", "neg_mean_gamma_deviance", "d2_absolute_error_score",
)  # fmt: skip
CLASSES = ("accuracy", "neg_log_loss", "neg_brier_score", "d2_log_loss_score",
           "d2_brier_score", "recall_weighted", "f1_micro", "precision_micro",
           "jaccard_micro")  # fmt: skip
SETS = ("accuracy", "f1_samples", "precision_samples", "recall_samples",
        "jaccard_samples")  # fmt: skip
WHOLE = ("roc_auc", "f1", "f1_macro", "balanced_accuracy", "average_precision",
         "matthews_corrcoef", "explained_variance", "neg_median_absolute_error",
         "adjusted_rand_score")  # fmt: skip
REFUSED = ("max_error", "accurcy")


def clipped(y_true: Any, y_pred: Any) -> Any:
    return np.minimum(np.abs(y_true - y_pred), 1.0)


def confidence(y_true: Any, proba: Any) -> Any:
    return 1.0 - proba[np.arange(len(proba)), np.asarray(y_true, dtype=int)]


def margin(y_true: Any, decision: Any) -> Any:
    return np.maximum(0.0, 1 - (2 * np.asarray(y_true) - 1) * decision)


def of_three_rows(y_true: Any, y_pred: Any) -> Any:
    return np.abs(y_true - y_pred)[:3]


def own_scorer(estimator: Any, X: Any, y: Any) -> float:
    return float(estimator.score(X, y))


def gaps(y_true: Any, y_pred: Any) -> Any:
    return np.where(y_pred > 4, np.nan, np.abs(y_true - y_pred))


def _named() -> list[Race]:
    known = set(get_scorer_names())
    numbers, classes = KNeighborsRegressor(), KNeighborsClassifier()
    return [
        *(grid_race(f"score/{name}", numbers, NEIGHBOURS, counts(), scoring=name,
            strategy="cvst" if position % 2 else quick(few=0))
          for position, name in enumerate(REGRESSION)),
        *(grid_race(f"score/{name}/{n_classes}", classes, NEIGHBOURS,
            blobs(300, n_classes), scoring=name,
            strategy=quick(few=0) if position % 2 else "cvst")
          for position, name in enumerate(CLASSES) if name in known
          for n_classes in (2, 4)),
        *(grid_race(f"score/sets/{name}", classes, NEIGHBOURS, labels(), scoring=name,
            strategy="cvst") for name in SETS),
        *(grid_race(f"score/whole/{name}", classes, NEIGHBOURS, blobs(), scoring=name)
          for name in WHOLE),
        *(grid_race(f"score/refused/{name}", classes, NEIGHBOURS, blobs(), scoring=name)
          for name in REFUSED),
    ]  # fmt: skip


def _made() -> list[Race]:
    worse = {"greater_is_better": False}
    pinball = make_scorer(mean_pinball_loss, alpha=0.9, **worse)
    tweedie = make_scorer(mean_tweedie_deviance, power=1.5, **worse)
    scorers = {
        "pinball": pinball,
        "d2_pinball": make_scorer(d2_pinball_score, alpha=0.2),
        "tweedie": tweedie,
        "odd_tweedie": make_scorer(mean_tweedie_deviance, power=0.5, **worse),
        "wrong_sign": make_scorer(mean_squared_error),
        "metric": mean_absolute_error,
        "several": ["r2", "neg_mean_squared_error"],
        "pointwise": PointwiseLoss(clipped),
        "three_rows": PointwiseLoss(of_three_rows),
        "gaps": PointwiseLoss(gaps),
        "plain_function": make_scorer(clipped),
        "callable": own_scorer,
    }
    shares = make_scorer(r2_score, multioutput=[0.2, 0.8])
    raw = make_scorer(r2_score, multioutput="raw_values")
    of_classes = {
        "zero_one": make_scorer(zero_one_loss, **worse),
        "hamming": make_scorer(hamming_loss, **worse),
        "log_loss_of_labels": make_scorer(
            log_loss, labels=[0, 1, 2], response_method="predict_proba", **worse
        ),
        "fbeta": make_scorer(fbeta_score, beta=2, average="micro"),
        "jaccard_macro": make_scorer(jaccard_score, average="macro"),
        "confidence": PointwiseLoss(confidence, response="predict_proba"),
    }
    numbers, classes = KNeighborsRegressor(), KNeighborsClassifier()
    top = make_scorer(top_k_accuracy_score, k=2, response_method="predict_proba")
    return [
        *(grid_race(f"scorer/{name}", numbers, NEIGHBOURS, counts(), scoring=scorer,
            strategy="cvst") for name, scorer in scorers.items()),
        *(grid_race(f"scorer/{name}", classes, NEIGHBOURS, blobs(300, 3),
            scoring=scorer, strategy=quick(few=0))
          for name, scorer in of_classes.items()),
        grid_race("scorer/top_k", classes, NEIGHBOURS, blobs(300, 5), scoring=top,
            strategy="cvst"),
        grid_race("scorer/margin", LogisticRegression(), COSTS, blobs(),
            scoring=PointwiseLoss(margin, response="decision_function", name="margin"),
            strategy="cvst"),
        grid_race("scorer/two_targets", Ridge(), {"alpha": [0.1, 10.0, 1e3]},
            two_targets(), scoring=shares, strategy="cvst"),
        grid_race("scorer/raw_values", Ridge(), {"alpha": [0.1, 10.0, 1e3]},
            two_targets(), scoring=raw, strategy="cvst"),
        grid_race("scorer/root_of_two_targets", Ridge(), {"alpha": [0.1, 10.0]},
            two_targets(), scoring="neg_root_mean_squared_error", strategy="cvst"),
        grid_race("scorer/no_probabilities", RidgeClassifier(), {"alpha": [0.1, 1.0]},
            blobs(), scoring="neg_log_loss"),
        grid_race("scorer/probabilities_of_some", SVC(),
            {"C": [0.1, 1.0]}, blobs(100), scoring="neg_log_loss", strategy="cvst"),
        grid_race("scorer/negative_counts", Ridge(), {"alpha": [0.1, 1.0]}, wave(),
            scoring="neg_mean_poisson_deviance"),
        grid_race("scorer/negative_predictions", Ridge(), {"alpha": [0.1, 1.0, 100.0]},
            (lines()[0], np.exp(lines()[1])), scoring="neg_mean_gamma_deviance",
            strategy="cvst"),
        grid_race("scorer/binary_test_of_numbers", KNeighborsRegressor(), NEIGHBOURS,
            wave(), scoring="neg_mean_absolute_error", strategy=quick(few=0)),
        grid_race("scorer/deep_trees_log_loss", DecisionTreeClassifier(),
            {"max_depth": [1, 3, None]}, blobs(300, 3), scoring="neg_log_loss",
            strategy="cvst"),
    ]  # fmt: skip


SCORES = [*_named(), *_made()]
