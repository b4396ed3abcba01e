"""scikit-learn's metrics that are functions of a mean over rows, and their losses.

Each entry of :data:`METRICS` takes the metric's own keyword arguments and returns the
loss, or None where these arguments make it something else than a mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from cvst._typing import BoolArray, FloatArray
from cvst.evaluation.losses._labels import (
    LabelLoss,
    hamming,
    jaccard_of_accuracy,
    missed_overlap,
    one_minus,
    zero_one,
)
from cvst.evaluation.losses._number_errors import (
    LOG_DOMAIN,
    absolute_error,
    absolute_percentage_error,
    negative_root,
    pinball_baseline,
    pinball_loss,
    squared_error,
    squared_log_error,
    tweedie_baseline,
    tweedie_deviance,
    variance,
)
from cvst.evaluation.losses._numbers import RegressionLoss
from cvst.evaluation.losses._pointwise import PointwiseLoss
from cvst.evaluation.losses._probabilities import ProbabilityLoss, TopKLoss
from cvst.exceptions import InvalidInputError

__all__ = ["METRICS", "Metric", "d2_tweedie_score"]

Builder: TypeAlias = Callable[..., "PointwiseLoss | None"]


@dataclass(frozen=True, slots=True)
class Metric:
    """How to build the loss of a metric.

    Attributes
    ----------
    build : callable
        Takes the metric's keyword arguments.
    greater_is_better : bool
        False for metrics that measure errors.
    responses : tuple of str
        Methods that the metric's predictions may come from.
    """

    build: Builder
    greater_is_better: bool
    responses: tuple[str, ...] = ("predict",)


def _averaged(function: Any, name: str, **settings: Any) -> Builder:
    def build(*, multioutput: Any = "uniform_average") -> PointwiseLoss:
        return RegressionLoss(function, name=name, multioutput=multioutput, **settings)

    return build


def mean_pinball_loss(
    *, alpha: float = 0.5, multioutput: Any = "uniform_average"
) -> PointwiseLoss:
    """Return the loss of a quantile."""
    function = partial(pinball_loss, alpha=_quantile(alpha))
    return RegressionLoss(function, name="mean_pinball_loss", multioutput=multioutput)


def d2_pinball_score(
    *,
    alpha: float = 0.5,
    multioutput: Any = "uniform_average",
    name: str = "d2_pinball_score",
) -> PointwiseLoss:
    """Return the loss of a quantile, scored as the explained share."""
    return RegressionLoss(
        partial(pinball_loss, alpha=_quantile(alpha)),
        name=name,
        multioutput=multioutput,
        baseline=partial(pinball_baseline, alpha=alpha),
    )


def d2_absolute_error_score(*, multioutput: Any = "uniform_average") -> PointwiseLoss:
    """Return half the absolute error, scored as the explained share."""
    # The pinball loss of the median is half of it, and a share has no factor.
    return d2_pinball_score(multioutput=multioutput, name="d2_absolute_error_score")


def mean_tweedie_deviance(
    *, power: float = 0, name: str = "mean_tweedie_deviance"
) -> PointwiseLoss:
    """Return the unit deviance of a Tweedie distribution."""
    return RegressionLoss(
        partial(tweedie_deviance, power=_power(power)),
        name=name,
        nearest="neg_mean_squared_error",
        domain=_tweedie_domain(power),
    )


def d2_tweedie_score(*, power: float = 0) -> PointwiseLoss:
    """Return the unit deviance, scored as the explained share."""
    return RegressionLoss(
        partial(tweedie_deviance, power=_power(power)),
        name="d2_tweedie_score",
        baseline=partial(tweedie_baseline, power=power),
        finite=False,
        nearest="r2",
        domain=_tweedie_domain(power),
    )


def _labels(function: Any, name: str, report: Any) -> Builder:
    def build(*, normalize: bool = True) -> PointwiseLoss | None:
        return LabelLoss(function, name=name, report=report) if normalize else None

    return build


def _hamming_loss() -> PointwiseLoss:
    return LabelLoss(hamming, name="hamming_loss", report=np.negative)


def _overlap(
    name: str,
    true_share: float,
    predicted_share: float,
    both_share: float = 0.0,
    micro: Callable[[FloatArray], FloatArray] = one_minus,
    accuracy: tuple[str, ...] = ("micro",),
) -> Builder:
    """Return the builder of a score of sets: a mean over rows for some averages only.

    With one label per row the averages named in ``accuracy`` are functions of it.
    """

    def build(
        *, average: Any = "binary", pos_label: Any = 1, zero_division: Any = "warn"
    ) -> PointwiseLoss | None:
        del pos_label  # matters for average="binary" only, which is not a mean
        # One label per row, true or predicted: all sums over labels are numbers of
        # rows.
        if average in accuracy:
            return LabelLoss(zero_one, name=name, report=micro, targets="single")
        undefined = 0.0 if zero_division == "warn" else float(zero_division)
        # NaN leaves rows out, and the rest is not a mean over all.
        if average != "samples" or np.isnan(undefined):
            return None
        function = partial(
            missed_overlap,
            true_share=true_share,
            predicted_share=predicted_share,
            both_share=both_share,
            undefined=undefined,
        )
        return LabelLoss(function, name=name, report=one_minus, targets="sets")

    return build


def _fbeta_score(
    *,
    beta: float,
    average: Any = "binary",
    pos_label: Any = 1,
    zero_division: Any = "warn",
) -> PointwiseLoss | None:
    # F = hits / (share * true + (1 - share) * predicted).
    share = beta**2 / (1 + beta**2)
    build = _overlap("fbeta_score", share, 1 - share)
    return build(average=average, pos_label=pos_label, zero_division=zero_division)


def _log_loss(*, labels: Any = None, normalize: bool = True) -> PointwiseLoss | None:
    if not normalize:
        return None
    return ProbabilityLoss("log", name="log_loss", labels=labels)


def _brier_score_loss(
    *, labels: Any = None, pos_label: Any = None, scale_by_half: Any = "auto"
) -> PointwiseLoss:
    return ProbabilityLoss(
        "brier",
        name="brier_score_loss",
        labels=labels,
        pos_label=pos_label,
        halved=scale_by_half,
    )


def _d2_log_loss_score(*, labels: Any = None) -> PointwiseLoss:
    return ProbabilityLoss(
        "log", name="d2_log_loss_score", labels=labels, explained=True
    )


def _d2_brier_score(*, labels: Any = None, pos_label: Any = None) -> PointwiseLoss:
    return ProbabilityLoss(
        "brier",
        name="d2_brier_score",
        labels=labels,
        pos_label=pos_label,
        explained=True,
    )


def _top_k_accuracy_score(
    *, k: int = 2, labels: Any = None, normalize: bool = True
) -> PointwiseLoss | None:
    if not normalize:
        return None
    return TopKLoss(k, name="top_k_accuracy_score", labels=labels)


def _quantile(alpha: float) -> float:
    if not 0 <= alpha <= 1:
        raise InvalidInputError(
            f"alpha={alpha!r} is not a quantile. Choose alpha between 0 and 1."
        )
    return alpha


def _power(power: float) -> float:
    if 0 < power < 1:
        raise InvalidInputError(
            f"power={power!r} belongs to no Tweedie distribution. Choose a power of at "
            "most 0 or at least 1."
        )
    return power


def _at_least_zero(truth: FloatArray) -> BoolArray:
    return np.asarray(truth >= 0)


def _above_zero(truth: FloatArray) -> BoolArray:
    return np.asarray(truth > 0)


def _tweedie_domain(power: float) -> Any:
    if power < 1:
        return None
    if power < 2:
        # These distributions, Poisson's for one, have a mass at zero.
        return _at_least_zero, "targets of at least 0"
    return _above_zero, "targets above 0"


_PROBABILITIES = ("predict_proba",)

# By the name of the function in sklearn.metrics; some versions lack some of them.
METRICS: dict[str, Metric] = {
    "accuracy_score": Metric(_labels(zero_one, "accuracy_score", one_minus), True),
    "zero_one_loss": Metric(_labels(zero_one, "zero_one_loss", np.negative), False),
    "hamming_loss": Metric(_hamming_loss, False),
    "precision_score": Metric(_overlap("precision_score", 0, 1), True),
    # Weighted by the size of the classes, recall is accuracy.
    "recall_score": Metric(
        _overlap("recall_score", 1, 0, accuracy=("micro", "weighted")), True
    ),
    "f1_score": Metric(_overlap("f1_score", 0.5, 0.5), True),
    "fbeta_score": Metric(_fbeta_score, True),
    "jaccard_score": Metric(
        _overlap("jaccard_score", 1, 1, -1, micro=jaccard_of_accuracy), True
    ),
    "log_loss": Metric(_log_loss, False, _PROBABILITIES),
    "brier_score_loss": Metric(_brier_score_loss, False, _PROBABILITIES),
    "d2_log_loss_score": Metric(_d2_log_loss_score, True, _PROBABILITIES),
    "d2_brier_score": Metric(_d2_brier_score, True, _PROBABILITIES),
    "top_k_accuracy_score": Metric(
        _top_k_accuracy_score, True, ("decision_function", "predict_proba")
    ),
    "mean_squared_error": Metric(_averaged(squared_error, "mean_squared_error"), False),
    "mean_absolute_error": Metric(
        _averaged(absolute_error, "mean_absolute_error"), False
    ),
    "mean_absolute_percentage_error": Metric(
        _averaged(absolute_percentage_error, "mean_absolute_percentage_error"), False
    ),
    "mean_squared_log_error": Metric(
        _averaged(squared_log_error, "mean_squared_log_error", domain=LOG_DOMAIN),
        False,
    ),
    # The mean of several roots is not a function of one mean.
    "root_mean_squared_error": Metric(
        _averaged(
            squared_error,
            "root_mean_squared_error",
            report=negative_root,
            single=True,
        ),
        False,
    ),
    "root_mean_squared_log_error": Metric(
        _averaged(
            squared_log_error,
            "root_mean_squared_log_error",
            report=negative_root,
            single=True,
            domain=LOG_DOMAIN,
        ),
        False,
    ),
    "mean_pinball_loss": Metric(mean_pinball_loss, False),
    "mean_tweedie_deviance": Metric(mean_tweedie_deviance, False),
    "mean_poisson_deviance": Metric(
        partial(mean_tweedie_deviance, power=1, name="mean_poisson_deviance"), False
    ),
    "mean_gamma_deviance": Metric(
        partial(mean_tweedie_deviance, power=2, name="mean_gamma_deviance"), False
    ),
    "r2_score": Metric(_averaged(squared_error, "r2_score", baseline=variance), True),
    "d2_absolute_error_score": Metric(d2_absolute_error_score, True),
    "d2_pinball_score": Metric(d2_pinball_score, True),
    "d2_tweedie_score": Metric(d2_tweedie_score, True),
}
