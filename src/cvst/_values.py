"""What kind of thing a user's value is, and NumPy's scalars as Python's own."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

__all__ = [
    "exact_text",
    "finite_or_none",
    "is_dask",
    "is_endless",
    "is_estimator",
    "is_number",
    "is_whole",
    "plain_value",
]


def plain_value(value: Any) -> Any:
    """Return a scalar of NumPy as that of Python, and any other value as it is.

    Arrays have a method ``item`` too, but one that takes a single value only.

    Examples
    --------
    >>> plain_value(np.float64(0.5)), plain_value("rbf")
    (0.5, 'rbf')
    """
    return value.item() if isinstance(value, np.generic) else value


def finite_or_none(value: Any) -> float | None:
    """Return a number as a float; None, which JSON has, if it is not finite.

    Examples
    --------
    >>> finite_or_none(np.float32(0.5)), finite_or_none(np.nan)
    (0.5, None)
    """
    return float(value) if np.isfinite(value) else None


def is_number(value: Any) -> bool:
    """Return whether a value is a finite real number; truth values are not.

    Examples
    --------
    >>> is_number(1), is_number(np.float64(0.5)), is_number(True), is_number("1")
    (True, True, False, False)
    """
    # True is an int in Python, but [True, False] is a choice, not a range.
    if isinstance(value, bool | np.bool_):
        return False
    if not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def is_endless(value: Any) -> bool:
    """Return whether a value is a whole number beyond all floats.

    Examples
    --------
    >>> is_endless(10**400), is_endless(10), is_endless(True), is_endless(float("inf"))
    (True, False, False, False)
    """
    is_int = isinstance(value, int) and not isinstance(value, bool)
    return is_int and not is_number(value)


def is_whole(value: Any) -> bool:
    """Return whether a value has the type of whole numbers; truth values have not.

    Examples
    --------
    >>> is_whole(3), is_whole(np.int64(3)), is_whole(3.0), is_whole(True)
    (True, True, False, False)
    """
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def exact_text(value: Any) -> str:
    """Return the ``repr`` of a value, also of whole numbers with thousands of digits.

    Python refuses to write more than 4,300 of them, so these are hexadecimal.

    Examples
    --------
    >>> exact_text(0.1), len(exact_text([16**5000]))
    ('0.1', 5005)
    """
    try:
        return repr(value)
    except ValueError:
        if isinstance(value, int):
            return hex(value)
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(exact_text, value))}]"
        if isinstance(value, set | frozenset):
            return f"{{{', '.join(sorted(map(exact_text, value)))}}}"
        if isinstance(value, dict):
            pairs = [f"{exact_text(key)}: {exact_text(value[key])}" for key in value]
            return f"{{{', '.join(pairs)}}}"
        if isinstance(value, np.ndarray):
            return f"array({exact_text(value.tolist())})"
        if is_estimator(value):
            return f"{type(value).__name__}({exact_text(value.get_params(deep=False))})"
        raise


def is_estimator(value: Any) -> bool:
    """Return whether a value has parameters as estimators have them.

    A class has none yet.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> is_estimator(Ridge()), is_estimator(Ridge), is_estimator("passthrough")
    (True, False, False)
    """
    return hasattr(value, "get_params") and not isinstance(value, type)


def is_dask(values: Any) -> bool:
    """Return whether these are rows that Dask has yet to compute.

    Examples
    --------
    >>> is_dask(np.zeros(3))
    False
    """
    return hasattr(values, "__dask_graph__") and hasattr(values, "compute")
