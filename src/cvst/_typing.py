"""Names for the arrays that pass between the layers, and how to count rows."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "BoolArray",
    "Configuration",
    "FloatArray",
    "IntArray",
    "Rows",
    "count_rows",
]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]

# A contiguous block of rows (a view, never a copy) or any other set of them.
Rows: TypeAlias = "slice | IntArray"

# Values of hyper-parameters by name, as scikit-learn's ``set_params`` takes them.
Configuration: TypeAlias = "dict[str, Any]"


def count_rows(rows: Rows, n_total: int | None = None) -> int:
    """Return how many rows a slice or an array of rows has.

    Parameters
    ----------
    rows : slice or ndarray of int
        The rows.
    n_total : int or None
        Number of rows there are, for slices that are open at an end.

    Examples
    --------
    >>> count_rows(slice(3, 10)), count_rows(slice(3, None), 10)
    (7, 7)
    >>> count_rows(np.array([4, 8]))
    2
    """
    if not isinstance(rows, slice):
        return len(rows)
    if n_total is None:
        return int(rows.stop - rows.start)
    return len(range(*rows.indices(n_total)))
