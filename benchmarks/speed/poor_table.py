"""Print two tables of ``docs/measurements/poor_speed.md`` from the stored cells.

python benchmarks/speed/poor_table.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = [
    "GRIDS",
    "PLAIN",
    "RACES",
    "RESULTS",
    "SHORT",
    "STATES",
    "in_seconds",
    "lines",
    "ratio",
    "read",
    "seconds_lines",
]

RESULTS = Path(__file__).parents[1] / "results" / "poor_speed.jsonl"
RACES = ("track_and_confirm", "cvst")
PLAIN = "GridSearchCV cv=10"
STATES = ("before", "after")

GRIDS = {
    "whole_brute": "`KNeighborsClassifier`, whole numbers, brute force "
    "(optdigits, 30 k x 2 weights x 2 p)",
    "whole_tree": "`KNeighborsClassifier`, whole numbers, tree "
    "(marketing, the same grid)",
    "logistic_two": "`StandardScaler` + `LogisticRegression`, two classes "
    "(spambase, 20 C)",
    "logistic_many": "`StandardScaler` + `LogisticRegression`, six classes "
    "(satimage, 20 C x 2 class weights)",
    "forest": "`RandomForestClassifier` (satimage, 2,000 rows, 3 sizes x 4 shares of "
    "columns x 4 leaves)",
    "boosting": "`HistGradientBoostingClassifier` by log loss (spambase, 2,000 rows, "
    "4 rates x 4 leaves x 3 penalties)",
}

SHORT = {
    "whole_brute": "neighbours, brute force",
    "whole_tree": "neighbours, tree",
    "logistic_two": "logistic, two classes",
    "logistic_many": "logistic, six classes",
    "forest": "forest",
    "boosting": "boosting",
}


def read() -> list[dict[str, Any]]:
    """Return all cells measured so far."""
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def ratio(cells: list[dict[str, Any]], state: str, name: str, search: str) -> float:
    """Return seconds of the plain search over those of a race, over all repetitions."""
    seconds: dict[str, dict[int, float]] = {}
    for cell in cells:
        if (cell["state"], cell["task"]) == (state, name):
            seconds.setdefault(cell["search"], {})[cell["repetition"]] = cell["seconds"]
    plain, ours = seconds.get(PLAIN, {}), seconds.get(search, {})
    both = sorted(set(plain) & set(ours))
    if not both:
        return float("nan")
    return sum(plain[r] for r in both) / sum(ours[r] for r in both)


def lines() -> list[str]:
    """Return the table: ratios of both races, before and after."""
    cells = read()
    found = [
        '| grid | default, before | after | `"cvst"`, before | after |',
        "|---|---|---|---|---|",
    ]
    for name, title in GRIDS.items():
        shown = (
            ratio(cells, state, name, search) for search in RACES for state in STATES
        )
        # What was not changed was not measured again.
        texts = (f"{one:.1f}x" if one > 0 else "as before" for one in shown)
        found.append(f"| {title} | " + " | ".join(texts) + " |")
    return found


def in_seconds(seconds: float) -> str:
    """Return seconds to three digits."""
    return f"{seconds:.{2 if seconds < 10 else 1 if seconds < 100 else 0}f} s"


def seconds_lines() -> list[str]:
    """Return the seconds of the first draw, of grids measured before and after."""
    seconds = {
        (cell["task"], cell["search"], cell["state"]): cell["seconds"]
        for cell in read()
        if cell["repetition"] == 0
    }
    head = (
        '| seconds | default, before | after | `"cvst"`, before | after | '
        "`GridSearchCV(cv=10)`, before | after |"
    )
    found = [head, "|---|---|---|---|---|---|---|"]
    for name, title in SHORT.items():
        keys = [(name, one, state) for one in (*RACES, PLAIN) for state in STATES]
        if all(key in seconds for key in keys):
            texts = (in_seconds(seconds[key]) for key in keys)
            found.append(f"| {title} | " + " | ".join(texts) + " |")
    return found


if __name__ == "__main__":
    print("\n".join([*lines(), "", *seconds_lines()]))
