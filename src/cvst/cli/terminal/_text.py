"""Plain text for people: numbers, times, parameters and tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cvst.exceptions import InvalidInputError

__all__ = ["duration", "parse_duration", "shown_parameters", "table"]

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
PART = re.compile(r"(\d+\.?\d*|\.\d+)\s*([smhd])")


def duration(seconds: float) -> str:
    """Write a time as people say it.

    Examples
    --------
    >>> duration(0.0123), duration(2.5), duration(250), duration(7300)
    ('0.01 s', '2.5 s', '4 min 10 s', '2 h 2 min')
    """
    if seconds < 0.995:
        return f"{seconds:.2g} s" if seconds < 0.005 else f"{seconds:.2f} s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours:,} h {minutes} min" if minutes else f"{hours:,} h"


def parse_duration(text: str) -> float:
    """Read a time such as ``90s``, ``10m`` or ``1h30m`` into seconds.

    Examples
    --------
    >>> parse_duration("1h30m"), parse_duration("45")
    (5400.0, 45.0)
    """
    compact = text.strip().lower()
    try:
        seconds = float(compact)
    except ValueError:
        parts = PART.findall(compact)
        if not parts or PART.sub("", compact).strip():
            raise InvalidInputError(
                f"{text!r} is no time. Write it like 90s, 10m, 1h30m or 2d."
            ) from None
        seconds = sum(float(number) * UNITS[unit] for number, unit in parts)
    if not 0 < seconds < float("inf"):
        raise InvalidInputError(f"{text!r} is no time to work in. Allow more than 0 s.")
    return seconds


def shown_parameters(parameters: Mapping[str, Any], prefix: str = "") -> str:
    """Write a configuration on one line, without the path to the model.

    Examples
    --------
    >>> shown_parameters({"model__alpha": 0.0012589, "model__kernel": "rbf"}, "model__")
    'alpha=0.001259 kernel=rbf'
    """
    return " ".join(
        f"{name.removeprefix(prefix)}={_value(value)}"
        for name, value in parameters.items()
    )


def _value(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    if isinstance(value, tuple | list):  # a tuple comes back from JSON as a list
        return str(tuple(value)).replace(" ", "")
    return str(value)


def table(
    header: Sequence[str], rows: Sequence[Sequence[Any]], left: Sequence[str] = ()
) -> str:
    """Set rows in columns.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    rows : sequence of sequences
        Cells; floats get four decimals.
    left : sequence of str
        Columns to set flush left; the others are set flush right.

    Examples
    --------
    >>> print(table(["step", "leader"], [[1, "a"], [10, "bb"]], left=["leader"]))
    step  leader
       1  a
      10  bb
    """
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [
        max(len(row[column]) for row in [list(header), *cells])
        for column in range(len(header))
    ]
    flush_left = [name in left for name in header]
    lines = []
    for row in [list(header), *cells]:
        parts = [
            text.ljust(width) if to_left else text.rjust(width)
            for text, width, to_left in zip(row, widths, flush_left, strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return "-" if np.isnan(value) else f"{value:.4f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)
