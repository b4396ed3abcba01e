"""Races on a plain callable, with and without shared work, beside races on log loss.

    CVST_EVERYDAY=... python benchmarks/scores/callables.py run
    python benchmarks/scores/callables.py                    # print the table

The problems, splits and the callable are those of ``run.py``. One process, one thread,
processor seconds; what the file already has is not run again.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

__all__ = ["LEARNERS", "lines", "read"]

RESULTS = Path(__file__).parents[1] / "results" / "scores_callables.jsonl"
SPLITS = 0, 1
LEARNERS = "logistic", "lightgbm", "forest", "svm"


def run() -> None:
    """Race on the yardstick and on the callable, shared and one by one."""
    # Here, since reading the results needs none of it.
    from problems import PROBLEMS
    from run import SCORES, raced, scores_of

    from cvst.evaluation import OneByOne
    from cvst.evaluation.svm._fits import load_compiled_solver

    warnings.simplefilter("ignore")
    done = (
        {(one["problem"], one["split"]) for one in read()} if RESULTS.exists() else ()
    )
    load_compiled_solver()
    for split in SPLITS:
        for problem in PROBLEMS.values():
            if (problem.name, split) in done:
                continue
            X, y, _, _ = problem.rows(split)
            name = next(iter(scores_of(problem)))
            yardstick = name if problem.probabilities else "accuracy"
            raced(problem, (X[:400], y[:400]), split, "accuracy")
            line: dict[str, Any] = {"problem": problem.name, "split": split}
            line["learner"] = problem.learner
            line["yardstick"] = raced(problem, (X, y), split, SCORES[yardstick])
            line["shared"] = raced(problem, (X, y), split, SCORES["top_tenth"])
            with patch("cvst.search._evaluator.StandIns", lambda _: OneByOne()):
                line["alone"] = raced(problem, (X, y), split, SCORES["top_tenth"])
            for one in ("yardstick", "shared", "alone"):
                line[one].pop("params")
            with RESULTS.open("a") as file:
                file.write(json.dumps(line) + "\n")


def read() -> list[dict[str, Any]]:
    """Return what was measured."""
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def lines(cells: list[dict[str, Any]]) -> list[str]:
    """Return the table: seconds for each operation, over those of the yardstick."""
    shown = [
        "| learner | problems | alone | shared | same choice |",
        "|---|---|---|---|---|",
    ]
    for learner in (*LEARNERS, "all"):
        some = [one for one in cells if learner in ("all", one["learner"])]
        names = {one["problem"] for one in some}
        same = np.mean(
            [one["shared"]["choice"] == one["alone"]["choice"] for one in some]
        )
        shown.append(
            f"| {learner} | {len(names)} | {_relative(some, 'alone'):.2f} | "
            f"{_relative(some, 'shared'):.2f} | {100 * same:.0f}% |"
        )
    return shown


def _relative(cells: list[dict[str, Any]], name: str) -> float:
    """Return the geometric mean over cells of seconds for each operation."""

    def each(one: dict[str, Any]) -> float:
        return float(one["seconds"] / one["operations"])

    return float(
        np.exp(np.mean([np.log(each(c[name]) / each(c["yardstick"])) for c in cells]))
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["run"]:
        run()
    print("\n".join(lines(read())))
