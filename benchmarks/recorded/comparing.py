"""What differs between two recordings of the same race."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from reading import FIELDS, TEXTS

__all__ = ["differences"]

# More differences of one race than this are counted only.
MOST_SHOWN = 12
LONGEST_VALUE = 200

NUMBERED = re.compile(r"^(look\d+_)?(.*)$", re.DOTALL)


def differences(
    old: dict[str, Any],
    new: dict[str, Any],
    tolerance: float = 0.0,
    quiet_texts: bool = False,
    ignored: str = "",
) -> list[str]:
    """Return one line per difference, the first ones only if there are many.

    Parameters
    ----------
    old, new : dict
        What was recorded of one race.
    tolerance : float
        Largest difference of two numbers, relative to the larger and at least to 1.
    quiet_texts : bool
        Whether warnings and errors may change their words.
    ignored : str
        Regular expression of paths that may differ, such as ``warning_places``.
    """
    old, new = _translated(old), dict(new)
    if quiet_texts:
        old, new = _without_texts(old), _without_texts(new)
    lines = [
        f"{path}: {_short(before)} -> {_short(after)}"
        for path, before, after in _walk("", old, new, tolerance)
        if not ignored or not re.search(ignored, path)
    ]
    if len(lines) > MOST_SHOWN:
        more = len(lines) - MOST_SHOWN
        return [*lines[:MOST_SHOWN], f"... and {more} more differences"]
    return lines


def _walk(
    path: str, old: Any, new: Any, tolerance: float
) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            inside = f"{path}.{name}" if path else name
            yield from _walk(
                inside, old.get(name, MISSING), new.get(name, MISSING), tolerance
            )
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for position, pair in enumerate(zip(old, new, strict=True)):
            yield from _walk(f"{path}[{position}]", *pair, tolerance)
    elif not _same(old, new, tolerance):
        yield path, old, new


def _same(old: Any, new: Any, tolerance: float) -> bool:
    # As text NaN equals itself, 0.0 and -0.0 differ, and so do 1 and True.
    if repr(old) == repr(new):
        return True
    numbers = all(
        isinstance(value, int | float) and not isinstance(value, bool)
        for value in (old, new)
    )
    if not numbers or not tolerance:
        return False
    return bool(abs(old - new) <= tolerance * max(1.0, abs(old), abs(new)))


def _translated(value: Any) -> Any:
    """Return an older recording in the words of today."""
    if isinstance(value, dict):
        return {_new_name(name): _translated(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_translated(entry) for entry in value]
    if isinstance(value, str):
        for before, after in TEXTS.items():
            value = value.replace(before, after)
    return value


def _new_name(name: str) -> str:
    found = NUMBERED.match(name)
    assert found is not None
    number, rest = found[1] or "", found[2]
    return FIELDS.get(name, number + FIELDS.get(rest, rest))


def _without_texts(race: dict[str, Any]) -> dict[str, Any]:
    """Keep the kinds of warnings and errors, not their words."""
    kept = dict(race)
    kept["warnings"] = [[kind, count] for kind, _, count in race["warnings"]]
    kept["exception"] = None if race["exception"] is None else race["exception"][:1]
    return kept


def _short(value: Any) -> str:
    text = repr(value)
    if len(text) <= LONGEST_VALUE:
        return text
    half = LONGEST_VALUE // 2
    return f"{text[:half]} ... {text[-half:]}"


class _Missing:
    def __repr__(self) -> str:
        return "(absent)"


MISSING = _Missing()
