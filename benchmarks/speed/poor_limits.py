"""How fast could a race be on the grids where it is slow? Counts, times and limits.

    python benchmarks/speed/poor_limits.py            # measure what is not known yet
    python benchmarks/speed/poor_limits.py --table    # print what is known

One process with one thread, processor seconds, one draw of the rows for each grid. A
sample of the grid is searched by ``GridSearchCV`` with ten folds, and once more with
four draws of a tenth of the rows to fit on and a tenth to score on: the means are the
cost of a full and of a small fit, scores included. Then the default race runs, and the
seconds of each look and of the end (estimate of the winner's score, final fit) are
noted. Neighbours are counted: how many rows are searched for, in ``GridSearchCV`` and
in each look. Each grid is one line of ``benchmarks/results/poor_limits.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import Any

# Last, since that folder has tasks of its own.
sys.path.append(str(Path(__file__).parents[1] / "everyday"))

# isort: off
import one_thread  # noqa: F401 - before NumPy

# isort: on
from limits_table import RESULTS, TASKS, lines, read
from poor_tasks import POOR_TASKS
from searches import METHODS, Trial
from sklearn.model_selection import GridSearchCV, ParameterGrid, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

from cvst.integrations import RaceListener

SMALL = 0.1


class Looks(RaceListener):
    """Notes processor seconds and rows searched for, at the end of each look."""

    def __init__(self, searched: Searched) -> None:
        super().__init__()
        self.searched = searched
        self.ends: list[tuple[float, int]] = []

    def on_look(self, event: Any, params: Any) -> None:
        """Note one look."""
        del event, params
        self.ends.append((process_time(), self.searched.rows))


class Searched:
    """Counts the rows whose neighbours are searched for."""

    rows = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count for a while."""
        usual = KNeighborsClassifier.kneighbors

        def counting(model: Any, X: Any = None, *args: Any, **options: Any) -> Any:
            self.rows += len(X)
            return usual(model, X, *args, **options)

        KNeighborsClassifier.kneighbors = counting
        try:
            yield
        finally:
            KNeighborsClassifier.kneighbors = usual


def mean_seconds(trial: Trial, X: Any, y: Any, folds: Any, n_folds: int) -> float:
    """Return what one fit with its score takes, over a sample of the grid."""
    sample = trial.sample()
    search = GridSearchCV(
        trial.task.estimator,
        [{name: [value] for name, value in params.items()} for params in sample],
        scoring=trial.task.scoring,
        cv=folds,
        refit=False,
    )
    start = process_time()
    search.fit(X, y)
    return (process_time() - start) / len(sample) / n_folds


def measure(name: str) -> dict[str, Any]:
    """Return the counts and times of a grid."""
    task, searched = POOR_TASKS[name], Searched()
    trial = Trial(task, 0)
    X, y = task.draw(task.n_samples, 0)
    n_all = len(ParameterGrid(trial.grid))
    with searched.counted():
        full = mean_seconds(trial, X, y, 10, 10)
        plain_rows = searched.rows * n_all // len(trial.sample())
        tenths = ShuffleSplit(4, train_size=SMALL, test_size=SMALL, random_state=0)
        small = mean_seconds(trial, X, y, tenths, 4)
        searched.rows = 0
        with Looks(searched) as looks:
            start = process_time()
            result = METHODS["track_and_confirm"](trial, X, y)
            end = process_time()
    seen = result.model.race_.observations
    assert len(seen) == len(looks.ends)
    found, last, rows_before = [], start, 0
    for one, (time, rows) in zip(seen, looks.ends, strict=True):
        found.append(
            {
                "stage": one.look.stage,
                "train": int(one.look.n_train),
                "test": int(one.look.n_test),
                "configurations": len(one.look.configurations),
                "seconds": round(time - last, 4),
                "searched": rows - rows_before,
            }
        )
        last, rows_before = time, rows
    return {
        "task": name,
        "rows": task.n_samples,
        "configurations": n_all,
        "full_fit_seconds": round(full, 5),
        "small_fit_seconds": round(small, 5),
        "plain_searched": plain_rows,
        "race_seconds": round(end - start, 4),
        "end_seconds": round(end - last, 4),
        "looks": found,
        "note": result.note,
    }


def main() -> None:
    """Measure or print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    known = {one["task"] for one in read()}
    for name in TASKS:
        if options.table or name in known:
            continue
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(measure(name)) + "\n")
    print("\n".join(lines(read())))


if __name__ == "__main__":
    main()
