"""Between which numbers a score lies, where that is known by its name."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

__all__ = ["score_range"]

SHARES = {
    "accuracy_score",
    "average_precision_score",
    "balanced_accuracy_score",
    "completeness_score",
    "f1_score",
    "fbeta_score",
    "fowlkes_mallows_score",
    "hamming_loss",
    "homogeneity_score",
    "jaccard_score",
    "normalized_mutual_info_score",
    "precision_score",
    "rand_score",
    "recall_score",
    "roc_auc_score",
    "top_k_accuracy_score",
    "v_measure_score",
    "zero_one_loss",
}

# No better than that, and as bad as can be.
AT_MOST_ONE = {
    "adjusted_mutual_info_score",
    "cohen_kappa_score",
    "d2_absolute_error_score",
    "d2_brier_score",
    "d2_log_loss_score",
    "d2_pinball_score",
    "d2_tweedie_score",
    "explained_variance_score",
    "r2_score",
}

CORRELATIONS = {"adjusted_rand_score", "matthews_corrcoef"}

NEVER_NEGATIVE = {
    "brier_score_loss",
    "log_loss",
    "max_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_gamma_deviance",
    "mean_pinball_loss",
    "mean_poisson_deviance",
    "mean_squared_error",
    "mean_squared_log_error",
    "mean_tweedie_deviance",
    "median_absolute_error",
    "mutual_info_score",
    "negative_likelihood_ratio",
    "positive_likelihood_ratio",
    "root_mean_squared_error",
    "root_mean_squared_log_error",
}


def score_range(
    name: str, sign: float = 1.0, arguments: Mapping[str, Any] | None = None
) -> tuple[float, float]:
    """Return the least and the largest score that there can be.

    Parameters
    ----------
    name : str
        Name of the function in ``sklearn.metrics``.
    sign : {1, -1}
        Minus one if the score is minus the metric.
    arguments : mapping, optional
        Keyword arguments of the metric.

    Examples
    --------
    >>> score_range("roc_auc_score"), score_range("mean_absolute_error", -1)
    ((0.0, 1.0), (-inf, 0.0))
    """
    low, high = _of_metric(name, arguments or {})
    # Not by a product, which would have a zero with a sign.
    return (low, high) if sign > 0 else (0.0 - high, 0.0 - low)


def _of_metric(name: str, arguments: Mapping[str, Any]) -> tuple[float, float]:
    if not arguments.get("normalize", True):  # a number of rows
        return (0.0, inf) if name in SHARES | NEVER_NEGATIVE else (-inf, inf)
    if name in AT_MOST_ONE or arguments.get("adjusted", False):
        return -inf, 1.0
    if name in SHARES:
        return 0.0, 1.0
    if name in CORRELATIONS:
        return -1.0, 1.0
    return (0.0, inf) if name in NEVER_NEGATIVE else (-inf, inf)
