"""Measure the races that were poor, before and after a change.

    python benchmarks/speed/poor.py --state before --task whole_brute logistic_two
    python benchmarks/speed/poor.py --state before --task first_svc
    python benchmarks/speed/poor_table.py

One process with one thread; the searches of a task run in turns, each on the same rows,
so that other work on the machine meets all of them. Seconds are of the processor, the
final fit included. ``GridSearchCV(cv=10)`` is run on a random part of the grid that has
all levels in equal shares, and scaled up. Each cell is one line of
``benchmarks/results/poor_speed.jsonl``; lines that are there are not measured again.

The first race of support vector machines on a machine is run in a process of its own,
with an empty store for what numba compiles: before, the race itself compiles; after, a
process in the background does.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

# Last, since that folder has tasks of its own.
sys.path.append(str(Path(__file__).parents[1] / "everyday"))

# isort: off
import one_thread  # noqa: F401 - before NumPy

# isort: on
from poor_table import PLAIN, RACES, RESULTS, STATES, read
from poor_tasks import FIRST, POOR_TASKS
from searches import METHODS, Trial

from cvst.evaluation.svm import _fits


def rows_for(name: str, repetition: int) -> tuple[Any, Any]:
    """Return the rows of a task: no fresh ones, since only time is measured."""
    task = POOR_TASKS[name]
    return task.draw(task.n_samples, repetition)


def measure(state: str, name: str, repetition: int) -> None:
    """Run what is not known yet, and write it down."""
    known = {(c["state"], c["task"], c["repetition"], c["search"]) for c in read()}
    trial = Trial(POOR_TASKS[name], repetition)
    X, y = rows_for(name, repetition)
    for search in RACES[:1] if name == FIRST else (*RACES, PLAIN):
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


def main() -> None:
    """Measure or print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--task", nargs="+", default=[name for name in POOR_TASKS if name != FIRST]
    )
    parser.add_argument("--state", choices=STATES, default="after")
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if FIRST in options.task:
        os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp()
        if options.state == "before":
            _fits.BACKGROUND_SECONDS = float("inf")
    for repetition in range(options.repetitions):
        for name in options.task:
            measure(options.state, name, repetition)


if __name__ == "__main__":
    main()
