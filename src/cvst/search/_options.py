"""The settings of a search, as a frozen value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

__all__ = ["SearchOptions"]


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What the user set on a search, under the names of its parameters.

    ``clock`` returns the seconds that a time budget is measured in.
    """

    estimator: Any
    scoring: Any
    strategy: Any
    ordering: str
    rescale: Any
    cv: Any
    refit: Any
    n_jobs: int | None
    error_score: Any
    return_pointwise: bool
    random_state: Any
    incremental: bool
    time_budget: float | None
    max_looks: int | None
    clock: Callable[[], float]

    @classmethod
    def of(cls, search: Any, clock: Callable[[], float]) -> SearchOptions:
        """Read the settings of a search."""
        names = [field.name for field in fields(cls) if field.name != "clock"]
        return cls(**{name: getattr(search, name) for name in names}, clock=clock)
