"""Compare the time of races of small grids with that of ``GridSearchCV()``.

    python benchmarks/small_grids.py run                  # what is not measured yet
    python benchmarks/small_grids.py run --only forest --sizes 2 --repetitions 9
    python benchmarks/small_grids.py run --again 0.9 --repetitions 15  # the slow ones
    python benchmarks/small_grids.py table
    python benchmarks/small_grids.py own                  # learners that cost nothing

Grids of 2 to 30 configurations, cut from those of ``speed/tasks.py`` and from some
that people write for logistic regressions, nets, forests and boosting with early
stopping. Both searches run at their defaults but for the seed, in one process with one
thread, in turns (the first of a pair is the second of the next), the final fit
included. Each pair has rows of its own: on a single draw, folds of one kind may happen
to need fewer rounds than those of the other in all repetitions. Times are of the
processor, so that other work on the machine counts as little as possible. A ratio is
that of two runs in succession, and the median of the repetitions counts; grids that
take less than a second are repeated more often. Each result is appended to
``results/small_grids.jsonl``; of a cell that was measured again the last counts.
``table`` prints what stands in ``results/small_grids.md``.

What is above 1 are grids that save no fit, where the race's own work (tests, books,
estimate) has to be no more than that of ``GridSearchCV``. ``own`` measures it with
learners that do next to nothing, in milliseconds, and writes them to
``results/small_grids_own.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "everyday"))
sys.path.insert(0, str(Path(__file__).parent / "speed"))

# isort: off
import one_thread  # noqa: F401 - before NumPy

# isort: on
import numpy as np
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tasks import TASKS, curves
from xgboost import XGBClassifier

from cvst import RaceGridSearchCV

SIZES = (2, 5, 12, 30)
RESULTS = Path(__file__).parent / "results" / "small_grids.md"
RECORDS = RESULTS.with_suffix(".jsonl")
OWN = RESULTS.with_name("small_grids_own.jsonl")

# Plain searches are repeated until they have taken so many seconds, but no more often.
SHORT, MOST = 1.5, 25

# Many grids, so fewer rows than in the speed tables.
N_ROWS = 400

# What is close to 1 is shown run by run, and with a test.
CLOSE = 0.9


@dataclass(frozen=True)
class Search:
    """What is searched, and where."""

    estimator: Any
    grid: dict[str, Any]
    X: Any
    y: Any
    scoring: str | None = None
    fit_params: Any = None


def classes(n: int, seed: int = 0) -> tuple[Any, Any]:
    X, y = make_classification(
        n, 20, n_informative=6, flip_y=0.1, class_sep=0.7, random_state=seed
    )
    return X, y


def everyday(seed: int) -> dict[str, Search]:
    """Return searches as people write them, on rows drawn by a seed."""
    X, y = classes(2 * N_ROWS, seed)
    half = N_ROWS
    stopped = XGBClassifier(
        n_estimators=100, early_stopping_rounds=10, n_jobs=1, random_state=0
    )
    return {
        "logistic regression": Search(
            make_pipeline(StandardScaler(), LogisticRegression()),
            {"logisticregression__C": np.logspace(-3, 3, 30).tolist()},
            X,
            y,
        ),
        "net": Search(
            MLPClassifier(max_iter=20, random_state=0),
            {
                "hidden_layer_sizes": [(10,), (30,), (30, 30)],
                "alpha": np.logspace(-5, 1, 10).tolist(),
            },
            X[:half],
            y[:half],
        ),
        "forest, depths and features": Search(
            RandomForestClassifier(20, random_state=0),
            {
                "max_depth": [2, 4, 6, 8, 12, None],
                "max_features": [0.1, 0.2, 0.4, 0.7, 1.0],
            },
            X[:half],
            y[:half],
        ),
        "forest, numbers": Search(
            RandomForestRegressor(15, random_state=0),
            {
                "min_samples_leaf": [1, 2, 4, 8, 16, 32],
                "max_features": [0.2, 0.4, 0.6, 0.8, 1.0],
            },
            *curves(N_ROWS, seed),
        ),
        "XGBoost, early stopping": Search(
            stopped,
            {
                "learning_rate": [0.03, 0.1, 0.2, 0.3, 0.5],
                "max_depth": [2, 3, 4, 5, 6, 8],
            },
            X[:half],
            y[:half],
            fit_params={"eval_set": [(X[half:], y[half:])], "verbose": False},
        ),
        "HistGradientBoosting": Search(
            HistGradientBoostingClassifier(max_iter=20, random_state=0),
            {
                "learning_rate": [0.03, 0.06, 0.1, 0.2, 0.4],
                "max_leaf_nodes": [3, 7, 15, 20, 31, 63],
            },
            X,
            y,
        ),
    }


def of_the_speed_tables(seed: int) -> dict[str, Search]:
    """Return the searches of the speed tables, on fewer rows."""
    found = {}
    for name, task in TASKS.items():
        if name == "memory":
            continue
        n = min(task.n_samples, N_ROWS)
        X, y = task.draw(n, seed)
        grid = {key: list(values) for key, values in task.grid(n).items()}
        found[name] = Search(task.estimator, grid, X, y, task.scoring)
    return found


def searches(seed: int) -> dict[str, Search]:
    """Return all searches, by name."""
    return {**everyday(seed), **of_the_speed_tables(seed)}


def cut(grid: dict[str, Any], size: int) -> list[dict[str, Any]]:
    """Return a grid of some configurations, spread over all of a larger one.

    Evenly over the list of all, so that no parameter that comes first stays behind.
    """
    everyone = list(ParameterGrid(grid))
    rng = np.random.default_rng(size)
    chosen = np.sort(rng.choice(len(everyone), min(size, len(everyone)), replace=False))
    return [
        {key: [value] for key, value in everyone[number].items()} for number in chosen
    ]


def seconds(search: Any, what: Search) -> float:
    """Return the processor seconds of a search."""
    start = process_time()
    search.fit(what.X, what.y, **(what.fit_params or {}))
    return process_time() - start


def measure(name: str, size: int, repetitions: int) -> dict[str, Any]:
    """Return the seconds of the plain search and of the race, in turns."""
    plain, raced = [], []
    while len(plain) < repetitions or (sum(plain) < SHORT and len(plain) < MOST):
        what = searches(len(raced))[name]
        grid = cut(what.grid, size)
        options = {"scoring": what.scoring, "n_jobs": 1}
        search = RaceGridSearchCV(
            what.estimator, grid, random_state=len(raced), **options
        )
        pair = [(plain, GridSearchCV(what.estimator, grid, **options)), (raced, search)]
        # Whatever is warm or cold after a search is so for both kinds.
        for times, one in pair[:: -1 if len(plain) % 2 else 1]:
            times.append(seconds(one, what))
    return {"plain": plain, "raced": raced}


class Shifted(RegressorMixin, BaseEstimator):
    """Predicts the mean plus a shift, with some noise of its own."""

    def __init__(self, shift: float = 0.0) -> None:
        self.shift = shift

    def fit(self, X: Any, y: Any) -> Shifted:
        """Remember the mean."""
        del X
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        """Return a value per row."""
        return self.mean_ + self.shift + 0.01 * np.sin(1e3 * self.shift + X[:, 0])


class ShiftedClasses(ClassifierMixin, BaseEstimator):
    """Predicts by the sign of the first column, with some noise of its own."""

    def __init__(self, shift: float = 0.0) -> None:
        self.shift = shift

    def fit(self, X: Any, y: Any) -> ShiftedClasses:
        """Remember the classes."""
        del X
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        """Return a value per row."""
        noise = self.shift * np.sin(1e3 * self.shift + X[:, 1])
        return self.classes_[(X[:, 0] + noise > 0).astype(int)]


def own(repetitions: int) -> None:
    """Store the seconds of both searches with learners that are free."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 20))
    targets = {
        "numbers": (Shifted(), rng.normal(size=N_ROWS)),
        "classes": (
            ShiftedClasses(),
            (X[:, 0] + rng.normal(size=N_ROWS) > 0).astype(int),
        ),
    }
    records = []
    for name, (estimator, y) in targets.items():
        for size, spread in ((2, 1e-3), (2, 3.0), (3, 1e-3), (5, 1e-3), (5, 3.0)):
            what = Search(
                estimator, {"shift": np.linspace(0, spread, size).tolist()}, X, y
            )
            plain, raced, saved = [], [], []
            for seed in range(repetitions + 1):
                plain.append(seconds(GridSearchCV(estimator, what.grid), what))
                race = RaceGridSearchCV(estimator, what.grid, random_state=seed)
                raced.append(seconds(race, what))
                looks = race.race_.observations
                fits = sum(len(one.look.configurations) for one in looks)
                saved.append(5 * size - fits)
            # The first pair imports and warms up.
            records.append(
                {
                    "targets": name,
                    "size": size,
                    "saved": saved[1:],
                    "plain": plain[1:],
                    "raced": raced[1:],
                }
            )
    OWN.write_text("".join(json.dumps(one) + "\n" for one in records))


