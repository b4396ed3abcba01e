"""Print the table of the readme: seconds and errors of three searches on five tasks.

python benchmarks/front_table.py

It reads ``results/speed.csv``, which ``benchmarks/speed/tables.py`` measures. Seconds
are means over all draws of a search; errors are means over the draws that all three
searches have, so that they are paired.
"""

from __future__ import annotations

import csv
from pathlib import Path

__all__ = ["lines"]

RESULTS = Path(__file__).parent / "results" / "speed.csv"
TASKS = {
    "krr": "kernel ridge regression",
    "pipeline": "scaler and `SVC`",
    "boosting_log_loss": "boosting, log loss",
    "forest": "random forest",
    "neighbours": "k nearest neighbours",
}
# How each search is timed, and who knows the error of its winner.
SEARCHES = {
    "`GridSearchCV(cv=10)`": ("GridSearchCV cv=10", "full cv=10"),
    "`HalvingGridSearchCV()`": ("HalvingGridSearchCV", "HalvingGridSearchCV"),
    "`RaceGridSearchCV()`": ("track_and_confirm", "track_and_confirm"),
}


def mean(values: list[float]) -> float:
    """Return the mean of some numbers."""
    return sum(values) / len(values)


def cells(rows: list[dict[str, str]]) -> list[str]:
    """Return seconds and error of each search on one task."""
    errors = {
        name: {
            row["repetition"]: float(row["error"])
            for row in rows
            if row["method"] == known_by
        }
        for name, (_, known_by) in SEARCHES.items()
    }
    common = set.intersection(*(set(one) for one in errors.values()))
    texts = []
    for name, (timed_as, _) in SEARCHES.items():
        seconds = mean([float(r["seconds"]) for r in rows if r["method"] == timed_as])
        error = mean([errors[name][draw] for draw in sorted(common)])
        digits = 0 if seconds >= 10 else 1
        texts.append(f"{seconds:.{digits}f} s, {error:.4f}".replace(" 0.", " ."))
    return texts


def lines() -> list[str]:
    """Return the table, line by line."""
    with RESULTS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    table = [f"| task | rows | configurations | {' | '.join(SEARCHES)} |"]
    table.append("|---" * (3 + len(SEARCHES)) + "|")
    for task, title in TASKS.items():
        own = [row for row in rows if row["task"] == task]
        size = f"{int(own[0]['n_samples']):,} | {own[0]['n_configurations']}"
        table.append(f"| {title} | {size} | {' | '.join(cells(own))} |")
    return table


if __name__ == "__main__":
    print("\n".join(lines()))
