"""Measure dask-ml beside GridSearchCV and the race, all in one process.

python benchmarks/peers/searches.py                      # measures; needs dask-ml
python benchmarks/peers/searches.py --rows FILE SEED     # writes rows for finetune.R
python benchmarks/peers/searches.py --print              # prints what is stored

Two works, 5 folds and accuracy in both: `quantiles svm` of the study of the default
(1,000 rows, 49 configurations), which `finetune.R` does as well, and the pipeline of
the speed tables (2,000 rows, 100 configurations). Three draws, one thread. Seconds
are of the processor, with the final fit; those of the wall clock are stored beside
them. The error is that of the winner on fresh rows.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

__all__ = ["BASES", "SEEDS", "WORKS", "lines", "read"]

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


def quantiles(seed: int) -> tuple[Any, ...]:
    """Return training rows and 4,000 fresh ones of the study of the default."""
    sys.path.insert(0, str(BENCHMARKS / "default"))
    from data_sets import load

    return load("quantiles", 1000, seed)


def pipeline(seed: int) -> tuple[Any, ...]:
    """Return training rows and 5,000 fresh ones of the speed tables."""
    sys.path.insert(0, str(BENCHMARKS / "speed"))
    from tasks import N_TEST, TASKS

    n_train = TASKS["pipeline"].n_samples
    X, y = TASKS["pipeline"].draw(n_train + N_TEST, seed)
    return X[:n_train], y[:n_train], X[n_train:], y[n_train:]


# Rows, estimator and grid; a test compares them with the tasks they come from.
WORKS: dict[str, tuple[Callable[[int], tuple[Any, ...]], Any, dict[str, Any]]] = {
    "quantiles": (
        quantiles,
        Pipeline([("scale", StandardScaler()), ("model", SVC(max_iter=50_000))]),
        {
            "model__C": np.logspace(-1, 3, 7).tolist(),
            "model__gamma": np.logspace(-4, 0, 7).tolist(),
        },
    ),
    "pipeline": (
        pipeline,
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": np.logspace(-2, 3, 10), "svc__gamma": np.logspace(-4, 1, 10)},
    ),
}


def write_rows(path: str, seed: int) -> None:
    """Write training rows, then fresh ones; the class is the last column."""
    X, y, X_fresh, y_fresh = quantiles(seed)
    table = np.vstack([np.column_stack([X, y]), np.column_stack([X_fresh, y_fresh])])
    np.savetxt(path, table, delimiter=",", fmt="%.17g")


def searches(work: str, seed: int) -> dict[str, Any]:
    """Return the searches of a work."""
    from dask_ml.model_selection import GridSearchCV as DaskGridSearchCV
    from sklearn.model_selection import GridSearchCV

    from cvst import RaceGridSearchCV

    _, estimator, grid = WORKS[work]
    full = {"scoring": SCORING, "cv": FOLDS}
    return {
        "`RaceGridSearchCV`": RaceGridSearchCV(
            estimator, grid, scoring=SCORING, random_state=seed
        ),
        "dask-ml `GridSearchCV`": DaskGridSearchCV(
            estimator, grid, **full, scheduler="synchronous"
        ),
        "`GridSearchCV`": GridSearchCV(estimator, grid, **full),
    }


def measure(search: Any, rows: tuple[Any, ...]) -> dict[str, Any]:
    """Return seconds, error and winner of one search."""
    X, y, X_fresh, y_fresh = rows
    processor, wall = time.process_time(), time.perf_counter()
    search.fit(X, y)
    seconds, waited = time.process_time() - processor, time.perf_counter() - wall
    return {
        "seconds": round(seconds, 2),
        "wall": round(waited, 2),
        "error": round(float(np.mean(search.predict(X_fresh) != y_fresh)), 5),
        "winner": {name: float(value) for name, value in search.best_params_.items()},
    }


def measure_all(works: list[str]) -> None:
    """Measure what is not stored yet; each result is stored at once."""
    # Compiled solvers and first imports are paid once per machine, not per search.
    X, y, *_ = quantiles(0)
    for search in searches("quantiles", 0).values():
        search.fit(X[:200], y[:200])
    versions = {
        name: importlib.metadata.version(name)
        for name in ("dask-ml", "dask", "scikit-learn", "numpy")
    }
    known = {(one["work"], one["search"], one["seed"]) for one in read()}
    for work in works:
        for seed in SEEDS:
            rows = WORKS[work][0](seed)
            for name, search in searches(work, seed).items():
                if (work, name, seed) in known:
                    continue
                found = {"work": work, "search": name, "seed": seed, "folds": FOLDS}
                found |= {**measure(search, rows), "versions": versions}
                with RESULTS.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(found) + "\n")
                print(found, flush=True)


def read() -> list[dict[str, Any]]:
    """Return what is stored."""
    if not RESULTS.exists():
        return []
    text = RESULTS.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def lines(work: str) -> list[str]:
    """Return the table of a work: medians over the draws, of what has them all."""
    stored = {
        (one["search"], one["seed"]): one for one in read() if one["work"] == work
    }
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
    parser.add_argument("--work", nargs="+", choices=WORKS, default=[*WORKS])
    options = parser.parse_args()
    if options.rows:
        write_rows(options.rows[0], int(options.rows[1]))
        return
    if not options.print:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            measure_all(options.work)
    for work in WORKS:
        print(work, *lines(work), sep="\n")


if __name__ == "__main__":
    main()
