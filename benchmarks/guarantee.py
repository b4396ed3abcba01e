"""Measure how often the best configuration is dropped, and what a guarantee costs.

    python benchmarks/guarantee.py errors --races 200     # simulated races
    python benchmarks/guarantee.py cost --races 3         # through the search
    python benchmarks/guarantee.py tables                 # print what is known

``errors`` races simulated configurations whose expected losses are known. ``best`` is
the share of races in which the configuration with the smallest expected loss in every
look (one of them, if all are equal) was dropped, by a test and in any way; ``any`` is
the share in which any equal one was. ``cost`` searches grids with 1,500 rows of a
problem and gives means over draws: operations, in fits on all rows, for costs that grow
as rows and as their cube; configurations left; test loss. Four problems are drawn, with
100 configurations each. The others are real data with other learners, listed before any
of them was run, three draws each: trees on spambase (100 configurations), k-NN on
optdigits (40), kernel ridge on bank32nm (100), and boosting on visits and page_blocks
(36), each with HistGradientBoosting and with LightGBM, on one thread. Of these boosting
on visits was listed first, and the other three when it had not been run either. They
need the folders that CVST_EVERYDAY and CVST_DATA_HOME name.
Each result is appended to ``results/guarantee.jsonl``, from which ``tables`` makes the
tables of ``docs/theory/guarantee.md``; what is there is not run again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification, make_friedman1, make_moons
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV
from cvst.datasets import fetch_benchmark
from cvst.race import (
    Axis,
    CrossValidation,
    Look,
    LookLosses,
    Problem,
    RaceState,
    SearchSpace,
    TrackAndConfirm,
    race,
)

__all__ = [
    "KINDS",
    "SimulatedLosses",
    "cost_table",
    "errors_table",
    "fates",
    "read",
    "simulated_problem",
]

RESULTS = Path(__file__).parent / "results" / "guarantee.jsonl"

# How much of what a model gets right or wrong on a row is its configuration's, and so
# the same in all looks at that row; the rest is due to the training rows.
OWN_SHARE = 0.9

# What a configuration adds to the noise that all have in common.
OWN_SIZE = 0.5

# A loss by the noise of the rows and what models add to it.
KINDS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "0/1": lambda rng, n: rng.normal(size=n),
    "squared": lambda rng, n: rng.normal(size=n),
    # The squares have no variance.
    "heavy-tailed": lambda rng, n: rng.standard_t(3, size=n),
}


@dataclass
class SimulatedLosses:
    """Losses of configurations that are equal, or the first one better by a gap.

    Parameters
    ----------
    kind : {"0/1", "squared", "heavy-tailed"}
        The loss.
    gap : float
        How much the expected loss of all but the first is larger, in standard errors
        of the difference of two mean losses over all rows.
    """

    kind: str
    gap: float
    n_samples: int
    n_configurations: int
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.noise = KINDS[self.kind](self.rng, self.n_samples)
        shape = (self.n_configurations, self.n_samples)
        self.own = self.rng.normal(size=shape)

    def observe(self, look: Look) -> LookLosses:
        """Return the losses of a look."""
        rows = np.arange(self.n_samples)[look.test]
        members = look.configurations
        fresh = self.rng.normal(size=(len(members), len(rows)))
        share = OWN_SHARE * self.own[np.ix_(members, rows)]
        added = OWN_SIZE * (share + np.sqrt(1 - OWN_SHARE**2) * fresh)
        residuals = self.noise[rows] + added
        # The others are worse in the same way on all rows.
        worse = (members > 0)[:, np.newaxis] * self.gap / np.sqrt(self.n_samples)
        if self.kind == "0/1":
            losses = (residuals + worse > 1.0).astype(float)
        else:
            losses = residuals**2 + worse * 2 * OWN_SIZE
        nothing = np.zeros(len(members))
        return LookLosses(losses, losses.mean(axis=1), nothing, nothing)

    def admit(self, configurations: object) -> None:
        """Take no more configurations."""
        raise AssertionError(f"{configurations} cannot join this race.")


def simulated_problem(
    n_samples: int, side: int, rng: np.random.Generator, counts: tuple[int, ...]
) -> Problem:
    """Return a square grid of configurations and random folds."""
    rows = np.arange(n_samples)
    folds = {}
    for count in counts:
        parts = np.array_split(rng.permutation(n_samples), count)
        folds[count] = tuple(
            (np.setdiff1d(rows, part), np.sort(part)) for part in parts
        )
    codes = np.divmod(np.arange(side**2), side)
    axes = tuple(Axis(name, code, True) for name, code in zip("ab", codes, strict=True))
    return Problem(side**2, n_samples, folds=folds, space=SearchSpace(axes))


def fates(
    strategy: TrackAndConfirm,
    kind: str,
    gap: float,
    n_samples: int,
    side: int,
    seed: int,
) -> tuple[bool, bool, bool]:
    """Race once; return whether the best was dropped by a test, in any way, and anyone.

    The last one counts tests only.
    """
    rng = np.random.default_rng(seed)
    setting = simulated_problem(n_samples, side, rng, strategy.fold_counts)
    source = SimulatedLosses(kind, gap, n_samples, side**2, rng)
    *_, state = race(RaceState(setting), source, strategy)
    drops = [drop for seen in state.observations for drop in seen.drops.items()]
    by_test = {number for number, reason in drops if reason == "paired test"}
    return 0 in by_test, 0 in dict(drops), bool(by_test)


def _count(job: tuple[str, float, str, float, argparse.Namespace, int]) -> np.ndarray:
    kind, gap, guarantee, level, options, seed = job
    strategy = TrackAndConfirm(guarantee=guarantee, level=level)
    return np.array(fates(strategy, kind, gap, options.rows, options.side, seed))


def measure_errors(options: argparse.Namespace, pool: Any) -> None:
    """Count the races in which the best was dropped."""
    # The last one bounds the chance that any of several equal ones is dropped.
    modes = {
        "look": ("look", options.level),
        "run": ("run", options.level),
        "run, any": ("run", options.level / options.side**2),
    }
    for kind, gap, mode in product(options.kinds, options.gaps, options.modes):
        if gap and mode == "run, any":
            continue  # there are no equal ones
        asked = {"what": "errors", "loss": kind, "gap": gap, "mode": mode}
        asked |= {"rows": options.rows, "races": options.races}
        if is_known(asked, options.out):
            continue
        jobs = [
            (kind, gap, *modes[mode], options, seed) for seed in range(options.races)
        ]
        counts = np.sum(pool.map(_count, jobs, chunksize=10), axis=0).tolist()
        names = "best_by_test", "best", "any_by_test"
        keep(asked | dict(zip(names, counts, strict=True)), options.out)


def _drawn(name: str, seed: int) -> tuple[Any, dict[str, list[Any]], Any]:
    """Return an estimator, its grid, and 1,500 training rows and as many others."""
    if name in REAL:
        return _real(name, seed)
    powers = np.logspace(-3, 3, 10)
    machine = {"C": (10 * powers).tolist(), "gamma": powers.tolist()}
    ridge = {"alpha": (powers / 10).tolist(), "gamma": powers.tolist()}
    n_rows, rng = 3000, np.random.default_rng(seed)
    if name == "friedman":
        X, y = make_friedman1(n_rows, n_features=8, noise=1.0, random_state=seed)
        return KernelRidge(kernel="rbf"), ridge, (X, y)
    if name == "friedman, heavy tails":
        X, y = make_friedman1(n_rows, n_features=8, random_state=seed)
        return KernelRidge(kernel="rbf"), ridge, (X, y + rng.standard_t(3, n_rows))
    if name == "moons":
        return SVC(), machine, make_moons(n_rows, noise=0.3, random_state=seed)
    X, y = make_classification(
        n_rows, 12, n_informative=6, flip_y=0.1, random_state=seed
    )
    return SVC(), machine, (X / 3, y)


def _real(name: str, seed: int) -> tuple[Any, dict[str, list[Any]], Any]:
    """Return the same of real data: 3,000 rows, those of numbers standardised."""
    data = name.split(", ")[0]
    if data == "bank32nm":
        found = fetch_benchmark(data)
        X, y = np.asarray(found.data), np.asarray(found.target)
    else:
        folder = Path(os.environ.get("CVST_EVERYDAY", "shared/everyday"))
        table = pd.read_csv(folder / f"{data}.csv.gz")
        y, X = table.pop("target").to_numpy(), table.to_numpy(dtype=float)
    rows = np.random.default_rng(seed).permutation(len(y))[:3000]
    X, y = X[rows], y[rows]
    if name in NUMBERS:
        y = (y - y.mean()) / y.std()
    # Gaps stay gaps, which boosting takes.
    X = (X - np.nanmean(X, axis=0)) / np.maximum(np.nanstd(X, axis=0), 1e-12)
    model, grid = REAL[name]
    return model(), grid, (X, y)


def _cost(job: tuple[str, str, int]) -> list[float]:
    name, mode, seed = job
    model, grid, (X, y) = _drawn(name, seed)
    half = len(y) // 2
    search = RaceGridSearchCV(model, grid, strategy=MODES[mode], random_state=seed)
    start = time.process_time()
    search.fit(X[:half], y[:half])
    seconds = time.process_time() - start
    shares = [
        (len(seen.look.configurations), seen.look.n_train / half)
        for seen in search.race_.observations
    ]
    # For losses of numbers the score is R2, and the part not explained is the loss.
    loss = 1 - search.score(X[half:], y[half:])
    cubic = sum(count * share**3 for count, share in shares)
    linear = sum(count * share for count, share in shares)
    return [linear, cubic, seconds, search.race_.active.sum(), loss]


MODES = {
    "full 5-fold": CrossValidation(5),
    "look (default)": TrackAndConfirm(),
    "run": TrackAndConfirm(guarantee="run"),
    "run, no subsets": TrackAndConfirm(guarantee="run", direct_below=1000),
}


def _lightgbm(kind: str) -> Any:
    """Return a model of LightGBM; without it all else can be run."""
    import lightgbm

    return getattr(lightgbm, kind)(
        n_estimators=50, n_jobs=1, verbose=-1, random_state=0
    )


RIDGES = np.logspace(-4, 2, 10).tolist()
LEAVES = [2, 4, 8, 16, 32, 48, 64, 96, 128, 256]
FEW_LEAVES = [2, 4, 8, 16, 31, 63]
RATES = [0.01, 0.03, 0.05, 0.1, 0.2, 0.4]
BOOSTING = {"max_iter": 50, "early_stopping": False, "random_state": 0}
# Chosen before any of them was run: other learners than SVC, losses of both kinds.
REAL: dict[str, tuple[Callable[[], Any], dict[str, list[Any]]]] = {
    "spambase, tree": (
        partial(DecisionTreeClassifier, random_state=0),
        {
            "max_leaf_nodes": LEAVES,
            "min_samples_leaf": [1, 2, 3, 5, 8, 13, 21, 34, 55, 89],
        },
    ),
    "optdigits, k-NN": (
        KNeighborsClassifier,
        {
            "n_neighbors": [1, 2, 3, 5, 7, 10, 15, 20, 30, 50],
            "weights": ["uniform", "distance"],
            "p": [1, 2],
        },
    ),
    "bank32nm, kernel ridge": (
        partial(KernelRidge, kernel="rbf"),
        {"alpha": RIDGES, "gamma": np.logspace(-5, 1, 10).tolist()},
    ),
    "visits, boosting": (
        partial(HistGradientBoostingRegressor, **BOOSTING),
        {"max_leaf_nodes": FEW_LEAVES, "learning_rate": RATES},
    ),
    "page_blocks, boosting": (
        partial(HistGradientBoostingClassifier, **BOOSTING),
        {"max_leaf_nodes": FEW_LEAVES, "learning_rate": RATES},
    ),
    "visits, LightGBM": (
        partial(_lightgbm, "LGBMRegressor"),
        {"num_leaves": FEW_LEAVES, "learning_rate": RATES},
    ),
    "page_blocks, LightGBM": (
        partial(_lightgbm, "LGBMClassifier"),
        {"num_leaves": FEW_LEAVES, "learning_rate": RATES},
    ),
}
NUMBERS = "bank32nm, kernel ridge", "visits, boosting", "visits, LightGBM"

PROBLEMS = "moons", "classes", "friedman", "friedman, heavy tails", *REAL


def measure_cost(options: argparse.Namespace, pool: Any) -> None:
    """Measure what races cost with and without a guarantee for the run."""
    for name, mode, seed in product(options.problems, MODES, range(options.races)):
        asked = {"what": "cost", "problem": name, "mode": mode, "seed": seed}
        if is_known(asked, options.out):
            continue
        [found] = pool.map(_cost, [(name, mode, seed)])
        names = "linear", "cubic", "seconds", "left", "test_error"
        values = [round(float(value), 5) for value in found]
        keep(asked | dict(zip(names, values, strict=True)), options.out)


def read(path: Path) -> list[dict[str, Any]]:
    """Return what is known."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def is_known(asked: dict[str, Any], path: Path) -> bool:
    """Tell whether the file has what is asked for."""
    return any(asked.items() <= record.items() for record in read(path))


