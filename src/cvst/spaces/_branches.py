"""The branches of a space: dictionaries of which a configuration fills one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple

from cvst._text import value_text
from cvst.exceptions import InvalidInputError
from cvst.spaces._conditions import has_conditions, unfolded
from cvst.spaces._marginals import Marginal
from cvst.spaces._values import marginal_of

__all__ = ["Branch", "Entry", "branches_of"]


class Entry(NamedTuple):
    """A parameter of a branch; its column is None if it has one possible value."""

    name: str
    column: int | None
    marginal: Marginal


@dataclass(frozen=True, slots=True)
class Branch:
    """The parameters that belong together.

    Attributes
    ----------
    entries : tuple of Entry
        The parameters in the order of the dictionary.
    weight : float
        How likely the branch is, up to a common factor.
    """

    entries: tuple[Entry, ...]
    weight: float

    def problems(self, configuration: Mapping[str, Any]) -> list[str]:
        """Return why a configuration is not of this branch; empty if it is."""
        names = {entry.name for entry in self.entries}
        problems = []
        for name, _, marginal in self.entries:
            if name not in configuration:
                problems.append(f"{name} is missing")
            # Without clipping, NaN is how a marginal says no.
            elif isnan(marginal.encode(configuration[name], clip=False)):
                value = value_text(configuration[name])
                problems.append(f"{name}={value} is outside {marginal!r}")
        foreign = [name for name in configuration if name not in names]
        return problems + [f"{name} is not one of its parameters" for name in foreign]


def branches_of(given: Any) -> list[tuple[dict[str, Marginal], float]]:
    """Return the marginals and the weight of each branch."""
    if has_conditions(given):
        return [(_marginals(part), weight) for part, weight in unfolded(given)]
    parts = [given] if isinstance(given, Mapping) else given
    if not isinstance(parts, Sequence) or isinstance(parts, str) or not parts:
        raise InvalidInputError(
            f"param_distributions={value_text(given)} must be a dictionary of "
            "parameters and their values, or a list of such dictionaries."
        )
    for part in parts:
        if not isinstance(part, Mapping):
            raise InvalidInputError(
                f"param_distributions holds {value_text(part)}, but every item of the "
                "list must be a dictionary of parameters and their values."
            )
    # Equally likely, however large each is: so scikit-learn's ParameterSampler draws.
    return [(_marginals(part), 1.0) for part in parts]


def _marginals(part: Mapping[Any, Any]) -> dict[str, Marginal]:
    for name in part:
        if not isinstance(name, str):
            raise InvalidInputError(
                f"param_distributions has the key {name!r}, but parameters have names. "
                "Use the name that set_params takes."
            )
    return {name: marginal_of(name, given) for name, given in part.items()}
