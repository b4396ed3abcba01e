"""Hyper-parameters as axes that a page can draw: values, texts and levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cvst._text import value_text
from cvst._typing import Configuration
from cvst.race import levels_of

__all__ = ["parameter_axes"]


def parameter_axes(configurations: Sequence[Configuration]) -> list[dict[str, Any]]:
    """Return name, levels and codes of each hyper-parameter, those that vary first.

    Returns
    -------
    list of dict
        ``texts`` of the levels, ascending if they are numbers; ``numeric``; ``codes``,
        the level of each configuration, -1 where it lacks this hyper-parameter.

    Examples
    --------
    >>> parameter_axes([{"C": 10}, {"C": 2}, {"degree": 3}])[0]
    {'name': 'C', 'numeric': True, 'texts': ['2', '10'], 'codes': [1, 0, -1]}
    """
    names = dict.fromkeys(str(name) for one in configurations for name in one)
    axes = [_axis(name, configurations) for name in names]
    return sorted(axes, key=lambda axis: len(set(axis["codes"])) == 1)


def _axis(name: str, configurations: Sequence[Configuration]) -> dict[str, Any]:
    levels = levels_of(name, configurations)
    return {
        "name": name,
        "numeric": levels.ordered,
        "texts": [value_text(value) for value in levels.values],
        "codes": levels.codes.tolist(),
    }
