"""Hyper-parameters as axes of a picture: levels, their order and their text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cvst._text import value_text
from cvst._typing import Configuration, IntArray
from cvst.exceptions import InvalidInputError
from cvst.race.machinery import levels_of

__all__ = ["PictureAxis", "choose_axes"]


@dataclass(frozen=True, slots=True)
class PictureAxis:
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
) -> tuple[PictureAxis, PictureAxis]:
    """Return the axes asked for, else those with the most levels."""
    # Sorted, since a set has another order in each process.
    names = sorted({name for one in configurations for name in one})
    for name in (x, y):
        if name is not None and name not in names:
            raise InvalidInputError(
                f"{name!r} is not a hyper-parameter of this race. Use one of "
                f"{', '.join(map(repr, names))}."
            )
    levels = {name: _levels(name, configurations) for name in names}
    free = sorted(
        (name for name in names if name not in (x, y)),
        key=lambda name: -len(levels[name].texts),
    )
    chosen = [x or (free.pop(0) if free else None)]
    chosen.append(y or (free.pop(0) if free else None))
    nothing = PictureAxis("", np.zeros(len(configurations), dtype=np.intp), [""])
    pair = [nothing if name is None else levels[name] for name in chosen]
    # A second axis with one level says nothing.
    if y is None and len(pair[1].texts) < 2:
        pair[1] = nothing
    return pair[0], pair[1]


def _levels(name: str, configurations: Sequence[Configuration]) -> PictureAxis:
    levels = levels_of(name, configurations)
    texts = [
        f"{value:.3g}" if levels.ordered else value_text(value, 24)
        for value in levels.values
    ]
    codes = levels.codes.copy()
    missing = codes < 0
    if missing.any():
        codes[missing] = len(texts)
        texts.append("—")
    return PictureAxis(name, codes, texts)
