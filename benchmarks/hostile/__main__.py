"""Run many hostile cases: ``python benchmarks/hostile 0 100000 --out FILE``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.stdout.reconfigure(errors="backslashreplace")

from hostile_cases import draw, run  # noqa: E402 - after the path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int, help="first seed")
    parser.add_argument("count", type=int, help="how many")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--out", help="file for the count and what is not explained")
    options = parser.parse_args()
    start, outcomes, trouble = time.perf_counter(), Counter(), []
    for seed in range(options.first, options.first + options.count):
        result = run(draw(seed))
        outcomes[result.outcome if result.outcome.endswith("Error") else "works"] += 1
        if result.trouble:
            trouble.append({**asdict(result.case), "trouble": result.trouble})
            print(json.dumps(trouble[-1]), flush=True)
        if time.perf_counter() - start > options.seconds:
            break
    summary = {
        "first": options.first,
        "cases": sum(outcomes.values()),
        "outcomes": dict(outcomes.most_common()),
        "unexplained": len(trouble),
    }
    print(json.dumps(summary))
    if options.out:
        Path(options.out).write_text(
            json.dumps({**summary, "trouble": trouble}, indent=1) + "\n",
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
