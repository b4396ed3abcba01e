"""Compare rules on the same fits: test error against full cross-validation, and cost.

    CVST_DATA_HOME=... python benchmarks/rules/study.py --repetitions 10 --out rules.csv

Needs a GPU and PyTorch. Speed is by operation count for a cubic learner, against
10-fold cross-validation of the whole grid; ratio is the test error of the choice of
full cross-validation over that of the rule's choice, above 1 is better.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

import numpy as np
import torch
from problems import PENALTIES, problems
from sklearn.model_selection import KFold, StratifiedKFold
from torch_source import TorchKernelSource

from cvst.race import (
    CVST,
    Axis,
    CrossValidation,
    Problem,
    RaceState,
    SearchSpace,
    TrackAndConfirm,
    race,
)

RULES = {
    "full 10-fold": CrossValidation(10),
    "full 5-fold": CrossValidation(5),
    "paper": CVST(),
    "paper, no early stopping": CVST(stopping="never"),
    "track and confirm": TrackAndConfirm(),
    "track and confirm, 3 folds": TrackAndConfirm(n_folds=3),
    "track and confirm, all raced": TrackAndConfirm(n_raced=0),
}


def grid_space(n_gammas, n_alphas):
    """Return the axes of the 610-configuration grid."""
    gamma = np.repeat(np.arange(n_gammas), n_alphas)
    alpha = np.tile(np.arange(n_alphas), n_gammas)
    return SearchSpace((Axis("gamma", gamma, True), Axis("alpha", alpha, True)))


def prepared(problem, n_train, seed):
    """Draw the data, shuffle them and make folds."""
    X, y, X_test, y_test = problem.draw(n_train, seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    if problem.task == "classification":
        labels = np.unique(np.concatenate([y, y_test]))
        y, y_test = (np.where(v == labels[-1], 1.0, -1.0) for v in (y, y_test))
        maker = StratifiedKFold
        constant = min(np.mean(y > 0), np.mean(y < 0))
        # Spread the classes evenly, as the search does.
        ranks = np.empty(len(y))
        for sign in (-1.0, 1.0):
            rows = order[y[order] == sign]
            ranks[rows] = (np.arange(len(rows)) + rng.random()) / len(rows)
        order = np.argsort(ranks)
    else:
        mean, spread = y.mean(), y.std()
        y, y_test = (y - mean) / spread, (y_test - mean) / spread
        maker = KFold
        constant = 1.0
    X, y = X[order], y[order]
    folds = {}
    for count in (3, 5, 10):
        splitter = maker(count, shuffle=True, random_state=seed)
        folds[count] = tuple(splitter.split(X, y))
    return X, y, X_test, y_test, folds, constant


def main():
    """Run the study and print a row per rule, problem and repetition."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--out", default="rules.csv")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after")
    parser.add_argument("--only", default="", help="problems whose name contains this")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    begin = time.perf_counter()
    with Path(options.out).open("w", newline="") as file:
        writer = csv.writer(file)
        header = [
            "problem",
            "task",
            "design",
            "seed",
            "rule",
            "test_error",
            "gamma",
            "alpha",
            "operations",
            "looks",
            "seconds",
            "n_train",
        ]
        writer.writerow(header)
        for seed in range(options.first, options.first + options.repetitions):
            for problem in problems():
                if time.perf_counter() - begin > options.seconds:
                    sys.exit(0)
                if options.only in problem.name:
                    for row in compare(problem, options.rows, seed, options.device):
                        writer.writerow(row)
                    file.flush()
            print(f"seed {seed}: {time.perf_counter() - begin:.0f} s", flush=True)


def compare(problem, n_train, seed, device):
    """Yield the outcome of each rule on one draw of one problem."""
    X, y, X_test, y_test, folds, constant = prepared(problem, n_train, seed)
    alphas = len(y) * PENALTIES
    n_configurations = len(problem.gammas) * len(alphas)
    setting = Problem(
        n_configurations,
        len(y),
        folds=folds,
        space=grid_space(len(problem.gammas), len(alphas)),
        constant_loss=constant,
        seed=seed,
    )
    known = {}
    for name, strategy in RULES.items():
        source = TorchKernelSource(
            X,
            y,
            problem.gammas,
            alphas,
            rescale=strategy.rescales,
            binary=problem.task == "classification",
            device=device,
        )
        start = time.perf_counter()
        state = list(race(RaceState(setting), source, strategy))[-1]
        winner = int(strategy.ranking(state)[0])
        seconds = time.perf_counter() - start
        if winner not in known:
            tensors = (
                torch.as_tensor(v, dtype=torch.float64, device=device)
                for v in (X_test, y_test)
            )
            losses = source.losses(source.X, source.y, *tensors, [winner])
            known[winner] = float(losses.mean())
        yield [
            problem.name,
            problem.task,
            problem.design,
            seed,
            name,
            known[winner],
            problem.gammas[winner // len(alphas)],
            alphas[winner % len(alphas)],
            source.operations,
            state.n_looks,
            round(seconds, 3),
            len(y),
        ]


if __name__ == "__main__":
    main()
