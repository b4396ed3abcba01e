"""What forests lose by few trees: the parameters that races chose, with more of them.

    python benchmarks/everyday/more_trees.py RUNS OUT --trees 300

RUNS are lines of ``run.py``; OUT gets one line for each choice with fewer trees.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import one_thread  # noqa: F401 - before NumPy
from tasks import TASKS


def choices(path: Path) -> list[tuple[str, dict]]:
    """Return the different choices of forests, defaults included."""
    found: list[tuple[str, dict]] = []
    for line in path.read_text().splitlines():
        run = json.loads(line)
        one = run["task"], run.get("params")
        if TASKS[one[0]].kind == "forest" and one[1] is not None and one not in found:
            found.append(one)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("runs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--trees", type=int, default=300)
    options = parser.parse_args()
    with options.out.open("w") as file:
        for name, params in choices(options.runs):
            task = TASKS[name]
            own = params.get("n_estimators", task.estimator.n_estimators)
            if own >= options.trees:
                continue
            line = {"task": name, "trees": own, "loss": task.judged(params)}
            more = {**params, "n_estimators": options.trees}
            line |= {"more_trees": options.trees, "loss_with_more": task.judged(more)}
            print(json.dumps(line), file=file, flush=True)


if __name__ == "__main__":
    main()
