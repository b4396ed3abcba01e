"""Measure the three pairs of the page *Getting started*.

python benchmarks/getting_started.py             # measures, about 6 minutes
python benchmarks/getting_started.py --print     # prints the table of what is stored

One thread, up to three splits of the rows; test errors on rows that no search saw.
Seconds are of processor time, budgets included, so that other work on the machine
matters little.
"""

from __future__ import annotations

import argparse
import json
import runpy
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import loguniform, randint
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss, zero_one_loss
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    cross_val_score,
    train_test_split,
)
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from cvst import RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV

__all__ = ["lines"]

RESULTS = Path(__file__).parent / "results" / "getting_started.json"
SPLITS = (0, 1, 2)
GRID = {"C": np.logspace(-1, 4, 11), "gamma": np.logspace(-5, -1, 9)}
SPACE = {
    "learning_rate": loguniform(0.01, 0.5),
    "max_leaf_nodes": randint(4, 64),
    "min_samples_leaf": randint(1, 100),
    "l2_regularization": loguniform(1e-3, 100),
}
BOOSTING = HistGradientBoostingClassifier(max_iter=50, random_state=0)
SECONDS = 15.0
LONGEST = 3600.0  # of all that is measured in one go
TITLES = {
    "grid": ("SVM, grid of 99, digits", "share of wrong classes"),
    "random": ("boosting, 40 draws, 2,000 rows", "log loss"),
    "optuna": (f"boosting, {SECONDS:g} s, 2,000 rows", "log loss"),
}


def rows(kind: str, seed: int) -> tuple[Any, ...]:
    """Return rows to learn from and rows to test on."""
    if kind == "grid":
        X, y = load_digits(return_X_y=True)
        return tuple(train_test_split(X, y, random_state=seed, stratify=y))
    X, y = make_classification(
        20_000, 20, n_informative=8, flip_y=0.1, class_sep=0.7, random_state=seed
    )
    return tuple(train_test_split(X, y, train_size=2000, random_state=seed))


def optuna_search(X: Any, y: Any, seed: int) -> Any:
    """Return the winner of Optuna's default sampler within the seconds."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial: Any) -> float:
        params = {
            "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.5, log=True),
            "max_leaf_nodes": trial.suggest_int("max_leaf_nodes", 4, 63),
            "min_samples_leaf": trial.suggest_int("min_samples_leaf", 1, 99),
            "l2_regularization": trial.suggest_float(
                "l2_regularization", 1e-3, 100, log=True
            ),
        }
        model = clone(BOOSTING).set_params(**params)
        scores = cross_val_score(model, X, y, scoring="neg_log_loss", cv=5)
        return float(scores.mean())

    sampler = optuna.samplers.TPESampler(seed=seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    began = time.process_time()

    def stop(study: Any, trial: Any) -> None:
        del trial
        if time.process_time() - began > SECONDS:
            study.stop()

    study.optimize(objective, callbacks=[stop])
    return clone(BOOSTING).set_params(**study.best_params).fit(X, y)


def searches(kind: str, seed: int) -> dict[str, Any]:
    """Return the searches of a pair: functions of the rows."""
    common = {"scoring": "neg_log_loss"}
    if kind == "grid":
        return {
            "GridSearchCV": GridSearchCV(SVC(), GRID).fit,
            "RaceGridSearchCV": RaceGridSearchCV(SVC(), GRID, random_state=seed).fit,
        }
    if kind == "random":
        draws = {"n_iter": 40, "random_state": seed, **common}
        return {
            "RandomizedSearchCV": RandomizedSearchCV(BOOSTING, SPACE, **draws).fit,
            "RaceRandomSearchCV": RaceRandomSearchCV(BOOSTING, SPACE, **draws).fit,
        }
    timed = {"time_budget": SECONDS, "random_state": seed, **common}
    return {
        "Optuna": lambda X, y: optuna_search(X, y, seed),
        "RaceSearchCV": RaceSearchCV(BOOSTING, SPACE, **timed).fit,
    }


def measure(kind: str, seed: int, name: str) -> list[float]:
    """Return seconds and error of one search."""
    X, X_test, y, y_test = rows(kind, seed)
    search = searches(kind, seed)[name]
    began = time.process_time()
    fitted = search(X, y)
    seconds = time.process_time() - began
    if kind == "grid":
        error = zero_one_loss(y_test, fitted.predict(X_test))
    else:
        error = log_loss(y_test, fitted.predict_proba(X_test))
    return [round(seconds, 2), round(float(error), 5)]


def measure_all() -> None:
    """Measure what is not known yet; each result is stored at once."""
    clocks = runpy.run_path(str(Path(__file__).parent / "everyday" / "clocks.py"))
    clocks["count_processor_seconds"](LONGEST)
    # The solver of support vector machines is compiled once per machine.
    X, y = load_digits(return_X_y=True)
    RaceGridSearchCV(SVC(), GRID, random_state=0).fit(X[:400], y[:400])
    stored: dict[str, dict[str, dict[str, list[float]]]] = {}
    if RESULTS.exists():
        stored = json.loads(RESULTS.read_text(encoding="utf-8"))
    for seed in SPLITS:
        for kind in TITLES:
            for name in searches(kind, seed):
                found = stored.setdefault(kind, {}).setdefault(str(seed), {})
                if name not in found:
                    found[name] = measure(kind, seed, name)
                    text = json.dumps(stored, indent=1)
                    RESULTS.write_text(text + "\n", encoding="utf-8")
                    print(kind, seed, name, found[name], flush=True)


def lines() -> list[str]:
    """Return the table of the page from what is stored."""
    stored = json.loads(RESULTS.read_text(encoding="utf-8"))
    table = [
        "| task | search | splits | seconds | error on fresh rows |",
        "|---|---|---|---|---|",
    ]
    for kind, (title, unit) in TITLES.items():
        for name in stored[kind]["0"]:
            # A split counts when both searches of the pair have it.
            splits = [one for one in stored[kind].values() if len(one) == 2]
            seconds, error = np.mean([one[name] for one in splits], axis=0)
            table.append(
                f"| {title} | `{name}` | {len(splits)} | {seconds:.1f} "
                f"| {error:.4f} ({unit}) |"
            )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--print", action="store_true", help="only print what is known")
    options = parser.parse_args()
    if not options.print:
        with threadpool_limits(1):
            measure_all()
    print("\n".join(lines()))


if __name__ == "__main__":
    main()
