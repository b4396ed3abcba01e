"""Print what the study of README.md found, from its file of results.

python benchmarks/scores/summary.py benchmarks/results/scores.jsonl
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["lines"]

SCORES = (
    *("neg_log_loss", "roc_auc", "f1_macro", "balanced_accuracy"),
    *("average_precision", "top_tenth"),
)

TITLES = (
    *("score", "problems", "quality", "same choice", "seconds", "operations"),
    *("fits", "seconds for each operation"),
)

# What the speed of the others is compared with: the second where there is no first.
YARDSTICKS = ("neg_log_loss", "accuracy")


def read(path: Path) -> list[dict[str, Any]]:
    """Return the cells of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def loss(name: str, score: float) -> float:
    """Return the loss that belongs to a score on fresh rows."""
    return -score if name.startswith("neg_") else 1 - score


def quality(cell: dict[str, Any], name: str) -> float:
    """Return the loss of the full search's choice over that of the race's."""
    found = cell["scores"][name]
    return loss(name, found["full"]) / loss(name, found["race"])


def relative(cell: dict[str, Any], name: str, what: str) -> float:
    """Return a cost over that of the yardstick in the same cell."""
    scores = cell["scores"]
    yardstick = next(scores[one] for one in YARDSTICKS if one in scores)
    return float(scores[name][what] / yardstick[what])


def by_problem(
    cells: list[dict[str, Any]], name: str, value: Any, log: bool
) -> np.ndarray:
    """Return a mean over splits for each problem that has the score."""
    found: dict[str, list[float]] = {}
    for cell in cells:
        if name in cell["scores"]:
            found.setdefault(cell["problem"], []).append(value(cell, name))
    means = [np.mean(np.log(values) if log else values) for values in found.values()]
    return np.array(means)


def row(cells: list[dict[str, Any]], name: str) -> tuple[str, np.ndarray]:
    """Return a row of the table, and the qualities behind it."""
    qualities = by_problem(cells, name, quality, log=False)
    costs = [
        np.exp(
            by_problem(
                cells, name, lambda cell, n, w=what: relative(cell, n, w), log=True
            ).mean()
        )
        for what in ("seconds", "operations", "fits")
    ]
    error = qualities.std(ddof=1) / np.sqrt(len(qualities)) if len(qualities) > 1 else 0
    same = [
        one["scores"][name]["choice"] == one["scores"][name]["full_choice"]
        for one in cells
        if name in one["scores"]
    ]
    text = (
        f"| {name} | {len(qualities)} | {qualities.mean():.3f} ± {error:.3f} | "
        f"{np.mean(same):.0%} | "
        + " | ".join(f"{cost:.2f}" for cost in (*costs, costs[0] / costs[1]))
        + " |"
    )
    return text, qualities


def lines(cells: list[dict[str, Any]]) -> list[str]:
    """Return the table and what is wanted of it."""
    problems = {cell["problem"] for cell in cells}
    splits = {cell["split"] for cell in cells}
    table = [
        f"{len(cells)} cells: {len(problems)} problems, {len(splits)} splits.",
        "",
        "| " + " | ".join(TITLES) + " |",
        "|---|---|---|---|---|---|---|---|",
    ]
    everything = []
    for name in SCORES:
        if any(name in cell["scores"] for cell in cells):
            text, qualities = row(cells, name)
            table.append(text)
            everything.append(qualities.mean())
    table += ["", f"Mean over scores: {np.mean(everything):.3f}; wanted: .995."]
    return table


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("results", type=Path)
    print("\n".join(lines(read(parser.parse_args().results))))


if __name__ == "__main__":
    main()
