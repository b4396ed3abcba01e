"""Do forecasts hold? The plan of a race against what the race then takes.

    python benchmarks/forecasts.py run --rows 1000 10000 --condition calm
    python benchmarks/forecasts.py run --condition busy --most-seconds 300
    python benchmarks/forecasts.py table

Twenty estimators by three sizes, calm or beside two other busy processes. Each result
is appended to a file, and what is there already is skipped, so a run can be ended and
taken up again. A race may take ``--most-seconds`` by its plan; longer ones are noted as
not run. The table goes to ``benchmarks/results/forecasts.md``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "everyday"))

# isort: off
# Threads that wait for each other on a busy machine measure the scheduler.
import one_thread  # noqa: F401 - before NumPy

# isort: on
import numpy as np
from lightgbm import LGBMClassifier, LGBMRegressor
from scipy.stats import loguniform, randint
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    LogisticRegression,
    Ridge,
    SGDClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from cvst import RaceGridSearchCV, RaceRandomSearchCV

RESULTS = Path(__file__).parent / "results"
RECORDS, TABLE = RESULTS / "forecasts.jsonl", RESULTS / "forecasts.md"

ROWS = 1_000, 10_000, 100_000
N_COLUMNS = 20
RATES = [0.03, 0.1, 0.3]

CASES: dict[str, tuple[Any, Any]] = {
    "LogisticRegression": (
        LogisticRegression(max_iter=300),
        {"C": np.logspace(-4, 4, 12).tolist()},
    ),
    "SGDClassifier": (SGDClassifier(), {"alpha": np.logspace(-6, -1, 12).tolist()}),
    "Ridge": (Ridge(), {"alpha": np.logspace(-4, 4, 20).tolist()}),
    "ElasticNet": (
        ElasticNet(),
        {"alpha": np.logspace(-3, 1, 6).tolist(), "l1_ratio": [0.2, 0.5, 0.9]},
    ),
    "LinearSVC": (LinearSVC(), {"C": np.logspace(-3, 2, 8).tolist()}),
    "GaussianNB": (GaussianNB(), {"var_smoothing": np.logspace(-10, -1, 10).tolist()}),
    "KNeighbors": (
        KNeighborsClassifier(),
        {"n_neighbors": [1, 5, 15, 40], "weights": ["uniform", "distance"]},
    ),
    "DecisionTree": (
        DecisionTreeClassifier(),
        {"max_depth": [2, 4, 8, 16, None], "min_samples_leaf": [1, 3, 10, 30]},
    ),
    "RandomForest": (
        RandomForestClassifier(n_jobs=1),
        {"n_estimators": [30, 100], "min_samples_leaf": [1, 5], "max_features": [2, 8]},
    ),
    "ExtraTrees": (
        ExtraTreesRegressor(n_estimators=50, n_jobs=1),
        {"min_samples_leaf": [1, 5, 20], "max_features": [0.3, 1.0]},
    ),
    "AdaBoost": (
        AdaBoostClassifier(),
        {"n_estimators": [20, 60], "learning_rate": [0.1, 0.5, 1.0]},
    ),
    "GradientBoosting": (
        GradientBoostingClassifier(n_estimators=40),
        {"learning_rate": RATES, "max_depth": [2, 4]},
    ),
    "HistGradientBoosting": (
        HistGradientBoostingClassifier(max_iter=60),
        {"learning_rate": RATES, "max_leaf_nodes": [7, 31]},
    ),
    "HistGradientBoosting regression": (
        HistGradientBoostingRegressor(max_iter=60),
        {"learning_rate": RATES, "max_leaf_nodes": [7, 31]},
    ),
    "LightGBM": (
        LGBMClassifier(n_jobs=1, verbose=-1),
        {"n_estimators": [30, 100], "learning_rate": RATES, "num_leaves": [7, 31]},
    ),
    "LightGBM, random draws": (
        LGBMRegressor(n_jobs=1, verbose=-1, n_estimators=60),
        {"num_leaves": randint(4, 64), "learning_rate": loguniform(0.01, 0.5)},
    ),
    "XGBoost": (
        XGBClassifier(n_jobs=1, n_estimators=60),
        {"learning_rate": RATES, "max_depth": [3, 6]},
    ),
    "MLP": (
        MLPClassifier(max_iter=30),
        {"hidden_layer_sizes": [(20,), (80,)], "alpha": [1e-4, 1e-2]},
    ),
    "SVC": (
        SVC(),
        {"C": [0.1, 1.0, 10.0], "gamma": np.logspace(-3, 0, 4).tolist()},
    ),
    "KernelRidge": (
        KernelRidge(kernel="rbf"),
        {
            "alpha": np.logspace(-4, 1, 6).tolist(),
            "gamma": np.logspace(-3, 0, 4).tolist(),
        },
    ),
    "pipeline": (
        make_pipeline(StandardScaler(), PolynomialFeatures(), LogisticRegression()),
        {
            "polynomialfeatures__degree": [1, 2],
            "logisticregression__C": [0.01, 0.1, 1.0],
        },
    ),
}

REGRESSION = {
    "Ridge",
    "ElasticNet",
    "ExtraTrees",
    "HistGradientBoosting regression",
    "LightGBM, random draws",
    "KernelRidge",
}

# Kernel matrices of more rows than that do not fit into a small machine.
LARGEST_KERNEL = 10_000
KERNELS = {"SVC", "KernelRidge"}


def data_for(name: str, n_rows: int) -> tuple[Any, Any]:
    if name in REGRESSION:
        X, y = make_regression(
            n_rows, N_COLUMNS, n_informative=10, noise=20.0, random_state=0
        )
        return X, y
    return make_classification(
        n_rows, N_COLUMNS, n_informative=10, flip_y=0.1, random_state=0
    )


def measure(name: str, n_rows: int, most_seconds: float) -> dict[str, Any]:
    """Plan a race, run it, and return both times."""
    estimator, space = CASES[name]
    kind = RaceRandomSearchCV if "random" in name else RaceGridSearchCV
    options = {"n_iter": 40} if "random" in name else {}
    search = kind(estimator, space, random_state=0, **options)
    X, y = data_for(name, n_rows)
    start = perf_counter()
    plan = search.plan(X, y)
    record = {
        "planning": perf_counter() - start,
        "race": plan.race_seconds,
        "race_range": plan.race_range,
        "refit": plan.refit_seconds,
        "refit_range": plan.refit_range,
        "largest_probe": plan.largest_probe,
        "exponent": plan.fit_cost.exponent,
    }
    if plan.race_range[0] + plan.refit_range[0] > most_seconds:
        return record
    start = perf_counter()
    search.fit(X, y)
    took = perf_counter() - start
    return {
        **record,
        "race_took": took - search.refit_time_,
        "refit_took": search.refit_time_,
    }


def _spin() -> None:
    while True:
        sum(range(10_000))


@contextmanager
def beside(n_others: int) -> Iterator[None]:
    """Keep so many other processes busy meanwhile."""
    others = [
        multiprocessing.Process(target=_spin, daemon=True) for _ in range(n_others)
    ]
    for other in others:
        other.start()
    try:
        yield
    finally:
        for other in others:
            other.terminate()


def known() -> list[dict[str, Any]]:
    if not RECORDS.exists():
        return []
    return [json.loads(line) for line in RECORDS.read_text().splitlines()]


def run(options: argparse.Namespace) -> None:
    done = {(one["name"], one["rows"], one["condition"]) for one in known()}
    for n_rows in sorted(options.rows):
        for name in options.cases:
            too_large = name in KERNELS and n_rows > LARGEST_KERNEL
            if (name, n_rows, options.condition) in done or too_large:
                continue
            with beside(2 if options.condition == "busy" else 0):
                record = measure(name, n_rows, options.most_seconds)
            load = os.getloadavg()[0]
            record = {
                "name": name,
                "rows": n_rows,
                "condition": options.condition,
                "load": load,
                **record,
            }
            with RECORDS.open("a") as file:
                file.write(json.dumps(record) + "\n")
            print(json.dumps(record), flush=True)


def factor(record: dict[str, Any]) -> float:
    """Return by what factor the forecast of a whole search is off."""
    forecast = record["race"] + record["refit"]
    return float(forecast / (record["race_took"] + record["refit_took"]))


def worst(factors: list[float]) -> float:
    return max(max(one, 1 / one) for one in factors)


def within(low: float, value: float, high: float) -> bool:
    return low <= value <= high


def summary(records: list[dict[str, Any]]) -> list[str]:
    lines = [
        (
            "| condition | rows | races | within 2 | worst | inside their range | "
            "planning: median, most | load |"
        ),
        "|---|---|---|---|---|---|---|---|",
    ]
    for condition in ("calm", "busy"):
        for n_rows in ROWS:
            some = [
                one
                for one in records
                if (one["condition"], one["rows"]) == (condition, n_rows)
                and "race_took" in one
            ]
            if not some:
                continue
            factors = [factor(one) for one in some]
            close = np.mean([0.5 <= one <= 2 for one in factors])
            inside = np.mean(
                [
                    within(one["race_range"][0], one["race_took"], one["race_range"][1])
                    for one in some
                ]
            )
            planning = [one["planning"] for one in some]
            lines.append(
                f"| {condition} | {n_rows:,} | {len(some)} | {close:.0%} | "
                f"{worst(factors):.1f} | {inside:.0%} | {np.median(planning):.1f} s, "
                f"{max(planning):.1f} s | "
                f"{np.median([one['load'] for one in some]):.1f} |"
            )
    return lines


def details(records: list[dict[str, Any]]) -> list[str]:
    lines = [
        (
            "| estimator | rows | condition | planning | race: forecast (range) | took "
            "| final fit: forecast | took | factor |"
        ),
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in sorted(records, key=lambda one: (one["name"], one["rows"])):
        low, high = one["race_range"]
        forecast = f"{one['race']:.2f} s ({low:.2f} to {high:.2f})"
        took = refit = off = "not run"
        if "race_took" in one:
            took, refit = f"{one['race_took']:.2f} s", f"{one['refit_took']:.2f} s"
            off = f"{factor(one):.2f}"
        lines.append(
            f"| {one['name']} | {one['rows']:,} | {one['condition']} | "
            f"{one['planning']:.1f} s | {forecast} | {took} | {one['refit']:.2f} s | "
            f"{refit} | {off} |"
        )
    return lines


def table() -> str:
    records = known()
    ran = [one for one in records if "race_took" in one]
    head = [
        "# Forecasts and what they were worth",
        "",
        (
            "Written by `python benchmarks/forecasts.py table` on "
            f"{date.today().isoformat()}, {platform.machine()}, {os.cpu_count()} "
            f"cores, one thread per fit: {len(ran)} of {len(records)} planned races "
            "were run. A factor is the forecast of race and final fit over what they "
            "took. *Busy*: two other processes were kept busy besides; *load* is the "
            "median of the machine's own load, which tells how calm *calm* was."
        ),
        "",
        (
            "Estimators that are missing at a size were not reached in the time for "
            "the run; they come in the order of the script, whatever was forecast. "
            "Those *not run* were left out because their forecast was long, which "
            "favours forecasts that are too short. The shares of configurations "
            "expected to go on, and the width of the ranges, were chosen on earlier "
            "runs of the same tasks: this is no independent test."
        ),
        "",
    ]
    return "\n".join([*head, *summary(records), "", *details(records), ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run")
    runner.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    runner.add_argument("--condition", choices=["calm", "busy"], default="calm")
    runner.add_argument("--most-seconds", type=float, default=120.0)
    runner.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    commands.add_parser("table")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.command == "run":
        run(options)
    else:
        TABLE.write_text(table())


if __name__ == "__main__":
    main()
