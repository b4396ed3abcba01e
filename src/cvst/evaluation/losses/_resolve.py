"""From ``scoring`` to a loss of each row, or to a sentence why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from difflib import get_close_matches
from inspect import signature
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.base import is_classifier, is_outlier_detector, is_regressor
from sklearn.feature_selection import RFE, RFECV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    GammaRegressor,
    LogisticRegressionCV,
    PoissonRegressor,
    RANSACRegressor,
    TweedieRegressor,
)
from sklearn.pipeline import Pipeline
from sklearn.semi_supervised import SelfTrainingClassifier

from cvst._sklearn_compat import BaseSearchCV, ScorerParts, scorer_parts
from cvst._typing import FloatArray
from cvst.evaluation._protocol import MODEL
from cvst.evaluation.losses._metrics import METRICS, Metric, d2_tweedie_score
from cvst.evaluation.losses._pointwise import PointwiseLoss
from cvst.evaluation.losses._score_range import score_range
from cvst.evaluation.losses.influence import JackknifeScore, OpaqueScore, whole_score
from cvst.exceptions import InvalidInputError

__all__ = ["is_metric", "resolve_loss"]

# Packages whose estimators score by accuracy, r2 or what is said of them below. The
# ``score`` of any other is asked for.
SAME_SCORES = frozenset(
    {"sklearn", "sklearnex", "daal4py", "cvst", "lightgbm", "xgboost", "catboost"}
)

# Their own score is the explained deviance of their family.
TWEEDIE_POWERS: dict[type, float] = {PoissonRegressor: 1, GammaRegressor: 2}


def resolve_loss(
    scoring: Any, estimator: Any, y: Any, *, metadata: bool = False
) -> PointwiseLoss:
    """Return the loss to race on.

    Parameters
    ----------
    scoring : str, scorer object, callable, PointwiseLoss or None
        A score: its name, a scorer object, ``scorer(estimator, X, y)``, or losses of
        your own; None is the estimator's own.
    estimator : estimator
        The estimator to be raced.
    y : array-like or None
        All targets of the race: they tell the classes and the number of outputs.
    metadata : bool, default=False
        Whether the score gets more than targets, predictions and weights, so that it
        can only be asked.

    Returns
    -------
    PointwiseLoss
        The loss; its ``score`` method gives the score back.

    Raises
    ------
    UnsupportedScoreError
        If the score is not one number.
    InvalidInputError
        If score, estimator and targets do not go together.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> loss = resolve_loss("neg_mean_squared_error", Ridge(), [1.0, 2.0])
    >>> loss.losses([1.0, 2.0], [1.5, 4.0])
    array([0.25, 4.  ])

    A score of all rows together has losses too, with the score as their mean:

    >>> from sklearn.linear_model import LogisticRegression
    >>> auc = resolve_loss("roc_auc", LogisticRegression(), [0, 1])
    >>> auc.losses([0, 1, 1], [0.2, 0.1, 0.7])
    array([ 0.5 ,  1.25, -0.25])
    """
    if scoring is None:
        scoring = _own_scoring(estimator, metadata)
    if scoring is None:
        loss = _default_loss(estimator)
        loss.score_range = score_range(loss.name)
    elif isinstance(scoring, PointwiseLoss):
        return scoring.for_target(estimator, y)
    else:
        parts = _parts(scoring)
        loss = _loss_of(scoring, parts, estimator, y, metadata)
        loss.score_range = _range_of(parts)
    # Densities and a user's scorers may do without targets.
    if loss.response in ("score_samples", MODEL):
        return loss.for_target(estimator, y)
    if y is None:
        raise InvalidInputError(
            f"{loss.name} compares predictions with targets, but y is None. Pass y, or "
            "race on a PointwiseLoss of your own."
        )
    try:
        return loss.for_target(estimator, y)
    except TypeError as error:
        # Sorting says this of mixed labels; any other TypeError is not about the
        # targets.
        if "not supported between instances" not in str(error):
            raise
        raise InvalidInputError(
            "y holds labels of several types, which cannot be sorted into classes: "
            f"{error}. Give all labels one type."
        ) from error


def own_score_name(estimator: Any) -> str:
    """Return the name of the score that ``scoring=None`` stands for.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> own_score_name(Ridge()), own_score_name(PoissonRegressor())
    ('r2', 'd2_tweedie')
    """
    scoring = _own_scoring(estimator, metadata=False)
    if isinstance(scoring, str):
        return scoring
    try:
        if scoring is None:
            return _default_loss(estimator).name.removesuffix("_score")
    except InvalidInputError:  # it has none, which the race itself refuses
        pass
    return "score of the estimator"


def _default_loss(estimator: Any) -> PointwiseLoss:
    """Return the loss behind the estimator's own ``score`` method."""
    final = _final(estimator)
    if isinstance(final, TweedieRegressor):
        return d2_tweedie_score(power=final.power)
    for kind, power in TWEEDIE_POWERS.items():
        if isinstance(final, kind):
            return d2_tweedie_score(power=power)
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
        "has no method score. Pass scoring."
    )


