"""Run the study of the default: one line of JSON for each cell.

    python benchmarks/default/run.py out.jsonl --jobs 16 --deadline 580

A cell is a task, a method and a seed (a split); what the file has already is not run
again. All cells of a seed come before those of the next, so that a study that is cut
short has fewer splits and no gaps. Each worker has one thread. The choice is fitted on
all training rows and judged on fresh ones, outside the time of the search.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any, NamedTuple

os.environ.update(
    dict.fromkeys((f"{one}_NUM_THREADS" for one in ("OMP", "OPENBLAS", "MKL")), "1")
)
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from data_sets import load
from methods import METHODS
from sklearn.base import clone
from sklearn.metrics import get_scorer
from tasks import TASKS, Task

N_SEEDS = 10


class Cell(NamedTuple):
    """What a line is about."""

    task: str
    method: str
    seed: int


def judged(task: Task, params: dict[str, Any], rows: Any) -> float:
    """Return the loss on fresh rows; half an error is added to a count of errors."""
    X, y, X_fresh, y_fresh = rows
    model, _ = task.model()
    fitted = clone(model).set_params(**clone(params, safe=False)).fit(X, y)
    score = get_scorer(task.scoring)(fitted, X_fresh, y_fresh)
    if task.scoring == "accuracy":
        return float(1 - score + 0.5 / len(y_fresh))
    return float(-score)


def measured(cell: Cell) -> dict[str, Any]:
    """Return the line of a cell."""
    task = TASKS[cell.task]
    line: dict[str, Any] = cell._asdict()
    try:
        rows = load(task.data, task.n_train, cell.seed)
        wall, processor = time.perf_counter(), time.process_time()
        choice = METHODS[cell.method](task, rows[:2], cell.seed)
        line["seconds"] = round(time.process_time() - processor, 3)
        line["wall"] = round(time.perf_counter() - wall, 3)
        line["operations"] = round(choice.operations, 3)
        line["fits"] = int(choice.fits)
        line["loss"] = judged(task, choice.params, rows)
        line["params"] = {name: repr(value) for name, value in choice.params.items()}
    except Exception:
        line["error"] = traceback.format_exc(limit=-3)
    return line


def known(path: Path) -> set[Cell]:
    """Return the cells of a file, without those that failed."""
    if not path.exists():
        return set()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {
        Cell(*(line[name] for name in Cell._fields))
        for line in lines
        if "error" not in line
    }


def wanted(options: argparse.Namespace) -> list[Cell]:
    """Return the cells to run, seed after seed, the largest data first."""
    cells = [
        Cell(name, method, seed)
        for seed in options.seeds
        for name in sorted(options.tasks, key=lambda name: -TASKS[name].n_train)
        for method in options.methods
    ]
    done = known(options.output)
    return [cell for cell in cells if cell not in done]


def run(cells: list[Cell], options: argparse.Namespace) -> None:
    """Measure cells until none is left or the time is over."""
    end = time.monotonic() + options.deadline
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        lines = pool.imap_unordered(measured, cells)
        for count in range(1, len(cells) + 1):
            try:
                line = lines.next(timeout=max(0.1, end - time.monotonic()))
            except multiprocessing.TimeoutError:
                print(f"The time is over: {len(cells) - count + 1} cells are left.")
                pool.terminate()
                return
            with options.output.open("a") as file:
                file.write(json.dumps(line) + "\n")
            loss = f"{line['loss']:.4f}" if "loss" in line else line["error"]
            print(
                f"{count}/{len(cells)} {line['task']}, {line['method']}, seed "
                f"{line['seed']}: {loss} in {line.get('wall', np.nan)} s",
                flush=True,
            )


def parsed() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("output", type=Path, help="file of results, one line each")
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(N_SEEDS)))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--deadline", type=float, default=1e9, help="seconds to run")
    return parser.parse_args()


def main() -> None:
    """Run what is missing."""
    options = parsed()
    run(wanted(options), options)


if __name__ == "__main__":
    main()
