"""A space of scipy distributions and lists in the words of each peer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

from models import LogIntegers, Space

__all__ = ["Dimension", "dimensions", "low_cost"]

# What makes a fit dearer, for the peer that wants to start where it is cheap.
DEARER = ("n_estimators", "max_iter", "num_leaves", "max_leaf_nodes", "max_depth")


@dataclass(frozen=True)
class Dimension:
    """One hyper-parameter.

    Attributes
    ----------
    labels : dict or None
        The value behind each label of a choice; None for a range.
    """

    name: str
    low: float = 0
    high: float = 0
    integer: bool = False
    log: bool = False
    labels: dict[Any, Any] | None = None

    def value(self, given: Any) -> Any:
        """Return the value that a peer's answer stands for."""
        if self.labels is not None:
            return self.labels[given]
        return int(given) if self.integer else float(given)

    def optuna(self) -> Any:
        """Return Optuna's distribution."""
        from optuna import distributions as kinds

        if self.labels is not None:
            return kinds.CategoricalDistribution(list(self.labels))
        if self.integer:
            return kinds.IntDistribution(int(self.low), int(self.high), log=self.log)
        return kinds.FloatDistribution(self.low, self.high, log=self.log)

    def flaml(self) -> Any:
        """Return FLAML's domain; its integers end before the upper end."""
        from flaml import tune

        if self.labels is not None:
            return tune.choice(list(self.labels))
        if self.integer:
            draw: Callable[..., Any] = tune.lograndint if self.log else tune.randint
            return draw(int(self.low), int(self.high) + 1)
        return (tune.loguniform if self.log else tune.uniform)(self.low, self.high)

    def config_space(self) -> Any:
        """Return ConfigSpace's hyper-parameter."""
        import ConfigSpace as cs  # noqa: N813 - as its documentation does

        if self.labels is not None:
            return cs.Categorical(self.name, list(self.labels))
        bounds = (self.low, self.high)
        if self.integer:
            bounds = (int(self.low), int(self.high))
            return cs.Integer(self.name, bounds, log=self.log)
        return cs.Float(self.name, bounds, log=self.log)


def _labelled(name: str, values: list[Any]) -> Dimension:
    # Numbers stay numbers, since some peers know their order; other values go by text.
    numbers = all(isinstance(v, Real) and not isinstance(v, bool) for v in values)
    labels = {value if numbers else repr(value): value for value in values}
    return Dimension(name, labels=labels)


def _dimension(name: str, values: Any) -> Dimension:
    if isinstance(values, LogIntegers):
        return Dimension(name, values.low, values.high, integer=True, log=True)
    if isinstance(values, list):
        return _labelled(name, values)
    low, high = (float(end) for end in values.support())
    kind = values.dist.name
    integer, log = kind == "randint", kind == "loguniform"
    return Dimension(name, low, high, integer=integer, log=log)


def dimensions(space: Space) -> dict[str, Dimension]:
    """Return the dimensions of a space by name."""
    return {name: _dimension(name, values) for name, values in space.items()}


def low_cost(known: dict[str, Dimension]) -> dict[str, Any]:
    """Return the cheapest values of the parameters that make a fit dearer."""
    return {
        name: int(dimension.low)
        for name, dimension in known.items()
        if dimension.labels is None and name.split("__")[-1] in DEARER
    }
