"""Print the table of ``docs/measurements/speed.md`` from ``results/speed.csv``.

python benchmarks/speed/results_table.py

Seconds are means over the draws of a search; ratios are those of mean seconds.
"""

from __future__ import annotations

import csv
from pathlib import Path

__all__ = ["lines", "mean_of", "read"]

RESULTS = Path(__file__).parents[1] / "results" / "speed.csv"
PLAIN, HALVING = "GridSearchCV cv=10", "HalvingGridSearchCV"
PAPER, DEFAULT = "cvst", "track_and_confirm"

# Title, and what was wanted over the plain search and over halving.
TASKS: dict[str, tuple[str, float | None, float | None]] = {
    "krr": ("`KernelRidge`", 250, 19),
    "nusvr": ("`NuSVR`", 40, 4),
    "nusvc": ("`NuSVC`", 40, 4),
    "klr": ("`KernelLogisticRegression`", 100, 8),
    "boosting": ("`HistGradientBoostingRegressor`", 20, None),
    "boosting_log_loss": ("`HistGradientBoostingClassifier`, log loss", 20, None),
    "boosting_classes": ("`HistGradientBoostingClassifier`, accuracy", 20, None),
    "pipeline": ("`StandardScaler` + `SVC`", 20, None),
    "svc": ("`SVC` alone on scaled rows", None, None),
    "neighbours": ("`KNeighborsClassifier`", 20, None),
    "forest": ("`RandomForestClassifier`", 20, None),
    "ridge": ("`Ridge`", None, None),
    "lasso": ("`Lasso`", None, None),
}
MEMORY = "610 kernel-ridge configurations, N = 5,000"

Rows = list[dict[str, str]]


def read() -> Rows:
    """Return all runs."""
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def of(rows: Rows, task: str, method: str, column: str = "seconds") -> list[float]:
    """Return one number of each run of a search."""
    return [
        float(row[column])
        for row in rows
        if (row["task"], row["method"]) == (task, method)
    ]


def mean_of(rows: Rows, task: str, method: str) -> float:
    """Return the mean seconds of a search."""
    found = of(rows, task, method)
    return sum(found) / len(found)


def times(ratio: float) -> str:
    """Return how many times as fast a race is."""
    return f"{ratio:.0f}x" if ratio >= 9.95 else f"{ratio:.1f}x"


def shown_seconds(value: float) -> str:
    """Return seconds, short ones to a hundredth."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}"


def with_wish(ratio: float, wanted: float | None) -> str:
    """Return a ratio, with what was wanted in brackets."""
    if wanted is None:
        return times(ratio)
    missed = ", **missed**" if ratio < wanted else ""
    return f"{times(ratio)} ({wanted:g}x){missed}"


def line(rows: Rows, task: str) -> str:
    """Return the row of a task."""
    title, over_plain, over_halving = TASKS[task]
    plain, halving, paper, default = (
        mean_of(rows, task, method) for method in (PLAIN, HALVING, PAPER, DEFAULT)
    )
    ratios = f"{times(plain / default)}, {times(halving / default)}"
    cells = [
        title,
        str(len(of(rows, task, PAPER))),
        shown_seconds(paper),
        with_wish(plain / paper, over_plain),
        with_wish(halving / paper, over_halving),
        f"{shown_seconds(default)}, {ratios}",
    ]
    return f"| {' | '.join(cells)} |"


def memory_line(rows: Rows) -> str:
    """Return the row of the race whose peak memory was bounded."""
    paper, default = (
        (mean_of(rows, "memory", method), max(of(rows, "memory", method, "peak_mb")))
        for method in (PAPER, DEFAULT)
    )
    draws = len(of(rows, "memory", PAPER))
    peaks = [f"{peak / 1000:.2f} GB" for _, peak in (paper, default)]
    return (
        f"| {MEMORY} | {draws} | {shown_seconds(paper[0])} | peak memory {peaks[0]} "
        f"(2 GB) | | {shown_seconds(default[0])}, {peaks[1]} |"
    )


def lines() -> list[str]:
    """Return the table, line by line."""
    rows = read()
    wanted = (
        "over `GridSearchCV(cv=10)` (wanted) | over `HalvingGridSearchCV()` (wanted)"
    )
    head = f'| task | draws | `"cvst"`, seconds | {wanted} | the default, '
    head += '`"track_and_confirm"`: seconds, over both |'
    table = [head, "|---" * 6 + "|"]
    return [*table, *(line(rows, task) for task in TASKS), memory_line(rows)]


if __name__ == "__main__":
    print("\n".join(lines()))
