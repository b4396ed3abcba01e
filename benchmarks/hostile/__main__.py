"""Run many hostile cases, side by side, and sum them up.

    python benchmarks/hostile run cases.jsonl --first-seed 0 --cases 1000000 \
        --jobs 16 --deadline 500
    python benchmarks/hostile run paced.jsonl --paced --first-seed 20000000
    python benchmarks/hostile run slow.jsonl --paced --first-seed 30000000  # processes
    python benchmarks/hostile run cli.jsonl --commands --cases 50000  # command lines
    python benchmarks/hostile run again.jsonl --paced --unexplained-in paced.jsonl
    python benchmarks/hostile summary cases.jsonl
    python benchmarks/hostile summary cli.jsonl --out benchmarks/results

A case is drawn by its seed. Blocks of seeds run in processes of their own; each block
is a line of the file, and those that are there are not run again, so that a run can be
broken off and go on, and files of several machines can be joined. A process that dies
is told with the seed it died of.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import multiprocessing.connection
import os
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
if __name__ == "__main__":
    # One thread per process; this must be known before NumPy is loaded.
    os.environ.update(dict.fromkeys(THREADS, "1"))

sys.path.insert(0, str(Path(__file__).parent))
sys.stdout.reconfigure(errors="backslashreplace")

from hostile_cases import draw, draw_paced, run  # noqa: E402 - after the path
from hostile_command_lines import draw_command  # noqa: E402 - after the path
from hostile_commands import run_command  # noqa: E402 - after the path
from hostile_summary import ranges, summary  # noqa: E402 - after the path
from sklearn.base import BaseEstimator  # noqa: E402 - after the path

BLOCK = 500

# How a case of a kind is drawn from its seed, and how it is run.
KINDS = {
    "usual": (draw, run),
    "paced": (draw_paced, run),
    "commands": (draw_command, run_command),
}


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog="python benchmarks/hostile",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = result.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="run cases")
    running.add_argument("out", type=Path, help="file that gets a line per block")
    running.add_argument(
        "--unexplained-in",
        type=Path,
        help="only what this file could not explain, or lost with a process",
    )
    running.add_argument("--first-seed", type=int, default=0)
    running.add_argument("--cases", type=int, default=10**6, help="how many seeds")
    running.add_argument("--jobs", type=int, default=1, help="processes side by side")
    running.add_argument("--deadline", type=float, default=float("inf"), help="seconds")
    kinds = running.add_mutually_exclusive_group()
    kinds.add_argument(
        "--commands",
        dest="kind",
        action="store_const",
        const="commands",
        default="usual",
        help="command lines and files instead of searches",
    )
    kinds.add_argument(
        "--paced",
        dest="kind",
        action="store_const",
        const="paced",
        help="with time budgets, several workers, limits on fits, ensembles, on disk",
    )
    telling = commands.add_parser("summary", help="sum up what was run")
    telling.add_argument("files", type=Path, nargs="+")
    telling.add_argument(
        "--again", type=Path, nargs="*", default=[], help="files of cases run again"
    )
    telling.add_argument("--out", type=Path, help="folder for what is summed up")
    return result


def run_block(first: int, cases: int, until: float, kind: str, place, pipe) -> None:
    """Run seeds one after the other until a time, and send what came of them."""
    draw_one, run_one = KINDS[kind]
    _ask_for_signatures_once()
    outcomes, trouble, start = Counter(), [], time.process_time()
    for seed in range(first, first + cases):
        place.value = seed
        result = run_one(draw_one(seed))
        outcomes[result.outcome] += 1
        if result.trouble:
            trouble.append({**asdict(result.case), "trouble": result.trouble})
        if time.monotonic() > until:
            break
    pipe.send(
        {
            "first": first,
            **told_kind(kind),
            "cases": sum(outcomes.values()),
            "seconds": round(time.process_time() - start, 2),
            "outcomes": dict(outcomes),
            "trouble": trouble,
        }
    )


def told_kind(kind: str) -> dict:
    """Return what a block says of the kind of its cases."""
    return {"paced": kind == "paced", "commands": kind == "commands"}


def _ask_for_signatures_once() -> None:
    """Let scikit-learn remember names of parameters: a fifth of the time of a case."""
    names = BaseEstimator._get_param_names.__func__
    known = {}

    def remembered(cls):
        if cls not in known:
            known[cls] = names(cls)
        return list(known[cls])

    BaseEstimator._get_param_names = classmethod(remembered)


class Running:
    """A block on its way."""

    def __init__(self, first: int, cases: int, until: float, kind: str) -> None:
        context = multiprocessing.get_context("fork")
        self.first, self.kind = first, kind
        self._draw = KINDS[kind][0]
        self._place = context.Value("q", first, lock=False)
        self._pipe, there = context.Pipe(duplex=False)
        self._process = context.Process(
            target=run_block, args=(first, cases, until, kind, self._place, there)
        )
        self._process.start()
        there.close()
        self.sentinel = self._process.sentinel

    def block(self) -> dict:
        """Return what came of it, once the process has ended."""
        try:
            result = self._pipe.recv()
        except EOFError:
            self._process.join()
            seed = self._place.value
            trouble = f"the process died with code {self._process.exitcode}"
            result = {
                "first": self.first,
                **told_kind(self.kind),
                "cases": seed - self.first + 1,
                "seconds": 0.0,
                "outcomes": {"not counted": seed - self.first, "died": 1},
                "trouble": [{**asdict(self._draw(seed)), "trouble": [trouble]}],
            }
        self._process.join()
        return result


def missing_blocks(out: Path, first_seed: int, cases: int):
    """Yield blocks of seeds that the file does not have."""
    done = set()
    if out.exists():
        for line in out.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            done.update(range(one["first"], one["first"] + one["cases"]))
    for start in range(first_seed, first_seed + cases, BLOCK):
        stop = min(start + BLOCK, first_seed + cases)
        first = next((seed for seed in range(start, stop) if seed not in done), None)
        if first is not None:
            yield first, stop - first


def open_blocks(out: Path, known: Path, kind: str):
    """Yield what another file could not explain, or lost with a process."""
    left = set()
    for line in known.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        _check_kind(known, one, kind)
        if "not counted" in one["outcomes"]:
            left.update(range(one["first"], one["first"] + one["cases"]))
        left.update(case["seed"] for case in one["trouble"])
    if out.exists():
        for line in out.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            left.difference_update(range(one["first"], one["first"] + one["cases"]))
    for first, last in ranges(sorted(left)):
        for start in range(first, last + 1, BLOCK):
            yield start, min(BLOCK, last + 1 - start)


def _check_kind(known: Path, block: dict, kind: str) -> None:
    """Refuse another kind of case than that of a block: old ones do not say theirs."""
    for name, asked in told_kind(kind).items():
        if block.get(name, asked) != asked:
            how = "without" if asked else "with"
            raise SystemExit(f"'{known}' was run {how} --{name}. Do the same now.")


def run_cases(options: argparse.Namespace) -> int:
    until = time.monotonic() + options.deadline
    if options.unexplained_in is None:
        blocks = missing_blocks(options.out, options.first_seed, options.cases)
    else:
        blocks = open_blocks(options.out, options.unexplained_in, options.kind)
    running: list[Running] = []
    n_cases = n_troubles = 0
    with options.out.open("a", encoding="utf-8") as file:
        while True:
            while len(running) < options.jobs and time.monotonic() < until:
                block = next(blocks, None)
                if block is None:
                    break
                running.append(Running(*block, until, options.kind))
            if not running:
                break
            ended = multiprocessing.connection.wait([one._pipe for one in running])
            for one in [one for one in running if one._pipe in ended]:
                running.remove(one)
                result = one.block()
                file.write(json.dumps(result) + "\n")
                file.flush()
                n_cases += result["cases"]
                n_troubles += len(result["trouble"])
                for trouble in result["trouble"]:
                    print(json.dumps(trouble), flush=True)
    print(f"{n_cases} cases, {n_troubles} of them unexplained")
    return int(n_troubles > 0)


def main() -> int:
    options = parser().parse_args()
    if options.command == "run":
        return run_cases(options)
    return summary(options.files, options.again, options.out)


if __name__ == "__main__":
    sys.exit(main())
