"""How often the best configuration is lost before it is confirmed.

    python benchmarks/rules/misses.py --repetitions 3 --out rules_misses.csv

Gaussian kernel least squares (squared error throughout) on problems whose optimum
drifts with the number of rows. Full 10-fold cross-validation says who is best; a race
misses if nobody within one per cent of that loss reaches the folds.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np
from problems import PENALTIES, problems
from sklearn.kernel_ridge import KernelRidge

from cvst.race import CrossValidation, TrackAndConfirm
from cvst.search import RaceGridSearchCV

NAMES = (
    "blocks",
    "bumps",
    "doppler",
    "noisy sinc d=3 n=0.1",
    "noisy sinc d=4 n=0.2",
    "friedman1",
    "ringnorm",
    "steps",
    "chirp",
    "spirals",
)

COLUMNS = [
    "problem",
    "seed",
    "n_train",
    "winner_confirmed",
    "as_good_confirmed",
    "left_by",
    "left_at",
    "excess_of_choice",
    "n_first",
    "n_late",
    "n_confirm",
    "n_folds_run",
    "n_final_folds_run",
]


def outcome(problem, n_train, seed):
    """Return what became of the best configuration in one race."""
    X, y, *_ = problem.draw(n_train, seed)
    y = np.asarray(y, dtype=float)
    y = (y - y.mean()) / y.std()
    grid = {
        "gamma": problem.gammas[::2].tolist(),
        "alpha": (len(y) * PENALTIES).tolist(),
    }
    model = KernelRidge(kernel="rbf")
    common = {"refit": False, "random_state": seed, "n_jobs": 1}
    full = RaceGridSearchCV(model, grid, strategy=CrossValidation(10), **common)
    means = full.fit(X, y).race_.mean_losses.mean(axis=1)
    race = RaceGridSearchCV(model, grid, strategy=TrackAndConfirm(), **common)
    race.fit(X, y)
    seen = race.race_.observations
    folds = [o for o in seen if o.look.stage not in ("first look", "late look")]
    confirmed = np.unique(np.concatenate([o.look.configurations for o in folds]))
    best = int(np.nanargmin(means))
    reason = stage = ""
    if best not in confirmed:
        for observation in seen:
            if best in observation.drops:
                reason, stage = observation.drops[best], observation.look.stage
    first, late = (
        sum(len(o.look.configurations) for o in seen if o.look.stage == name)
        for name in ("first look", "late look")
    )
    sizes = [len(o.look.configurations) for o in folds if o.look.stage != "final"]
    final = sum(len(o.look.configurations) for o in folds if o.look.stage == "final")
    return [
        problem.name,
        seed,
        len(y),
        best in confirmed,
        bool(np.any(means[confirmed] <= 1.01 * means[best])),
        reason,
        stage,
        round(means[race.best_index_] / means[best] - 1, 5),
        first,
        late,
        sizes[0],
        sum(sizes),
        final,
    ]


def main():
    """Append a row per race to the output file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--out", type=Path, default=Path("rules_misses.csv"))
    parser.add_argument("--end", default="99:99", help="begin no race after HH:MM")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    done = set()
    if options.out.exists():
        with options.out.open(newline="") as file:
            done = {(row["problem"], row["seed"]) for row in csv.DictReader(file)}
    else:
        options.out.write_text(",".join(COLUMNS) + "\n")
    chosen = [problem for problem in problems() if problem.name in NAMES]
    for seed in range(options.repetitions):
        for problem in chosen:
            late = time.strftime("%H:%M") > options.end
            if late or (problem.name, str(seed)) in done:
                continue
            row = outcome(problem, options.rows, seed)
            with options.out.open("a", newline="") as file:
                csv.writer(file).writerow(row)
            print(time.strftime("%H:%M:%S"), *row, flush=True)


if __name__ == "__main__":
    main()
