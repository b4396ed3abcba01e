"""Warnings of a race as sentences: each once, with a count where they repeat."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.exceptions import FitFailedWarning

from cvst.exceptions import CVSTWarning

__all__ = ["warnings_as_notes"]

# These are written for the user; of all others one example is enough.
OURS = (CVSTWarning, FitFailedWarning)


@contextmanager
def warnings_as_notes(notes: list[str]) -> Iterator[None]:
    """Append what was warned of to the notes instead of printing it.

    Examples
    --------
    >>> notes = []
    >>> with warnings_as_notes(notes):
    ...     for number in range(3):
    ...         warnings.warn(f"No convergence after {number} rounds.", stacklevel=1)
    >>> notes
    ['No convergence after 0 rounds. (3 warnings of this kind.)']
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Old habits of dependencies concern programmers, not users of a command.
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        try:
            yield
        finally:
            notes.extend(_sentences(caught))


def _sentences(caught: list[warnings.WarningMessage]) -> list[str]:
    sentences: dict[str, None] = {}
    first: dict[type, str] = {}
    counts: Counter[type] = Counter()
    for warning in caught:
        text = " ".join(str(warning.message).split())
        if issubclass(warning.category, OURS):
            sentences[text] = None
            continue
        first.setdefault(warning.category, text)
        counts[warning.category] += 1
    for category, text in first.items():
        many = counts[category]
        more = f" ({many:,} warnings of this kind.)" if many > 1 else ""
        sentences[f"{text}{more}"] = None
    return list(sentences)
