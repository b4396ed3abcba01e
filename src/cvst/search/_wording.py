"""What a search is made of, in words: for refusals and for those who read the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from cvst._sklearn_compat import changed_parameters
from cvst._text import shortened, value_text
from cvst._values import exact_text, is_estimator

__all__ = ["described"]

# What lies deeper is written as other values are; a list may hold itself.
DEEPEST = 6


def described(value: Any, max_length: int) -> str:
    """Write a value on one line.

    Estimators are written as scikit-learn does it, which takes a millisecond for each.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> described(make_pipeline(Ridge(alpha=2.0)), 80)
    "Pipeline(steps=[('ridge', Ridge(alpha=2.0))])"
    """
    return shortened(_written(value, max_length, value_text, 0), max_length)


def _written(value: Any, length: int, plain: Callable[[Any], str], depth: int) -> str:
    """Return a text that is right up to a length, and may end there."""
    kind = type(value)
    if depth < DEEPEST and kind in (list, tuple):
        texts = (_written(one, length, plain, depth + 1) for one in value)
        inside = _joined(texts, length)
        if kind is list:
            return f"[{inside}]"
        return f"({inside},)" if len(value) == 1 and depth else f"({inside})"
    if depth < DEEPEST and is_estimator(value):
        changed = changed_parameters(value, exact_text)
        if changed is not None:
            texts = (
                f"{name}={_written(one, length, _in_code, depth + 1)}"
                for name, one in changed.items()
            )
            return f"{kind.__name__}({_joined(texts, length)})"
    return plain(value)


def _joined(texts: Iterable[str], length: int) -> str:
    """Return texts with commas between them, as many as a length needs."""
    taken, n_letters = [], 0
    for text in texts:
        taken.append(text)
        n_letters += len(text)
        if n_letters > length:
            break
    return ", ".join(taken)


def _in_code(value: Any) -> str:
    """Return the ``repr`` of a parameter as one line."""
    try:
        return " ".join(repr(value).split())
    except Exception:  # whatever a foreign repr raises must not end a search
        return value_text(value)
