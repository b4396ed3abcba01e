"""Losses of configurations on their way from a worker to the race."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from cvst._typing import Configuration, FloatArray
from cvst.evaluation.losses import TableLosses
from cvst.race import Look, LookLosses

__all__ = [
    "Scored",
    "ScoredTable",
    "Scores",
    "numbers_of",
    "one_by_one",
    "whole_look",
]


@dataclass(frozen=True, slots=True)
class Scored:
    """Losses of one configuration, small enough to travel back from a worker."""

    configuration: int
    losses: FloatArray | None = None
    residuals: FloatArray | None = None
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    error: Exception | None = None
    reason: str = ""
    details: str = ""


@dataclass(frozen=True, slots=True)
class ScoredTable:
    """Losses of many configurations that were worked on together on a device."""

    configurations: tuple[int, ...]
    table: TableLosses
    fit_seconds: float
    score_seconds: float
    error: None = None

    def rows(self) -> Iterator[Scored]:
        """Yield them one by one."""
        for place, number in enumerate(self.configurations):
            residuals = self.table.residuals
            yield Scored(
                number,
                self.table.losses[place],
                None if residuals is None else residuals[place],
                self.fit_seconds,
                self.score_seconds,
            )


Scores: TypeAlias = "Scored | ScoredTable"


def numbers_of(result: Scores) -> tuple[int, ...]:
    """Return which configurations a result is about."""
    if isinstance(result, ScoredTable):
        return result.configurations
    return (result.configuration,)


def one_by_one(
    configurations: dict[int, Configuration], scored: list[Scores]
) -> list[Scored]:
    """Return the results of a look in the order of its configurations."""
    rows = [
        row
        for result in scored
        for row in (result.rows() if isinstance(result, ScoredTable) else (result,))
    ]
    places = {number: place for place, number in enumerate(configurations)}
    return sorted(rows, key=lambda result: places[result.configuration])


def whole_look(look: Look, scored: list[Scores]) -> LookLosses | None:
    """Return a look that is one table as it is, without a copy."""
    result = scored[0]
    if len(scored) != 1 or not isinstance(result, ScoredTable):
        return None
    losses, residuals, means, errors = result.table
    numbers = np.array(result.configurations)
    if not np.array_equal(numbers, look.configurations):
        order = np.argsort(numbers, kind="stable")
        if not np.array_equal(numbers[order], look.configurations):
            return None
        losses, means, errors = losses[order], means[order], errors[order]
        residuals = None if residuals is None else residuals[order]
    return LookLosses(
        losses=losses,
        mean_losses=means,
        residuals=residuals,
        fit_seconds=np.full(len(means), result.fit_seconds),
        score_seconds=np.full(len(means), result.score_seconds),
        failures={},
        standard_errors=errors,
    )
