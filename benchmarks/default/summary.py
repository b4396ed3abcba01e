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
REFERENCE, DEFAULT = "full 5-fold", "track_and_confirm"
ALL, KNN = "All tasks without k-NN", "k-NN, apart"

# The rule for few configurations was chosen on these among others (rules_few.csv).
SEEN = {"breast_cancer", "diabetes", "page_blocks", "penbased", "satimage"}
UNSEEN = "Sets without a part in the rule"
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


def method_names(lines: Lines) -> list[str]:
    """Return the methods but for the reference, the default first."""
    names = dict.fromkeys(method for _, method, _ in lines)
    return [DEFAULT, *(name for name in names if name not in (DEFAULT, REFERENCE))]


def table(lines: Lines, title: str, chosen: list[str]) -> str:
    """Return a table of all methods on some tasks."""
    rows = [row(lines, method, chosen) for method in method_names(lines)]
    return "\n".join([f"**{title}**\n", *head(HEAD), *filter(None, rows)])


def head(names: tuple[str, ...]) -> list[str]:
    """Return the first lines of a table."""
    return [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]


def parts() -> dict[str, list[str]]:
    """Return the names of the tasks that have a table of their own, by its title."""
    chosen: dict[str, Callable[[Task], bool]] = {
        ALL: lambda task: task.family != "knn",
        UNSEEN: lambda task: task.data not in SEEN,
        "Real data": lambda task: not task.generated,
        "Generators": lambda task: task.generated,
        "Fewer than 2,000 rows": lambda task: task.n_train < 2000,
        "2,000 rows and more": lambda task: task.n_train >= 2000,
    }
    for family in ("linear", "boosting", "forest", "svm", "net"):
        chosen[f"Learners: {family}"] = lambda task, f=family: task.family == f
    for space in ("grid", "random", "categories"):
        chosen[f"Spaces: {space}"] = lambda task, s=space: task.space == s
    found = {
        title: [n for n, t in TASKS.items() if t.family != "knn" and belongs(t)]
        for title, belongs in chosen.items()
    }
    return found | {KNN: [n for n, t in TASKS.items() if t.family == "knn"]}


def by_part(lines: Lines) -> str:
    """Return one table of the default, a row for each part of the tasks."""
    rows = []
    for title, chosen in parts().items():
        _, rest = row(lines, DEFAULT, chosen).split(" | ", 1)
        rows.append(f"| {title} | {rest}")
    return "\n".join([*head(("tasks", *HEAD[1:])), *rows])


def by_task(lines: Lines) -> str:
    """Return mean and worst split of the default on each task."""
    rows = []
    for name in TASKS:
        for values in ratios(lines, DEFAULT, "loss", [name]).values():
            mean, worst = 100 * np.expm1([np.mean(values), np.max(values)])
            over = sum(value > np.log(1.05) for value in values)
            cells = name, f"{len(values)}", f"{mean:+.1f} %", f"{worst:+.1f} %"
            rows.append(f"| {' | '.join(cells)} | {over} |")
    names = "task", "splits", "mean", "worst", "over 5 % worse"
    return "\n".join([*head(names), *rows])


def opening(lines: Lines, n_failed: int) -> str:
    """Say how much there is."""
    complete = [
        seed
        for seed in {seed for _, _, seed in lines}
        if all((t, m, seed) in lines for t in TASKS for m in (REFERENCE, DEFAULT))
    ]
    return (
        f"{len(lines):,} cells, {n_failed} failed; {len(complete)} of 10 splits have "
        "all tasks of the reference and the default. Cost is the ratio to full 5-fold."
    )


def every_table(lines: Lines) -> str:
    """Return all tables of the protocol."""
    tables = [table(lines, title, chosen) for title, chosen in parts().items()]
    last = f"**By task: default over full 5-fold**\n\n{by_task(lines)}"
    return "\n\n".join([*tables, last])


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("results", type=Path)
    parser.add_argument(
        "--parts", action="store_true", help="one table of the default, by kind of task"
    )
    options = parser.parse_args()
    lines, n_failed = read(options.results)
    print(opening(lines, n_failed), end="\n\n")
    print(by_part(lines) if options.parts else every_table(lines))


if __name__ == "__main__":
    main()
