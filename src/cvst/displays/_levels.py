"""Hyper-parameters as axes of a picture: levels, their order and their text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cvst._text import value_text
from cvst._typing import Configuration, IntArray
from cvst.exceptions import InvalidInputError

__all__ = ["Levels", "choose_axes"]


@dataclass(frozen=True, slots=True)
class Levels:
    """One hyper-parameter of all configurations.

    Attributes
    ----------
    name : str
        Its name.
    codes : ndarray of shape (n_configurations,), int
        Level of each configuration; levels ascend if they are numbers. A configuration
        without this hyper-parameter has a level of its own, the last.
    texts : list of str
        Text of each level.
    """

    name: str
    codes: IntArray
    texts: Sequence[str]


def choose_axes(
    configurations: Sequence[Configuration], x: str | None, y: str | None
) -> tuple[Levels, Levels]:
    """Return the axes asked for, else those with the most levels."""
    names = sorted({name for one in configurations for name in one})
    for name in (x, y):
        if name is not None and name not in names:
            raise InvalidInputError(
                f"{name!r} is no hyper-parameter of this race. Use one of "
                f"{', '.join(map(repr, names))}."
            )
    levels = {name: _levels(name, configurations) for name in names}
    free = sorted(
        (name for name in names if name not in (x, y)),
        key=lambda name: -len(levels[name].texts),
    )
    chosen = [x or (free.pop(0) if free else None)]
    chosen.append(y or (free.pop(0) if free else None))
    nothing = Levels("", np.zeros(len(configurations), dtype=np.intp), [""])
    pair = [nothing if name is None else levels[name] for name in chosen]
    # A second axis with one level says nothing.
    if y is None and len(pair[1].texts) < 2:
        pair[1] = nothing
    return pair[0], pair[1]


def _levels(name: str, configurations: Sequence[Configuration]) -> Levels:
    given = [one[name] for one in configurations if name in one]
    numeric = all(
        isinstance(value, int | float | np.number) and not isinstance(value, bool)
        for value in given
    )
    if numeric:
        values = sorted(set(given))
        keys: dict[Any, int] = {value: code for code, value in enumerate(values)}
        texts = [f"{value:.3g}" for value in values]
    else:
        texts = list(dict.fromkeys(value_text(value, 24) for value in given))
        keys = {text: code for code, text in enumerate(texts)}
    missing = len(texts)
    codes = [
        missing
        if name not in one
        else keys[one[name] if numeric else value_text(one[name], 24)]
        for one in configurations
    ]
    if missing in codes:
        texts.append("—")
    return Levels(name, np.array(codes, dtype=np.intp), texts)
