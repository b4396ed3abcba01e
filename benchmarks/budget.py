"""Are time budgets kept, and used? Several estimators, budgets and numbers of workers.

    python benchmarks/budget.py
    python benchmarks/budget.py --budgets 3 10 30 --jobs 2
    python benchmarks/budget.py --search seconds --budgets 10 --rows 20000 --beside 0 2

Prints the time taken as a share of the budget; above 100 % it was overrun. ``grid`` is
``RaceGridSearchCV``, ``seconds`` is ``RaceSearchCV`` over its own spaces, with as many
threads as estimators take by themselves. ``--beside`` keeps other processes busy
meanwhile. Without it, times are only worth reading on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from other_work import beside
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV, RaceSearchCV
from cvst.exceptions import BudgetTooSmallError

GRIDS = {
    "kernel ridge": (
        KernelRidge(kernel="rbf"),
        {"alpha": np.logspace(-5, 3, 9), "gamma": np.logspace(-3, 1, 9)},
    ),
    "SVM": (SVC(), {"C": np.logspace(-2, 3, 6), "gamma": np.logspace(-3, 1, 6)}),
    "tree": (
        DecisionTreeClassifier(),
        {"max_depth": list(range(1, 21)), "min_samples_leaf": [1, 2, 5, 10]},
    ),
    "boosting": (
        GradientBoostingClassifier(),
        {"n_estimators": [20, 50, 100], "max_depth": [1, 2, 3]},
    ),
    "neighbours": (KNeighborsClassifier(), {"n_neighbors": list(range(1, 60, 2))}),
    "logistic": (LogisticRegression(max_iter=500), {"C": np.logspace(-4, 4, 30)}),
}

OWN_SPACES = {
    "histogram boosting": HistGradientBoostingClassifier(),
    "forest": RandomForestClassifier(),
    "SVM": SVC(),
    "net": MLPClassifier(),
    "logistic": LogisticRegression(max_iter=500),
}

try:
    from lightgbm import LGBMClassifier
except ImportError:
    pass
else:
    OWN_SPACES["LightGBM"] = LGBMClassifier(verbose=-1)


def search_for(kind: str, name: str, **options: Any) -> Any:
    if kind == "grid":
        return RaceGridSearchCV(*GRIDS[name], random_state=0, **options)
    return RaceSearchCV(OWN_SPACES[name], random_state=0, **options)


def measure(
    kind: str, name: str, budget: float, n_jobs: int, n_samples: int
) -> dict[str, Any]:
    X, y = make_classification(
        n_samples, 15, n_informative=8, flip_y=0.1, random_state=0
    )
    search = search_for(kind, name, time_budget=budget, n_jobs=n_jobs)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = perf_counter()
        try:
            search.fit(X, y)
        except BudgetTooSmallError as error:
            took = perf_counter() - start
            return {"took": took, "refused": str(error).split(": ", 1)[1]}
        took = perf_counter() - start
    return {
        "took": took,
        "stop": search.stop_reason_,
        "looks": search.n_looks_,
        "largest": max(one.look.n_train for one in search.race_.observations),
        "strategy": repr(search.strategy_) if kind == "grid" else "",
        "refit": search.refit_time_,
        "warned": any("final fit takes" in str(one.message) for one in caught),
    }


def line(record: dict[str, Any]) -> str:
    head = (
        f"{record['name']:<18} {record['jobs']:4d} {record['beside']:6d} "
        f"{record['budget']:5.0f}s {record['took'] / record['budget']:6.0%}  "
    )
    if "refused" in record:
        return f"{head}refused: {record['refused']}"
    warned = " (said before)" if record["warned"] else ""
    return (
        f"{head}{record['stop']:<20} {record['looks']:3d} looks up to "
        f"{record['largest']:5d} rows, final fit "
        f"{record['refit']:.2f} s{warned} {record['strategy']}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--search", choices=["grid", "seconds"], default="grid")
    parser.add_argument("--budgets", type=float, nargs="+", default=[2.0, 5.0, 15.0])
    parser.add_argument("--jobs", type=int, nargs="+", default=[1])
    parser.add_argument("--beside", type=int, nargs="+", default=[0])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--cases", nargs="+")
    parser.add_argument("--records", type=Path, help="append results to this file")
    options = parser.parse_args()
    cases = options.cases or list(GRIDS if options.search == "grid" else OWN_SPACES)
    print(f"{'estimator':<18} jobs beside budget   used  how it ended")
    settings = [
        (name, n_jobs, n_others, budget)
        for name in cases
        for n_jobs in options.jobs
        for n_others in options.beside
        for budget in options.budgets
    ]
    for name, n_jobs, n_others, budget in settings:
        head = {"search": options.search, "name": name, "rows": options.rows}
        head |= {"jobs": n_jobs, "beside": n_others, "budget": budget}
        with beside(n_others):
            record = measure(options.search, name, budget, n_jobs, options.rows)
        record = {**head, **record}
        print(line(record), flush=True)
        if options.records:
            with options.records.open("a") as file:
                file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
