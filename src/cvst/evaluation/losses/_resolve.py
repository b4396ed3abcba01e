"""From ``scoring`` to a pointwise loss, or to a sentence why there is none."""

from __future__ import annotations

from copy import copy
from difflib import get_close_matches
from inspect import signature
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.base import is_classifier, is_regressor
from sklearn.linear_model import (
    GammaRegressor,
    LogisticRegressionCV,
    PoissonRegressor,
    TweedieRegressor,
)
from sklearn.pipeline import Pipeline

from cvst._sklearn_compat import BaseSearchCV, ScorerParts, scorer_parts
from cvst._typing import FloatArray
from cvst.evaluation.losses._metrics import METRICS, Metric, d2_tweedie_score
from cvst.evaluation.losses._pointwise import PointwiseLoss
from cvst.exceptions import InvalidInputError, UnsupportedScoreError

__all__ = ["resolve_loss"]

# What to race on instead of a metric that is no mean over rows.
NEAREST = {
    "average_precision_score": "neg_log_loss",
    "balanced_accuracy_score": "accuracy",
    "class_likelihood_ratios": "accuracy",
    "cohen_kappa_score": "accuracy",
    "explained_variance_score": "r2",
    "f1_score": "accuracy",
    "fbeta_score": "accuracy",
    "jaccard_score": "accuracy",
    "matthews_corrcoef": "accuracy",
    "max_error": "neg_mean_absolute_error",
    "median_absolute_error": "neg_mean_absolute_error",
    "negative_likelihood_ratio": "accuracy",
    "positive_likelihood_ratio": "accuracy",
    "precision_score": "accuracy",
    "recall_score": "accuracy",
    "roc_auc_score": "neg_log_loss",
}

# Their own score is the explained deviance of their family.
TWEEDIE_POWERS: dict[type, float] = {PoissonRegressor: 1, GammaRegressor: 2}


def resolve_loss(scoring: Any, estimator: Any, y: Any) -> PointwiseLoss:
    """Return the loss to race on.

    Parameters
    ----------
    scoring : str, scorer object, PointwiseLoss or None
        A score that is a function of a mean over rows; None is the estimator's own.
    estimator : estimator
        The estimator to be raced.
    y : array-like or None
        All targets of the race: they tell the classes and the number of outputs.

    Returns
    -------
    PointwiseLoss
        The loss; its ``score`` method gives the score back.

    Raises
    ------
    UnsupportedScoreError
        If the score is no function of a mean over rows.
    InvalidInputError
        If score, estimator and targets do not go together.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> loss = resolve_loss("neg_mean_squared_error", Ridge(), [1.0, 2.0])
    >>> loss.losses([1.0, 2.0], [1.5, 4.0])
    array([0.25, 4.  ])
    >>> resolve_loss("roc_auc", Ridge(), [0, 1])
    Traceback (most recent call last):
    ...
    cvst.exceptions.UnsupportedScoreError: scoring='roc_auc' is no mean over rows, so \
rows cannot be raced on it; the nearest score that works is 'neg_log_loss'.
    """
    if scoring is None:
        scoring = _own_scoring(estimator)
    if scoring is None:
        loss = _default_loss(estimator)
    elif isinstance(scoring, PointwiseLoss):
        return scoring.for_target(estimator, y)
    else:
        loss = _loss_of(scoring, _parts(scoring), estimator, y)
    if loss.response == "score_samples":
        return loss
    if y is None:
        raise InvalidInputError(
            f"{loss.name} compares predictions with targets, but y is None. Pass y, or "
            "race on a PointwiseLoss of your own."
        )
    return loss.for_target(estimator, y)


def _default_loss(estimator: Any) -> PointwiseLoss:
    """Return the loss behind the estimator's own ``score`` method."""
    final = _final(estimator)
    if isinstance(final, TweedieRegressor):
        return d2_tweedie_score(power=final.power)
    if type(final) in TWEEDIE_POWERS:
        return d2_tweedie_score(power=TWEEDIE_POWERS[type(final)])
    if is_classifier(estimator):
        return _build(METRICS["accuracy_score"])
    if is_regressor(estimator):
        return _build(METRICS["r2_score"])
    if hasattr(estimator, "score") and hasattr(estimator, "score_samples"):
        return PointwiseLoss(
            _minus_log_density, response="score_samples", name="log density"
        )
    raise InvalidInputError(
        f"scoring=None asks {type(estimator).__name__} for a score of its own, but it "
        "is no classifier, no regressor and no density. Pass scoring."
    )


def _final(estimator: Any) -> Any:
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def _own_scoring(estimator: Any) -> Any:
    """Return what a search inside the race scores with."""
    final = _final(estimator)
    searches = isinstance(final, BaseSearchCV | LogisticRegressionCV)
    return final.scoring if searches else None


def _build(metric: Metric) -> PointwiseLoss:
    loss = metric.build()
    assert loss is not None
    return loss


