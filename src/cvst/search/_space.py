"""From a list of configurations to axes with levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cvst._typing import Configuration, IntArray
from cvst.race import Axis, SearchSpace

__all__ = ["space_of"]


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
    axes = [
        replace(axis, covered=known.get(axis.name, "") if _fits(axis, known) else "")
        for axis in (_axis(name, configurations) for name in names)
    ]
    axes = [axis for axis in axes if axis.n_levels > 1 or axis.codes.min() < 0]
    if not axes:
        return None
    ordered = [axis for axis in axes if axis.ordered]
    drawn = [axis for axis in ordered if 2 * axis.n_levels > len(configurations)]
    is_grid = not drawn or len(axes) == 1
    return SearchSpace(tuple(axes), is_grid)


def _is_replaced(name: str, names: Sequence[str]) -> bool:
    """Return whether the grid sets the part that a hyper-parameter belongs to."""
    parts = name.split("__")[:-1]
    return any("__".join(parts[: n + 1]) in names for n in range(len(parts)))


def _fits(axis: Axis, known: Mapping[str, str]) -> bool:
    # Only numbers have smaller ones.
    return axis.ordered or known.get(axis.name) == "all"


def _axis(name: str, configurations: Sequence[Configuration]) -> Axis:
    values = [configuration.get(name, _MISSING) for configuration in configurations]
    given = [value for value in values if value is not _MISSING]
    if all(_is_number(value) for value in given):
        levels = np.unique(np.array(given, dtype=float))
        codes = np.full(len(values), -1, dtype=np.intp)
        present = np.array([value is not _MISSING for value in values])
        codes[present] = np.searchsorted(levels, np.array(given, dtype=float))
        return Axis(name, codes, ordered=True)
    return Axis(name, _categories(values), ordered=False)


class _Missing:
    """Stands for a hyper-parameter that a configuration does not set."""


_MISSING = _Missing()


def _is_number(value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return False
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))


def _categories(values: Sequence[Any]) -> IntArray:
    """Return level numbers by first appearance; equal representations share one."""
    known: dict[tuple[str, str], int] = {}
    codes = np.empty(len(values), dtype=np.intp)
    for position, value in enumerate(values):
        if value is _MISSING:
            codes[position] = -1
            continue
        key = (type(value).__name__, repr(value))
        codes[position] = known.setdefault(key, len(known))
    return codes
