"""How often a race may climb: test errors of its choice over those of full folds.

    python benchmarks/rules/climbs.py --problems bumps,blocks --out rules_climbs.csv

Kernel ridge regression through the search, on the draws of
``results/rules_kernel_default.csv``, which has the test errors of full 10-fold
cross-validation. Needs no GPU.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
import pandas as pd
from problems import PENALTIES, problems
from sklearn.kernel_ridge import KernelRidge

from cvst import RaceGridSearchCV
from cvst.race import TrackAndConfirm

KNOWN = Path(__file__).parents[1] / "results" / "rules_kernel_default.csv"
CLIMBS = (2, 4)


def error_of_choice(problem, seed, n_train, climbs):
    """Return the mean squared error of the winner in units of the targets' variance."""
    X, y, X_test, y_test = problem.draw(n_train, seed)
    mean, spread = y.mean(), y.std()
    search = RaceGridSearchCV(
        KernelRidge(kernel="rbf"),
        {"gamma": problem.gammas.tolist(), "alpha": (n_train * PENALTIES).tolist()},
        strategy=TrackAndConfirm(climbs=climbs),
        scoring="neg_mean_squared_error",
        random_state=seed,
    ).fit(X, (y - mean) / spread)
    return np.mean((search.predict(X_test) - (y_test - mean) / spread) ** 2)


def main():
    """Run all races and print the mean ratio of each number of climbs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", default="bumps,blocks")
    parser.add_argument("--out", type=Path, default=Path("rules_climbs.csv"))
    options = parser.parse_args()
    known = pd.read_csv(KNOWN)
    full = known[known["rule"] == "full 10-fold"].set_index(["problem", "seed"])
    rows = []
    for problem in problems():
        if problem.name not in options.problems.split(","):
            continue
        for seed, row in full.loc[problem.name].iterrows():
            for climbs in CLIMBS:
                error = error_of_choice(problem, seed, int(row["n_train"]), climbs)
                rows.append(
                    [problem.name, seed, climbs, error, row["test_error"] / error]
                )
    with options.out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["problem", "seed", "climbs", "test_error", "ratio"])
        writer.writerows(rows)
    table = pd.read_csv(options.out)
    table["log_ratio"] = np.log(table["ratio"])
    print(np.exp(table.groupby(["problem", "climbs"])["log_ratio"].mean()).round(3))


if __name__ == "__main__":
    main()