def _final(estimator: Any) -> Any:
    """Return the estimator whose ``score`` is asked in the end."""
    while True:
        if isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        elif _asks_its_part(estimator):
            estimator = estimator.estimator
        else:
            return estimator


def _asks_its_part(estimator: Any) -> bool:
    """Return whether ``score`` is that of the estimator inside."""
    if isinstance(estimator, BaseSearchCV):
        return estimator.scoring is None
    # RFECV has a score of its own; RANSAC of nothing is a linear regression, with r2.
    asks = isinstance(
        estimator, RFE | RANSACRegressor | SelfTrainingClassifier | FrozenEstimator
    )
    return asks and not isinstance(estimator, RFECV) and estimator.estimator is not None


def _own_scoring(estimator: Any, metadata: bool) -> Any:
    """Return what a search inside the race scores with, or the ``score`` to ask."""
    final = _final(estimator)
    if metadata or _has_score_of_its_own(final) or _scores_in_another_way(final):
        return metrics.check_scoring(estimator)
    searches = isinstance(final, BaseSearchCV | LogisticRegressionCV | RFECV)
    scoring = final.scoring if searches else None
    # LogisticRegressionCV marks a default that is going to change by this word.
    return None if isinstance(scoring, str) and scoring == "warn" else scoring


def _has_score_of_its_own(final: Any) -> bool:
    """Return whether ``score`` is neither scikit-learn's nor known to be the same."""
    kinds = type(final).__mro__
    homes = [kind.__module__ for kind in kinds if vars(kind).get("score") is not None]
    return bool(homes) and homes[0].split(".")[0] not in SAME_SCORES


def _scores_in_another_way(final: Any) -> bool:
    """Return whether there is a ``score``, by none of the losses known here.

    As for clusterings, topic models, covariances and outlier detectors of scikit-learn.
    """
    known = is_classifier(final) or is_regressor(final)
    # Outlier detectors have densities, but are scored by what they predict.
    known |= hasattr(final, "score_samples") and not is_outlier_detector(final)
    return hasattr(final, "score") and not known


def _build(metric: Metric) -> PointwiseLoss:
    loss = metric.build()
    assert loss is not None
    return loss


def _minus_log_density(y_true: Any, log_density: FloatArray) -> FloatArray:
    del y_true
    return -np.asarray(log_density)


def _parts(scoring: Any) -> ScorerParts | None:
    """Take a scorer apart; None for a callable that cannot be."""
    if isinstance(scoring, str):
        scoring = _named_scorer(scoring)
    parts = scorer_parts(scoring)
    if parts is not None:
        return parts
    if is_metric(scoring):
        name = scoring.__name__
        raise InvalidInputError(
            f"scoring={name} is a metric, not a scorer. Pass its name as in "
            f"sklearn.metrics.get_scorer_names(), or make_scorer({name})."
        )
    if callable(scoring):
        return None
    raise InvalidInputError(
        f"scoring={scoring!r} is not one score. Pass the name of a scikit-learn score, "
        "a scorer object, scorer(estimator, X, y) or a PointwiseLoss."
    )


def is_metric(scoring: Any) -> bool:
    """Return whether this is a metric of scikit-learn, to which no model is passed.

    Examples
    --------
    >>> is_metric(metrics.r2_score), is_metric("r2")
    (True, False)
    """
    name = getattr(scoring, "__name__", None)
    # The object itself: a user's scorer may have the name of a metric.
    return isinstance(name, str) and getattr(metrics, name, None) is scoring