def keep(record: dict[str, Any], path: Path) -> None:
    """Append a result to the file, and show it."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    print(record, flush=True)


def errors_table(records: list[dict[str, Any]]) -> list[str]:
    """Return the shares of races in which the best was dropped, line by line."""
    names = "loss", "gap", "guarantee", "level", "best, by a test", "best"
    lines = [f"| {' | '.join(names)} | any, by a test |", "|---" * 7 + "|"]
    modes = {
        "look": "look | .05",
        "run": "**run** | .05",
        "run, any": "**run** | .05 / 36",
    }
    for one in (record for record in records if record["what"] == "errors"):
        counts = one["best_by_test"], one["best"], one["any_by_test"]
        shown = [f"{100 * count / one['races']:.1f} %" for count in counts]
        if one["gap"]:  # then others should be dropped
            shown[2] = "-"
        name = f"{one['loss']} | {one['gap']:g} | {modes[one['mode']]}"
        lines.append(f"| {name} | {' | '.join(shown)} |")
    return lines


def cost_table(records: list[dict[str, Any]]) -> list[str]:
    """Return the means over draws, line by line, in the order of the lists."""
    names = "problem", "guarantee", "operations, linear", "cubic", "seconds", "left"
    lines = [f"| {' | '.join(names)} | test error |", "|---" * 7 + "|"]
    draws: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in records:
        if one["what"] == "cost":
            draws.setdefault((one["problem"], one["mode"]), []).append(one)
    for name in product(PROBLEMS, MODES):
        if name not in draws:
            continue
        some = draws[name]
        linear, cubic, seconds, left, error = (
            np.mean([one[key] for one in some])
            for key in ("linear", "cubic", "seconds", "left", "test_error")
        )
        lines.append(
            f"| {' | '.join(name)} | {linear:.0f} | {cubic:.0f} | {seconds:.1f} | "
            f"{left:.0f} | {error:.4f} |".replace(" 0.", " .")
        )
    return lines


def main() -> None:
    """Measure or print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("what", choices=["errors", "cost", "tables"])
    parser.add_argument("--races", type=int, default=200)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument(
        "--side", type=int, default=6, help="values of each of two axes"
    )
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--gaps", nargs="+", type=float, default=[0.0, 1.0])
    parser.add_argument("--modes", nargs="+", default=["look", "run", "run, any"])
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=PROBLEMS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--level", type=float, default=0.05)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.what == "tables":
        records = read(options.out)
        print("\n".join([*errors_table(records), "", *cost_table(records)]))
        return
    with multiprocessing.Pool(options.jobs) as pool:
        {"errors": measure_errors, "cost": measure_cost}[options.what](options, pool)


if __name__ == "__main__":
    main()
