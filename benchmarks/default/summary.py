"""Print the tables of the protocol from a file of results.

python benchmarks/default/summary.py default.jsonl
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from random_effect import mean_of_groups
from tasks import TASKS, Task

MARGIN = np.log(1.01)
REFERENCE = "full 5-fold"
Lines = dict[tuple[str, str, int], dict[str, float]]


def read(path: Path) -> tuple[Lines, int]:
    """Return the lines by task, method and seed, and how many cells failed for good."""
    good: Lines = {}
    failed = set()
    for text in path.read_text().splitlines():
        line = json.loads(text)
        cell = line["task"], line["method"], line["seed"]
        if "error" in line:
            failed.add(cell)
        else:
            good[cell] = line
    return good, len(failed - set(good))


def ratios(lines: Lines, method: str, what: str, chosen: list[str]) -> dict[str, list]:
    """Return logarithms of a quantity over the reference's, by data set."""
    found: dict[str, list[float]] = {}
    for (task, name, seed), line in lines.items():
        reference = lines.get((task, REFERENCE, seed))
        if name == method and task in chosen and reference is not None:
            value = float(np.log(line[what] / reference[what]))
            found.setdefault(TASKS[task].data, []).append(value)
    return found


def verdict(low: float, high: float) -> str:
    """Say what the protocol says of an interval."""
    if high < MARGIN:
        return "as good"
    return "worse" if low > MARGIN else "open"


def row(lines: Lines, method: str, chosen: list[str]) -> str:
    """Return a line of a table: loss, verdict, tail risk and cost."""
    losses = ratios(lines, method, "loss", chosen)
    if len(losses) < 2:
        return ""
    mean = mean_of_groups([np.array(group) for group in losses.values()])
    low, high = mean.interval()
    values = np.concatenate([np.array(group) for group in losses.values()])
    over = [100 * np.mean(values > np.log(1 + share)) for share in (0.05, 0.1)]
    same = 100 * np.mean(values == 0)
    costs = [
        np.exp(np.mean([np.mean(group) for group in found.values()]))
        for what in ("operations", "fits", "seconds")
        if (found := ratios(lines, method, what, chosen))
    ]
    cells = [
        method,
        f"{len(losses)}",
        f"{len(values)}",
        f"{100 * np.expm1(mean.value):+.2f} %",
        f"{100 * np.expm1(low):+.2f} to {100 * np.expm1(high):+.2f} %",
        verdict(low, high),
        f"{same:.0f} %",
        *(f"{share:.1f} %" for share in over),
        *(f"{cost:.2f}" for cost in costs),
    ]
    return f"| {' | '.join(cells)} |"


HEAD = (
    "method",
    "sets",
    "races",
    "loss",
    "90 % interval",
    "verdict",
    "same loss",
    "over 5 % worse",
    "over 10 % worse",
    "operations",
    "fits",
    "seconds",
)


def table(lines: Lines, title: str, chosen: list[str]) -> None:
    """Print a table of all methods on some tasks."""
    print(f"\n**{title}**\n\n| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for method in dict.fromkeys(method for _, method, _ in lines):
        text = row(lines, method, chosen) if method != REFERENCE else ""
        if text:
            print(text)


def parts() -> dict[str, Callable[[Task], bool]]:
    """Return the parts of the tasks that have a table of their own."""
    chosen: dict[str, Callable[[Task], bool]] = {
        "All tasks without k-NN": lambda task: task.family != "knn",
        "Real data": lambda task: not task.generated,
        "Generators": lambda task: task.generated,
        "Fewer than 2,000 rows": lambda task: task.n_train < 2000,
        "2,000 rows and more": lambda task: task.n_train >= 2000,
    }
    for family in ("linear", "boosting", "forest", "svm", "net"):
        chosen[f"Learners: {family}"] = lambda task, f=family: task.family == f
    for space in ("grid", "random", "categories"):
        chosen[f"Spaces: {space}"] = lambda task, s=space: task.space == s
    return chosen


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("results", type=Path)
    lines, n_failed = read(parser.parse_args().results)
    seeds = {seed for _, _, seed in lines}
    complete = [
        seed
        for seed in seeds
        if all((task, REFERENCE, seed) in lines for task in TASKS)
        and all((task, "track_and_confirm", seed) in lines for task in TASKS)
    ]
    print(
        f"{len(lines)} cells, {n_failed} failed; {len(complete)} of 10 splits have all "
        "tasks of the reference and the default. Cost is the ratio to full 5-fold."
    )
    for title, belongs in parts().items():
        names = [n for n, t in TASKS.items() if t.family != "knn" and belongs(t)]
        table(lines, title, names)
    table(lines, "k-NN, apart", [n for n, t in TASKS.items() if t.family == "knn"])
    print("\n**By task: default over full 5-fold**\n\n| task | splits | mean | worst |")
    print("|---|---|---|---|")
    for name in TASKS:
        found = ratios(lines, "track_and_confirm", "loss", [name])
        for values in found.values():
            mean, worst = 100 * np.expm1([np.mean(values), np.max(values)])
            print(f"| {name} | {len(values)} | {mean:+.1f} % | {worst:+.1f} % |")


if __name__ == "__main__":
    main()
