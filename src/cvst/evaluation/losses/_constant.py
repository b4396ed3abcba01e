"""The loss of predicting the same for every row: what a model must beat."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvst._targets import to_array
from cvst.evaluation.losses._pointwise import PointwiseLoss
from cvst.evaluation.losses.influence import WholeScore

__all__ = ["constant_loss"]


def constant_loss(loss: PointwiseLoss, y: Any) -> float | None:
    """Return the mean loss of the best simple constant, None where there is none.

    The constants tried are the most frequent label, or the mean and the median, or
    the frequencies of the classes, depending on what the loss compares.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from cvst.evaluation import resolve_loss
    >>> y = np.array([0.0, 0.0, 3.0])
    >>> constant_loss(resolve_loss("neg_mean_squared_error", Ridge(), y), y)
    2.0
    """
    if y is None:
        return None
    truth = to_array(y)
    means = [_mean_loss(loss, truth, constant) for constant in _constants(loss, truth)]
    known = [mean for mean in means if mean is not None and np.isfinite(mean)]
    return min(known) if known else None


def _constants(loss: PointwiseLoss, truth: Any) -> list[Any]:
    if loss.response == "decision_function" and isinstance(loss, WholeScore):
        n_classes = 2 if loss.classes is None else len(loss.classes)
        return [0.0 if n_classes == 2 else np.zeros(n_classes)]
    if loss.response not in ("predict", "predict_proba"):
        return []
    if loss.response == "predict_proba" and truth.ndim != 1:
        return []  # one array of probabilities per output
    try:
        labels, counts = np.unique(truth, return_counts=True)
    except TypeError:  # words among numbers have no order
        return []
    if loss.response == "predict_proba":
        return [counts / counts.sum()]
    if loss.classes is not None or truth.dtype.kind not in "biuf":
        return [labels[np.argmax(counts)]] if truth.ndim == 1 else []
    return [truth.mean(axis=0), np.median(truth, axis=0)]


def _mean_loss(loss: PointwiseLoss, truth: Any, constant: Any) -> float | None:
    prediction = np.broadcast_to(constant, (len(truth), *np.shape(constant)))
    try:
        losses, score, _ = loss.assess(truth)(prediction, loss.classes)
        if score is not None:
            return float(np.mean(losses)) if np.isfinite(score) else None
        return float(loss.ranked(np.array([np.mean(losses)]))[0][0])
    except Exception:
        # Losses are functions of users too, and this one is only a hint.
        return None
