"""Compare rules through the searches: five kinds of models on real data.

    CVST_DATA_HOME=... python benchmarks/rules/models.py --out rules_models.csv

All races and both full searches share evaluators; halving and Optuna fit one model at
a time, Optuna for as many seconds as tracking and confirming took. Rows that the
output file already has are not computed again. Summarise it with summary.py.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from ast import literal_eval
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
from real_data import data_sets, split
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - registers
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    HalvingGridSearchCV,
    KFold,
    ParameterGrid,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR

from cvst.evaluation import batch_evaluator_for
from cvst.race import CVST, CrossValidation, TrackAndConfirm
from cvst.search import RaceGridSearchCV

# Costs of one fit grow with this power of the number of rows.
EXPONENTS = {"knn": 1, "linear": 1, "boosting": 1, "forest": 1, "svm": 2}

# Costly models are tried on these sets, cheap ones on all.
CHOSEN = {
    "boosting": ("diamonds", "spam7", "computers", "churn"),
    "forest": ("covtype", "saratoga", "credit", "wages"),
    "svm": ("cells", "kin32fm", "churn", "deliveries"),
    "linear": tuple(d.name for d in data_sets() if d.name != "digits"),
}

FULL, TRACK, OPTUNA = "full 10-fold", "track and confirm", "Optuna, same time"
HALVING, PLAIN = "halving", "plain 10-fold"

STRATEGIES = {
    FULL: CrossValidation(10),
    TRACK: TrackAndConfirm(),
    "paper": CVST(),
    "full 5-fold": CrossValidation(5),
}

COLUMNS = [
    "problem",
    "task",
    "design",
    "seed",
    "rule",
    "test_error",
    "operations",
    "fits",
    "seconds",
    "n_train",
    "n_configurations",
    "error",
    "choice",
]


def model_and_grid(kind, task, n_features):
    """Return an estimator and its grid of 100 to 200 configurations."""
    binary = task == "classification"
    if kind == "boosting":
        model = (
            HistGradientBoostingClassifier if binary else HistGradientBoostingRegressor
        )(early_stopping=False)
        return model, {
            "learning_rate": [0.05, 0.1, 0.2, 0.4, 0.8],
            "max_leaf_nodes": [3, 5, 8, 12],
            "max_iter": [5, 10, 20, 35, 50],
        }
    if kind == "forest":
        model = (RandomForestClassifier if binary else RandomForestRegressor)()
        return model, {
            "max_features": [0.1, 0.2, 0.4, 0.7, 1.0],
            "min_samples_leaf": [1, 2, 4, 8],
            "n_estimators": [5, 10, 15, 20, 25],
        }
    if kind == "knn":
        nearest = (KNeighborsClassifier if binary else KNeighborsRegressor)()
        return make_pipeline(StandardScaler(), nearest), {
            f"{type(nearest).__name__.lower()}__{name}": values
            for name, values in {
                "n_neighbors": list(range(1, 31)),
                "weights": ["uniform", "distance"],
                "p": [1, 2],
            }.items()
        }
    if kind == "svm":
        machine = (SVC if binary else SVR)()
        name = type(machine).__name__.lower()
        return make_pipeline(StandardScaler(), machine), {
            f"{name}__C": np.logspace(-2, 4, 13).tolist(),
            f"{name}__gamma": (np.logspace(-3, 2, 11) / n_features).tolist(),
        }
    if binary:
        return make_pipeline(
            StandardScaler(),
            SelectKBest(f_classif),
            LogisticRegression(solver="newton-cholesky"),
        ), {
            "selectkbest__k": sorted(
                {max(1, n_features // 4), n_features // 2, n_features}
            ),
            "logisticregression__C": np.logspace(-4, 2, 25).tolist(),
            "logisticregression__class_weight": [None, "balanced"],
        }
    degrees = [1, 2] if n_features <= 40 else [1]
    return make_pipeline(
        StandardScaler(), PolynomialFeatures(include_bias=False), Ridge()
    ), {
        "polynomialfeatures__degree": degrees,
        "ridge__alpha": np.logspace(-3, 5, 60 if len(degrees) == 2 else 120).tolist(),
    }


def losses(model, params, data, task):
    """Return the test losses of a choice, trained on all training rows."""
    X, y, X_test, y_test = data
    chosen = clone(model).set_params(**params)
    seeds = {k: 0 for k in chosen.get_params() if k.endswith("random_state")}
    predicted = chosen.set_params(**seeds).fit(X, y).predict(X_test)
    if task == "classification":
        return (predicted != y_test).astype(float)
    return (predicted - y_test) ** 2


def raced(strategy, model, grid, data, seed, exponent):
    """Run a search; return choice, operations in full fits, fits and seconds."""
    X, y = data[:2]
    search = RaceGridSearchCV(
        model, grid, strategy=strategy, refit=False, random_state=seed, n_jobs=1
    )
    start = time.perf_counter()
    search.fit(X, y)
    seconds = time.perf_counter() - start
    evaluator = batch_evaluator_for(model)
    params = search.cv_results_["params"]
    operations = fits = 0.0
    for observation in search.race_.observations:
        look = observation.look
        there = {index: params[index] for index in look.configurations.tolist()}
        operations += len(there) * (look.n_train / len(y)) ** exponent
        fits += len(evaluator.groups(model, there))
    return search.best_params_, operations, fits, seconds


def halved(model, grid, data, task, seed, exponent):
    """Run scikit-learn's successive halving."""
    X, y = data[:2]
    scoring = "accuracy" if task == "classification" else "neg_mean_squared_error"
    search = HalvingGridSearchCV(
        model, grid, scoring=scoring, refit=False, random_state=seed, error_score=-1e9
    )
    start = time.perf_counter()
    search.fit(X, y)
    seconds = time.perf_counter() - start
    operations = sum(
        5 * count * (0.8 * rows / len(y)) ** exponent
        for count, rows in zip(search.n_candidates_, search.n_resources_, strict=True)
    )
    return search.best_params_, operations, 5 * sum(search.n_candidates_), seconds


