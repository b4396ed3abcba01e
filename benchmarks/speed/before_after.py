"""Two or more versions of the library on the same races, turn by turn.

    python benchmarks/speed/before_after.py run OUT.jsonl old=TREE new=TREE --rounds 5
        --tasks ridge svc
    python benchmarks/speed/before_after.py table OUT.jsonl

``TREE`` is a checkout of the repository; the tasks are those of this one. Each
version has one process that stays, so that imports and compiled code are paid for in a
first round, which does not count. In a round each race runs once in every version, one
after the other, and the order turns with each race and round: whatever else the machine
does, it does to all. Seconds are of processor time. A run goes on where the file ends,
and files of several runs, one task each on a core of its own, can be put together.

The table has the median of the ratios of each race, over the rounds, and the geometric
mean over all races with the range in which 90 % of means lie if rounds are drawn again.
On a new machine the solver of support vector machines is compiled beside the first
races, which are slower until then: ``--compiled-from 12`` leaves their earlier rounds
out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
STRATEGIES = ("cvst", "track_and_confirm")
FIRST = ["krr", "neighbours", "ridge", "lasso"]
COMPILED = {"nusvr", "nusvc", "svc", "pipeline"}


def serve() -> None:
    """Answer each line of the input with the time of that race."""
    from time import process_time

    from tasks import TASKS

    from cvst import RaceGridSearchCV

    for line in sys.stdin:
        name, strategy, number = line.split()
        task, seed = TASKS[name], int(number)
        X, y = task.draw(task.n_samples, seed)
        search = RaceGridSearchCV(
            task.estimator,
            task.grid(task.n_samples),
            scoring=task.scoring,
            strategy=strategy,
            random_state=seed,
        )
        start = process_time()
        search.fit(X, y)
        seconds = process_time() - start
        answer = {
            "seconds": seconds,
            "winner": int(search.best_index_),
            "looks": [int(n) for n in search.race_.present.sum(axis=0)],
        }
        print(json.dumps(answer), flush=True)


class Version:
    """One process with one version of the library."""

    def __init__(self, name: str, tree: Path) -> None:
        self.name = name
        environment = dict(os.environ, PYTHONPATH=str(tree / "src"))
        self._process = subprocess.Popen(
            [sys.executable, __file__, "serve"],
            env=environment | dict.fromkeys(THREADS, "1"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def time(self, race: tuple[str, str], seed: int) -> dict[str, Any]:
        """Run a race and return what is known of it."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        print(*race, seed, file=process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(process.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def run(path: Path, versions: list[Version], tasks: list[str], n_rounds: int) -> None:
    races = [(task, strategy) for task in tasks for strategy in STRATEGIES]
    done = {(one["round"], *one["race"]) for one in _read(path)}
    warm: set[tuple[str, str]] = set()
    for number in range(n_rounds):
        for place, race in enumerate(races):
            if (number, *race) in done:
                continue
            turn = (number + place) % len(versions)
            order = versions[turn:] + versions[:turn]
            if race not in warm:
                for version in order:
                    version.time(race, seed=0)
                warm.add(race)
            row: dict[str, Any] = {"round": number, "race": race}
            row |= {version.name: version.time(race, number) for version in order}
            with path.open("a") as file:
                print(json.dumps(row), file=file)


def table(path: Path, compiled_from: int = 0) -> str:
    """Return the ratios of all versions over the first one."""
    import numpy as np

    rows = [
        row
        for row in _read(path)
        if row["race"][0] not in COMPILED or row["round"] >= compiled_from
    ]
    first, *others = [name for name in rows[0] if name not in ("round", "race")]
    head = ["race", f"seconds, {first}", *(f"{name} / {first}" for name in others)]
    lines = [head, ["---"] * len(head)]
    logs: dict[str, list[Any]] = {name: [] for name in others}
    for race in dict.fromkeys(tuple(row["race"]) for row in rows):
        mine = [row for row in rows if tuple(row["race"]) == race]
        seconds = {
            name: np.array([row[name]["seconds"] for row in mine])
            for name in (first, *others)
        }
        line = [" ".join(race), f"{np.median(seconds[first]):.2f}"]
        for name in others:
            ratios = seconds[name] / seconds[first]
            logs[name].append(np.log(ratios))
            same = all(row[name]["looks"] == row[first]["looks"] for row in mine)
            line.append(f"{np.median(ratios):.3f}{'' if same else ' *'}")
        lines.append(line)
    last = ["geometric mean, 90 % range", ""]
    rng = np.random.default_rng(0)
    for name in others:
        drawn = sum(
            rng.choice(one, size=(4000, len(one))).mean(axis=1) for one in logs[name]
        ) / len(logs[name])
        middle = np.mean([one.mean() for one in logs[name]])
        low, high = np.exp(np.quantile(drawn, [0.05, 0.95]))
        last.append(f"{np.exp(middle):.3f} ({low:.3f} to {high:.3f})")
    lines.append(last)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _read(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("serve")
    runs = commands.add_parser("run")
    runs.add_argument("out", type=Path)
    runs.add_argument("versions", nargs="+", metavar="NAME=TREE")
    runs.add_argument("--rounds", type=int, default=5)
    runs.add_argument("--tasks", nargs="+", default=FIRST)
    shown = commands.add_parser("table")
    shown.add_argument("out", type=Path)
    shown.add_argument("--compiled-from", type=int, default=0, metavar="ROUND")
    options = parser.parse_args()
    if options.command == "serve":
        serve()
    elif options.command == "table":
        print(table(options.out, options.compiled_from))
    else:
        named = (one.split("=", 1) for one in options.versions)
        versions = [Version(name, Path(tree)) for name, tree in named]
        run(options.out, versions, options.tasks, options.rounds)
        for version in versions:
            version.close()


if __name__ == "__main__":
    main()
