"""What a recorded race is, and how to define one or three in a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from reading import renamed_parameters

from cvst import (
    CVST,
    CrossValidation,
    RaceGridSearchCV,
    RaceRandomSearchCV,
    TrackAndConfirm,
)

__all__ = ["Race", "cvst", "each_strategy", "grid_race", "quick", "random_race"]


@dataclass(frozen=True, slots=True)
class Race:
    """A search and what it is fitted on.

    Attributes
    ----------
    name : str
        Family and particulars, with strokes between.
    search : callable
        Makes the search; where making it fails, that is recorded too.
    X, y : array-like
        Training data.
    fit : dict
        Further arguments of ``fit``.
    """

    name: str
    search: Callable[[], Any]
    X: Any
    y: Any
    fit: dict[str, Any] = field(default_factory=dict)


def grid_race(
    name: str,
    estimator: Any,
    grid: Any,
    data: tuple[Any, Any],
    fit: dict[str, Any] | None = None,
    **options: Any,
) -> Race:
    """Define a race over a grid; the seed is 0 unless the options say otherwise."""
    options = renamed_parameters({"random_state": 0, **options})
    return Race(
        name, lambda: RaceGridSearchCV(estimator, grid, **options), *data, fit or {}
    )


def random_race(
    name: str,
    estimator: Any,
    space: Any,
    data: tuple[Any, Any],
    fit: dict[str, Any] | None = None,
    **options: Any,
) -> Race:
    """Define a race of random draws, likewise."""
    options = renamed_parameters({"random_state": 0, **options})
    return Race(
        name, lambda: RaceRandomSearchCV(estimator, space, **options), *data, fit or {}
    )


def quick(**parameters: Any) -> TrackAndConfirm:
    """Track and confirm with all its stages on a few hundred rows."""
    small = {"min_rows": 40, "few": 6, "n_folds": 3, "final_folds": 4}
    return TrackAndConfirm(**renamed_parameters(small | parameters))


def cvst(**parameters: Any) -> CVST:
    """Make the paper's strategy, with parameters under their old names."""
    return CVST(**renamed_parameters(parameters))


def each_strategy(
    name: str, estimator: Any, grid: Any, data: tuple[Any, Any], **options: Any
) -> Iterator[Race]:
    """Define the same race by all three strategies."""
    strategies = {"track": quick(), "cvst": "cvst", "folds": CrossValidation(3)}
    for short, strategy in strategies.items():
        yield grid_race(
            f"{name}/{short}", estimator, grid, data, strategy=strategy, **options
        )
