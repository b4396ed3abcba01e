"""Errors and fits with and without a final, where there are too few rows for subsets.

    python benchmarks/rules/short.py

Races of 36 support vector machines and 48 trees on 200 rows of eight real data sets,
eight draws each. *And a final* is the rule before: the best three of the race meet on
ten other folds. Prints the error of both choices on 3,000 fresh rows, and their fits
beside those of a plain 5-fold search.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "everyday"))

# isort: off
import one_thread  # noqa: F401 - before NumPy

# isort: on
import numpy as np
from data_sets import load
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV

SETS = (
    *("spambase", "page_blocks", "satimage", "penbased"),
    *("texture", "optdigits", "magic", "churn"),
)
N_DRAWS, N_ROWS, N_FRESH, FINALISTS = 8, 200, 3_000, 3
MODELS = (
    (
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": np.logspace(-1, 3, 6), "svc__gamma": np.logspace(-4, 0, 6)},
    ),
    (
        DecisionTreeClassifier(random_state=0),
        {
            "max_depth": [2, 3, 4, 6, 8, None],
            "min_samples_leaf": [1, 2, 4, 8],
            "max_features": [None, 0.5],
        },
    ),
)


def compared(X, y, fresh, model, grid, seed):
    """Return errors and fits of the race, and of the race and a final."""
    search = RaceGridSearchCV(model, grid, random_state=seed).fit(X, y)
    fits = sum(len(seen.look.configurations) for seen in search.race_.observations)
    ranks = search.cv_results_["rank_test_score"]
    best = [search.cv_results_["params"][n] for n in np.argsort(ranks)[:FINALISTS]]
    folds = StratifiedKFold(10, shuffle=True, random_state=seed + 1000)
    means = [
        cross_val_score(clone(model).set_params(**params), X, y, cv=folds).mean()
        for params in best
    ]
    chosen = clone(model).set_params(**best[int(np.argmax(means))]).fit(X, y)
    errors = [1 - one.score(*fresh) for one in (search, chosen)]
    return errors[0], fits, errors[1], fits + 10 * FINALISTS


def main():
    warnings.simplefilter("ignore")
    found = []
    for name in SETS:
        table, y = load(name)
        X = table.select_dtypes("number").fillna(0).to_numpy(float)
        for seed in range(N_DRAWS):
            rows = np.random.default_rng(seed).permutation(len(y))
            train, fresh = rows[:N_ROWS], rows[N_ROWS : N_ROWS + N_FRESH]
            # Folds need some rows of each class.
            classes, counts = np.unique(y[train], return_counts=True)
            train = train[np.isin(y[train], classes[counts >= 10])]
            test = X[fresh], y[fresh]
            found += [
                (len(ParameterGrid(grid)), *compared(X[train], y[train], test, *one))
                for model, grid in MODELS
                for one in [(model, grid, seed)]
            ]
    n_all, without, fits, with_final, more_fits = np.array(found).T
    change = with_final - without
    print(f"{len(found)} races; error without a final {without.mean():.4f}, with one")
    print(f"{with_final.mean():.4f}; difference {change.mean():+.4f} ± ", end="")
    print(f"{change.std(ddof=1) / np.sqrt(len(change)):.4f} (standard error)")
    print(f"fits over those of a plain search: {np.mean(fits / (5 * n_all)):.2f}, ")
    print(f"at most {np.max(fits / (5 * n_all)):.2f}; with a final ", end="")
    print(f"{np.mean(more_fits / (5 * n_all)):.2f}, ", end="")
    print(f"at most {np.max(more_fits / (5 * n_all)):.2f}")


if __name__ == "__main__":
    main()
