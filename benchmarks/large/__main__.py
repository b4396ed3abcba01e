"""Many rows, many configurations: ``python benchmarks/large rows``.

Kinds of cases are ``rows``, ``grid`` and ``overhead``. Each case runs in a process of
its own, so that its peak memory (``ru_maxrss``) is its own. One run each, seed 0. The
limit on the rows of a race was lowered after a first run with SGD on a million rows, so
peaks below it are no test of the limit. Results are appended to
``benchmarks/results/large.jsonl``, one line per case; a case that is there is not run
again. ``tables`` prints them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from cases import CASES, run_case
from tables import tables

RESULTS = Path(__file__).parents[1] / "results" / "large.jsonl"


def known() -> list[dict[str, object]]:
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def run(which: str) -> None:
    """Run the cases of a kind that are not known yet."""
    done = {record["case"] for record in known()}
    for name in CASES[which]:
        if name in done:
            continue
        command = [sys.executable, str(Path(__file__).parent), "one", name]
        answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if answer.returncode:
            print(f"{name}: ended with {answer.returncode}", file=sys.stderr)
            continue
        line = answer.stdout.strip().splitlines()[-1]
        print(line, flush=True)
        with RESULTS.open("a") as file:
            file.write(line + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", choices=[*CASES, "one", "tables"])
    parser.add_argument("name", nargs="?")
    options = parser.parse_args()
    if options.which == "one":
        print(json.dumps(run_case(options.name)))
    elif options.which == "tables":
        print(tables(known()))
    else:
        run(options.which)


if __name__ == "__main__":
    main()
