"""Measure dask-ml beside GridSearchCV and the race, all in one process.

python benchmarks/peers/searches.py                      # measures; needs dask-ml
python benchmarks/peers/searches.py --rows FILE SEED     # writes rows for finetune.R
python benchmarks/peers/searches.py --print              # prints what is stored

The work is the task `quantiles svm` of the study of the default: 1,000 rows, 49
configurations, 5 folds, accuracy. `finetune.R` does the same work in R and writes to
the same file. Three draws, one thread. Seconds are of the processor, with the final
fit; those of the wall clock are stored beside them. The error is that of the winner on
4,000 fresh rows.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

__all__ = ["BASES", "ESTIMATOR", "GRID", "SEEDS", "lines", "read"]

BENCHMARKS = Path(__file__).parents[1]
RESULTS = BENCHMARKS / "results" / "peers.jsonl"
SEEDS = (0, 1, 2)
FOLDS = 5
SCORING = "accuracy"

# Each search of the table, and the full search that its seconds are divided by.
BASES = {
    "`GridSearchCV`": "`GridSearchCV`",
    "dask-ml `GridSearchCV`": "`GridSearchCV`",
    "`RaceGridSearchCV`": "`GridSearchCV`",
    "R: `tune_grid`": "R: `tune_grid`",
    "R: finetune `tune_race_anova`": "R: `tune_grid`",
    "R: finetune `tune_race_win_loss`": "R: `tune_grid`",
}


def rows(seed: int) -> tuple[Any, ...]:
    """Return training rows and 4,000 fresh ones of the study of the default."""
    sys.path.insert(0, str(BENCHMARKS / "default"))
    from data_sets import load

    return load("quantiles", 1000, seed)


# A test compares them with the task they come from.
ESTIMATOR = Pipeline([("scale", StandardScaler()), ("model", SVC(max_iter=50_000))])
GRID = {
    "model__C": np.logspace(-1, 3, 7).tolist(),
    "model__gamma": np.logspace(-4, 0, 7).tolist(),
}


def write_rows(path: str, seed: int) -> None:
    """Write training rows, then fresh ones; the class is the last column."""
    X, y, X_fresh, y_fresh = rows(seed)
    table = np.vstack([np.column_stack([X, y]), np.column_stack([X_fresh, y_fresh])])
    np.savetxt(path, table, delimiter=",", fmt="%.17g")


def searches(seed: int) -> dict[str, Any]:
    """Return the searches of a draw."""
    from dask_ml.model_selection import GridSearchCV as DaskGridSearchCV
    from sklearn.model_selection import GridSearchCV

    from cvst import RaceGridSearchCV

    full = {"scoring": SCORING, "cv": FOLDS}
    return {
        "`RaceGridSearchCV`": RaceGridSearchCV(
            ESTIMATOR, GRID, scoring=SCORING, random_state=seed
        ),
        "dask-ml `GridSearchCV`": DaskGridSearchCV(
            ESTIMATOR, GRID, **full, scheduler="synchronous"
        ),
        "`GridSearchCV`": GridSearchCV(ESTIMATOR, GRID, **full),
    }


def measure(search: Any, seed: int) -> dict[str, Any]:
    """Return seconds, error and winner of one search."""
    X, y, X_fresh, y_fresh = rows(seed)
    processor, wall = time.process_time(), time.perf_counter()
    search.fit(X, y)
    seconds, waited = time.process_time() - processor, time.perf_counter() - wall
    return {
        "seconds": round(seconds, 2),
        "wall": round(waited, 2),
        "error": round(float(np.mean(search.predict(X_fresh) != y_fresh)), 5),
        "winner": {name: float(value) for name, value in search.best_params_.items()},
    }


def measure_all() -> None:
    """Measure what is not stored yet; each result is stored at once."""
    # Compiled solvers and first imports are paid once per machine, not per search.
    X, y, *_ = rows(0)
    for search in searches(0).values():
        search.fit(X[:200], y[:200])
    versions = {
        name: importlib.metadata.version(name)
        for name in ("dask-ml", "dask", "scikit-learn", "numpy")
    }
    known = {(one["search"], one["seed"]) for one in read()}
    for seed in SEEDS:
        for name, search in searches(seed).items():
            if (name, seed) in known:
                continue
            found = {"search": name, "seed": seed, "folds": FOLDS}
            found |= {**measure(search, seed), "versions": versions}
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
            print(found, flush=True)


def read() -> list[dict[str, Any]]:
    """Return what is stored."""
    if not RESULTS.exists():
        return []
    text = RESULTS.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def lines() -> list[str]:
    """Return the table of the page: medians over the draws, of what has them all."""
    stored = {(one["search"], one["seed"]): one for one in read()}
    table = [
        "| search | seconds | share of the full search | error on fresh rows |",
        "|---|---|---|---|",
    ]
    for name, base in BASES.items():
        if any((name, seed) not in stored for seed in SEEDS):
            continue
        own = [stored[name, seed] for seed in SEEDS]
        full = [stored[base, seed] for seed in SEEDS]
        shares = [
            one["seconds"] / other["seconds"]
            for one, other in zip(own, full, strict=True)
        ]
        seconds = statistics.median(one["seconds"] for one in own)
        error = statistics.median(one["error"] for one in own)
        row = f"{seconds:.1f} | {statistics.median(shares):.2f} | {error:.4f} |"
        table.append(f"| {name} | {row}".replace("| 0.", "| ."))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--print", action="store_true", help="only print what is known")
    parser.add_argument("--rows", nargs=2, metavar=("FILE", "SEED"), help="for R")
    options = parser.parse_args()
    if options.rows:
        write_rows(options.rows[0], int(options.rows[1]))
        return
    if not options.print:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            measure_all()
    print("\n".join(lines()))


if __name__ == "__main__":
    main()
