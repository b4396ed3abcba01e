"""Measure how much memory a race takes of its own.

    python benchmarks/memory.py all          # measures what is not stored yet
    python benchmarks/memory.py table        # prints what is stored
    python benchmarks/memory.py numbers --looks 3 --max-memory 100MB

The growth of the process's peak during a race of ridges, which are one group that
shares its work, with one worker. A small race comes first, so that libraries do not
count. One process can measure once only: the peak never falls. ``all`` starts one for
each case; results are appended to ``results/memory.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge, RidgeClassifier

from cvst import RaceGridSearchCV

RESULTS = Path(__file__).parent / "results" / "memory.jsonl"

# What the page shows: target, strategy, looks (None: the whole race), max_memory.
CASES = [
    ("numbers", "track_and_confirm", 3, None),
    ("numbers", "track_and_confirm", None, None),
    ("numbers", "cvst", 1, None),
    ("classes", "track_and_confirm", 3, None),
    ("numbers", "track_and_confirm", 3, "100MB"),
    ("numbers", "track_and_confirm", None, "100MB"),
    ("numbers", "track_and_confirm", None, "30MB"),
]


def peak() -> int:
    import resource  # not on Windows, where the table can be printed all the same

    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the growth of the peak, or why the race was refused."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(options.rows, 4))
    y = X @ [1.0, 2.0, 3.0, 4.0] + 3 * rng.normal(size=options.rows)
    estimator, scoring = Ridge(), "neg_mean_squared_error"
    if options.kind == "classes":
        estimator, scoring, y = RidgeClassifier(), "accuracy", (y > 0).astype(int)
    choice = {"strategy": options.strategy, "random_state": 0}
    small = {"alpha": [1.0, 2.0]}
    RaceGridSearchCV(estimator, small, **choice).fit(X[:500], y[:500])
    grid = {"alpha": np.logspace(-4, 6, options.configurations)}
    choice |= {"max_looks": options.looks, "max_memory": options.max_memory}
    search = RaceGridSearchCV(estimator, grid, scoring=scoring, **choice)
    before = peak()
    try:
        search.fit(X, y)
    except ValueError as error:
        return {"refused": str(error)}
    return {"grown": peak() - before, "pickled": len(pickle.dumps(search))}


def key_of(options: argparse.Namespace) -> dict[str, Any]:
    names = ("kind", "strategy", "looks", "max_memory", "configurations", "rows")
    return {name: getattr(options, name) for name in names}


def known() -> list[dict[str, Any]]:
    """Return what is stored."""
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def measure_all() -> None:
    """Start a process for each case that is not stored yet."""
    stored = [
        (one["kind"], one["strategy"], one["looks"], one["max_memory"])
        for one in known()
    ]
    for case in CASES:
        if case in stored:
            continue
        kind, strategy, looks, max_memory = case
        command = [sys.executable, __file__, kind, "--strategy", strategy]
        command += ["--looks", str(looks)] if looks else []
        command += ["--max-memory", max_memory] if max_memory else []
        subprocess.run(command, check=True)


def table(records: list[dict[str, Any]]) -> str:
    """Return a table in Markdown of what is stored."""
    head = ["target", "strategy", "looks", "`max_memory`", "growth of the peak"]
    head += ["bytes for each configuration and row", "pickled search"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for one in records:
        size = one["configurations"] * one["rows"]
        cells = [one["kind"], f'`"{one["strategy"]}"`']
        cells += [str(one["looks"] or "all"), one["max_memory"] or "none"]
        if "refused" in one:
            cells += ["refused", "", ""]
        else:
            cells += [f"{one['grown'] / 1e6:.0f} MB", f"{one['grown'] / size:.1f}"]
            cells += [f"{one['pickled'] / 1e6:.1f} MB"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("kind", choices=["numbers", "classes", "all", "table"])
    parser.add_argument("--configurations", type=int, default=800)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--strategy", default="track_and_confirm")
    parser.add_argument("--looks", type=int, help="end after so many looks")
    parser.add_argument("--max-memory", help="such as 100MB")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.kind == "table":
        print(table(known()))
    elif options.kind == "all":
        measure_all()
    else:
        record = {**key_of(options), **measure(options)}
        with RESULTS.open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(record, flush=True)


if __name__ == "__main__":
    main()
