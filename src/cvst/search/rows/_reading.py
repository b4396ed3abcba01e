"""Inputs that stay on disk or in a Dask collection while a search is prepared."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import get_tags

from cvst._values import is_dask
from cvst.evaluation.device import as_numpy

__all__ = ["in_full", "unread"]


def unread(estimator: Any, X: Any) -> Any:
    """Return inputs as a race takes them: large ones as rows that are read later."""
    if not (is_dask(X) or isinstance(X, np.memmap)):
        return as_numpy(X)
    # Kernel matrices have a column per row, so they are of use as a whole only.
    if X.ndim != 2 or get_tags(estimator).input_tags.pairwise:
        return in_full(X)
    from cvst.datasets import stored_rows

    stored = stored_rows(X)
    small = isinstance(X, np.memmap) and len(stored) <= stored.max_rows
    return X if small else stored


def in_full(values: Any) -> Any:
    """Return targets, groups or weights as they are in memory."""
    return values.compute() if is_dask(values) else as_numpy(values)
