"""Targets and weights of kernel machines, if they need no more checks."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from cvst._typing import FloatArray, IntArray
from cvst.evaluation._protocol import Task

__all__ = ["class_positions", "row_weights"]

# Integers, truth values and strings are classes, and need no slow check.
DISCRETE_KINDS = "iubUS"


def class_positions(y: Any, n_train: int) -> tuple[Any, IntArray] | None:
    """Return the sorted classes of a target and where in them each row is.

    None if there are fewer than two, or if scikit-learn would refuse or convert them.

    Examples
    --------
    >>> class_positions(["b", "a", "b"], n_train=3)
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1]))
    """
    labels = np.asarray(y)
    if labels.shape != (n_train,):
        return None
    try:
        if labels.dtype.kind not in DISCRETE_KINDS:
            check_classification_targets(labels)
        classes, positions = np.unique(labels, return_inverse=True)
    except (ValueError, TypeError):
        return None
    return (classes, positions) if len(classes) > 1 else None


def row_weights(task: Task, n_train: int) -> FloatArray | None:
    """Return one finite weight per training row, 1 by default.

    None if ``fit`` gets anything but proper weights: they may be 0, but not all, and
    none may be negative.
    """
    if not task.fit_params.keys() <= {"sample_weight"}:
        return None
    given = task.fit_params.get("sample_weight")
    if given is None:
        return np.ones(n_train)
    weights = np.asarray(given)
    if weights.shape != (n_train,) or weights.dtype.kind not in "fiu":
        return None
    proper = (weights >= 0).all() and np.isfinite(weights).all() and weights.any()
    return weights.astype(np.float64) if proper else None
