"""Is the estimated time of a plain search right? Both searches run, in CPU seconds.

    python benchmarks/plain_time.py run --rows 1000 3000
    python benchmarks/plain_time.py table

Displays, the report, the command line and ``cvst demo`` say how long a plain search
would take (``cvst.race.machinery.plain_search_seconds``). Here both run: the race,
whose times the estimate is made of, and ``GridSearchCV(cv=5)`` over the same
configurations.

Everything is timed in seconds of the processor, one process with one thread, so that a
busy machine tells nearly the same as a calm one. The race's own clock is replaced for
that. Each result is appended to a file, with the times of all looks, and what is there
already is skipped; the table can be made again with another estimator.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import warnings
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "everyday"))
sys.path.insert(0, str(Path(__file__).parent))

# isort: off
import one_thread  # noqa: F401 - before NumPy
from processor_clock import clock

# isort: on
import forecast_cases
import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid

from cvst import RaceGridSearchCV, RaceRandomSearchCV
from cvst.displays._time_consumption import shares_unknown_work
from cvst.evaluation.machinery import covered_by_one_fit
from cvst.race import Look, LookLosses, Problem, RaceState, Verdict
from cvst.race.machinery import plain_search_seconds

N_FOLDS = 5
ROWS = 1_000, 3_000
RESULTS = Path(__file__).parent / "results"
RECORDS, TABLE = RESULTS / "plain_time.jsonl", RESULTS / "plain_time.md"

# Estimator and space of forecast_cases.py, and the paper's own race.
PAPER = "KernelRidge, the paper's race"
CASES = {**forecast_cases.TUNED, PAPER: forecast_cases.TUNED["KernelRidge"]}

# Measured when the estimate was finished.
LATER = {
    (name, 3_000)
    for name in (
        "KernelRidge",
        "MLP",
        "HistGradientBoosting",
        "XGBoost",
        "HistGradientBoosting regression",
        "LightGBM",
        "ExtraTrees",
        "GradientBoosting",
        "LightGBM, random draws",
        "RandomForest",
        "AdaBoost",
        PAPER,
    )
}


def raced(name: str, n_rows: int) -> tuple[Any, Any, Any]:
    """Return a fitted search and its rows."""
    estimator, space = CASES[name]
    options: dict[str, Any] = {"n_iter": 40} if "random" in name else {}
    if name == PAPER:
        options["strategy"] = "cvst"
    kind = RaceRandomSearchCV if "random" in name else RaceGridSearchCV
    search = kind(estimator, space, random_state=0, n_jobs=1, **options)
    X, y = forecast_cases.data_for(name.split(", the")[0], n_rows)
    return search.fit(X, y), X, y


def measure(name: str, n_rows: int) -> dict[str, Any]:
    """Run both searches; return the times of the race's looks and of the plain one."""
    start = clock()
    search, X, y = raced(name, n_rows)
    race_seconds = clock() - start
    configurations = search.cv_results_["params"]
    grid = [{key: [value] for key, value in one.items()} for one in configurations]
    start = clock()
    plain = GridSearchCV(search.estimator, grid, cv=N_FOLDS, refit=False, n_jobs=1)
    plain.fit(X, y)
    seconds = clock() - start
    looks = [
        {
            "stage": seen.look.stage,
            "n_train": int(seen.look.n_train),
            "n_test": int(seen.look.n_test),
            "configurations": seen.look.configurations.tolist(),
            "fit": shortened(seen.fit_seconds),
            "score": shortened(seen.score_seconds),
        }
        for seen in search.race_.observations
    ]
    results = plain.cv_results_
    return {
        "n_samples": int(search.race_.problem.n_samples),
        "n_first": int(search.race_.problem.n_configurations),
        "n_configurations": len(configurations),
        "winner": int(search.best_index_),
        "refit": search.refit_time_,
        "race": race_seconds,
        "plain": seconds,
        "plain_fits": shortened(results["mean_fit_time"]),
        "plain_scores": shortened(results["mean_score_time"]),
        "looks": looks,
    }


def shortened(values: Any) -> list[float]:
    return [float(f"{value:.4g}") for value in np.asarray(values, dtype=float)]


