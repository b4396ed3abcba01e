"""The tables of limits of ``docs/measurements/poor_speed.md``, from the stored runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from poor_table import SHORT, in_seconds

__all__ = ["RESULTS", "TASKS", "limits", "lines", "parts", "read"]

RESULTS = Path(__file__).parents[1] / "results" / "poor_limits.jsonl"
TASKS = ("whole_tree", "logistic_two", "logistic_many", "boosting")
STAGES = {
    "late look": "late look",
    "confirm": "folds",
    "climb": "climbs",
    "final": "ten folds",
}


def read() -> list[dict[str, Any]]:
    """Return all grids measured so far, in the order of the page."""
    if not RESULTS.exists():
        return []
    found = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    return sorted(found, key=lambda one: TASKS.index(one["task"]))


def parts(one: dict[str, Any]) -> dict[str, float]:
    """Return the seconds of the first look, of the others by stage, and of the end."""
    first, *others = one["looks"]
    seconds = {"first look": first["seconds"], **dict.fromkeys(STAGES.values(), 0.0)}
    for look in others:
        [stage] = [name for name in STAGES if look["stage"].startswith(name)]
        seconds[STAGES[stage]] += look["seconds"]
    return {**seconds, "end": one["end_seconds"]}


def limits(one: dict[str, Any]) -> dict[str, float]:
    """Return how many times as fast as a plain search some races would be."""
    count, fit = one["configurations"], one["full_fit_seconds"]
    plain, least = 10 * count * fit, one["looks"][0]["seconds"] + one["end_seconds"]
    return {
        "race": plain / one["race_seconds"],
        "one look": plain / least,
        "and ten folds": plain / (least + 10 * fit),
        "small fits": plain / (count * one["small_fit_seconds"] + 10 * fit),
    }


def lines(found: list[dict[str, Any]]) -> list[str]:
    """Return both tables."""
    head = (
        "| where the seconds go | `GridSearchCV(cv=10)` | a 20th | race | first look | "
        "late look | folds | climbs | ten folds | end |"
    )
    shown = [head, "|---" * 10 + "|"]
    for one in found:
        plain = 10 * one["configurations"] * one["full_fit_seconds"]
        all_of_it = plain, plain / 20, one["race_seconds"]
        texts = [in_seconds(value) for value in all_of_it]
        texts += [in_seconds(value) if value else "" for value in parts(one).values()]
        shown.append(f"| {SHORT[one['task']]} | " + " | ".join(texts) + " |")
    head = (
        "| times as fast | race | first look and end | "
        "and ten folds of one configuration | each once on a tenth, and ten folds |"
    )
    shown += ["", head, "|---" * 5 + "|"]
    for one in found:
        texts = [f"{value:.1f}x" for value in limits(one).values()]
        shown.append(f"| {SHORT[one['task']]} | " + " | ".join(texts) + " |")
    return shown
