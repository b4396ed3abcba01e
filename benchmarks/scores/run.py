"""Run the study of README.md: one line of JSON for each problem and split.

    python benchmarks/scores/run.py benchmarks/results/scores.jsonl --splits 0 1

What the file already has is not run again. One process, one thread; seconds are
processor seconds. With ``--full-from`` the choices of the full searches are those of an
earlier file, since no rule of a race changes them; only the races run.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from time import process_time
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "everyday"))
import one_thread  # noqa: F401, I001 - before NumPy
import numpy as np
from problems import PROBLEMS, Problem
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import ParameterGrid

from cvst import RaceGridSearchCV
from cvst.evaluation import batch_evaluator_for
from cvst.evaluation.svm._fits import load_compiled_solver
from cvst.race import CrossValidation

__all__ = ["SCORES", "top_tenth"]


def top_tenth(estimator: Any, X: Any, y: Any) -> float:
    """Return the share of positives among the tenth that is ranked highest."""
    if hasattr(estimator, "predict_proba"):
        ranked = estimator.predict_proba(X)[:, 1]
    else:
        ranked = estimator.decision_function(X)
    first = np.argsort(-ranked, kind="stable")[: max(1, len(ranked) // 10)]
    return float(np.mean(np.asarray(y)[first]))


SCORES: dict[str, Any] = {
    "neg_log_loss": "neg_log_loss",
    "roc_auc": "roc_auc",
    "f1_macro": "f1_macro",
    "balanced_accuracy": "balanced_accuracy",
    "average_precision": "average_precision",
    "top_tenth": top_tenth,
    "accuracy": "accuracy",
}


def scores_of(problem: Problem) -> dict[str, Any]:
    """Return what is raced on, the yardstick of speed among it."""
    left_out = "accuracy" if problem.probabilities else "neg_log_loss"
    return {name: one for name, one in SCORES.items() if name != left_out}


def raced(problem: Problem, rows: Any, split: int, scoring: Any) -> dict[str, Any]:
    """Race on one score; return the choice and what it cost."""
    X, y = rows
    model, grid = problem.made()
    search = RaceGridSearchCV(
        model, grid, scoring=scoring, refit=False, random_state=split, n_jobs=1
    )
    start = process_time()
    search.fit(X, y)
    seconds = process_time() - start
    evaluator, params = batch_evaluator_for(model), search.cv_results_["params"]
    operations, fits = 0.0, 0
    for seen in search.race_.observations:
        there = {index: params[index] for index in seen.look.configurations.tolist()}
        operations += len(there) * seen.look.n_train / len(y)
        fits += len(evaluator.groups(model, there))
    return {
        "choice": int(search.best_index_),
        "seconds": round(seconds, 3),
        "operations": round(operations, 2),
        "fits": fits,
        "params": search.best_params_,
    }


def searched(problem: Problem, rows: Any, split: int) -> tuple[Any, dict[str, Any]]:
    """Run all configurations in ten folds; return them and the choice by score."""
    X, y = rows
    model, grid = problem.made()
    scores = scores_of(problem)
    search = RaceGridSearchCV(
        model,
        grid,
        strategy=CrossValidation(10),
        scoring=scores,
        race_by=next(iter(scores)),
        refit=False,
        random_state=split,
        n_jobs=1,
    )
    results = search.fit(X, y).cv_results_
    chosen = {name: int(np.argmax(results[f"mean_test_{name}"])) for name in scores}
    return results["params"], chosen


def measured(
    problem: Problem, split: int, earlier: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return the line of a problem and a split; ``earlier`` has its full search."""
    X, y, X_fresh, y_fresh = problem.rows(split)
    scores = scores_of(problem)
    # Imports, compiling and memory are paid before the clock runs.
    if not problem.probabilities:
        load_compiled_solver()
    raced(problem, (X[:400], y[:400]), split, "accuracy")
    line: dict[str, Any] = {"problem": problem.name, "split": split}
    if earlier is None:
        start = process_time()
        params, full = searched(problem, (X, y), split)
        line["full_seconds"] = round(process_time() - start, 3)
    else:
        params = list(ParameterGrid(problem.made()[1]))
        full = {name: one["full_choice"] for name, one in earlier["scores"].items()}
        line["full_seconds"] = earlier["full_seconds"]
    # Each score is now first, now last.
    names = list(scores)
    turn = (split + list(PROBLEMS).index(problem.name)) % len(names)
    races = {
        name: raced(problem, (X, y), split, scores[name])
        for name in names[turn:] + names[:turn]
    }
    known: dict[str, dict[str, float]] = {}

    def judged(one: dict[str, Any]) -> dict[str, float]:
        if (key := repr(one)) not in known:
            fitted = clone(problem.made()[0]).set_params(**one).fit(X, y)
            known[key] = {
                name: float(
                    (get_scorer(score) if isinstance(score, str) else score)(
                        fitted, X_fresh, y_fresh
                    )
                )
                for name, score in scores.items()
            }
        return known[key]

    line["scores"] = {}
    for name, race in races.items():
        line["scores"][name] = {
            "full": judged(params[full[name]])[name],
            "race": judged(race.pop("params"))[name],
            "full_choice": full[name],
            **race,
        }
    return line


def cells(path: Path | None) -> dict[tuple[str, int], dict[str, Any]]:
    """Return the lines of a file by problem and split; none without a file."""
    if path is None or not path.exists():
        return {}
    lines = map(json.loads, path.read_text().splitlines())
    return {(line["problem"], line["split"]): line for line in lines}


def main() -> None:
    """Run what the file has not."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--splits", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS))
    parser.add_argument("--full-from", type=Path, metavar="FILE")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    known = cells(options.output)
    earlier = cells(options.full_from)
    for split in options.splits:
        for name in options.problems:
            if (name, split) in known:
                continue
            start = process_time()
            line = measured(PROBLEMS[name], split, earlier.get((name, split)))
            with options.output.open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(f"{name} {split}: {process_time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
