"""When are two hyper-parameter values the same? Strictly: never by luck.

Equal keys promise equal behaviour. ``1``, ``1.0`` and ``True`` have different keys, and
so have ``0.0`` and ``-0.0``; an object whose content cannot be compared is equal to
itself only. Too strict costs a fit that might have been shared, too lax a wrong answer.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from cvst._values import is_estimator

__all__ = ["value_key"]

# Their bytes say all there is to know: no references, no fields, no padding.
PLAIN_KINDS = "biufcSUmM"


class _Itself:
    """Equal to another wrapper of the very same object."""

    __slots__ = ("thing",)

    def __init__(self, thing: Any) -> None:
        # Holding on to the object keeps its id from being given to another one.
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)


def value_key(value: Any) -> Hashable:
    """Return something hashable that is equal for equal values only.

    Estimators are compared by class, parameters and whatever else they carry, such as
    the container that ``set_output`` chose.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> value_key(StandardScaler()) == value_key(StandardScaler(with_std=True))
    True
    >>> value_key([1, 2]) == value_key([1, 2.0])
    False
    """
    kind = type(value)
    if value is None or kind in (bool, int, str, bytes):
        return kind, value
    if kind in (float, complex):
        # The text tells the zeros apart and makes NaN equal to itself.
        return kind, repr(value)
    if kind in (list, tuple):
        return kind, tuple(map(value_key, value))
    if kind is dict:
        pairs = value.items()
        return kind, tuple((value_key(name), value_key(item)) for name, item in pairs)
    if isinstance(value, np.generic) or kind is np.ndarray:
        return _array_key(value)
    if is_estimator(value):
        return _estimator_key(value)
    return _Itself(value)


def _array_key(value: Any) -> Hashable:
    if value.dtype.kind not in PLAIN_KINDS:
        return _Itself(value)
    # The layout decides in which order sums are formed.
    layout = (value.flags.c_contiguous, value.flags.f_contiguous)
    return type(value), value.dtype.str, value.shape, layout, value.tobytes()


def _estimator_key(value: Any) -> Hashable:
    cloning = getattr(type(value), "__sklearn_clone__", None)
    if cloning not in (None, BaseEstimator.__sklearn_clone__):
        # Its clones may carry more than its parameters, as a frozen one's do.
        return _Itself(value)
    params = value.get_params(deep=False)
    extras = {
        k: v for k, v in getattr(value, "__dict__", {}).items() if k not in params
    }
    return type(value), value_key(params), value_key(extras)