def sampled(model, grid, data, task, seed, exponent, seconds):
    """Run Optuna's TPE on the levels of the grid for a given time."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    X, y = data[:2]
    binary = task == "classification"
    scoring = "accuracy" if binary else "neg_mean_squared_error"
    folds = (StratifiedKFold if binary else KFold)(10, shuffle=True, random_state=seed)

    def objective(trial):
        params = {
            name: values[trial.suggest_int(name, 0, len(values) - 1)]
            for name, values in grid.items()
        }
        trial.set_user_attr("params", params)
        chosen = clone(model).set_params(**params)
        return cross_val_score(chosen, X, y, cv=folds, scoring=scoring).mean()

    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed)
    )
    start = time.perf_counter()
    study.optimize(objective, timeout=seconds)
    n_fits = 10 * len(study.trials)
    used = time.perf_counter() - start
    operations = n_fits * 0.9**exponent
    return study.best_trial.user_attrs["params"], operations, n_fits, used


def plain_seconds(model, grid, data, seed, n_sampled=8):
    """Estimate the time of plain GridSearchCV(cv=10) from some of its fits."""
    X, y = data[:2]
    rng = np.random.default_rng(seed)
    everybody = list(ParameterGrid(grid))
    cut = len(y) * 9 // 10
    start = time.perf_counter()
    for index in rng.choice(len(everybody), n_sampled, replace=False):
        chosen = clone(model).set_params(**everybody[index])
        chosen.fit(X[:cut], y[:cut]).predict(X[cut:])
    each = (time.perf_counter() - start) / n_sampled
    return 10 * len(everybody) * each


def compare(data_set, kind, n_train, seed, rules, done):
    """Yield a row per rule; ``done`` has the rows of this problem by rule."""
    data = split(data_set, n_train, seed)
    task, exponent = data_set.task, EXPONENTS[kind]
    model, grid = model_and_grid(kind, task, data[0].shape[1])
    n_configurations = len(ParameterGrid(grid))
    start = [f"{data_set.name} {kind}", task, False, seed]
    known = {rule: float(row["seconds"]) for rule, row in done.items()}
    reference = None
    if FULL in done:
        reference = losses(model, literal_eval(done[FULL]["choice"]), data, task)
    for rule in rules:
        if rule == PLAIN:
            seconds = plain_seconds(model, grid, data, seed)
            fits = 10 * n_configurations
            yield [*start, rule, "", fits * 0.9**exponent, fits, round(seconds, 2),
                   len(data[1]), n_configurations, "", ""]  # fmt: skip
            continue
        if rule in STRATEGIES:
            outcome = raced(STRATEGIES[rule], model, grid, data, seed, exponent)
        elif rule == HALVING:
            outcome = halved(model, grid, data, task, seed, exponent)
        else:
            limit = known[TRACK]
            outcome = sampled(model, grid, data, task, seed, exponent, limit)
        params, operations, fits, seconds = outcome
        known[rule] = seconds
        points = losses(model, params, data, task)
        reference = points if rule == FULL else reference
        # The standard error of the difference in test error, relative to the error.
        spread = np.std(points - reference, ddof=1) / np.sqrt(len(points))
        yield [*start, rule, points.mean(), operations, fits, round(seconds, 3),
               len(data[1]), n_configurations, spread / points.mean(),
               params]  # fmt: skip


def main():
    """Run what is missing and append it to the output file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("rules_models.csv"))
    parser.add_argument("--only", default="", help="kinds of models, comma-separated")
    parser.add_argument("--also", default="", help="halving, plain 10-fold")
    parser.add_argument("--end", default="99:99", help="begin no problem after HH:MM")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.out.exists():
        options.out.write_text(",".join(COLUMNS) + "\n")
    done = defaultdict(dict)
    with options.out.open(newline="") as file:
        for row in csv.DictReader(file):
            done[row["problem"], int(row["seed"])][row["rule"]] = row
    also = [rule for rule in (PLAIN, HALVING) if rule in options.also.split(",")]
    rules = [*STRATEGIES, OPTUNA, *also]
    kinds = options.only.split(",") if options.only else list(EXPONENTS)
    for seed in range(options.repetitions):
        for kind, data_set in product(kinds, data_sets()):
            if data_set.name not in CHOSEN.get(kind, (data_set.name,)):
                continue
            before = done[f"{data_set.name} {kind}", seed]
            missing = [rule for rule in rules if rule not in before]
            if not missing or time.strftime("%H:%M") > options.end:
                continue
            found = list(compare(data_set, kind, options.rows, seed, missing, before))
            with options.out.open("a", newline="") as file:
                csv.writer(file).writerows(found)
            now = time.strftime("%H:%M:%S")
            print(f"{now} seed {seed} {data_set.name} {kind}", flush=True)


if __name__ == "__main__":
    main()
