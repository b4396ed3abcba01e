"""Fit the choices of one split again, to see how much of their losses is luck.

    CVST_DEFAULT_DATA=FOLDER python benchmarks/default/again.py 'texture net' 7

takes what full 5-fold and the default chose by the file of the study, fits both with
six seeds of the model instead of one, and prints the losses on the fresh rows. The
first seed is that of the study. Nothing of it is part of the study. The numbers are
kept in ``benchmarks/results/default_again.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

os.environ.update(
    dict.fromkeys((f"{one}_NUM_THREADS" for one in ("OMP", "OPENBLAS", "MKL")), "1")
)
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from data_sets import load
from sklearn.base import clone
from sklearn.metrics import get_scorer
from tasks import TASKS

METHODS = "full 5-fold", "track_and_confirm"
N_MODEL_SEEDS = 6
RESULTS = Path(__file__).parents[1] / "results"


def chosen(task: str, seed: int) -> dict[str, dict[str, Any]]:
    """Return the parameters that each method chose in the study."""
    lines = (RESULTS / "default.jsonl").read_text(encoding="utf-8").splitlines()
    found = [one for one in map(json.loads, lines) if one["task"] == task]
    return {
        one["method"]: {
            # Our own file, in which values are written as Python shows them.
            name: eval(value, {"np": np})
            for name, value in one["params"].items()
        }
        for one in found
        if one["seed"] == seed and one["method"] in METHODS
    }


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
    model, _ = task.model()
    seeds = [n for n in model.get_params() if n.split("__")[-1] == "random_state"]
    for method, params in chosen(options.task, options.seed).items():
        losses = []
        for seed in range(N_MODEL_SEEDS):
            again = clone(model).set_params(**params, **dict.fromkeys(seeds, seed))
            again.fit(X, y)
            losses.append(-float(get_scorer(task.scoring)(again, X_fresh, y_fresh)))
        print(f"{method}: {', '.join(f'{loss:.4f}' for loss in losses)}")
        found = {"task": options.task, "seed": options.seed, "method": method}
        with (RESULTS / "default_again.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({**found, "losses": losses}) + "\n")


if __name__ == "__main__":
    main()
