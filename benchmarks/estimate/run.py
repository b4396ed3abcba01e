"""Measure how good ``best_score_estimate_`` is: races on problems with a known truth.

    python benchmarks/estimate/run.py tuning      # the problems the rule was chosen on
    python benchmarks/estimate/run.py held_out    # the last word

Each draw is one line of ``results/estimate_<set>.jsonl``, written at once; what is
there is not run again. See README.md for the protocol.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from problems import HELD_OUT, TUNING, Problem
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold

from cvst import RaceGridSearchCV

RESULTS = Path(__file__).parents[1] / "results"
SETS = {"tuning": TUNING, "held_out": HELD_OUT}

# Rows of the fresh sample on which the final model is scored: at least so many, and
# at least so many times those of the race.
LEAST_FRESH, TIMES_FRESH = 5_000, 4


@cache
def usual(problem: Problem) -> dict[str, Any]:
    """Return a fixed good configuration: the winner of a draw that does not count."""
    X, y, _ = problem.draw(4 * problem.n_rows, np.random.default_rng(99))
    rows = slice(0, min(len(X), 2000))
    search = RaceGridSearchCV(
        problem.estimator(), problem.grid, scoring=problem.scoring, random_state=0
    )
    params: dict[str, Any] = search.fit(X[rows], y[rows]).best_params_
    return params


def luck(problem: Problem, data: tuple[Any, ...]) -> float:
    """Return how lucky the rows of the race are, by a fixed configuration.

    The models of the folds are scored on their test rows and on the fresh ones. The
    rows of a fold know nothing of its model, so the difference is zero on average.
    """
    X, y, fresh_X, fresh_y = data
    model = problem.estimator().set_params(**usual(problem))
    folds = KFold(5, shuffle=True, random_state=1)
    gaps = []
    for train, test in folds.split(X):
        model.fit(X[train], y[train])
        gaps.append(
            problem.linear_score(model, X[test], y[test])
            - problem.linear_score(model, fresh_X, fresh_y)
        )
    return float(np.mean(gaps))


def one(problem: Problem, draw: int, strategy: str, seed: int) -> dict[str, Any]:
    """Run one race, and score its final model on fresh rows."""
    rng = np.random.default_rng([seed, draw])
    X, y, best = problem.draw(problem.n_rows, rng)
    fresh_X, fresh_y, fresh_best = problem.draw(
        max(LEAST_FRESH, TIMES_FRESH * problem.n_rows), rng
    )
    start = process_time()
    search = RaceGridSearchCV(
        problem.estimator(),
        problem.grid,
        scoring=problem.scoring,
        strategy=strategy,
        random_state=draw,
    ).fit(X, y)
    seconds = process_time() - start
    scored = float(
        get_scorer(problem.scoring)(search.best_estimator_, fresh_X, fresh_y)
    )
    told = search.best_score_estimate_
    data = X, y, fresh_X, fresh_y
    return {
        "problem": problem.name,
        "family": problem.family,
        "n_rows": problem.n_rows,
        "draw": draw,
        "strategy": strategy,
        "best_score": search.best_score_,
        "value": told.value,
        "low": told.low,
        "high": told.high,
        "optimism": told.optimism,
        "growth": told.growth,
        "n_configurations": told.n_configurations,
        "errors": told.errors,
        # What the final model scores, without the luck of the fresh sample.
        "truth": scored - problem.chance(fresh_y, fresh_best),
        "fresh": scored,
        # The luck of the rows of the race, which a bias does not depend on.
        "chance": problem.chance(y, best),
        "luck": luck(problem, data),
        "seconds": seconds,
    }


def strategies(draw: int) -> tuple[str, ...]:
    """Return what runs on a draw: plain cross-validation on every fourth one."""
    if draw % 4:
        return ("track_and_confirm",)
    return "track_and_confirm", "cross_validation"


def main() -> None:
    """Run what is missing, draw after draw over all problems."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", choices=SETS)
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    output = options.output or RESULTS / f"estimate_{options.set}.jsonl"
    done = set()
    if output.exists():
        lines = [json.loads(line) for line in output.read_text().splitlines()]
        done = {(r["problem"], r["draw"], r["strategy"]) for r in lines}
    warnings.simplefilter("ignore")
    for draw in range(options.draws):
        for place, problem in enumerate(SETS[options.set]):
            for strategy in strategies(draw):
                if (problem.name, draw, strategy) in done:
                    continue
                seed = place + 1000 * (options.set == "held_out")
                record = one(problem, draw, strategy, seed)
                with output.open("a") as file:
                    file.write(json.dumps(record) + "\n")
        print(f"draw {draw} done", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
