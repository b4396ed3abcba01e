"""Run one race and write down all that came of it."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

from race_definition import Race
from reading import read, reduced_message

__all__ = ["record_one"]


def record_one(race: Race) -> dict[str, Any]:
    """Return the outcome of a race, its warnings and its error, whichever there is."""
    outcome: dict[str, Any] = {"exception": None}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            search = race.search()
            search.fit(race.X, race.y, **race.fit)
        except Exception as error:
            kind = type(error).__name__
            outcome["exception"] = [kind, reduced_message(str(error))]
            search = None
    outcome["warnings"] = _counted(caught)
    outcome["warning_places"] = _places(caught)
    if search is not None:
        with warnings.catch_warnings():
            # What predictions have to say is not about the race.
            warnings.simplefilter("ignore")
            outcome |= read(search, race.X)
    return outcome


def _counted(caught: list[warnings.WarningMessage]) -> list[list[Any]]:
    """Return category, message and how often, in order of their first appearance."""
    counts = Counter(
        (warning.category.__name__, reduced_message(str(warning.message)))
        for warning in caught
    )
    return [[*key, count] for key, count in counts.items()]


def _places(caught: list[warnings.WarningMessage]) -> list[str]:
    """Return whether each warning points at the call of ``fit``, as users want it."""
    return [
        "caller" if warning.filename == __file__ else "elsewhere" for warning in caught
    ]
