"""Plain text for people: parameters and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cvst._text import value_text
from cvst.cli._printing import one_line

__all__ = ["shown_parameters", "table"]


def shown_parameters(parameters: Mapping[str, Any], prefix: str = "") -> str:
    """Write a configuration on one line, without the path to the model.

    Examples
    --------
    >>> shown_parameters({"model__alpha": 0.0012589, "model__kernel": "rbf"}, "model__")
    'alpha=0.001259 kernel=rbf'
    """
    return one_line(
        " ".join(
            f"{name.removeprefix(prefix)}={_value(value)}"
            for name, value in parameters.items()
        )
    )


def _value(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    if isinstance(value, tuple | list):  # a tuple comes back from JSON as a list
        comma = "," if len(value) == 1 else ""
        return f"({','.join(map(_value, value))}{comma})"
    return str(value) if isinstance(value, str) else value_text(value)


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
    >>> print(table(["look", "leader"], [[1, "a"], [10, "bb"]], left=["leader"]))
    look  leader
       1  a
      10  bb
    """
    # By hand rather than by rich, which cuts columns to the width of a terminal and is
    # not installed with the bare package, where cvst plan works too.
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
