"""Part the regret of the race on development tasks into search, choice and noise.

    python benchmarks/everyday/regret_parts.py

Reads ``benchmarks/results/everyday_diagnosis.jsonl``, one line for each search of
``diagnose.py``, and prints a table. Regrets are those of ``summary.py``: 0 is the best
loss on fresh rows that any search on the task had, 1 that of default parameters.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["parts", "peer_mean", "report", "variants"]

RESULTS = Path(__file__).parents[1] / "results"

# As in summary.py.
MOST, LEAST_GAIN = 2.0, 1e-3

HEAD = (
    "| task | configurations | noise | chosen | best seen | chosen, more folds |\n"
    "|---|---|---|---|---|---|"
)


def _lines(name: str) -> list[dict[str, Any]]:
    path = RESULTS / name
    return [json.loads(line) for line in path.read_text().splitlines()]


def _mean(values: list[float]) -> float:
    return float(np.mean(np.minimum(values, MOST))) if values else np.nan


def _cell(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2f}"


class Scale:
    """Regrets of losses on fresh rows, by the default and the best of each task."""

    def __init__(self, lines: list[dict[str, Any]]) -> None:
        self.default = {
            one["task"]: one["loss"] for one in lines if one.get("search") == "default"
        }
        self.best: dict[str, float] = dict(self.default)
        for one in lines:
            task = one["task"]
            self.best[task] = min(self.best[task], one.get("loss", np.inf))

    def __call__(self, task: str, loss: float | None) -> float:
        """Return the regret of a loss; none at all counts as the default's."""
        default, best = self.default[task], self.best[task]
        loss = default if loss is None else loss
        return (loss - best) / max(default - best, LEAST_GAIN * abs(default))


def peer_mean(search: str, seconds: float) -> float:
    """Return the mean regret of a peer on the same scale, over all tasks."""
    cells, peers = _lines("everyday_diagnosis.jsonl"), _lines("everyday_dev.jsonl")
    regret = Scale([*peers, *cells])
    found: dict[str, list[float]] = defaultdict(list)
    for one in peers:
        if one["search"] == search and one["seconds"] == seconds:
            found[one["task"]].append(regret(one["task"], one.get("loss")))
    return float(np.mean([_mean(values) for values in found.values()]))


def parts() -> dict[str, dict[str, float]]:
    """Return the parts by task; a search that failed counts as default parameters."""
    cells = _lines("everyday_diagnosis.jsonl")
    regret = Scale([*_lines("everyday_dev.jsonl"), *cells])
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in cells:
        task, column = one["task"], "chosen" if one["version"] == "before" else "more"
        found[task][column].append(regret(task, one.get("loss")))
        if one["version"] == "before" and "loss" in one:
            found[task]["n"].append(one["n_families"])
            found[task]["seen"].append(regret(task, one["best_judged"]))
            noise = regret(task, regret.best[task] + one["noise"])
            found[task]["noise"].append(noise)
    return {
        task: {
            "n": float(np.mean(lists["n"])) if lists["n"] else np.nan,
            **{
                name: _mean(lists[name]) for name in ("noise", "chosen", "seen", "more")
            },
        }
        for task, lists in sorted(found.items())
    }


def now() -> dict[str, float]:
    """Return means over the tasks that were run again with the rules as they are.

    Keys are ``"now"``, ``"before"`` (searches that did not end in an error), ``"same"``
    (now, on the tasks of before) and ``"peer"``, with ``"n"`` and ``"n_same"`` tasks.
    """
    cells = _lines("everyday_diagnosis.jsonl")
    peers = _lines("everyday_dev.jsonl")
    regret = Scale([*peers, *cells])
    found = {
        one["task"]: min(MOST, regret(one["task"], one["loss"]))
        for one in _lines("everyday_dev_now.jsonl")
    }
    before: dict[str, list[float]] = defaultdict(list)
    for one in cells:
        if one["version"] == "before" and "loss" in one and one["task"] in found:
            before[one["task"]].append(regret(one["task"], one["loss"]))
    peer: dict[str, list[float]] = defaultdict(list)
    for one in peers:
        wanted = one["search"] == "optuna_tpe_wilcoxon" and one["seconds"] == 60
        if wanted and one["task"] in found:
            peer[one["task"]].append(regret(one["task"], one.get("loss")))
    return {
        "n": len(found),
        "now": float(np.mean(list(found.values()))),
        "peer": float(np.mean([_mean(values) for values in peer.values()])),
        "n_same": len(before),
        "same": float(np.mean([found[task] for task in before])),
        "before": float(np.mean([_mean(values) for values in before.values()])),
    }


def variants(name: str) -> dict[str, float]:
    """Return the mean regret of each version in a file of development tasks."""
    cells = _lines(name)
    others = ("everyday_dev.jsonl", "everyday_dev_now.jsonl")
    known = [line for other in others for line in _lines(other)]
    regret = Scale([*known, *_lines("everyday_diagnosis.jsonl"), *cells])
    found: dict[str, list[float]] = defaultdict(list)
    for one in cells:
        found[one["version"]].append(regret(one["task"], one.get("loss")))
    return {version: _mean(values) for version, values in found.items()}


def report() -> str:
    """Return the table as Markdown, with the means of the columns last."""
    rows = parts()
    names = ["noise", "chosen", "seen", "more"]
    lines = [HEAD]
    for task, row in rows.items():
        count = "" if np.isnan(row["n"]) else f"{row['n']:.0f}"
        values = " | ".join(_cell(row[name]) for name in names)
        lines.append(f"| {task} | {count} | {values} |")
    means = [float(np.nanmean([row[name] for row in rows.values()])) for name in names]
    lines.append("| mean | | " + " | ".join(_cell(value) for value in means) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(report())
    print(now())
    for file in ("everyday_dev_forests.jsonl", "everyday_dev_first_points.jsonl"):
        print(variants(file))
