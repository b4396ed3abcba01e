"""scikit-learn's metrics of all rows together, by the name of their function.

Each builder takes the metric's own keyword arguments and returns the score, or None
where only the jackknife knows what these arguments mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, TypeAlias

import numpy as np

from cvst.evaluation.losses._number_errors import (
    LOG_DOMAIN,
    squared_error,
    squared_log_error,
    variance,
)
from cvst.evaluation.losses._numbers import RegressionLoss
from cvst.evaluation.losses.influence._area_scores import Area, AreaScore
from cvst.evaluation.losses.influence._areas import average_precision, roc_area
from cvst.evaluation.losses.influence._counts import CountScore, agreement
from cvst.evaluation.losses.influence._kappa import KappaScore
from cvst.evaluation.losses.influence._moments import ExplainedVariance, MeanRoot
from cvst.evaluation.losses.influence._overlap import MeanRecall, Overlap
from cvst.evaluation.losses.influence._whole import WholeScore

__all__ = ["whole_score"]

Builder: TypeAlias = Callable[..., "WholeScore | None"]

AVERAGES = ("binary", "macro", "weighted", "micro")


def whole_score(name: str, arguments: Mapping[str, Any]) -> WholeScore | None:
    """Return the score of a metric with known influence values, else None.

    Parameters
    ----------
    name : str
        Name of the function in ``sklearn.metrics``.
    arguments : mapping
        Its keyword arguments.
    """
    build = SCORES.get(name)
    if build is None:
        return None
    try:
        signature(build).bind(**arguments)
    except TypeError:
        return None  # an argument of a newer scikit-learn
    return build(**arguments)


def _overlap(
    name: str, true_share: float, predicted_share: float, both_share: float = 0.0
) -> Builder:
    def build(
        *,
        labels: Any = None,
        pos_label: Any = 1,
        average: Any = "binary",
        zero_division: Any = "warn",
    ) -> WholeScore | None:
        # "samples" is a mean over rows and was handled before; None gives no number.
        if average not in AVERAGES:
            return None
        binary = average == "binary"
        undefined = 0.0 if zero_division == "warn" else float(zero_division)
        function = Overlap(
            *(true_share, predicted_share, both_share, average),
            labels=[pos_label] if binary else labels,
            undefined=undefined,
        )
        if binary:
            return CountScore(function, name=name, pos_label=pos_label)
        # Columns of a table have no labels to choose from.
        return CountScore(function, name=name, labels=labels, sets=labels is None)

    return build


def _fbeta_score(
    *,
    beta: float,
    labels: Any = None,
    pos_label: Any = 1,
    average: Any = "binary",
    zero_division: Any = "warn",
) -> WholeScore | None:
    share = beta**2 / (1 + beta**2)
    return _overlap("fbeta_score", share, 1 - share)(
        labels=labels, pos_label=pos_label, average=average, zero_division=zero_division
    )


def _balanced_accuracy(*, adjusted: bool = False) -> WholeScore:
    return CountScore(MeanRecall(adjusted), name="balanced_accuracy_score")


def _matthews() -> WholeScore:
    return CountScore(agreement, name="matthews_corrcoef")


def _kappa(*, labels: Any = None, weights: Any = None) -> WholeScore | None:
    if labels is not None and np.any(np.sort(labels) != np.asarray(labels)):
        return None  # an order of their own
    return KappaScore(weights=weights, labels=labels)


def _roc_auc(
    *,
    average: Any = "macro",
    max_fpr: Any = None,
    multi_class: str = "raise",
    labels: Any = None,
) -> WholeScore | None:
    if max_fpr not in (None, 1) or labels is not None:
        return None
    return _area(roc_area, "roc_auc_score", average, multi_class=multi_class)


def _average_precision(
    *, average: Any = "macro", pos_label: Any = 1
) -> WholeScore | None:
    return _area(
        average_precision,
        "average_precision_score",
        average,
        # There is no such argument, but it is what scikit-learn does.
        multi_class="ovr",
        pos_label=pos_label,
    )


def _area(area: Area, name: str, average: Any, **settings: Any) -> WholeScore | None:
    if average not in ("macro", "weighted", "micro"):
        return None
    return AreaScore(area, name=name, average=average, **settings)


def _root(name: str, function: Any, domain: Any = None) -> Builder:
    def build(*, multioutput: Any = "uniform_average") -> WholeScore:
        return MeanRoot(
            RegressionLoss(function, name=name, multioutput=multioutput, domain=domain)
        )

    return build


def _explained_variance(
    *, multioutput: Any = "uniform_average", force_finite: bool = True
) -> WholeScore | None:
    if not force_finite or (
        isinstance(multioutput, str) and multioutput == "raw_values"
    ):
        return None
    rows = RegressionLoss(
        squared_error, name="r2_score", multioutput=multioutput, baseline=variance
    )
    return ExplainedVariance(rows)


SCORES: dict[str, Builder] = {
    "balanced_accuracy_score": _balanced_accuracy,
    "precision_score": _overlap("precision_score", 0, 1),
    "recall_score": _overlap("recall_score", 1, 0),
    "f1_score": _overlap("f1_score", 0.5, 0.5),
    "fbeta_score": _fbeta_score,
    "jaccard_score": _overlap("jaccard_score", 1, 1, -1),
    "matthews_corrcoef": _matthews,
    "cohen_kappa_score": _kappa,
    "roc_auc_score": _roc_auc,
    "average_precision_score": _average_precision,
    "root_mean_squared_error": _root("root_mean_squared_error", squared_error),
    "root_mean_squared_log_error": _root(
        "root_mean_squared_log_error", squared_log_error, LOG_DOMAIN
    ),
    "explained_variance_score": _explained_variance,
}
