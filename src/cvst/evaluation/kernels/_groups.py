"""Which configurations share a kernel."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from math import isfinite
from numbers import Real
from typing import Any, Protocol, TypeVar

import numpy as np

from cvst._typing import Configuration
from cvst.evaluation.kernels._functions import KernelKey, KernelName

__all__ = [
    "NOT_PLAIN",
    "UNKNOWN",
    "UNSURE",
    "divide",
    "groups_by_kernel",
    "is_real_within",
    "positive_kernel",
    "read_all",
]

# Kernels whose matrices have no negative eigenvalues; with others, a penalty does not
# bound the condition of a system.
POSITIVE_KERNELS: dict[str, KernelName] = {
    "linear": "linear",
    "poly": "poly",
    "polynomial": "poly",
    "rbf": "rbf",
    "laplacian": "laplacian",
}

# Reasons to fit configurations one by one, for the log.
UNKNOWN = "the evaluator does not know the kernel or another parameter"
NOT_PLAIN = (
    "the rows, targets or weights are not plain finite numbers, or the evaluator does "
    "not know the method that is asked"
)
UNSURE = "rounding errors might change predictions"

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

# Values of these types are remembered: they hold on to nothing else.
PLAIN_TYPES = frozenset(
    {bool, int, float, str, type(None), np.bool_, np.int64, np.float64, np.str_}
)


class Keyed(Protocol):
    """What was read of a configuration, its kernel at least."""

    @property
    def key(self) -> KernelKey:
        """The kernel."""


def is_real_within(
    value: Any, above: float = -np.inf, *, at_least: float = -np.inf
) -> bool:
    """Whether a value is a finite real number within bounds, and not a truth value.

    Examples
    --------
    >>> is_real_within(0.5, above=0), is_real_within("scale"), is_real_within(True)
    (True, False, False)
    """
    # The usual case comes first: Real takes long to ask.
    is_real = isinstance(value, float) or (
        isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    )
    if not is_real:
        return False
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        return False
    return isfinite(number) and number > above and number >= at_least


def positive_kernel(params: Configuration) -> KernelKey | None:
    """Return the positive semi-definite kernel that valid parameters describe.

    The parameters are those of :class:`~sklearn.kernel_ridge.KernelRidge`.
    """
    kernel, gamma = params["kernel"], params["gamma"]
    name = POSITIVE_KERNELS.get(kernel) if isinstance(kernel, str) else None
    valid = (
        (gamma is None or is_real_within(gamma, at_least=0))
        and is_real_within(params["degree"], at_least=0)
        and is_real_within(params["coef0"], at_least=0 if name == "poly" else -np.inf)
        and isinstance(params["kernel_params"], dict | None)
    )
    if name is None or not valid:
        return None
    if name == "poly" and not float(params["degree"]).is_integer():
        return None
    return KernelKey.of(name, params)


def read_all(
    estimator: Any,
    configurations: Mapping[int, Configuration],
    read: Callable[[type, Configuration], T | None],
) -> tuple[dict[int, T], list[int]]:
    """Read the parameters of every configuration, those of the template included.

    Parameters
    ----------
    estimator : estimator
        The template.
    configurations : mapping of int to dict
        What they change.
    read : callable
        ``read(estimator_class, params)`` returns what it makes of valid parameters,
        else None.

    Returns
    -------
    settings : dict
        What was read, by the number of the configuration.
    alone : list of int
        Numbers of those of which nothing could be read; they are fitted alone.
    """
    estimator_class: Any = type(estimator)
    names = _names(estimator_class)
    template = {name: getattr(estimator, name) for name in names}
    settings: dict[int, T] = {}
    alone = []
    for number, configuration in configurations.items():
        values = None
        if configuration.keys() <= template.keys():
            params = {**template, **configuration}
            if PLAIN_TYPES.issuperset(map(type, params.values())):
                values = _known(read, estimator_class, *params.values())
            else:
                values = read(estimator_class, params)
        if values is None:
            alone.append(number)
        else:
            settings[number] = values
    return settings, alone


def groups_by_kernel(
    estimator: Any,
    configurations: Mapping[int, Configuration],
    read: Callable[[type, Configuration], Keyed | None],
    largest: int | None = None,
) -> list[list[int]]:
    """Put configurations with the same kernel together, and the others each alone.

    Parameters
    ----------
    estimator, configurations, read
        As in :func:`read_all`.
    largest : int or None
        Most members of a group; None if there may be any number.
    """
    settings, alone = read_all(estimator, configurations, read)
    shared = divide(settings, lambda values: values.key)
    parts = [
        members[start : start + (largest or len(members))]
        for members in shared.values()
        for start in range(0, len(members), largest or len(members))
    ]
    return [*parts, *([number] for number in alone)]


@lru_cache
def _names(estimator_class: type) -> tuple[str, ...]:
    # Asking an estimator takes as long as a small fit.
    return tuple(estimator_class().get_params(deep=False))


@lru_cache(maxsize=2**13, typed=True)
def _known(read: Callable[..., Any], estimator_class: type, *values: Any) -> Any:
    # The same configurations come back look after look.
    return read(
        estimator_class, dict(zip(_names(estimator_class), values, strict=True))
    )


def divide(settings: dict[int, T], key: Callable[[T], K]) -> dict[K, list[int]]:
    """Put numbers with the same key together, in order.

    Examples
    --------
    >>> divide({0: "a", 2: "b", 3: "a"}, key=str.upper)
    {'A': [0, 3], 'B': [2]}
    """
    groups: dict[K, list[int]] = {}
    for number, values in settings.items():
        groups.setdefault(key(values), []).append(number)
    return groups
