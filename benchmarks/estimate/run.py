"""Measure how good ``best_score_estimate_`` is: races on problems with a known truth.

    python benchmarks/estimate/run.py pilot                     # fixed configurations
    python benchmarks/estimate/run.py held_out --jobs 16        # the last word
    python benchmarks/estimate/run.py tuning                    # for choosing a rule

Each draw is one line of ``results/estimate_<set>_new.jsonl.gz``, written at once; what
is there is not run again. ``--output`` names another file, gzipped if it ends in
``.gz``. See README.md for the protocol.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "everyday"))
import one_thread  # noqa: F401, I001 - before NumPy
import numpy as np
from controls import fixed_luck, folds_of, luck_of_rows
from problems import HELD_OUT, TUNING, Problem
from stored import append, pack, read

from cvst import RaceGridSearchCV

RESULTS = Path(__file__).parents[1] / "results"
FIXED = Path(__file__).parent / "fixed.json"
SETS = {"tuning": TUNING, "held_out": HELD_OUT}
RACE, PLAIN = "track_and_confirm", "cross_validation"

# What the estimate of the library is made by.
RULE = "usual growth, two terms for r2, those that left count by fold"

# Plain cross-validation runs on every so many draws.
EVERY = 4

# Fresh rows for the final model: at least so many, and so many times those of the race.
LEAST_FRESH, TIMES_FRESH = 20_000, 20

# Fresh rows for each fixed configuration, of which there are so many.
FRESH_FOR_FIXED, N_FIXED = 4_000, 3

# Draws of the pilot, whose rows are used for nothing else.
N_PILOT = 12


def seed_of(name: str, place: int) -> int:
    """Return what makes the rows of a problem its own."""
    return place + {"tuning": 0, "held_out": 1000, "pilot": 2000}[name]


def search_of(problem: Problem, strategy: str, draw: int) -> RaceGridSearchCV:
    """Return the search of a draw."""
    return RaceGridSearchCV(
        problem.estimator(),
        problem.grid,
        scoring=problem.scoring,
        strategy=strategy,
        random_state=draw,
    )


def record(name: str, place: int, draw: int) -> dict[str, Any]:
    """Run the races of one draw, and say what their final models are worth."""
    warnings.simplefilter("ignore")
    problem = SETS[name][place]
    rng = np.random.default_rng([seed_of(name, place), draw])
    X, y, best = problem.draw(problem.n_rows, rng)
    n_fresh = max(LEAST_FRESH, TIMES_FRESH * problem.n_rows)
    fresh, _, fresh_best = problem.draw(n_fresh, rng)
    some = fresh[:FRESH_FOR_FIXED], fresh_best[:FRESH_FOR_FIXED]
    found: dict[str, Any] = {}
    for strategy in (RACE,) if draw % EVERY else (RACE, PLAIN):
        start = process_time()
        search = search_of(problem, strategy, draw).fit(X, y)
        seconds = process_time() - start
        said = problem.response(search.best_estimator_, fresh)
        found[strategy] = {
            "best_score": search.best_score_,
            "truth": problem.expected_score(said, fresh_best),
            "evidence": asdict(search.best_score_estimate_.evidence),
            "seconds": round(seconds, 4),
        }
    folds = folds_of(search_of(problem, RACE, draw), X, y)
    fixed = json.loads(FIXED.read_text())[problem.name]
    return {
        "problem": problem.name,
        "draw": draw,
        "rule": RULE,
        "controls": [
            *luck_of_rows(problem, y, best),
            *(fixed_luck(problem, one, folds, (X, y), some) for one in fixed),
        ],
        **found,
    }


def pilot() -> None:
    """Choose the fixed configurations: those that plain searches choose most often."""
    warnings.simplefilter("ignore")
    fixed = json.loads(FIXED.read_text()) if FIXED.exists() else {}
    for name, problems in SETS.items():
        for place, problem in enumerate(problems):
            if problem.name in fixed:
                continue
            chosen: Counter[int] = Counter()
            scores = 0.0
            for draw in range(N_PILOT):
                numbers = [seed_of("pilot", place), draw, name == "held_out"]
                X, y, _ = problem.draw(problem.n_rows, np.random.default_rng(numbers))
                search = search_of(problem, PLAIN, draw).fit(X, y)
                chosen[search.best_index_] += 1
                scores = scores + search.cv_results_["mean_test_score"]
            order = sorted(range(len(scores)), key=lambda i: (-chosen[i], -scores[i]))
            params = search.cv_results_["params"]
            fixed[problem.name] = [params[one] for one in order[:N_FIXED]]
            FIXED.write_text(json.dumps(fixed, indent=1) + "\n")


def missing(name: str, output: Path, draws: range) -> Iterator[tuple[int, int]]:
    """Yield what is not in the file yet, draw after draw over all problems."""
    done = {(one["problem"], one["draw"]) for one in read(output)}
    for draw in draws:
        for place, problem in enumerate(SETS[name]):
            if (problem.name, draw) not in done:
                yield place, draw


def run(name: str, output: Path, draws: range, jobs: int, seconds: float) -> None:
    """Run what is missing, until the time is over."""
    start = perf_counter()
    work = missing(name, output, draws)
    with ProcessPoolExecutor(jobs) as pool:
        # A few ahead of the workers; the rest is not begun when the time is over.
        waiting = [pool.submit(record, name, *one) for one in islice(work, 2 * jobs)]
        while waiting:
            append(output, waiting.pop(0).result())
            if perf_counter() - start < seconds:
                waiting += [pool.submit(record, name, *one) for one in islice(work, 1)]
    pack(output)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", choices=[*SETS, "pilot"])
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    if options.set == "pilot":
        pilot()
        return
    output = options.output or RESULTS / f"estimate_{options.set}_new.jsonl.gz"
    draws = range(options.first, options.first + options.draws)
    run(options.set, output, draws, options.jobs, options.seconds)
    print(f"{len(read(output)):,} draws", file=sys.stderr)


if __name__ == "__main__":
    main()