def own_table(records: list[dict[str, Any]]) -> str:
    """Return the milliseconds of both searches, and what a race takes more."""
    lines = [
        "| targets | configurations | fits saved | `GridSearchCV()` | race | more |",
        "|---|---|---|---|---|---|",
    ]
    for one in records:
        more = np.subtract(one["raced"], one["plain"])
        cells = [1e3 * float(np.median(x)) for x in (one["plain"], one["raced"], more)]
        lines.append(
            f"| {one['targets']} | {one['size']} | {np.mean(one['saved']):.1f} of "
            f"{5 * one['size']} | " + " | ".join(f"{x:.1f} ms" for x in cells) + " |"
        )
    return "\n".join(lines)


def ratio(record: dict[str, Any]) -> float:
    """Return the median of the ratios of neighbours in time."""
    return float(np.median(np.divide(record["raced"], record["plain"])))


def known(path: Path = RECORDS) -> list[dict[str, Any]]:
    """Return what is stored."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def cells() -> dict[tuple[str, int], dict[str, Any]]:
    """Return the last measurement of each search and size."""
    return {(one["name"], one["size"]): one for one in known()}


def table(records: list[dict[str, Any]]) -> str:
    """Return the table of the ratios, and what it says."""
    sizes = sorted({one["size"] for one in records})
    lines = [
        "| search | " + " | ".join(f"{size} configurations" for size in sizes) + " |",
        "|---|" + "---|" * len(sizes),
    ]
    by_cell = {(one["name"], one["size"]): one for one in records}
    for name in dict.fromkeys(one["name"] for one in records):
        row = []
        for size in sizes:
            one = by_cell.get((name, size))
            row.append("-")
            if one is not None:
                seconds_, n_runs = np.median(one["plain"]), len(one["plain"])
                row[-1] = f"{ratio(one):.2f} ({seconds_:.2f} s, {n_runs})"
        lines.append(f"| {name} | " + " | ".join(row) + " |")
    ratios = np.array([ratio(one) for one in records])
    slower = int((ratios > 1).sum())
    mean, most = np.exp(np.log(ratios).mean()), ratios.max()
    lines.append(f"\nGeometric mean {mean:.2f}, largest {most:.2f}; {slower} of ")
    lines[-1] += f"{len(ratios)} above 1."
    return "\n".join(lines)


def close_table(records: list[dict[str, Any]]) -> str:
    """Return the cells that are close to 1, and whether they are above it.

    The p-value is that of a sign test: were the race as fast as the plain search, each
    run of it would be the slower of the two as often as not.
    """
    lines = [
        "| search | configurations | runs | ratio | slower in | p |",
        "|---|---|---|---|---|---|",
    ]
    for one in sorted(records, key=ratio, reverse=True):
        if ratio(one) <= CLOSE:
            continue
        n_runs = len(one["plain"])
        slower = int((np.array(one["raced"]) > np.array(one["plain"])).sum())
        p_value = binomtest(slower, n_runs, alternative="greater").pvalue
        lines.append(
            f"| {one['name']} | {one['size']} | {n_runs} | {ratio(one):.3f} | {slower} "
            f"| {p_value:.2f} |"
        )
    return "\n".join(lines)


def run(options: argparse.Namespace) -> None:
    """Measure what is not measured yet, the smallest grids first."""
    done = {
        cell for cell, one in cells().items() if ratio(one) <= (options.again or np.inf)
    }
    for size in options.sizes:
        for name in searches(0):
            wanted = not options.only or any(part in name for part in options.only)
            if not wanted or (name, size) in done:
                continue
            # What is compiled or imported at the first fit is in nobody's time.
            measure(name, 2, 1)
            record = measure(name, size, options.repetitions)
            with RECORDS.open("a") as file:
                file.write(json.dumps({"name": name, "size": size, **record}) + "\n")
            print(f"{name}, {size}: {ratio(record):.3f}", flush=True)


def main() -> None:
    """Measure, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["run", "table", "own"])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", nargs="+", default=[], help="parts of names")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument(
        "--again", type=float, metavar="RATIO", help="measure what is above once more"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.command == "run":
        run(options)
        return
    if options.command == "own":
        own(max(25, options.repetitions))
        return
    records = list(cells().values())
    print(table(records), close_table(records), own_table(known(OWN)), sep="\n\n")


if __name__ == "__main__":
    main()
