"""Look closer at one split: how far apart both choices were, and how much is luck.

    CVST_DEFAULT_DATA=FOLDER python benchmarks/default/again.py 'texture net' 7

runs full 5-fold and the default again on a task with random draws, prints the rank of
the default's choice by full 5-fold itself, and the loss of both choices on the fresh
rows for six seeds of the model instead of one. Nothing of it is part of the study.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path

os.environ.update(
    dict.fromkeys((f"{one}_NUM_THREADS" for one in ("OMP", "OPENBLAS", "MKL")), "1")
)
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from data_sets import load
from sklearn.base import clone
from sklearn.metrics import get_scorer
from tasks import N_DRAWS, TASKS

from cvst import CrossValidation, RaceRandomSearchCV
from cvst.race import TrackAndConfirm

N_MODEL_SEEDS = 6


def main() -> None:
    """Print what is told above."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("seed", type=int)
    options = parser.parse_args()
    # Nets of the study stop after a fixed number of rounds.
    warnings.simplefilter("ignore")
    task = TASKS[options.task]
    X, y, X_fresh, y_fresh = load(task.data, task.n_train, options.seed)
    model, space = task.model()
    searches = {
        name: RaceRandomSearchCV(
            model,
            space,
            n_iter=N_DRAWS,
            strategy=strategy,
            scoring=task.scoring,
            refit=False,
            random_state=options.seed,
            n_jobs=1,
        ).fit(X, y)
        for name, strategy in (
            ("full 5-fold", CrossValidation(5)),
            ("track_and_confirm", TrackAndConfirm()),
        )
    }
    losses = -searches["full 5-fold"].cv_results_["mean_test_score"]
    names = [n for n in model.get_params() if n.split("__")[-1] == "random_state"]
    for name, search in searches.items():
        index = search.best_index_
        rank = 1 + int(np.sum(losses < losses[index]))
        fresh = []
        for seed in range(N_MODEL_SEEDS):
            chosen = clone(model).set_params(**search.best_params_)
            chosen.set_params(**dict.fromkeys(names, seed)).fit(X, y)
            fresh.append(-get_scorer(task.scoring)(chosen, X_fresh, y_fresh))
        text = ", ".join(f"{loss:.4f}" for loss in fresh)
        print(f"{name}: {losses[index]:.4f} in full 5-fold (rank {rank}); fresh {text}")


if __name__ == "__main__":
    main()
