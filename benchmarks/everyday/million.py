"""A million rows, LightGBM and 60 seconds: ``python benchmarks/everyday/million.py``.

What was fixed before the first run: a million training and 200,000 fresh rows of twenty
columns, ten of which matter, with labels drawn by a known probability, so that the best
log loss there can be is known too; the space of ``models.py``; 60 seconds for each
search, its final fit not counted. The searches: :class:`cvst.RaceSearchCV`; the TPE of
Optuna with its Wilcoxon pruner over five folds; and with one hold-out of a fifth of the
rows, as people do with large data. Judged is a fit of the best parameters on all rows;
the default parameters stand beside. ``--out`` gets a line for each.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from models import model as model_and_space
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from cvst import RaceSearchCV
from spaces import dimensions

N_TRAIN, N_FRESH, N_COLUMNS = 1_000_000, 200_000, 20


def make_data(n_rows: int, seed: int):
    """Return rows, labels, and the probabilities that the labels were drawn with."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_rows, N_COLUMNS))
    score = 3 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 6 * (X[:, 2] - 0.5) ** 2
    score += 2 * X[:, 3] - X[:, 4] + 2 * (X[:, 5] > X[:, 6]) * X[:, 7]
    score += 2 * np.cos(6 * X[:, 8]) * X[:, 9]
    p = 1 / (1 + np.exp(-2 * (score - 3.5)))
    return X, (rng.uniform(size=n_rows) < p).astype(int), p


def race(model, space, X, y, seconds, seed):
    """Return the winner of a race, and the number of configurations."""
    search = RaceSearchCV(
        *(model, space),
        time_budget=seconds,
        scoring="neg_log_loss",
        random_state=seed,
        refit=False,
    ).fit(X, y)
    return search.best_params_, len(search.cv_results_["params"])


def optuna_folds(model, space, X, y, seconds, seed):
    """Return the best of Optuna's with five folds and its pruner."""
    return _optuna(model, space, X, y, seconds, seed, 5)


def optuna_hold_out(model, space, X, y, seconds, seed):
    """Return the best of Optuna's on one fifth of the rows."""
    return _optuna(model, space, X, y, seconds, seed, 1)


def _optuna(model, space, X, y, seconds, seed, n_folds):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    start = time.perf_counter()
    folds = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y))
    known = dimensions(space)
    study = optuna.create_study(
        sampler=optuna.samplers.TPESampler(seed=seed),
        pruner=optuna.pruners.WilcoxonPruner(p_threshold=0.1),
    )
    best, n_tried, chosen = np.inf, 0, {}
    while time.perf_counter() - start < seconds:
        one = study.ask({name: kind.optuna() for name, kind in known.items()})
        params = {name: known[name].value(given) for name, given in one.params.items()}
        losses = []
        for place, (train, test) in enumerate(folds[:n_folds]):
            fitted = clone(model).set_params(**params).fit(X[train], y[train])
            losses.append(log_loss(y[test], fitted.predict_proba(X[test])))
            one.report(losses[-1], place)
            late = time.perf_counter() - start >= seconds
            if late or (n_folds > 1 and one.should_prune()):
                break
        study.tell(one, float(np.mean(losses)))
        whole = len(losses) == n_folds
        n_tried += 1
        # Without any that saw all folds in time, the first will do.
        if not chosen or (whole and np.mean(losses) < best):
            best, chosen = np.mean(losses) if whole else np.inf, params
    return chosen, n_tried


SEARCHES = {
    "race": race,
    "optuna_folds": optuna_folds,
    "optuna_hold_out": optuna_hold_out,
    "default": lambda *_: ({}, 1),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=1, help="of LightGBM")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=N_TRAIN)
    parser.add_argument("--only", choices=SEARCHES)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    X, y, _ = make_data(options.rows, 2 * options.seed)
    X_fresh, y_fresh, p_fresh = make_data(N_FRESH, 2 * options.seed + 1)
    model, space = model_and_space("lightgbm", True, X)
    model.set_params(n_jobs=options.threads)
    for name in [options.only] if options.only else SEARCHES:
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            params, n_tried = SEARCHES[name](
                model, space, X, y, options.seconds, options.seed
            )
            taken = time.perf_counter() - start
            final = clone(model).set_params(**params).fit(X, y)
        line = {
            "search": name,
            "rows": options.rows,
            "threads": options.threads,
            "seed": options.seed,
            "seconds": round(taken, 1),
            "configurations": n_tried,
            "log_loss": round(log_loss(y_fresh, final.predict_proba(X_fresh)), 5),
            "best_possible": round(log_loss(y_fresh, p_fresh), 5),
            "params": {key: float(value) for key, value in params.items()},
        }
        print(json.dumps(line), flush=True)
        if options.out:
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
