"""Peak memory of the final fit alone: ``python benchmarks/large/plain.py``.

Each learner of the cases with ten million rows is fitted once on all rows, without a
search, with the parameters that won the race. Each fit has a process of its own, so
that its peak memory (``ru_maxrss``) is its own. Results are appended to
``benchmarks/results/large_plain.jsonl``; a case that is there is not run again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from cases import LEARNERS, learner, make_rows, peak_bytes
from tables import plain_table

RESULTS = Path(__file__).parents[1] / "results"
PLAIN = RESULTS / "large_plain.jsonl"


def read(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file of results."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def fit(case: str) -> dict[str, Any]:
    """Fit the winner of a case once, and return what it took."""
    name, rows = case.split()
    [raced] = [one for one in read(RESULTS / "large.jsonl") if one["case"] == case]
    estimator, _ = learner(name)
    estimator.set_params(**raced["best_params"])
    X, y = make_rows(int(rows))
    warnings.simplefilter("ignore")
    before, cpu = peak_bytes(), time.process_time()
    estimator.fit(X, y)
    return {
        "case": case,
        "rows": len(X),
        "cpu_seconds": round(time.process_time() - cpu, 3),
        "data_mb": round((X.nbytes + y.nbytes) / 1e6),
        "before_mb": round(before / 1e6),
        "peak_mb": round(peak_bytes() / 1e6),
    }


def main() -> None:
    """Fit what is not known yet, or one case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", nargs="?")
    options = parser.parse_args()
    if options.case:
        print(json.dumps(fit(options.case)))
        return
    known = {one["case"] for one in read(PLAIN)}
    for case in (f"{name} {10**7}" for name in LEARNERS):
        if case in known:
            continue
        command = [sys.executable, __file__, case]
        answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        with PLAIN.open("a") as file:
            file.write(answer.stdout)
    print(plain_table(read(PLAIN), read(RESULTS / "large.jsonl")))


if __name__ == "__main__":
    main()
