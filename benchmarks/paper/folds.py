"""Full cross-validation, a fold at a time: for searches too long for one sitting.

Each fold is a search of its own over the whole grid, whose scores are kept in a file of
the folder ``folds`` beside ``runs.csv`` at once. When all folds of a problem are there,
the configuration with the best mean over them is refitted and becomes the line ``cv``
of ``runs.csv``, with the seconds of its folds added up. Several hosts may share the
folds; the seconds are then left empty.
"""

from __future__ import annotations

import json
import os
import platform
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from methods import N_FOLDS, Finding, Trial, quietly, raced, searched
from runner import HERE, Task, as_run, make_ready, title, trial_of
from sklearn.model_selection import ParameterGrid
from store import Store
from threadpoolctl import threadpool_limits

from cvst import CrossValidation

__all__ = ["FoldTask", "by_fold", "run_folds"]


@dataclass(frozen=True)
class FoldTask:
    """One fold of the cross-validation of a problem."""

    task: Task
    fold: int

    def path(self, folder: Path) -> Path:
        """Return the file of its scores."""
        task = replace(self.task, place=HERE)
        name = "_".join(filter(None, task.key("cv")))
        return folder / f"{name}_{self.fold}.json"


def by_fold(tasks: list[Task]) -> tuple[list[Task], list[FoldTask]]:
    """Take full cross-validation out of tasks; return what is left, and its folds."""
    rest, folds = [], []
    for task in tasks:
        other = tuple(name for name in task.methods if name != "cv")
        if other:
            rest.append(task.only(other))
        if "cv" in task.methods:
            folds += [FoldTask(task.only(("cv",)), fold) for fold in range(N_FOLDS)]
    return rest, folds


def run_folds(
    folds: list[FoldTask], path: Path, jobs: int, seconds: float | None = None
) -> list[str]:
    """Run folds in several processes; return the sentences of those that failed.

    Parameters
    ----------
    folds : list of FoldTask
        In the order to take them.
    path : Path
        The file of runs.
    jobs : int
        Number of processes.
    seconds : float or None
        No fold begins later than this.
    """
    deadline = None if seconds is None else time.time() + seconds
    with parallel_config("loky", inner_max_num_threads=1):
        workers = Parallel(n_jobs=jobs, pre_dispatch="n_jobs", batch_size=1)
        said = workers(delayed(perform_fold)(one, path, deadline) for one in folds)
    return [failure for failure in said if failure]


def perform_fold(one: FoldTask, path: Path, deadline: float | None) -> str:
    """Run a fold that nobody has run; the last one of a problem adds its line.

    Parameters
    ----------
    one : FoldTask
        What to run.
    path : Path
        The file of runs.
    deadline : float or None
        Nothing begins later than this.

    Returns
    -------
    said : str
        What went wrong, or nothing.
    """
    folder = path.parent / "folds"
    folder.mkdir(parents=True, exist_ok=True)
    own = one.path(folder)
    try:
        if not own.exists():
            if deadline is not None and time.time() > deadline:
                return ""
            with threadpool_limits(1):
                write(own, scores_of(one))
        gather(one.task, folder, Store(path))
    # One bad problem must not end the night.
    except Exception as error:
        return f"{title(one.task)}, fold {one.fold}: {type(error).__name__}: {error}"
    return ""


def scores_of(one: FoldTask) -> dict[str, Any]:
    """Search over the grid on one fold; return the scores, and what it took."""
    make_ready(one.task)
    trial = trial_of(one.task)
    X, y = trial.rows.X_train, trial.rows.y_train
    split = list(trial.folds().split(X, y))[one.fold]
    levels = trial.grid.levels(len(y))
    search = raced(trial, trial.learner.model(), levels, CrossValidation(), [split])
    with quietly():
        finding = searched(search, X, y)
    scores = search.cv_results_["mean_test_score"]
    return {
        "scores": [None if np.isnan(score) else float(score) for score in scores],
        "seconds": finding.seconds,
        "wall_seconds": finding.wall_seconds,
        "host": platform.node(),
    }


def write(path: Path, content: dict[str, Any]) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_text(json.dumps(content), encoding="utf-8")
    unfinished.replace(path)


def gather(task: Task, folder: Path, store: Store) -> None:
    """Add the line of a search whose folds are all there."""
    paths = [FoldTask(task, fold).path(folder) for fold in range(N_FOLDS)]
    if not all(path.exists() for path in paths):
        return
    parts = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    trial = trial_of(task)
    finding = merged(trial, parts)
    with quietly(), threadpool_limits(1):
        error = trial.refitted_error(finding.params)
    store.add(as_run(task, "cv", trial, finding, error))


def merged(trial: Trial, parts: list[dict[str, Any]]) -> Finding:
    """Return the search that the folds make together."""
    scores = np.array([part["scores"] for part in parts], dtype=float)
    # A configuration that failed on a fold has no mean, and cannot win.
    means = scores.mean(axis=0)
    levels = trial.grid.levels(len(trial.rows.y_train))
    is_one_host = len({part["host"] for part in parts}) == 1
    params = list(ParameterGrid(levels))[int(np.nanargmax(means))]
    return Finding(
        params=params,
        seconds=total(parts, "seconds") if is_one_host else np.nan,
        wall_seconds=total(parts, "wall_seconds") if is_one_host else np.nan,
        n_looks=len(parts),
        stop_reason="all_folds",
        survivors=[len(means)] * len(parts),
    )


def total(parts: list[dict[str, Any]], name: str) -> float:
    return float(sum(part[name] for part in parts))
