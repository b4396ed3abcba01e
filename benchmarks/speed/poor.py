"""Measure the races that were poor, before and after a change.

    python benchmarks/speed/poor.py --state before --task whole_brute logistic_two
    python benchmarks/speed/poor.py --table

One process with one thread; the searches of a task run in turns, each on the same rows,
so that other work on the machine meets all of them. Seconds are of the processor, the
final fit included. ``GridSearchCV(cv=10)`` is run on a random part of the grid that has
all levels in equal shares, and scaled up. Each cell is one line of
``benchmarks/results/poor_speed.jsonl``; lines that are there are not measured again.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any

# Last, since that folder has tasks of its own.
sys.path.append(str(Path(__file__).parents[1] / "everyday"))

# isort: off
import one_thread  # noqa: F401 - before NumPy

# isort: on
import numpy as np
from poor_tasks import POOR_TASKS
from searches import METHODS, Trial

__all__ = ["lines", "read"]

RESULTS = Path(__file__).parents[1] / "results" / "poor_speed.jsonl"
RACES = ("track_and_confirm", "cvst")
PLAIN = "GridSearchCV cv=10"
STATES = ("before", "after")


def read() -> list[dict[str, Any]]:
    """Return all cells measured so far."""
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def rows_for(name: str, repetition: int) -> tuple[Any, Any]:
    """Return the rows of a task: no fresh ones, since only time is measured."""
    task = POOR_TASKS[name]
    return task.draw(task.n_samples, repetition)


def measure(state: str, name: str, repetition: int) -> None:
    """Run what is not known yet, and write it down."""
    known = {(c["state"], c["task"], c["repetition"], c["search"]) for c in read()}
    trial = Trial(POOR_TASKS[name], repetition)
    X, y = rows_for(name, repetition)
    for search in (*RACES, PLAIN):
        if (state, name, repetition, search) in known:
            continue
        result = METHODS[search](trial, X, y)
        cell = {
            "state": state,
            "task": name,
            "repetition": repetition,
            "search": search,
            "seconds": round(result.seconds, 4),
            "wall_seconds": round(result.wall_seconds, 4),
            "winner": {key: str(value) for key, value in result.params.items()},
            "note": result.note,
        }
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(cell) + "\n")
        print(f"{state} {name} {repetition} {search}: {result.seconds:.2f} s "
              f"({result.note})", flush=True)  # fmt: skip


def ratio(cells: list[dict[str, Any]], state: str, name: str, search: str) -> float:
    """Return seconds of the plain search over those of a race, over all repetitions."""
    seconds: dict[str, dict[int, float]] = {}
    for cell in cells:
        if (cell["state"], cell["task"]) == (state, name):
            seconds.setdefault(cell["search"], {})[cell["repetition"]] = cell["seconds"]
    plain, ours = seconds.get(PLAIN, {}), seconds.get(search, {})
    both = sorted(set(plain) & set(ours))
    if not both:
        return float("nan")
    return sum(plain[r] for r in both) / sum(ours[r] for r in both)


def lines() -> list[str]:
    """Return the table: kind of grid, then ratios of both races before and after."""
    cells = read()
    found = [
        '| grid | default, before | after | `"cvst"`, before | after |',
        "|---|---|---|---|---|",
    ]
    for name, task in POOR_TASKS.items():
        shown = [
            ratio(cells, state, name, search) for search in RACES for state in STATES
        ]
        texts = ["-" if np.isnan(one) else f"{one:.1f}x" for one in shown]
        found.append(f"| {task.title} | " + " | ".join(texts) + " |")
    return found


def main() -> None:
    """Measure or print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", nargs="+", default=list(POOR_TASKS))
    parser.add_argument("--state", choices=STATES, default="after")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        print("\n".join(lines()))
        return
    warnings.simplefilter("ignore")
    for repetition in range(options.repetitions):
        for name in options.task:
            measure(options.state, name, repetition)


if __name__ == "__main__":
    main()
