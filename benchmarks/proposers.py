"""Which proposer finds good configurations after how many trials? A comparison.

    python benchmarks/proposer_tables.py tables.npz 4    # once
    python benchmarks/proposers.py tables.npz            # adds what is missing
    python benchmarks/proposers.py --overhead            # milliseconds of a proposal
    python benchmarks/proposers.py --report              # both tables

Runs are kept in ``results/proposers.csv`` and ``results/proposers_overhead.csv``.

An objective is the mean of two interpolations of a table, a forest and a Gaussian
process, so that no proposer is favoured by having the very model of the objective.
Observed losses have noise, a tenth of the standard deviation between folds; regret is
counted without it. Regret 0 is the best value ever found on that objective, 1 what
random search leaves after 20 trials on average.
"""

from __future__ import annotations

import argparse
import csv
import pickle
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import optuna
from proposer_tables import PAIRS, n_choices_of, random_points
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern, WhiteKernel

from cvst.proposals import (
    AutoProposer,
    ForestProposer,
    GaussianProposer,
    History,
    LocalProposer,
    MixedProposer,
    ParzenProposer,
    RandomProposer,
    SpreadProposer,
)

RESULTS = Path(__file__).parent / "results" / "proposers.csv"
OVERHEAD = RESULTS.with_name("proposers_overhead.csv")

CHECKPOINTS = (20, 50, 100, 200)
SIZES = (20, 60, 100, 300, 1000)

PROPOSERS: dict[str, Callable[[], Any]] = {
    "random": RandomProposer,
    "spread": SpreadProposer,
    "parzen": ParzenProposer,
    "forest": ForestProposer,
    "gaussian": GaussianProposer,
    "local": LocalProposer,
    "mixed parzen": lambda: MixedProposer(ParzenProposer()),
    "mixed forest": lambda: MixedProposer(ForestProposer()),
    "mixed gaussian": lambda: MixedProposer(GaussianProposer()),
    "auto": AutoProposer,
}

SAMPLERS: dict[str, Callable[[int], Any]] = {
    "Optuna TPE": lambda seed: optuna.samplers.TPESampler(seed=seed),
    "Optuna TPE, multivariate": lambda seed: optuna.samplers.TPESampler(
        seed=seed, multivariate=True
    ),
    "Optuna GP": lambda seed: optuna.samplers.GPSampler(seed=seed),
}


@cache
def objective_of(tables: Path, data: str, model: str) -> Objective:
    """Interpolate a table; the interpolation is kept beside it."""
    kept = tables.with_name(f"{tables.stem}-{data}-{model}.pickle")
    if not kept.exists():
        kept.write_bytes(pickle.dumps(Objective(np.load(tables), data, model)))
    objective: Objective = pickle.loads(kept.read_bytes())
    return objective


