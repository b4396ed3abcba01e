"""From ``--grid`` to what a search takes: files, inline text, names of parameters."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from math import isinf
from pathlib import Path
from typing import Any

from cvst._text import value_text
from cvst.cli._printing import quoted
from cvst.cli.grid._files import FILES, load_file
from cvst.cli.grid._grammar import (
    Assignment,
    GridSyntaxError,
    is_finite,
    parse_grid,
    parse_value,
    place,
)
from cvst.cli.grid._ranges import Draw
from cvst.exceptions import InvalidInputError

__all__ = ["SUGGESTED", "Grid", "parameter_grids", "read_grid"]

# What --grid says to take the space that is suggested for the model.
SUGGESTED = "auto"

# Text in a file that calls a function: everything else in quotes is just text.
CALL = re.compile(r"\s*[A-Za-z_]\w*\s*\(")


@dataclass(frozen=True, slots=True)
class Grid:
    """Values to try, before it is known whose parameters they are.

    Attributes
    ----------
    parts : list of list of Assignment
        Grids of which the search takes the union; none for a suggested space.
    text : str
        The grid as the user wrote it, or the name of its file.
    """

    parts: list[list[Assignment]]
    text: str

    @property
    def n_configurations(self) -> int | None:
        """Number of combinations; None if some parameter is drawn at random."""
        if not self.parts:
            return None
        total = 0
        for part in self.parts:
            size = 1
            for assignment in part:
                if isinstance(assignment.values, Draw):
                    return None
                size *= len(assignment.values)
            total += size
        return total


def read_grid(text: str) -> Grid:
    """Read a grid from a file of that name, or from the text itself.

    Examples
    --------
    >>> read_grid("alpha=[1, 10] gamma=logspace(-3, 3, 7)").n_configurations
    14
    """
    path = Path(text)
    # By its ending, not by whether it exists: a mistyped name is a missing file.
    if path.suffix.lower() not in FILES:
        return Grid(parse_grid(text), text)
    return Grid(_parts(load_file(path), text), text)


def parameter_grids(grid: Grid, estimator: Any, prefix: str) -> list[dict[str, Any]]:
    """Return the grids with full parameter names and plain values.

    Parameters
    ----------
    grid : Grid
        What the user wrote.
    estimator : estimator
        Whose parameters they are.
    prefix : str
        Path of the model within the estimator, such as ``"model__"``: a name is looked
        for there first, and then in the whole estimator.
    """
    known = set(estimator.get_params(deep=True))
    grids = []
    for part in grid.parts:
        named: dict[str, Any] = {}
        for entry in part:
            name = _full_name(entry, grid, known, prefix)
            values = entry.values
            named[name] = values.distribution if isinstance(values, Draw) else values
        grids.append(named)
    return grids


def _full_name(entry: Assignment, grid: Grid, known: set[str], prefix: str) -> str:
    for name in (prefix + entry.name, entry.name):
        if name in known:
            return name
    own = [name.removeprefix(prefix) for name in known if name.startswith(prefix)]
    own = sorted(name for name in own if "__" not in name)
    # The usual slip is c instead of C.
    lower = {name.lower(): name for name in own}
    near = difflib.get_close_matches(entry.name.lower(), lower, n=1)
    where = "" if entry.position is None else place(grid.text, entry.position)
    raise InvalidInputError(
        f"The model has no parameter {quoted(entry.name)}. "
        + (f"Did you mean {lower[near[0]]!r}?" if near else f"It has {', '.join(own)}.")
        + where
    )


def _parts(content: Any, name: str) -> list[list[Assignment]]:
    parts = content if isinstance(content, list) else [content]
    # A TOML file is a table at the top; [[grid]] makes a list of grids in it.
    if isinstance(content, dict) and list(content) == ["grid"]:
        inner = content["grid"]
        parts = inner if isinstance(inner, list) else [inner]
    if not parts or not all(isinstance(part, dict) and part for part in parts):
        raise InvalidInputError(
            f"The grid file {name!r} must hold parameters and their values, such as "
            "alpha: [1, 10], or a list of such grids."
        )
    return [
        [Assignment(str(key), _values(key, value)) for key, value in part.items()]
        for part in parts
    ]


def _values(name: str, value: Any) -> list[Any] | Draw:
    if isinstance(value, str) and CALL.match(value):
        return _called(name, value)
    items = value if isinstance(value, list) else [value]
    values: list[Any] = []
    for item in items:
        if isinstance(item, str) and CALL.match(item):
            spliced = _called(name, item)
            if isinstance(spliced, Draw):
                raise InvalidInputError(
                    f"The grid has {quoted(item)} within the list of "
                    f"{quoted(name)}, but what is drawn at random cannot be part "
                    "of a list."
                )
            values.extend(spliced)
        else:
            values.append(_scalar(name, item))
    if not values:
        raise InvalidInputError(
            f"The grid has an empty list for {quoted(name)}, so there is nothing to "
            "try."
        )
    return values


def _called(name: str, text: str) -> list[Any] | Draw:
    try:
        return parse_value(text)
    except GridSyntaxError as error:
        # YAML cuts [logspace(0, 1, 3)] at its commas before we see it.
        hint = "" if ")" in text else " (within a list, a range needs quotes)"
        raise GridSyntaxError(f"Parameter {quoted(name)}{hint}: {error}") from error


def _is_too_large(item: Any) -> bool:
    if isinstance(item, int):
        return not is_finite(item)
    # JSON reads 1e999 as infinity without a word.
    return isinstance(item, float) and isinf(item)


def _scalar(name: str, item: Any) -> Any:
    if isinstance(item, list):
        # Files know no tuples, and hidden_layer_sizes wants one.
        return tuple(_scalar(name, member) for member in item)
    if _is_too_large(item):
        raise InvalidInputError(
            f"The grid has {value_text(item, 30)} for {quoted(name)}, which is more "
            "than a number can hold."
        )
    if item is None or isinstance(item, str | int | float):
        return item
    raise InvalidInputError(
        f"The grid has {value_text(item)} for {quoted(name)}, which is not a number, "
        "text, constant or list of them."
    )
