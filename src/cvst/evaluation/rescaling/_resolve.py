"""Hyper-parameters as functions of the number of rows.

A grid means what it means on all N rows. On n of them a penalty that is weighed against
a sum of losses must shrink with n to mean the same: value * (n / N) ** exponent.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from cvst._typing import Configuration
from cvst._values import is_estimator
from cvst.evaluation._one_by_one import configured
from cvst.evaluation.rescaling._table import Exponent, check_exponent, exponents_for
from cvst.exceptions import InvalidInputError

__all__ = ["Rescaling", "resolve_rescaling"]

# A whole number beyond all floats cannot be rescaled.
LARGEST = sys.float_info.max

RescalingFunction: TypeAlias = Callable[[Configuration, int, int], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class _Rule:
    """One parameter that may be rescaled.

    Attributes
    ----------
    name : str
        Full name, with the steps that lead to it.
    value : object
        Its value where the configuration says nothing.
    exponent : float or callable
        From the table or the user.
    siblings : mapping
        All parameters of the same estimator, for exponents that depend on them.
    """

    name: str
    value: Any
    exponent: Exponent
    siblings: Configuration

    def exponent_in(self, configuration: Configuration) -> float:
        if not callable(self.exponent):
            return self.exponent
        prefix = self.name.rpartition("__")[0]
        start = f"{prefix}__" if prefix else ""
        own = {
            name: configuration.get(f"{start}{name}", value)
            for name, value in self.siblings.items()
        }
        return float(self.exponent(own))


@dataclass(frozen=True, slots=True)
class Rescaling:
    """The configurations of a race for any number of rows.

    Attributes
    ----------
    configurations : sequence of dict
        The grid, as it is meant on all rows.
    rules : sequence of tuple of (name, value, exponent)
        What is rescaled, for each configuration.
    function : callable or None
        The user's own rule, which then replaces the others.
    find : callable or None
        Returns the rules of a configuration, for those that are admitted later.

    Examples
    --------
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> grid = [{"gamma": 0.1}, {"gamma": 1.0, "alpha": 5.0}]
    >>> rescaling = resolve_rescaling("auto", KernelRidge(alpha=2.0), grid, True)
    >>> rescaling.exponents
    {'alpha': 1.0}
    >>> rescaling.configuration(0, n_train=100, n_samples=1000)
    {'gamma': 0.1, 'alpha': 0.2}
    >>> rescaling.configuration(1, n_train=100, n_samples=1000)
    {'gamma': 1.0, 'alpha': 0.5}
    """

    configurations: Sequence[Configuration]
    rules: Sequence[Sequence[tuple[str, Any, float]]] = field(default=())
    function: RescalingFunction | None = None
    find: Callable[[Configuration], Iterable[tuple[str, Any, float]]] | None = None

    def extended(self, configurations: Sequence[Configuration]) -> Rescaling:
        """Return the rescaling with more configurations, numbered after the known.

        Examples
        --------
        >>> from sklearn.linear_model import Ridge
        >>> rescaling = resolve_rescaling("auto", Ridge(), [{"alpha": 1.0}], True)
        >>> more = rescaling.extended([{"alpha": 8.0}])
        >>> more.configuration(1, n_train=50, n_samples=100)
        {'alpha': 4.0}
        """
        rules = self.rules
        if self.find is not None:
            rules = [*rules, *(tuple(self.find(one)) for one in configurations)]
        return replace(
            self, configurations=[*self.configurations, *configurations], rules=rules
        )

    @property
    def exponents(self) -> dict[str, float]:
        """Exponent of each parameter that is rescaled in some configuration."""
        used: dict[str, float] = {}
        for rules in self.rules:
            for name, _, exponent in rules:
                # Exponents may depend on the configuration; the first one is shown.
                used.setdefault(name, exponent)
        return used

    def configuration(self, index: int, n_train: int, n_samples: int) -> Configuration:
        """Return a configuration as it is used on ``n_train`` of ``n_samples`` rows."""
        configuration = dict(self.configurations[index])
        if self.function is not None:
            return _returned(self.function(configuration, n_train, n_samples))
        # On all rows the value is the user's own, not one with a factor of 1.0:
        # 1 stays a whole number.
        if self.rules and n_train != n_samples:
            fraction = n_train / n_samples
            for name, value, exponent in self.rules[index]:
                configuration[name] = value * fraction**exponent
        return configuration


def resolve_rescaling(
    rescale: Any,
    estimator: Any,
    configurations: Sequence[Configuration],
    strategy_rescales: bool,
) -> Rescaling:
    """Find out what is rescaled in each configuration.

    Parameters
    ----------
    rescale : "auto", None, dict or callable
        ``"auto"`` is the table of :func:`rescaling_table` if the strategy wants it. A
        dict holds exponents by full parameter name. A callable is called as
        ``f(params, n_train, n_samples)`` with a configuration of the grid and returns
        the one to use.
    estimator : estimator
        The template; what it fixes is rescaled like what the grid varies.
    configurations : sequence of dict
        The grid.
    strategy_rescales : bool
        Whether the strategy compares models of different sizes.

    Returns
    -------
    Rescaling
        The configurations for any number of rows.
    """
    if rescale is None or (rescale == "auto" and not strategy_rescales):
        return Rescaling(configurations)
    if callable(rescale):
        return Rescaling(configurations, function=rescale)
    if rescale != "auto" and not isinstance(rescale, Mapping):
        raise InvalidInputError(
            f"rescale={rescale!r} is not known. Use 'auto', None, a dict of exponents "
            "such as {'alpha': 1}, or a function f(params, n_train, n_samples)."
        )
    chosen = None if rescale == "auto" else _checked(rescale)
    shapes = _Shapes(estimator, chosen)
    rules = [tuple(shapes.rules(configuration)) for configuration in configurations]
    if chosen is not None:
        _check_names(chosen, shapes, configurations, estimator)
    return Rescaling(configurations, rules, find=shapes.rules)


# Most values are of these, and asking whether they are estimators takes its time.
PLAIN_TYPES = frozenset({bool, int, float, str, type(None), np.int64, np.float64})


class _Shapes:
    """The rules of every arrangement of estimators that occurs in a grid.

    Most configurations only change values; looking into the estimator is needed once
    for each set of steps that the grid puts together.
    """

    def __init__(self, estimator: Any, exponents: Mapping[str, float] | None) -> None:
        self.estimator = estimator
        self.exponents = exponents
        self.params = estimator.get_params(deep=True)
        self.names = set(self.params)
        # With the parts themselves, so that no id is given to another object.
        self._found: dict[Hashable, tuple[Configuration, list[_Rule]]] = {}

    def rules(self, configuration: Configuration) -> Iterable[tuple[str, Any, float]]:
        """Yield name, effective value and exponent of what is rescaled."""
        for rule in self._shape(configuration):
            exponent = rule.exponent_in(configuration)
            value = _scalable(configuration.get(rule.name, rule.value))
            if exponent != 0 and value is not None:
                yield rule.name, value, exponent

    def _shape(self, configuration: Configuration) -> list[_Rule]:
        parts = {
            name: value
            for name, value in configuration.items()
            if _holds_estimator(value) or _holds_estimator(self.params.get(name))
        }
        # By identity: a grid repeats the same objects, and estimators have no hash by
        # value.
        key = tuple(
            (name, id(value)) for name, value in sorted(parts.items(), key=_name)
        )
        if key not in self._found:
            params = self.params
            model = self.estimator
            if parts:
                model = configured(self.estimator, parts)
                params = model.get_params(deep=True)
                self.names.update(params)
            self._found[key] = parts, self._find(model, params)
        return self._found[key][1]

    def _find(self, model: Any, params: Configuration) -> list[_Rule]:
        if self.exponents is not None:
            return [
                _Rule(name, params[name], exponent, {})
                for name, exponent in self.exponents.items()
                if name in params
            ]
        nested = {f"{name}__": v for name, v in params.items() if is_estimator(v)}
        rules = []
        for start, part in {"": model, **nested}.items():
            for parameter, exponent in exponents_for(part).items():
                name = f"{start}{parameter}"
                if name in params:
                    own = part.get_params(deep=False)
                    rules.append(_Rule(name, params[name], exponent, own))
        return rules


def _name(item: tuple[str, Any]) -> str:
    return item[0]


def _holds_estimator(value: Any) -> bool:
    if type(value) in PLAIN_TYPES:
        return False
    if isinstance(value, list | tuple):
        return any(map(_holds_estimator, value))
    return is_estimator(value)


def _scalable(value: Any) -> Any:
    """Return a number or an array of numbers, None for anything else."""
    if isinstance(value, bool | np.bool_ | str) or value is None:
        return None
    if isinstance(value, Real):
        number: Any = value
        # Infinity means no limit, whatever the number of rows.
        return number if abs(number) <= LARGEST else None
    if not isinstance(value, list | tuple | np.ndarray):
        return None
    array = np.asarray(value)
    return array.astype(float) if array.dtype.kind in "iuf" else None


def _checked(exponents: Mapping[str, Any]) -> dict[str, float]:
    return {name: check_exponent(name, value) for name, value in exponents.items()}


def _check_names(
    exponents: Mapping[str, float],
    shapes: _Shapes,
    configurations: Sequence[Configuration],
    estimator: Any,
) -> None:
    known = shapes.names.union(*configurations)
    for name in exponents:
        if name not in known:
            raise InvalidInputError(
                f"rescale names {name!r}, which is not a parameter of "
                f"{type(estimator).__name__}. Its parameters are "
                f"{', '.join(sorted(known))}."
            )


def _returned(configuration: Any) -> Configuration:
    if not isinstance(configuration, Mapping):
        raise InvalidInputError(
            f"The function given as rescale returned {configuration!r}, which is "
            "not a dict. Return the parameters to use."
        )
    return dict(configuration)
