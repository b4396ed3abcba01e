"""How far configurations are apart by each score, in standard errors.

    CVST_EVERYDAY=... python benchmarks/scores/power.py run
    python benchmarks/scores/power.py                    # print the table

A race can drop only what differs from the leader by more than the noise of the rows.
No race is run here: out-of-fold probabilities and metrics are scikit-learn's, and
standard errors come from a paired bootstrap of the rows. The problems are those of
``run.py`` whose learners have probabilities; what the file has is not run again.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    log_loss,
    roc_auc_score,
)

__all__ = ["SCORES", "excess", "lines", "read"]

RESULTS = Path(__file__).parents[1] / "results" / "scores_power.jsonl"
SPLIT = 0
N_RESAMPLES = 100
# Standard errors that a difference needs before a test can call it one.
CLEAR = 2.0

Score = Callable[[np.ndarray, np.ndarray], float]

SCORES: dict[str, Score] = {
    "neg_log_loss": lambda y, p: -log_loss(y, p, labels=[0, 1]),
    "roc_auc": roc_auc_score,
    "f1_macro": lambda y, p: f1_score(y, p > 0.5, average="macro", zero_division=0.0),
    "balanced_accuracy": lambda y, p: balanced_accuracy_score(y, p > 0.5),
    "average_precision": average_precision_score,
}


def excess(y: np.ndarray, probabilities: np.ndarray, score: Score) -> list[float]:
    """Return by how many standard errors each configuration is behind the leader.

    Parameters
    ----------
    y : array of shape (n_rows,)
        Classes 0 and 1.
    probabilities : array of shape (n_configurations, n_rows)
        Of class 1, on rows that a model was not fitted on.
    score : callable
        Of classes and probabilities; more is better.
    """
    scores = np.array([score(y, row) for row in probabilities])
    leader = int(np.argmax(scores))
    rng = np.random.default_rng(0)
    classes = [np.flatnonzero(y == one) for one in (0, 1)]
    gaps = np.empty((N_RESAMPLES, len(scores)))
    for gap in gaps:
        drawn = np.concatenate([rng.choice(rows, len(rows)) for rows in classes])
        again = np.array([score(y[drawn], row[drawn]) for row in probabilities])
        gap[:] = again[leader] - again
    errors = gaps.std(axis=0, ddof=1)
    # Configurations that predict the same as the leader are not behind it.
    behind = np.divide(
        scores[leader] - scores, errors, out=np.zeros_like(errors), where=errors > 0
    )
    return np.delete(behind, leader).tolist()


def run() -> None:
    """Measure the problems that the file does not have."""
    # Here, since reading the results needs none of it.
    from problems import PROBLEMS
    from sklearn.base import clone
    from sklearn.model_selection import (
        ParameterGrid,
        StratifiedKFold,
        cross_val_predict,
    )

    warnings.simplefilter("ignore")
    known = {one["problem"] for one in read()} if RESULTS.exists() else set()
    folds = StratifiedKFold(5, shuffle=True, random_state=SPLIT)
    for problem in PROBLEMS.values():
        if not problem.probabilities or problem.name in known:
            continue
        X, y, _, _ = problem.rows(SPLIT)
        y = np.asarray(y).astype(int)
        model, grid = problem.made()
        models = [clone(model).set_params(**one) for one in ParameterGrid(grid)]
        probabilities = np.array(
            [
                cross_val_predict(one, X, y, cv=folds, method="predict_proba")[:, 1]
                for one in models
            ]
        )
        line: dict[str, Any] = {"problem": problem.name, "split": SPLIT}
        for name, score in SCORES.items():
            line[name] = [round(one, 3) for one in excess(y, probabilities, score)]
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(problem.name, flush=True)


def read() -> list[dict[str, Any]]:
    """Return what was measured."""
    return [json.loads(one) for one in RESULTS.read_text("utf-8").splitlines()]


def lines(found: list[dict[str, Any]]) -> list[str]:
    """Return the table of the page: means over problems."""
    table = ["| score | problems measured | behind | clear |", "|---|---|---|---|"]
    for name in SCORES:
        behind = np.mean([np.median(one[name]) for one in found])
        clear = np.mean([np.mean(np.array(one[name]) > CLEAR) for one in found])
        words = name.removeprefix("neg_").replace("_", " ")
        table.append(f"| {words} | {len(found)} | {behind:.1f} | {clear:.0%} |")
    return table


if __name__ == "__main__":
    if sys.argv[1:] == ["run"]:
        run()
    print("\n".join(lines(read())))
