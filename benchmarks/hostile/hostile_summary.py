"""Sum up blocks of cases: ``hostile.json`` and ``hostile.md``."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

__all__ = ["summary"]

HEAD = """# Hostile and odd input

`python benchmarks/hostile run cases.jsonl --jobs 16`, summed up by
`python benchmarks/hostile summary`. Every case is a search drawn by its seed: rows,
targets, estimator, grid, folds, score, strategy, settings and what `fit` gets besides
are ordinary or hostile. It works, or a documented exception refuses it in a sentence,
or scikit-learn raises the same; where the best configuration is known (by brute force
over the same folds, or because it is better by far) it must have won; and nothing may
be left behind in the process.

"""


def summary(files: list[Path], folder: Path | None) -> int:
    """Print what came of all cases, and store it in a folder."""
    outcomes, trouble, seconds, seeds = Counter(), [], 0.0, set()
    for path in files:
        for line in path.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            block = range(one["first"], one["first"] + one["cases"])
            if not seeds.isdisjoint(block):
                raise ValueError(f"{path} repeats seeds from {one['first']} on.")
            seeds.update(block)
            outcomes.update(one["outcomes"])
            trouble += one["trouble"]
            seconds += one["seconds"]
    counts = {
        "cases": len(seeds),
        "unexplained": len(trouble),
        "processor_seconds": round(seconds),
        "milliseconds_per_case": round(1000 * seconds / max(len(seeds), 1), 2),
        "seeds": ranges(sorted(seeds)),
        "outcomes": dict(outcomes.most_common()),
        "trouble": trouble[:100],
    }
    text = HEAD + page(counts)
    print(text)
    if folder is not None:
        (folder / "hostile.json").write_text(
            json.dumps(counts, indent=1) + "\n", encoding="utf-8"
        )
        (folder / "hostile.md").write_text(text, encoding="utf-8")
    return int(len(trouble) > 0)


def page(counts: dict) -> str:
    rows = [
        f"| {name} | {count:,} | {count / counts['cases']:.2%} |"
        for name, count in counts["outcomes"].items()
    ]
    seeds = ", ".join(f"{first} to {last}" for first, last in counts["seeds"])
    first = (
        f"{counts['cases']:,} cases (seeds {seeds}), "
        f"**{counts['unexplained']} unexplained**; "
        f"{counts['milliseconds_per_case']} ms of processor time each, "
        f"{counts['processor_seconds']:,} s in all."
    )
    return "\n".join(
        [
            first,
            "",
            "| outcome | cases | share |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def ranges(seeds: list[int]) -> list[list[int]]:
    """Return first and last of each run of seeds without a gap."""
    found: list[list[int]] = []
    for seed in seeds:
        if found and seed == found[-1][1] + 1:
            found[-1][1] = seed
        else:
            found.append([seed, seed])
    return found
