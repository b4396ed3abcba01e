"""The Python that repeats a search."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np

from cvst._searched import Search
from cvst._text import shortened

__all__ = ["search_code"]

# A longer value is cut: it would fill the page and tell little.
LONGEST_VALUE = 4000


def search_code(search: Search) -> str:
    """Write the call that makes the same search, without arguments left at default.

    Examples
    --------
    >>> from cvst import RaceGridSearchCV
    >>> from sklearn.linear_model import Ridge
    >>> grid = {"alpha": np.array([0.1, 1.0])}
    >>> print(search_code(RaceGridSearchCV(Ridge(), grid, random_state=0)))
    RaceGridSearchCV(
        estimator=Ridge(),
        param_grid={'alpha': [0.1, 1.0]},
        random_state=0,
    ).fit(X, y)
    """
    defaults = signature(type(search).__init__).parameters
    lines = []
    for name in defaults:
        # A checkpoint is there to go on with, not to do all again.
        if name in ("self", "checkpoint") or not hasattr(search, name):
            continue
        text = _literal(getattr(search, name))
        if text != _literal(defaults[name].default):
            lines.append(f"    {name}={shortened(text, LONGEST_VALUE)},\n")
    return f"{type(search).__name__}(\n{''.join(lines)}).fit(X, y)"


def _literal(value: Any) -> str:
    """Return Python for a value, as well as it can be had."""
    if isinstance(value, np.ndarray | np.generic):
        return _representation(value.tolist())
    if isinstance(value, dict):
        pairs = (f"{_literal(key)}: {_literal(item)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        inside = ", ".join(_literal(item) for item in value)
        if isinstance(value, list):
            return f"[{inside}]"
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if hasattr(value, "dist") and hasattr(value, "args"):  # frozen distribution
        options = [f"{name}={_literal(item)}" for name, item in value.kwds.items()]
        arguments = ", ".join([*map(_literal, value.args), *options])
        return f"scipy.stats.{value.dist.name}({arguments})"
    if callable(value) and hasattr(value, "__qualname__"):
        return str(value.__qualname__)
    return _representation(value)


def _representation(value: Any) -> str:
    try:
        if hasattr(value, "get_params"):
            # scikit-learn cuts long representations unless told not to.
            text = value.__repr__(N_CHAR_MAX=LONGEST_VALUE)
        else:
            text = repr(value)
    except TypeError:
        text = repr(value)
    except Exception:  # whatever a foreign repr raises must not end a report
        text = f"<{type(value).__name__}>"
    return " ".join(text.split())
