"""Hyper-parameters as axes that a page can draw: values, texts and levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvst._text import value_text
from cvst._typing import Configuration
from cvst.race.machinery import levels_of

__all__ = ["differing_texts", "parameter_axes"]

# Digits that tell values apart in a table; details have more.
DIGITS = 4


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
    # A stable sort: otherwise the order is that in which users wrote them.
    return sorted(axes, key=lambda axis: len(set(axis["codes"])) == 1)


def _axis(name: str, configurations: Sequence[Configuration]) -> dict[str, Any]:
    levels = levels_of(name, configurations)
    return {
        "name": name,
        "numeric": levels.ordered,
        "texts": [value_text(value) for value in levels.values],
        "codes": levels.codes.tolist(),
    }


def differing_texts(configurations: Sequence[Configuration]) -> list[str]:
    """Write configurations by the parameters in which they differ, in few digits.

    Examples
    --------
    >>> differing_texts([{"C": 0.123456, "kernel": "rbf"}, {"C": 10, "kernel": "rbf"}])
    ['C=0.1235', 'C=10']
    >>> differing_texts([{"C": 1.0, "kernel": "rbf"}] * 2)[0]
    'C=1, kernel=rbf'
    """
    texts = [
        {str(name): _short(value) for name, value in one.items()}
        for one in configurations
    ]
    names = dict.fromkeys(name for one in texts for name in one)
    differing = [name for name in names if len({one.get(name) for one in texts}) > 1]
    return [
        ", ".join(
            f"{name}={value}"
            for name, value in one.items()
            if name in differing or not differing
        )
        for one in texts
    ]


def _short(value: Any) -> str:
    is_float = isinstance(value, float | np.floating)
    return f"{value:.{DIGITS}g}" if is_float else value_text(value, 40)
