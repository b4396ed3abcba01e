"""Whether the winner is better than the estimator's own parameters, on few rows.

Development data sets, 100 to 1,000 rows, 60 configurations; scores on up to 4,000 rows
that the search never saw. What if the own parameters were kept unless a paired test on
the confirming folds finds the winner better at some level?

    python benchmarks/everyday/own_parameters.py run --minutes 60
    python benchmarks/everyday/own_parameters.py summary
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import ElasticNet, LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

sys.path.insert(0, str(Path(__file__).parent))

from data_sets import load

from cvst import RaceSearchCV

RESULTS = Path(__file__).parents[1] / "results" / "own_parameters.jsonl"

DATA_SETS = (
    *("churn", "nlswork", "spambase", "movies", "hotel_rates", "marketing", "visits"),
    *("diamonds", "page_blocks", "cells", "ames", "texture", "optdigits", "concrete"),
    "credit",
)

# For classes and for numbers.
MODELS = {
    "svc": (SVC(), SVR()),
    "hgb": (HistGradientBoostingClassifier(), HistGradientBoostingRegressor()),
    "rf": (RandomForestClassifier(), RandomForestRegressor()),
    "lr": (LogisticRegression(max_iter=200), ElasticNet()),
    "knn": (KNeighborsClassifier(), KNeighborsRegressor()),
    "mlp": (MLPClassifier(max_iter=50), MLPRegressor(max_iter=50)),
    "tree": (DecisionTreeClassifier(), DecisionTreeRegressor()),
}
SCALED = ("lr", "mlp", "svc", "knn")
WITHOUT_PROBABILITIES = ("svc", "knn", "tree")
SIZES, SEEDS = (100, 200, 400, 1000), (0, 1, 2)
LEVELS = (1.0, 0.5, 0.3, 0.2, 0.1, 0.05)


def cells():
    """Return all cells in a random order, so that any first part is a sample."""
    every = [
        (name, kind, n_rows, seed)
        for name in DATA_SETS
        for kind in MODELS
        for n_rows in SIZES
        for seed in SEEDS
    ]
    np.random.default_rng(7).shuffle(every)
    return [(name, kind, int(n), int(seed)) for name, kind, n, seed in every]


def model_for(kind, classes):
    """Return a pipeline that takes tables as they are."""
    numbers = [SimpleImputer(strategy="median")]
    numbers += [StandardScaler()] if kind in SCALED else []
    names = OneHotEncoder(
        handle_unknown="ignore", max_categories=20, sparse_output=False
    )
    columns = make_column_transformer(
        (make_pipeline(*numbers), make_column_selector(dtype_include=np.number)),
        (names, make_column_selector(dtype_exclude=np.number)),
    )
    return make_pipeline(columns, clone(MODELS[kind][0 if classes else 1]))


def gain_over_own(search):
    """Return the losses of the own parameters less those of the winner, row by row."""
    found = []
    for seen in search.race_.observations:
        kept = seen.kept.tolist()
        both = 0 in kept and search.best_index_ in kept
        if seen.losses is not None and seen.look.stage == "confirm" and both:
            own, best = (seen.losses[kept.index(n)] for n in (0, search.best_index_))
            found.append(own - best)
    return np.concatenate(found) if found else np.empty(0)


def measured(name, kind, n_rows, seed):
    """Return the scores of one cell."""
    X, y = load(name)
    X, y = X.reset_index(drop=True), np.asarray(y)
    classes = y.dtype.kind in "OUSb" or len(np.unique(y)) < 20
    if classes:
        y = LabelEncoder().fit_transform(y.astype(str))
    rows = np.random.default_rng(100 + seed).permutation(len(y))
    train, test = rows[:n_rows], rows[n_rows : n_rows + 4000]
    scoring = "neg_log_loss" if classes else "neg_mean_squared_error"
    if classes and kind in WITHOUT_PROBABILITIES:
        scoring = "accuracy"
    score, model = get_scorer(scoring), model_for(kind, classes)
    search = RaceSearchCV(model, n_iter=60, scoring=scoring, random_state=seed)
    search.fit(X.iloc[train], y[train])
    own = clone(model).set_params(**search.cv_results_["params"][0])
    seeds = [one for one in own.get_params() if one.endswith("random_state")]
    own.set_params(**dict.fromkeys(seeds, 0)).fit(X.iloc[train], y[train])
    is_own, gain = bool(search.best_index_ == 0), gain_over_own(search)
    known = {}
    if len(gain) and not is_own:
        test_result = stats.ttest_1samp(gain, 0, alternative="greater")
        known = {"p": float(test_result.pvalue) if gain.std() else 1.0, "m": len(gain)}
    return {
        "d": name,
        "kind": kind,
        "n": n_rows,
        "seed": seed,
        "scoring": scoring,
        "win": float(score(search.best_estimator_, X.iloc[test], y[test])),
        "own": float(score(own, X.iloc[test], y[test])),
        "is_own": is_own,
        **known,
    }


def run(minutes):
    """Measure cells that are not in the file yet, until the time is up."""
    end = time.monotonic() + 60 * minutes
    key = ("d", "kind", "n", "seed")
    done = {tuple(one[name] for name in key) for one in records()}
    for cell in cells():
        if cell in done or time.monotonic() > end:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            record = measured(*cell)
        with RESULTS.open("a") as file:
            file.write(json.dumps(record) + "\n")


def records():
    """Return what was measured."""
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def gains(found, level=1.0):
    """Return relative gains over the own parameters, if they are kept above a level."""
    return [
        # Without shared folds it was beaten on the first one.
        (one["win"] - one["own"]) / abs(one["own"]) if one.get("p", 0) < level else 0.0
        for one in found
    ]


def summary():
    """Print how often the winner is better, and what a level would change."""
    found = records()
    chosen = [one for one in found if not one["is_own"]]
    better = sum(one["win"] > one["own"] for one in chosen)
    print(
        f"{len(found)} searches; the own parameters won {len(found) - len(chosen)}, "
        f"and of the other {len(chosen)} winners {better} are better than they"
    )
    for level in LEVELS:
        print(
            f"kept unless p < {level:g}: mean gain {np.mean(gains(chosen, level)):.3f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["run", "summary"])
    parser.add_argument("--minutes", type=float, default=60)
    args = parser.parse_args()
    run(args.minutes) if args.command == "run" else summary()
