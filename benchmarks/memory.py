"""How much memory does a race take of its own? ``python benchmarks/memory.py numbers``.

Prints the growth of the process's peak during a race, in bytes for each configuration
and row. A small race comes first, so that libraries do not count. One process can
measure once only: the peak never falls.
"""

from __future__ import annotations

import argparse
import pickle
import resource
import warnings

import numpy as np
from sklearn.linear_model import Ridge, RidgeClassifier

from cvst import RaceGridSearchCV


def peak() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["numbers", "classes"])
    parser.add_argument("--configurations", type=int, default=800)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--strategy", default="track_and_confirm")
    parser.add_argument("--looks", type=int, help="end after so many looks")
    parser.add_argument("--max-memory", help="such as 100MB")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(options.rows, 4))
    y = X @ [1.0, 2.0, 3.0, 4.0] + 3 * rng.normal(size=options.rows)
    estimator, scoring = Ridge(), "neg_mean_squared_error"
    if options.kind == "classes":
        estimator, scoring, y = RidgeClassifier(), "accuracy", (y > 0).astype(int)
    choice = {"strategy": options.strategy, "random_state": 0}
    small = {"alpha": [1.0, 2.0]}
    RaceGridSearchCV(estimator, small, **choice).fit(X[:500], y[:500])
    before = peak()
    grid = {"alpha": np.logspace(-4, 6, options.configurations)}
    choice |= {"max_looks": options.looks, "max_memory": options.max_memory}
    search = RaceGridSearchCV(estimator, grid, scoring=scoring, **choice).fit(X, y)
    grown = peak() - before
    each = grown / (options.configurations * options.rows)
    size = len(pickle.dumps(search)) / 1e6
    print(
        f"| {options.kind} | {options.strategy} | {options.max_memory} | "
        f"{options.configurations} | "
        f"{options.rows:,} | {grown / 1e6:.0f} MB | {each:.1f} | {size:.1f} MB |"
    )


if __name__ == "__main__":
    main()
