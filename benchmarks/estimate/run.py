"""Measure how good ``best_score_estimate_`` is: races on problems with a known truth.

    python benchmarks/estimate/run.py held_out            # the last word
    python benchmarks/estimate/run.py tuning              # for choosing a rule

Each draw is one line of ``results/estimate_<set>.jsonl``, written at once; what is
there is not run again. See README.md for the protocol.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from problems import HELD_OUT, TUNING, Problem
from sklearn.metrics import get_scorer

from cvst import RaceGridSearchCV

RESULTS = Path(__file__).parents[1] / "results"
SETS = {"tuning": TUNING, "held_out": HELD_OUT}

# Rows of the fresh sample on which the final model is scored: at least so many, and
# at least so many times those of the race.
LEAST_FRESH, TIMES_FRESH = 5_000, 4


def records(problem: Problem, draw: int, seed: int) -> list[dict[str, Any]]:
    """Run the races of one draw, and score their final models on fresh rows."""
    rng = np.random.default_rng([seed, draw])
    X, y, best = problem.draw(problem.n_rows, rng)
    n_fresh = max(LEAST_FRESH, TIMES_FRESH * problem.n_rows)
    fresh_X, fresh_y, fresh_best = problem.draw(n_fresh, rng)
    shared = {
        "problem": problem.name,
        "family": problem.family,
        "n_rows": problem.n_rows,
        "draw": draw,
        # The luck of the rows of the race, which a bias does not depend on.
        "chance": problem.chance(y, best),
    }
    lucky = problem.chance(fresh_y, fresh_best)
    scorer = get_scorer(problem.scoring)
    found = []
    for strategy in strategies(draw):
        start = process_time()
        search = RaceGridSearchCV(
            problem.estimator(),
            problem.grid,
            scoring=problem.scoring,
            strategy=strategy,
            random_state=draw,
        ).fit(X, y)
        seconds = process_time() - start
        scored = float(scorer(search.best_estimator_, fresh_X, fresh_y))
        told = search.best_score_estimate_
        found.append(
            {
                **shared,
                "strategy": strategy,
                "best_score": search.best_score_,
                "value": told.value,
                "low": told.low,
                "high": told.high,
                "evidence": asdict(told.evidence),
                "n_configurations": told.n_configurations,
                # What the final model scores, with and without the luck of the sample.
                "fresh": scored,
                "truth": scored - lucky,
                "seconds": seconds,
            }
        )
    return found


def strategies(draw: int) -> tuple[str, ...]:
    """Return what runs on a draw: plain cross-validation on every fifth one."""
    if draw % 5:
        return ("track_and_confirm",)
    return "track_and_confirm", "cross_validation"


def main() -> None:
    """Run what is missing, draw after draw over all problems."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", choices=SETS)
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    output = options.output or RESULTS / f"estimate_{options.set}.jsonl"
    done = set()
    if output.exists():
        lines = [json.loads(line) for line in output.read_text().splitlines()]
        done = {(one["problem"], one["draw"]) for one in lines}
    warnings.simplefilter("ignore")
    for draw in range(options.first, options.first + options.draws):
        for place, problem in enumerate(SETS[options.set]):
            if (problem.name, draw) in done:
                continue
            seed = place + 1000 * (options.set == "held_out")
            lines = [json.dumps(one) for one in records(problem, draw, seed)]
            with output.open("a") as file:
                file.write("".join(f"{line}\n" for line in lines))
        print(f"draw {draw} done", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