def _minus_log_density(y_true: Any, log_density: FloatArray) -> FloatArray:
    del y_true
    return -np.asarray(log_density)


def _parts(scoring: Any) -> ScorerParts:
    """Take a scorer apart, or say what to pass instead."""
    if isinstance(scoring, str):
        scoring = _named_scorer(scoring)
    parts = scorer_parts(scoring)
    if parts is not None:
        return parts
    name = getattr(scoring, "__name__", repr(scoring))
    if getattr(metrics, name, None) is scoring:
        raise InvalidInputError(
            f"scoring={name} is a metric, not a scorer. Pass its name as in "
            f"sklearn.metrics.get_scorer_names(), or make_scorer({name})."
        )
    if callable(scoring):
        raise UnsupportedScoreError(
            f"scoring={name} gives one number for all rows, but a race needs one loss "
            "per row. Pass PointwiseLoss(f) with f(y_true, y_pred) -> losses, or the "
            "name of a scikit-learn score such as 'accuracy'."
        )
    raise InvalidInputError(
        f"scoring={scoring!r} is not one score. Pass the name of a scikit-learn score, "
        "a scorer object or a PointwiseLoss."
    )


def _named_scorer(name: str) -> Any:
    known = metrics.get_scorer_names()
    if name in known:
        return metrics.get_scorer(name)
    similar = get_close_matches(name, known, n=1) or ["accuracy"]
    raise InvalidInputError(
        f"scoring={name!r} is not a score of scikit-learn; did you mean "
        f"{similar[0]!r}? sklearn.metrics.get_scorer_names() lists them all."
    )


def _loss_of(scoring: Any, parts: ScorerParts, estimator: Any, y: Any) -> PointwiseLoss:
    """Return the loss of a scorer's metric, checked for what makes it one."""
    name, shown = _name(parts), f"scoring={_shown(scoring)}"
    module = getattr(parts.function, "__module__", "")
    if not module.startswith("sklearn.metrics."):
        raise UnsupportedScoreError(
            f"{shown} scores with {name}, of which only the number for all "
            "rows is known. Pass PointwiseLoss(f) with f(y_true, y_pred) -> one loss "
            "per row."
        )
    metric = METRICS.get(name)
    loss = None if metric is None else _with_arguments(shown, name, metric, parts)
    if metric is None or loss is None:
        raise UnsupportedScoreError(
            f"{shown} is no mean over rows, so rows cannot be raced on it; "
            f"{_nearest(name, y)}."
        )
    _check_sign(shown, name, metric, parts)
    return _with_response(shown, loss, metric, parts, estimator)


def _with_arguments(
    shown: str, name: str, metric: Metric, parts: ScorerParts
) -> PointwiseLoss | None:
    try:
        signature(metric.build).bind(**parts.kwargs)
    except TypeError as error:
        raise UnsupportedScoreError(
            f"{shown} calls {name} with arguments that make it no mean "
            f"over rows ({error}). Leave them out, or pass a PointwiseLoss."
        ) from error
    return metric.build(**parts.kwargs)


def _nearest(name: str, y: Any) -> str:
    nearest = NEAREST.get(name)
    if nearest is None:
        return "pass a PointwiseLoss of your own"
    if nearest == "accuracy" and y is not None and len(np.shape(y)) == 2:
        nearest = "f1_samples"
    return f"the nearest score that works is {nearest!r}"


def _check_sign(shown: str, name: str, metric: Metric, parts: ScorerParts) -> None:
    if (parts.sign > 0) != metric.greater_is_better:
        raise InvalidInputError(
            f"{shown} prefers the worst model. Write make_scorer({name}, "
            f"greater_is_better={metric.greater_is_better})."
        )


def _with_response(
    shown: str,
    loss: PointwiseLoss,
    metric: Metric,
    parts: ScorerParts,
    estimator: Any,
) -> PointwiseLoss:
    """Choose the method to predict with: the first one that the estimator has."""
    possible = [
        response for response in parts.responses if response in metric.responses
    ]
    if not possible:
        raise InvalidInputError(
            f"{shown} predicts with {' or '.join(parts.responses)}, but "
            f"its metric needs {' or '.join(metric.responses)}. Set response_method in "
            "make_scorer."
        )
    present = [response for response in possible if hasattr(estimator, response)]
    chosen = (present or possible)[0]
    if chosen == loss.response:
        return loss
    loss = copy(loss)
    loss.response = chosen
    return loss


def _name(parts: ScorerParts) -> str:
    return str(getattr(parts.function, "__name__", parts.function))


def _shown(scoring: Any) -> str:
    """Return a scorer as its user wrote it; the repr of a partial one may fail."""
    parts = None if isinstance(scoring, str) else scorer_parts(scoring)
    if parts is None:
        return repr(scoring)
    arguments = [f"{name}={value!r}" for name, value in parts.kwargs.items()]
    return f"make_scorer({', '.join([_name(parts), *arguments])})"