def _named_scorer(name: str) -> Any:
    known = metrics.get_scorer_names()
    if name in known:
        return metrics.get_scorer(name)
    similar = get_close_matches(name, known, n=1) or ["accuracy"]
    raise InvalidInputError(
        f"scoring={name!r} is not a score of scikit-learn; did you mean "
        f"{similar[0]!r}? sklearn.metrics.get_scorer_names() lists them all."
    )


def _loss_of(
    scoring: Any, parts: ScorerParts | None, estimator: Any, y: Any, metadata: bool
) -> PointwiseLoss:
    """Return the loss of a scorer: of rows, with influence values, or by blocks."""
    if parts is None:
        return OpaqueScore(scoring, name=getattr(scoring, "__name__", repr(scoring)))
    name, shown = _name(parts), f"scoring={_shown(scoring)}"
    # A function of the user's may be called f1_score and count differently, and so
    # does one that gets more than our own.
    if metadata or not _is_of_sklearn(parts):
        return _jackknife(parts, name, estimator)
    metric = METRICS.get(name)
    loss = None if metric is None else _of_rows(metric, parts, y)
    if metric is not None and loss is not None:
        _check_sign(shown, name, metric.greater_is_better, parts)
        return _with_response(shown, loss, metric.responses, parts, estimator)
    whole = whole_score(name, parts.kwargs)
    if whole is None:
        return _jackknife(parts, name, estimator)
    _check_sign(shown, name, whole.top > 0, parts)
    # An area depends on the order of the rows only, so either of them will do.
    values = ("decision_function", "predict_proba")
    responses = values if whole.response in values else ("predict",)
    return _with_response(shown, whole, responses, parts, estimator)


def _range_of(parts: ScorerParts | None) -> tuple[float, float]:
    """Return between which numbers the score of a scorer lies."""
    if parts is None or not _is_of_sklearn(parts):
        return PointwiseLoss.score_range
    return score_range(_name(parts), parts.sign, parts.kwargs)


def _is_of_sklearn(parts: ScorerParts) -> bool:
    module = getattr(parts.function, "__module__", "") or ""
    return module.startswith("sklearn.metrics.")


def _of_rows(metric: Metric, parts: ScorerParts, y: Any) -> PointwiseLoss | None:
    """Return the loss of single rows; None if the arguments or targets allow none."""
    try:
        # Apart from the call, since a TypeError of the builder is none of these.
        signature(metric.build).bind(**parts.kwargs)
    except TypeError:
        return None
    loss = metric.build(**parts.kwargs)
    several = len(np.shape(y)) == 2 and np.shape(y)[1] > 1
    return None if several and getattr(loss, "single", False) else loss


def _jackknife(parts: ScorerParts, name: str, estimator: Any) -> PointwiseLoss:
    response = _first_present(parts.responses, estimator)
    return JackknifeScore(parts, name=name, response=response)


def _first_present(responses: Sequence[str], estimator: Any) -> str:
    """Return the first method that the estimator has, or the first of all."""
    present = [response for response in responses if hasattr(estimator, response)]
    return (present or list(responses))[0]


def _check_sign(
    shown: str, name: str, greater_is_better: bool, parts: ScorerParts
) -> None:
    # make_scorer takes every function for a score, unless it is told of an error.
    if (parts.sign > 0) != greater_is_better:
        raise InvalidInputError(
            f"{shown} prefers the worst model. Write make_scorer({name}, "
            f"greater_is_better={greater_is_better})."
        )


def _with_response(
    shown: str,
    loss: PointwiseLoss,
    allowed: Sequence[str],
    parts: ScorerParts,
    estimator: Any,
) -> PointwiseLoss:
    """Choose the method to predict with: the first one that the estimator has."""
    possible = [response for response in parts.responses if response in allowed]
    if not possible:
        raise InvalidInputError(
            f"{shown} predicts with {' or '.join(parts.responses)}, but "
            f"its metric needs {' or '.join(allowed)}. Set response_method in "
            "make_scorer."
        )
    chosen = _first_present(possible, estimator)
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
