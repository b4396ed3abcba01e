"""ConfigSpace's conditions, unfolded into one branch per combination of parents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

from cvst._text import value_text
from cvst.exceptions import InvalidInputError

__all__ = ["has_conditions", "unfolded"]

# More branches than this would share the looks of a search too thinly.
MOST_BRANCHES = 64


def has_conditions(given: Any) -> bool:
    """Return whether this is a ConfigSpace space that is more than a dictionary."""
    # By name, so that ConfigSpace need not be installed.
    if type(given).__name__ != "ConfigurationSpace":
        return False
    if list(getattr(given, "forbidden_clauses", [])):
        raise InvalidInputError(
            "The ConfigurationSpace has forbidden clauses, which have no branches. "
            "Leave them out, or give a list of dictionaries that avoids them."
        )
    return bool(list(given.conditions))


def unfolded(space: Any) -> list[tuple[dict[str, Any], float]]:
    """Return the branches of a ConfigSpace space and their chances.

    Parameters
    ----------
    space : ConfigurationSpace
        Conditions may ask whether a parameter with listed values equals one of some
        values, and may be joined by "and"; anything else is refused.
    """
    parameters = dict(space)
    conditions: dict[str, list[tuple[str, list[Any]]]] = {}
    for condition in space.conditions:
        for child, parent, values in _read(condition):
            conditions.setdefault(child, []).append((parent, values))
    parents = {parent for asked in conditions.values() for parent, _ in asked}
    names = [name for name in parameters if name in parents]
    # Only parents are unfolded: all other parameters keep their distributions.
    options = [_options(parameters[name]) for name in names]
    if prod(len(option) for option in options) > MOST_BRANCHES:
        raise InvalidInputError(
            f"The conditions on {', '.join(names)} make more than {MOST_BRANCHES} "
            "branches. Give a list of dictionaries with the few that matter."
        )
    branches: dict[str, tuple[dict[str, Any], float]] = {}
    for chosen in product(*options):
        fixed = {n: value for n, (value, _) in zip(names, chosen, strict=True)}
        active = _active(parameters, fixed, conditions)
        part = {n: [fixed[n]] if n in fixed else parameters[n] for n in active}
        chance = prod(weight for _, weight in chosen)
        # Combinations that differ in an inactive parent are one branch.
        key = repr([(n, fixed.get(n)) for n in active])
        known = branches.get(key, (part, 0.0))
        branches[key] = (part, known[1] + chance)
    return list(branches.values())


def _read(condition: Any) -> Iterator[tuple[str, str, list[Any]]]:
    kind = type(condition).__name__
    if kind == "AndConjunction":
        for component in condition.components:
            yield from _read(component)
    elif kind == "EqualsCondition":
        yield condition.child.name, condition.parent.name, [condition.value]
    elif kind == "InCondition":
        yield condition.child.name, condition.parent.name, list(condition.values)
    else:
        raise InvalidInputError(
            f"The condition {value_text(condition)} is a {kind}, but only equals, in "
            "and their conjunctions have branches. Give a list of dictionaries."
        )


def _options(parameter: Any) -> list[tuple[Any, float]]:
    """Return the values of a parent and their chances."""
    for attribute in ("choices", "sequence"):
        if hasattr(parameter, attribute):
            values = list(getattr(parameter, attribute))
            weights = list(getattr(parameter, "weights", None) or [1.0] * len(values))
            total = sum(weights)
            pairs = zip(values, weights, strict=True)
            return [(value, weight / total) for value, weight in pairs]
    # A constant may be a parent too.
    if hasattr(parameter, "value"):
        return [(parameter.value, 1.0)]
    raise InvalidInputError(
        f"The condition on {parameter.name} asks for a number in a range, which has no "
        "branches. Make it a list of values, or give a list of dictionaries."
    )


def _active(
    parameters: Mapping[str, Any],
    values: Mapping[str, Any],
    conditions: Mapping[str, list[tuple[str, list[Any]]]],
) -> list[str]:
    """Return the parameters that play a role, given the values of the parents."""
    active: list[str] = []
    # A space lists parents before their children.
    for name in parameters:
        asked = conditions.get(name, [])
        if all(
            parent in active and values[parent] in wanted for parent, wanted in asked
        ):
            active.append(name)
    return active
