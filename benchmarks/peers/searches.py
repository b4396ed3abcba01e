"""Measure other searches beside GridSearchCV and the race, all in one process.

python benchmarks/peers/searches.py                      # measures; needs all of them
python benchmarks/peers/searches.py --rows FILE SEED     # writes rows for R
python benchmarks/peers/searches.py --print              # prints what is stored

The work is the task `quantiles svm` of the study of the default: 1,000 rows, 49
configurations, 5 folds, accuracy. Searches that draw or propose configurations do so
within the ranges of that grid. `finetune.R` and `cvst.R` do the same work in R and
write to the same file. dask-ml's Hyperband needs `partial_fit`, which the machine
lacks: on the same rows, a net with a grid of 49 is searched by it, by `GridSearchCV`
and by the race.

Three draws, one thread. Seconds are of the processor, with the final fit; those of the
wall clock are stored beside them. The error is that of the winner on 4,000 fresh rows.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

__all__ = ["BASES", "EPOCHS", "ESTIMATOR", "GRID", "NET", "SEEDS", "lines", "read"]

BENCHMARKS = Path(__file__).parents[1]
RESULTS = BENCHMARKS / "results" / "peers.jsonl"
SEEDS = (0, 1, 2)
FOLDS = 5
SCORING = "accuracy"
PACKAGES = (
    "dask-ml",
    "dask",
    "distributed",
    "optuna",
    "flaml",
    "smac",
    "scikit-learn",
    "numpy",
)

# Each search of the table, and the full search that its seconds are divided by.
BASES = {
    **dict.fromkeys(
        (
            "`GridSearchCV`",
            "dask-ml `GridSearchCV`",
            "`HalvingGridSearchCV`",
            "`RaceGridSearchCV`",
            "`RandomizedSearchCV`, 25 draws",
            "`RaceRandomSearchCV`, 25 draws",
            "Optuna TPE",
            "Optuna TPE + WilcoxonPruner",
            "FLAML `tune`",
            "SMAC3",
            "`RaceSearchCV`, 49 configurations",
        ),
        "`GridSearchCV`",
    ),
    "net: `GridSearchCV`": "net: `GridSearchCV`",
    "net: dask-ml `HyperbandSearchCV`": "net: `GridSearchCV`",
    "net: `RaceGridSearchCV`": "net: `GridSearchCV`",
    "R: CVST `CV`": "R: CVST `CV`",
    "R: CVST `fastCV`": "R: CVST `CV`",
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

# Hyperband's documentation wants as many calls of `partial_fit` as configurations, and
# rows in chunks such that they add up to the passes that a model needs: a call is one
# pass over all training rows here. The rows are standard normal as they come.
EPOCHS = 49
NET = MLPClassifier(hidden_layer_sizes=(50,), batch_size=100, max_iter=EPOCHS)
NET_GRID = {
    "alpha": np.logspace(-5, 1, 7).tolist(),
    "learning_rate_init": np.logspace(-4, -1, 7).tolist(),
}


def write_rows(path: str, seed: int) -> None:
    """Write training rows, then fresh ones; the class is the last column."""
    X, y, X_fresh, y_fresh = rows(seed)
    table = np.vstack([np.column_stack([X, y]), np.column_stack([X_fresh, y_fresh])])
    np.savetxt(path, table, delimiter=",", fmt="%.17g")


def searches(seed: int) -> dict[str, Any]:
    """Return the searches of a draw."""
    from by_trials import Flaml, Optuna, OptunaPruned, Smac
    from dask_ml.model_selection import GridSearchCV as DaskGridSearchCV
    from scipy.stats import loguniform
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - registers
    from sklearn.model_selection import (
        GridSearchCV,
        HalvingGridSearchCV,
        RandomizedSearchCV,
    )

    from cvst import RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV

    full = {"scoring": SCORING, "cv": FOLDS}
    drawn = {name: loguniform(one[0], one[-1]) for name, one in GRID.items()}
    seeded = {"scoring": SCORING, "random_state": seed}
    net = clone(NET).set_params(random_state=seed)
    return {
        "`RaceGridSearchCV`": RaceGridSearchCV(
            ESTIMATOR, GRID, scoring=SCORING, random_state=seed
        ),
        "dask-ml `GridSearchCV`": DaskGridSearchCV(
            ESTIMATOR, GRID, **full, scheduler="synchronous"
        ),
        "`GridSearchCV`": GridSearchCV(ESTIMATOR, GRID, **full),
        "`HalvingGridSearchCV`": HalvingGridSearchCV(
            ESTIMATOR, GRID, **seeded, cv=FOLDS
        ),
        "`RandomizedSearchCV`, 25 draws": RandomizedSearchCV(
            ESTIMATOR, drawn, n_iter=25, **seeded, cv=FOLDS
        ),
        "`RaceRandomSearchCV`, 25 draws": RaceRandomSearchCV(
            ESTIMATOR, drawn, n_iter=25, **seeded
        ),
        "`RaceSearchCV`, 49 configurations": RaceSearchCV(
            ESTIMATOR, drawn, n_iter=49, **seeded
        ),
        "Optuna TPE": Optuna(ESTIMATOR, GRID, seed, SCORING),
        "Optuna TPE + WilcoxonPruner": OptunaPruned(ESTIMATOR, GRID, seed, SCORING),
        "FLAML `tune`": Flaml(ESTIMATOR, GRID, seed, SCORING),
        "SMAC3": Smac(ESTIMATOR, GRID, seed, SCORING),
        "net: `RaceGridSearchCV`": RaceGridSearchCV(
            net, NET_GRID, scoring=SCORING, random_state=seed
        ),
        "net: dask-ml `HyperbandSearchCV`": Hyperband(net, seed),
        "net: `GridSearchCV`": GridSearchCV(net, NET_GRID, **full),
    }


class Hyperband:
    """dask-ml's Hyperband on a thread of this process, with a final fit.

    It holds out a fifth of the rows and leaves its winner as trained on the others.
    The other searches fit theirs on all rows, and so is this one, by `partial_fit` as
    often as the winner had been when it won.
    """

    def __init__(self, net: Any, seed: int) -> None:
        from dask_ml.model_selection import HyperbandSearchCV

        self.search = HyperbandSearchCV(
            net,
            NET_GRID,
            max_iter=EPOCHS,
            test_size=1 / FOLDS,
            scoring=SCORING,
            random_state=seed,
        )

    def fit(self, X: Any, y: Any) -> None:
        """Search, then train the winner on all rows."""
        import dask.array
        from dask.distributed import Client

        alone = {"processes": False, "n_workers": 1, "threads_per_worker": 1}
        with Client(**alone, dashboard_address=None):
            parts = [dask.array.from_array(one, chunks=len(one)) for one in (X, y)]
            self.search.fit(*parts, classes=np.unique(y))
        self.best_params_ = self.search.best_params_
        calls = self.search.cv_results_["partial_fit_calls"][self.search.best_index_]
        self.final = clone(self.search.estimator).set_params(**self.best_params_)
        for _ in range(calls):
            self.final.partial_fit(X, y, classes=np.unique(y))

    def predict(self, X: Any) -> Any:
        """Predict by the final fit."""
        return self.final.predict(X)

    def more(self, X_fresh: Any, y_fresh: Any) -> dict[str, Any]:
        """Return the error of the winner as Hyperband left it, and what it counts."""
        found = self.search.metadata_
        wrong = self.search.best_estimator_.predict(X_fresh) != y_fresh
        return {
            "error_as_left": round(float(np.mean(wrong)), 5),
            "models": int(found["n_models"]),
            "partial_fit_calls": int(found["partial_fit_calls"]),
        }


def measure(search: Any, seed: int) -> dict[str, Any]:
    """Return seconds, error and winner of one search."""
    X, y, X_fresh, y_fresh = rows(seed)
    processor, wall = time.process_time(), time.perf_counter()
    search.fit(X, y)
    seconds, waited = time.process_time() - processor, time.perf_counter() - wall
    found = {
        "seconds": round(seconds, 2),
        "wall": round(waited, 2),
        "error": round(float(np.mean(search.predict(X_fresh) != y_fresh)), 5),
        "winner": {name: float(value) for name, value in search.best_params_.items()},
    }
    if isinstance(search, Hyperband):
        found |= search.more(X_fresh, y_fresh)
    return found


def measure_all() -> None:
    """Measure what is not stored yet; each result is stored at once."""
    # Compiled solvers and first imports are paid once per machine, not per search.
    # Nets are given so many passes and no more; they need not have converged.
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y, *_ = rows(0)
    for search in searches(0).values():
        search.fit(X[:200], y[:200])
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
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
        seconds, full, error = (
            statistics.median(stored[one, seed][kind] for seed in SEEDS)
            for one, kind in ((name, "seconds"), (base, "seconds"), (name, "error"))
        )
        row = f"{seconds:.1f} | {seconds / full:.2f} | {error:.4f} |"
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
