"""What to measure, the most important first, and how long that will take.

Everything measured before serves as the estimate; for the rest there are rough numbers
from one core of a server, good to a factor of two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from records import Records
from searches import METHODS, SMALLEST_SAMPLE
from tasks import MEMORY_TASKS, TASKS

__all__ = ["Cell", "cells", "estimate", "expected_seconds"]

# First the wanted ratios of all tasks, then the other searches once, then repetitions,
# then the other searches of slow tasks, and last the winners of full grids, which are
# stored and need not be found again.
STAGES = ("ratios", "other searches", "repetitions", "slow tasks", "full grids")
RATIOS = ("one full fit", "cvst", "GridSearchCV cv=10", "HalvingGridSearchCV")
REPEATED = ("cvst", "track_and_confirm", "RandomizedSearchCV", "Optuna TPE", "own CV")
FULL = ("full cv=10", "full cv=5")

# Rough seconds of our search and of GridSearchCV(cv=10) over the whole grid.
ROUGH: dict[str, tuple[float, float]] = {
    "krr": (1, 300),
    "nusvr": (4, 270),
    "nusvc": (7, 240),
    "klr": (5, 800),
    "boosting": (28, 700),
    "boosting_classes": (90, 1000),
    "boosting_log_loss": (40, 1000),
    "pipeline": (5, 200),
    "svc": (5, 200),
    "neighbours": (2, 60),
    "forest": (12, 380),
    "ridge": (1, 20),
    "lasso": (2, 60),
    "memory": (25, np.nan),
}

# Ten draws of the data where our search takes seconds, fewer where it takes longer.
DRAWS = ((3.0, 10), (15.0, 3), (np.inf, 1))
SLOW_SECONDS = 15.0


class Cell(NamedTuple):
    """One search on one draw of the data of a task."""

    stage: int
    task: str
    method: str
    repetition: int


def cells(
    names: Sequence[str],
    methods: Sequence[str],
    repetitions: int | None,
    expensive: int,
    full: bool,
) -> list[Cell]:
    """Return all that is asked for, the most important first.

    Parameters
    ----------
    names, methods : sequence of str
        Tasks and searches; no methods stand for those that suit.
    repetitions : int or None
        Draws for the cheap searches; None stands for what the task affords.
    expensive : int
        Draws for the others.
    full : bool
        Whether the winners of full grids are asked for.
    """
    found = [
        cell
        for name in names
        for cell in _of_task(name, methods, repetitions, expensive, full)
    ]
    places = {name: place for place, name in enumerate(TASKS)}
    order = {name: place for place, name in enumerate(METHODS)}
    return sorted(
        found,
        key=lambda cell: (
            cell.stage,
            places[cell.task],
            cell.repetition,
            order[cell.method],
        ),
    )


def _of_task(
    name: str,
    methods: Sequence[str],
    repetitions: int | None,
    expensive: int,
    full: bool,
) -> Iterator[Cell]:
    if name in MEMORY_TASKS:
        methods = methods or ("cvst", "track_and_confirm")
        repetitions = 1
    ours = ROUGH[name][0]
    draws = repetitions or next(n for limit, n in DRAWS if ours <= limit)
    for method in METHODS:
        if method not in (methods or METHODS) or not _suits(name, method):
            continue
        if method in FULL and not (full or method in methods):
            continue
        for repetition in range(draws if method in REPEATED else expensive):
            yield Cell(_stage(name, method, repetition), name, method, repetition)


def _suits(name: str, method: str) -> bool:
    return method != "own CV" or TASKS[name].own_cv is not None


def _stage(name: str, method: str, repetition: int) -> int:
    if method in FULL:
        return STAGES.index("full grids")
    if repetition:
        return STAGES.index("repetitions")
    if method in RATIOS:
        return STAGES.index("ratios")
    slow = ROUGH[name][0] > SLOW_SECONDS
    return STAGES.index("slow tasks" if slow else "other searches")


def expected_seconds(cell: Cell, records: Records, fraction: float) -> float:
    """Return how long a cell takes to run, from what is known."""
    size = TASKS[cell.task].n_configurations()
    share = min(1.0, max(SMALLEST_SAMPLE, round(fraction * size)) / size)
    known = records.of(cell.task, cell.method)
    if known:
        seconds = float(np.mean([row.seconds for row in known]))
        if cell.method.startswith("GridSearchCV"):
            return seconds * share
        return seconds * (share * size if cell.method == "one full fit" else 1.0)
    ours, grid = ROUGH[cell.task]
    rough = {
        "one full fit": share * grid / 10,
        "GridSearchCV cv=10": share * grid,
        "GridSearchCV cv=5": share * grid / 2,
        "HalvingGridSearchCV": grid / 10,
        "HalvingGridSearchCV N//10": grid / 7,
        "cvst": ours,
        "track_and_confirm": 5 * ours,
        "cvst, no sharing": grid / 10,
        "full cv=10": grid / 4,
        "full cv=5": grid / 8,
        "own CV": 2.0,
    }
    return rough.get(cell.method, 1.3 * ours)


def estimate(missing: Sequence[Cell], records: Records, fraction: float) -> str:
    """Return the minutes that each stage and task will take."""
    lines = []
    total = 0.0
    for number, stage in enumerate(STAGES):
        seconds: dict[str, float] = {}
        for cell in missing:
            if cell.stage == number:
                own = expected_seconds(cell, records, fraction)
                seconds[cell.task] = seconds.get(cell.task, 0.0) + own
        total += sum(seconds.values())
        parts = ", ".join(f"{name} {value / 60:.1f}" for name, value in seconds.items())
        lines.append(f"{stage}: {sum(seconds.values()) / 60:.0f} min ({parts or '-'})")
    return "\n".join([*lines, f"all {len(missing)} cells: {total / 60:.0f} min"])
