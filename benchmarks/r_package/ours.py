"""Our searches and halving on the work that ``krr.R`` gives to the authors' R package.

    python benchmarks/r_package/ours.py --rows rows.csv    # writes the rows for R
    python benchmarks/r_package/ours.py                    # measures
    python benchmarks/r_package/ours.py --print            # prints what is stored

The first task of the speed tables: kernel ridge regression on noisy sinc, 1,000 rows,
610 configurations, one draw. Processor seconds of one thread, with the final fit; the
error of the winner on 5,000 fresh rows. Each result is appended to
``results/r_package.jsonl``, where ``krr.R`` puts its own.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "everyday"))
sys.path.insert(0, str(Path(__file__).parents[1] / "speed"))

# isort: off
import one_thread  # noqa: F401 - before NumPy

# isort: on
import numpy as np
from searches import METHODS, Trial, winner_error
from tasks import TASKS

RESULTS = Path(__file__).parents[1] / "results" / "r_package.jsonl"
IN_R = "R: CVST, `fastCV`"
OURS = {
    "`RaceGridSearchCV()`": "track_and_confirm",
    '`RaceGridSearchCV(strategy="cvst")`': "cvst",
    "`HalvingGridSearchCV()`": "HalvingGridSearchCV",
}


def write_rows(path: str) -> None:
    """Write training rows, then fresh ones; the target is the last column."""
    X, y, X_fresh, y_fresh = Trial(TASKS["krr"], 0).rows()
    table = np.vstack([np.column_stack([X, y]), np.column_stack([X_fresh, y_fresh])])
    np.savetxt(path, table, delimiter=",", fmt="%.17g")


def measure() -> None:
    """Run each search once and store what it took and chose."""
    trial = Trial(TASKS["krr"], 0)
    X, y, X_fresh, y_fresh = trial.rows()
    for name, method in OURS.items():
        result = METHODS[method](trial, X, y)
        found = {
            "search": name,
            "seconds": round(result.seconds, 2),
            "error": round(winner_error(trial.task, result.model, X_fresh, y_fresh), 6),
            "gamma": float(f"{result.params['gamma']:.6g}"),
            # scikit-learn's penalty is that of R times the number of rows.
            "lambda": float(f"{result.params['alpha'] / len(X):.6g}"),
        }
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
        print(found, flush=True)


def read() -> list[dict[str, Any]]:
    """Return what is stored."""
    text = RESULTS.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def lines() -> list[str]:
    """Return the table of the page: medians of the seconds, and what was chosen."""
    table = ["| search | runs | seconds | error | winner |", "|---|---|---|---|---|"]
    for name in (IN_R, *OURS):
        own = [one for one in read() if one["search"] == name]
        seconds = median(one["seconds"] for one in own)
        [chosen] = {(one["error"], one["gamma"], one["lambda"]) for one in own}
        digits = 0 if seconds >= 10 else 1
        error = f"{chosen[0]:.4f}".removeprefix("0")
        table.append(
            f"| {name} | {len(own)} | {seconds:.{digits}f} | {error} | "
            f"\N{GREEK SMALL LETTER GAMMA} = {chosen[1]:.3g}, "
            f"\N{GREEK SMALL LETTER LAMDA} = {chosen[2]:.0e} |".replace("e-0", "e-")
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", metavar="FILE", help="write the rows for R")
    parser.add_argument("--print", action="store_true", help="only print what is known")
    options = parser.parse_args()
    if options.rows:
        write_rows(options.rows)
        return
    if not options.print:
        measure()
    print("\n".join(lines()))


if __name__ == "__main__":
    main()
