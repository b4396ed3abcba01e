"""From a list of configurations to axes with levels: the one home of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cvst._typing import Configuration, IntArray
from cvst._values import is_number
from cvst.race._space import Axis, SearchSpace

__all__ = ["Levels", "levels_of", "space_of"]


@dataclass(frozen=True, slots=True)
class Levels:
    """The different values of one hyper-parameter.

    Attributes
    ----------
    name : str
        The hyper-parameter.
    values : tuple
        Its values, ascending if they are numbers, else by first appearance.
    codes : ndarray of shape (n_configurations,), int
        Place of each configuration's value among them, -1 where it sets none.
    ordered : bool
        Whether the values are numbers.
    """

    name: str
    values: tuple[Any, ...]
    codes: IntArray
    ordered: bool


def space_of(
    configurations: Sequence[Configuration], covered: Mapping[str, str] | None = None
) -> SearchSpace | None:
    """Return the space that the configurations span, None if nothing varies.

    Numbers make an ordered axis, anything else a categorical one. Where hardly any
    value of the ordered axes repeats, the configurations were drawn at random.

    Parameters
    ----------
    configurations : sequence of dict
        Hyper-parameters by name.
    covered : mapping or None
        Names of which one fit serves several values, as :class:`cvst.race.Axis` has
        them. They count unless a configuration replaces the part they belong to.

    Examples
    --------
    >>> grid = [{"C": c, "kernel": k} for c in (1, 10, 100) for k in ("rbf", "linear")]
    >>> space = space_of(grid)
    >>> [(axis.name, axis.n_levels, axis.ordered) for axis in space.axes]
    [('C', 3, True), ('kernel', 2, False)]
    """
    names = sorted({name for configuration in configurations for name in configuration})
    known = {
        name: how
        for name, how in (covered or {}).items()
        if not _is_replaced(name, names)
    }
    axes = [_axis(levels_of(name, configurations), known) for name in names]
    axes = [axis for axis in axes if axis.n_levels > 1 or axis.codes.min() < 0]
    if not axes:
        return None
    ordered = [axis for axis in axes if axis.ordered]
    drawn = [axis for axis in ordered if 2 * axis.n_levels > len(configurations)]
    # Along a single axis any values have neighbours, drawn or not.
    is_grid = not drawn or len(axes) == 1
    return SearchSpace(tuple(axes), is_grid)


def _is_replaced(name: str, names: Sequence[str]) -> bool:
    """Return whether the grid sets the part that a hyper-parameter belongs to."""
    parts = name.split("__")[:-1]
    return any("__".join(parts[: n + 1]) in names for n in range(len(parts)))


def _axis(levels: Levels, covered: Mapping[str, str]) -> Axis:
    how = covered.get(levels.name, "")
    # Only numbers have smaller ones.
    if not levels.ordered and how != "all":
        how = ""
    return Axis(levels.name, levels.codes, levels.ordered, how)


def levels_of(name: str, configurations: Sequence[Configuration]) -> Levels:
    """Return the values of a hyper-parameter, and which configuration has which.

    Examples
    --------
    >>> levels_of("C", [{"C": 10}, {"C": 2}, {"degree": 3}])
    Levels(name='C', values=(2, 10), codes=array([ 1,  0, -1]), ordered=True)
    """
    present = np.array([name in one for one in configurations], dtype=bool)
    given = [one[name] for one in configurations if name in one]
    ordered = all(is_number(value) for value in given)
    first, found = _numbers(given) if ordered else _categories(given)
    codes = np.full(len(configurations), -1, dtype=np.intp)
    codes[present] = found
    return Levels(name, tuple(given[place] for place in first), codes, ordered)


def _numbers(values: Sequence[Any]) -> tuple[list[int], list[int]]:
    """Return where each level appears first, ascending, and the level of each value."""
    numbers = np.array(values, dtype=float)
    _, first, found = np.unique(numbers, return_index=True, return_inverse=True)
    return first.tolist(), found.tolist()


def _categories(values: Sequence[Any]) -> tuple[list[int], list[int]]:
    """Return where each level appears first, and the level of each value.

    Values of one type with equal representations share a level.
    """
    known: dict[tuple[str, str], int] = {}
    first: list[int] = []
    found: list[int] = []
    for place, value in enumerate(values):
        # Estimators compare by identity and arrays by element: texts stand for both.
        key = (type(value).__name__, _written(value))
        if key not in known:
            known[key] = len(known)
            first.append(place)
        found.append(known[key])
    return first, found


def _written(value: Any) -> str:
    try:
        return repr(value)
    except Exception:  # whatever a foreign repr raises; the value itself may be fine
        return f"at {id(value)}"
