"""Compare races of few configurations with the plain search: choice and fits.

    CVST_EVERYDAY=... python benchmarks/rules/few.py --seeds 5 --out rules_few.csv
    python benchmarks/rules/few_summary.py

Grids of 2 to 29 configurations are drawn from larger ones; every rule sees the same
folds, and a fit that two rules want is made once. The choice of each rule is fitted on
all training rows, and its loss on fresh rows is compared with that of the choice of
full 5-fold search, which is what ``GridSearchCV()`` does. Fits are counted, those on
nine tenths of the rows weighed by the rows.

``five folds`` is the default for few configurations; ``final too`` is what it was
before: ten other folds for the best three, and for all of five or fewer.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "everyday"))

# isort: off
import one_thread  # noqa: F401 - before NumPy

# isort: on
import numpy as np
from data_sets import DATA_SETS, folder, load
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cvst._typing import count_rows
from cvst.race import CrossValidation, FoldRace, LookLosses, Program, RaceState, race
from cvst.search import RaceGridSearchCV
from cvst.search._options import SearchOptions
from cvst.search._setup import prepare
from cvst.search.rows import read_inputs

SIZES = (2, 4, 6, 9, 15, 24, 29)
PLAIN = "full 5-fold"


def best_three(state):
    """Return those that a final compares once more."""
    return Program([FoldRace(5)]).ranking(state)[:3]


def rules(size):
    """Return the strategies by name."""
    final = FoldRace(10, "final", enter=best_three, fewest=2)
    return {
        PLAIN: CrossValidation(5),
        "five folds": Program([FoldRace(5)]),
        "final too": Program([final] if size <= 5 else [FoldRace(5), final]),
    }


COLUMNS = ["data", "model", "size", "seed", "rule", "test_loss", "fits", "choice"]
NAMES = ("digits", "cancer", "diabetes", "spambase", "page_blocks", "satimage",
         "penbased", "texture", "movies", "loans", "visits", "wages")  # fmt: skip


def rows_of(name, seed, n_train=500, n_test=3000):
    """Return training and test rows; never more than half for training."""
    loaders = {"digits": load_digits, "cancer": load_breast_cancer}
    loaders["diabetes"] = load_diabetes
    if name in loaders:
        X, y = loaders[name](return_X_y=True)
        classes = name != "diabetes"
    else:
        table, y = load(name)
        X = table.select_dtypes("number").to_numpy(dtype=float)
        X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
        classes = DATA_SETS[name].classes
    order = np.random.default_rng(seed).permutation(len(y))
    n_train = min(n_train, len(y) // 2)
    train, test = order[:n_train], order[n_train : n_train + n_test]
    if not classes:
        y = (y - y[train].mean()) / y[train].std()
    return classes, X[train], y[train], X[test], y[test]


def models(classes):
    """Return estimators and large grids to draw from."""
    trees = {"max_depth": [2, 3, 5, 8, 12, None], "min_samples_leaf": [1, 3, 10, 30]}
    boosting = (
        HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    )
    forest = RandomForestClassifier if classes else RandomForestRegressor
    tree = DecisionTreeClassifier if classes else DecisionTreeRegressor
    nearest = KNeighborsClassifier if classes else KNeighborsRegressor
    machine = SVC if classes else SVR
    linear = LogisticRegression(max_iter=50) if classes else Ridge()
    strength = "C" if classes else "alpha"
    line, name = make_pipeline(StandardScaler(), linear), type(linear).__name__.lower()
    kernel = type(machine()).__name__.lower()
    return {
        "linear": (line, {f"{name}__{strength}": np.logspace(-4, 4, 40).tolist()}),
        "svm": (
            make_pipeline(StandardScaler(), machine()),
            {
                f"{kernel}__C": np.logspace(-1, 3, 6).tolist(),
                f"{kernel}__gamma": np.logspace(-4, 0, 6).tolist(),
            },
        ),
        "neighbours": (
            nearest(),
            {
                "n_neighbors": [1, 3, 5, 9, 15, 25],
                "weights": ["uniform", "distance"],
                "p": [1, 1.5, 2],
            },
        ),
        "tree": (tree(random_state=0), {**trees, "max_features": [None, 0.5]}),
        "forest": (
            forest(n_estimators=20, random_state=0),
            {**trees, "max_features": [0.2, 0.5, 1.0]},
        ),
        "boosting": (
            boosting(max_iter=30, early_stopping=False, random_state=0),
            {
                "learning_rate": [0.03, 0.1, 0.2, 0.4, 0.8],
                "max_leaf_nodes": [3, 7, 15],
                "min_samples_leaf": [5, 20],
                "l2_regularization": [0, 1],
            },
        ),
    }


@dataclass
class Remembered:
    """A source that fits everything once for all rules."""

    source: object
    known: dict = field(default_factory=dict)

    def admit(self, configurations):
        """Nothing joins."""

    def observe(self, look):
        """Return the losses of some configurations of a fold."""
        known = self.known.setdefault(np.asarray(look.test).tobytes(), {})
        fresh = np.array([i for i in look.configurations.tolist() if i not in known])
        if len(fresh):
            seen = self.source.observe(replace(look, configurations=fresh))
            known.update(zip(fresh.tolist(), seen.losses, strict=True))
        losses = np.stack([known[number] for number in look.configurations.tolist()])
        unknown = np.full(len(losses), np.nan)
        return LookLosses(losses, losses.mean(axis=1), unknown, unknown)


def choices(model, grid, X, y, seed):
    """Yield rule, number of the choice and fits."""
    known = {}
    for rule, strategy in rules(len(grid)).items():
        search = RaceGridSearchCV(
            model, grid, strategy=strategy, random_state=seed, n_jobs=1
        )
        options = SearchOptions.of(search, lambda: 0.0)
        inputs = read_inputs(model, X, y, {}, lambda _: ({}, {}, {}))
        setup = prepare(options, list(search._configurations()), inputs)
        source = Remembered(setup.source, known)
        *_, state = race(RaceState(setup.problem), source, setup.strategy)
        fits = sum(
            len(look.configurations) * count_rows(look.train) / (0.8 * len(y))
            for look in (one.look for one in state.observations)
        )
        yield rule, int(setup.strategy.ranking(state)[0]), fits


def compare(name, kind, size, seed):
    """Yield a row per rule."""
    classes, X, y, X_test, y_test = rows_of(name, seed)
    model, whole = models(classes)[kind]
    rng = np.random.default_rng([seed, size])
    everyone = list(ParameterGrid(whole))
    drawn = rng.choice(len(everyone), size, replace=False)
    drawn = [everyone[number] for number in sorted(drawn.tolist())]
    grid = [{key: [value] for key, value in one.items()} for one in drawn]
    tested = {}
    for rule, choice, fits in choices(model, grid, X, y, seed):
        if choice not in tested:
            fitted = clone(model).set_params(**drawn[choice]).fit(X, y)
            error = fitted.predict(X_test) - y_test
            tested[choice] = np.mean(error != 0 if classes else error**2)
        row = [name, kind, size, seed, rule, tested[choice], round(fits, 2), choice]
        yield row


def main():
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default="", help="kinds of models, comma-separated")
    parser.add_argument("--out", type=Path, default=Path("rules_few.csv"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [
        n for n in NAMES if n not in DATA_SETS or (folder() / f"{n}.csv.gz").exists()
    ]
    kinds = options.only.split(",") if options.only else list(models(True))
    done = set()
    if options.out.exists():
        with options.out.open(newline="") as file:
            done = {(r["data"], r["model"], int(r["size"]), int(r["seed"]))
                    for r in csv.DictReader(file)}  # fmt: skip
    else:
        options.out.write_text(",".join(COLUMNS) + "\n")
    for seed in range(options.seeds):
        for name in names:
            for kind in kinds:
                for size in SIZES:
                    if (name, kind, size, seed) in done:
                        continue
                    rows = list(compare(name, kind, size, seed))
                    with options.out.open("a", newline="") as file:
                        csv.writer(file).writerows(rows)
            print(f"seed {seed}, {name}", flush=True)


if __name__ == "__main__":
    main()
