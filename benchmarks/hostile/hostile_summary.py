"""Sum up blocks of cases: ``hostile.json`` and ``.md``, or ``hostile_commands``."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
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


COMMANDS_HEAD = """# Hostile commands

`python benchmarks/hostile run cli.jsonl --commands --jobs 16`, summed up by
`python benchmarks/hostile summary`. Every case is a command line with the files it
names, drawn by a seed: tables (CSV, Parquet, Feather, Arrow streams) with odd cells,
names, types, separators and encodings, whole or damaged; grids as text and in files;
scores, models, numbers and places of all kinds, alone and combined. The command ends
with 0, or with 2 and one sentence; never with a traceback, and never without an end.
Files and folders that it was not asked to write are as before, and so is the process.

"""


def summary(files: list[Path], again: list[Path], folder: Path | None) -> int:
    """Print what came of all cases, and store it in a folder.

    Seeds of the files in ``again`` were run once more after something was mended, and
    count as they ended then.
    """
    outcomes, trouble, seconds, seeds = Counter(), {}, 0.0, set()
    for one in blocks(files):
        block = range(one["first"], one["first"] + one["cases"])
        if not seeds.isdisjoint(block):
            raise ValueError(f"Seeds from {one['first']} on are there twice.")
        # What a process did before it died is not known.
        died = "not counted" in one["outcomes"]
        seeds.update(block[-1:] if died else block)
        outcomes.update(one["outcomes"])
        trouble.update({case["seed"]: case for case in one["trouble"]})
        seconds += one["seconds"]
    del outcomes["not counted"]
    first = dict(trouble)
    repeated = set()
    for one in blocks(again):
        block = range(one["first"], one["first"] + one["cases"])
        repeated.update(seeds.intersection(block))
        if seeds.isdisjoint(block):
            outcomes.update(one["outcomes"])
        seeds.update(block)
        for seed in block:
            trouble.pop(seed, None)
        trouble.update({case["seed"]: case for case in one["trouble"]})
        seconds += one["seconds"]
    counts = {
        "cases": len(seeds),
        "unexplained_at_first": len(first),
        "run_again": len(repeated),
        "unexplained": len(trouble),
        "processor_seconds": round(seconds),
        "milliseconds_per_case": round(1000 * seconds / max(len(seeds), 1), 2),
        "seeds": ranges(sorted(seeds)),
        "outcomes_at_first": dict(outcomes.most_common()),
        "kinds_at_first": dict(kinds(first.values()).most_common()),
        "trouble": list(trouble.values())[:100],
    }
    is_commands = any(one.get("commands") for one in blocks(files))
    name, head = (
        ("hostile_commands", COMMANDS_HEAD) if is_commands else ("hostile", HEAD)
    )
    text = head + page(counts)
    print(text)
    if folder is not None:
        (folder / f"{name}.json").write_text(
            json.dumps(counts, indent=1) + "\n", encoding="utf-8"
        )
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return int(len(trouble) > 0)


def blocks(files: list[Path]) -> Iterator[dict]:
    """Yield the blocks of all files."""
    for path in files:
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def kinds(cases: Iterable[dict]) -> Counter:
    """Count what was not explained, whatever its numbers and texts."""
    found = Counter()
    for case in cases:
        text = re.sub(r"-?\d[\d.]*", "#", case["trouble"][0])
        found[re.sub(r"x{9,}|\\\\n.*", "...", text)[:120]] += 1
    return found


def page(counts: dict) -> str:
    rows = [
        f"| {name} | {count:,} | {count / counts['cases']:.2%} |"
        for name, count in counts["outcomes_at_first"].items()
    ]
    seeds = ", ".join(f"{first} to {last}" for first, last in counts["seeds"])
    mended = ""
    if counts["unexplained_at_first"]:
        mended = (
            f"; {counts['unexplained_at_first']} were at first, of kinds below, and "
            f"{counts['run_again']:,} ran again after library or check was mended"
        )
    first = (
        f"{counts['cases']:,} cases (seeds {seeds}), "
        f"**{counts['unexplained']} unexplained**{mended}; "
        f"{counts['milliseconds_per_case']} ms of processor time each, "
        f"{counts['processor_seconds']:,} s in all."
    )
    return "\n".join(
        [
            first,
            "",
            "| outcome, when first run | cases | share |",
            "|---|---|---|",
            *rows,
            "",
            *_kinds_table(counts["kinds_at_first"]),
        ]
    )


def _kinds_table(known: dict[str, int]) -> list[str]:
    if not known:
        return []
    rows = [f"| {kind.replace('|', ' ')} | {n} |" for kind, n in known.items()]
    return ["| not explained at first | cases |", "|---|---|", *rows, ""]


def ranges(seeds: list[int]) -> list[list[int]]:
    """Return first and last of each run of seeds without a gap."""
    found: list[list[int]] = []
    for seed in seeds:
        if found and seed == found[-1][1] + 1:
            found[-1][1] = seed
        else:
            found.append([seed, seed])
    return found
