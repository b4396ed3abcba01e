"""Print every variant of the rule that has stored races, with its draws and numbers.

    python benchmarks/rules/variants.py

The table is part of docs/developer/variants.md, and a test compares the two.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parents[1] / "results"
FILES = (
    "rules_kernel.csv",
    "rules_kernel_300.csv",
    "rules_kernel_3000.csv",
    "rules_kernel_raced.csv",
    "rules_kernel_variants.csv",
    "rules_kernel_default.csv",
    "rules_models.csv",
)
REFERENCE = "full 10-fold"


def lines_of(name: str) -> list[str]:
    """Return a line for each rule of a file."""
    errors: dict[tuple[str, str], dict[str, tuple[float, float]]] = defaultdict(dict)
    with (RESULTS / name).open(newline="") as file:
        for row in csv.DictReader(file):
            if row["test_error"]:
                numbers = float(row["test_error"]), float(row["operations"])
                errors[row["problem"], row["seed"]][row["rule"]] = numbers
    rules = dict.fromkeys(rule for found in errors.values() for rule in found)
    return [_line(name, rule, errors) for rule in rules if rule != REFERENCE]


def _line(name: str, rule: str, errors: dict) -> str:
    ratios, speeds, seeds = defaultdict(list), defaultdict(list), set()
    for (problem, seed), found in errors.items():
        if rule in found and REFERENCE in found:
            (full, cost), (error, operations) = found[REFERENCE], found[rule]
            ratios[problem].append(np.log(full / error) if full and error else 0.0)
            speeds[problem].append(cost / operations)
            seeds.add(int(seed))
    means = {problem: float(np.mean(values)) for problem, values in ratios.items()}
    worst = min(means, key=means.__getitem__)
    ratio = np.exp(np.mean(list(means.values())))
    speed = np.exp(np.mean([np.log(np.mean(values)) for values in speeds.values()]))
    numbers = sorted(seeds)
    draws = ", ".join(_runs(numbers))
    return (
        f"| `{name}` | {rule} | {draws} | {len(means)} | {ratio:.3f} | "
        f"{np.exp(means[worst]):.3f} ({worst}) | {speed:.1f}x |"
    )


def _runs(numbers: list[int]) -> list[str]:
    """Write consecutive numbers as ranges."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in found]


HEAD = (
    "| file | rule | seeds | problems | ratio | worst problem | operations |\n"
    "|---|---|---|---|---|---|---|"
)


def table() -> str:
    """Return the table as Markdown."""
    return "\n".join([HEAD, *(line for name in FILES for line in lines_of(name))])


if __name__ == "__main__":
    print(table())