def known() -> list[dict[str, Any]]:
    if not RECORDS.exists():
        return []
    return [json.loads(line) for line in RECORDS.read_text().splitlines()]


def run(options: argparse.Namespace) -> None:
    warnings.simplefilter("ignore")
    done = {(one["name"], one["rows"]) for one in known()}
    for n_rows in sorted(options.rows):
        for name in options.cases:
            if (name, n_rows) in done:
                continue
            record = {"name": name, "rows": n_rows, **measure(name, n_rows)}
            with RECORDS.open("a") as file:
                file.write(json.dumps(record) + "\n")
            print(name, n_rows, f"{record['plain']:.1f} s", flush=True)


def state_of(record: dict[str, Any]) -> RaceState:
    """Return a race that took these times; losses play no part in an estimate."""
    estimator, space = CASES[record["name"]]
    seeded = clone(estimator)
    if "random_state" in seeded.get_params():
        seeded.set_params(random_state=0)
    configurations = [{"draw": n} for n in range(record["n_configurations"])]
    if "random" not in record["name"]:
        configurations = list(ParameterGrid(space))
    problem = Problem(
        n_configurations=record["n_first"],
        n_samples=record["n_samples"],
        configurations=tuple(configurations),
        covered=covered_by_one_fit(seeded),
    )
    state = RaceState(problem)
    for one in record["looks"]:
        numbers = np.array(one["configurations"], dtype=np.intp)
        n, n_train, n_test = len(numbers), one["n_train"], one["n_test"]
        look = Look(
            slice(0, n_train),
            slice(n_train, n_train + n_test),
            n_train,
            numbers,
            stage=one["stage"],
        )
        seen = LookLosses(
            losses=np.zeros((n, 1)),
            mean_losses=np.zeros(n),
            fit_seconds=np.array(one["fit"]),
            score_seconds=np.array(one["score"]),
        )
        state = state.observe(look, seen, Verdict(np.ones(n, bool), np.ones(n)))
    return state


def estimate(record: dict[str, Any]) -> float:
    state = state_of(record)
    return plain_search_seconds(
        state,
        record["winner"],
        N_FOLDS,
        alone=record["refit"],
        shared=shares_unknown_work(CASES[record["name"]][0], state),
    )


def table() -> str:
    records = known()
    lines = [
        "| search | rows | configurations | race | plain search | estimated | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    ratios = []
    for one in sorted(records, key=lambda one: (one["name"], one["rows"])):
        estimated = estimate(one)
        ratios.append(estimated / one["plain"])
        star = " *" if (one["name"], one["rows"]) in LATER else ""
        lines.append(
            f"| {one['name']}{star} | {one['rows']:,} | {one['n_configurations']} | "
            f"{one['race']:.2f} s | {one['plain']:.2f} s | {estimated:.2f} s | "
            f"{ratios[-1]:.2f} |"
        )
    within = np.mean([0.5 <= ratio <= 2 for ratio in ratios])
    boasted = sum(ratio > 1.5 for ratio in ratios)
    return (
        "# Estimated time of a plain search\n\n"
        "Written by `python benchmarks/plain_time.py table` on "
        f"{date.today()}, {platform.machine()}, scikit-learn {sklearn.__version__}. "
        f"What `cvst.race.machinery.plain_search_seconds` makes of a race, against "
        f"`GridSearchCV(cv={N_FOLDS}, refit=False)` over the same configurations: "
        "seconds of the processor, one thread, one run each, on a busy machine. The "
        "estimate was made with most of these runs in sight; those marked with a star "
        "were run afterwards.\n\n"
        f"{len(ratios)} searches: {within:.0%} within a factor of two; ratios from "
        f"{min(ratios):.2f} to {max(ratios):.2f}, median {np.median(ratios):.2f}; "
        f"{boasted} above 1.5.\n\n" + "\n".join(lines) + "\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    measuring = commands.add_parser("run")
    measuring.add_argument("--rows", type=int, nargs="+", default=ROWS)
    measuring.add_argument("--cases", nargs="+", default=list(CASES), choices=CASES)
    measuring.set_defaults(work=run)
    writing = commands.add_parser("table")
    writing.set_defaults(work=lambda _: TABLE.write_text(table()))
    options = parser.parse_args()
    options.work(options)


if __name__ == "__main__":
    main()