class Objective:
    """A table of losses, interpolated."""

    def __init__(self, tables: Any, data: str, model: str) -> None:
        name = f"{data}-{model}"
        self.n_choices = n_choices_of(model)
        points, losses = tables[f"{name}/points"], tables[f"{name}/losses"]
        means = losses.mean(axis=1)
        # The tail of divergent fits would spoil both interpolations.
        self.cap = np.quantile(means, 0.9)
        means = np.minimum(means, self.cap)
        order = np.argsort(means)
        typical = losses[order[: len(order) // 4]]
        self.noise = 0.1 * float(np.median(typical.std(axis=1, ddof=1)))
        forest = ExtraTreesRegressor(40, random_state=0).fit(
            self._inputs(points), means
        )
        self.trees = [tree.tree_ for tree in forest.estimators_]
        kernel = Matern(np.ones(self._inputs(points).shape[1]), nu=2.5) + WhiteKernel()
        process = GaussianProcessRegressor(
            kernel, normalize_y=True, random_state=0
        ).fit(self._inputs(points), means)
        self.process = process
        sample = np.concatenate([random_points(model, 4000, seed=1), points])
        values = self(sample)
        self.middle, self.lowest = float(np.median(values)), float(values.min())

    def _inputs(self, points: np.ndarray) -> np.ndarray:
        columns = []
        for j, k in enumerate(self.n_choices):
            if k:
                columns.append(points[:, [j]] == np.arange(k))
            else:
                columns.append(points[:, [j]])
        return np.hstack(columns).astype(float)

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Return the losses without noise."""
        inputs = self._inputs(points)
        single = np.ascontiguousarray(inputs, dtype=np.float32)
        forest = np.mean([tree.predict(single).ravel() for tree in self.trees], axis=0)
        return 0.5 * (forest + self.process.predict(inputs))


def trials_of_proposer(
    proposer: Any, objective: Objective, n: int, seed: int
) -> np.ndarray:
    """Return the true values of the points proposed one after the other."""
    rng, noise = np.random.default_rng(seed), np.random.default_rng(seed + 1000)
    d = len(objective.n_choices)
    points, truth, losses = np.empty((n, d)), np.empty(n), np.empty(n)
    for i in range(n):
        history = History.of(points[:i], losses[:i])
        points[i] = proposer.propose(objective.n_choices, history, 1, rng)[0]
        truth[i] = objective(points[i : i + 1])[0]
        losses[i] = truth[i] + noise.normal(0, objective.noise)
    return np.column_stack([truth, losses])


def trials_of_sampler(
    sampler: Any, objective: Objective, n: int, seed: int
) -> np.ndarray:
    noise = np.random.default_rng(seed + 1000)
    space: dict[str, Any] = {
        f"x{j}": optuna.distributions.CategoricalDistribution(list(range(k)))
        if k
        else optuna.distributions.FloatDistribution(0, 1)
        for j, k in enumerate(objective.n_choices)
    }
    study = optuna.create_study(sampler=sampler)
    result = np.empty((n, 2))
    for i in range(n):
        trial = study.ask(space)
        point = np.array([[trial.params[name] for name in space]], dtype=float)
        result[i, 0] = objective(point)[0]
        result[i, 1] = result[i, 0] + noise.normal(0, objective.noise)
        study.tell(trial, result[i, 1])
    return result


def run(
    method: str, objective: Objective, n: int, seed: int
) -> tuple[dict[int, float], float]:
    """Return the true value of the best observed point at each checkpoint."""
    start = process_time()
    if method in PROPOSERS:
        result = trials_of_proposer(PROPOSERS[method](), objective, n, seed)
    else:
        result = trials_of_sampler(SAMPLERS[method](seed), objective, n, seed)
    took = (process_time() - start) / n
    return {
        k: float(result[result[:k, 1].argmin(), 0]) for k in CHECKPOINTS if k <= n
    }, took


def measure(options: argparse.Namespace) -> None:
    tables = np.load(options.tables)
    done = set()
    if options.results.exists():
        with options.results.open() as file:
            done = {(row[0], row[1], int(row[2])) for row in csv.reader(file)}
    for seed in range(options.seeds):
        for data, model in PAIRS:
            name = f"{data}-{model}"
            if f"{name}/points" not in tables:
                continue
            for method in options.methods:
                if (method, name, seed) in done:
                    continue
                objective = objective_of(options.tables, data, model)
                values, took = run(method, objective, options.trials, seed)
                with options.results.open("a") as file:
                    writer = csv.writer(file)
                    for k, value in values.items():
                        row = [method, name, seed, k, value]
                        row += [objective.lowest, objective.middle, f"{took:.5f}"]
                        writer.writerow(row)


def read(path: Path) -> dict[tuple[str, int], dict[str, list[float]]]:
    """Return the values of each method after so many trials, by objective."""
    values: dict[tuple[str, int], dict[str, list[float]]] = {}
    with path.open() as file:
        for method, name, _, k, value, *_ in csv.reader(file):
            cell = values.setdefault((method, int(k)), {})
            cell.setdefault(name, []).append(float(value))
    return values


def report(path: Path) -> str:
    """Return mean regrets and milliseconds as a table in Markdown."""
    values, took = read(path), defaultdict(list)
    with path.open() as file:
        rows = list(csv.reader(file))
    lowest: dict[str, float] = defaultdict(lambda: np.inf)
    for method, name, _, _, value, low, _, seconds in rows:
        lowest[name] = min(lowest[name], float(value), float(low))
        took[method].append(float(seconds))
    units = {
        name: np.mean(found) - lowest[name]
        for name, found in values["random", 20].items()
    }
    lines: list[tuple[float, str]] = []
    for method in took:
        texts, means = [], []
        for k in CHECKPOINTS:
            cell = values.get((method, k), {})
            regrets = np.array(
                [(v - lowest[name]) / units[name] for name in cell for v in cell[name]]
            )
            if not len(regrets):
                texts.append("")
                continue
            error = regrets.std() / np.sqrt(len(regrets))
            texts.append(f"{regrets.mean():.2f} ± {error:.2f}")
            means.append(regrets.mean())
        runs = sum(map(len, values[method, 20].values()))
        text = " | ".join(
            [method, *texts, str(runs), f"{1e3 * np.mean(took[method]):.1f}"]
        )
        lines.append((float(np.mean(means)), f"| {text} |"))
    head = " | ".join(["proposer", *(f"{k} trials" for k in CHECKPOINTS)])
    ruler = "|---" * (len(CHECKPOINTS) + 3) + "|"
    ordered = [line for _, line in sorted(lines)]
    return "\n".join([f"| {head} | runs | ms per trial |", ruler, *ordered])


def overhead(path: Path, methods: list[str]) -> None:
    """Store the milliseconds of a proposal, refits included on average."""
    rng = np.random.default_rng(0)
    n_choices = [0, 0, 3, 0, 0, 0, 2]
    for name in methods:
        for n in SIZES:
            points = np.column_stack(
                [rng.integers(k, size=n) if k else rng.random(n) for k in n_choices]
            ).astype(float)
            losses = np.sum((points - 0.4) ** 2, axis=1) + 0.01 * rng.normal(size=n)
            history, proposer = History.of(points, losses), PROPOSERS[name]()
            start = process_time()
            for i in range(16):
                proposer.propose(n_choices, history.head(n - 15 + i), 1, rng)
            took = (process_time() - start) / 16
            with path.open("a") as file:
                csv.writer(file).writerow([name, n, f"{1e3 * took:.2f}"])


def overhead_report(path: Path) -> str:
    """Return the milliseconds of a proposal as a table in Markdown."""
    rows: dict[str, list[str]] = {}
    with path.open() as file:
        for name, _, milliseconds in csv.reader(file):
            rows.setdefault(name, []).append(f"{float(milliseconds):.0f}")
    head = "| proposer | " + " | ".join(str(n) for n in SIZES) + " |"
    lines = [f"| {name} | {' | '.join(row)} |" for name, row in rows.items()]
    return "\n".join([head, "|---" * (len(SIZES) + 1) + "|", *lines])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tables", type=Path, nargs="?")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--methods", nargs="+", default=[*PROPOSERS, *SAMPLERS])
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--overhead", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if options.overhead:
        overhead(OVERHEAD, [name for name in options.methods if name in PROPOSERS])
    elif options.report:
        print(report(options.results), overhead_report(OVERHEAD), sep="\n\n")
    else:
        measure(options)


if __name__ == "__main__":
    main()
