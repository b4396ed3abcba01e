"""Races of kernel machines on a card: the same as on the host, and how fast.

Run it from the root of the repository, on a machine with a card and PyTorch::

    PYTHONPATH=src python3 benchmarks/gpu/run.py --out results

Each step appends its lines to ``results/gpu.jsonl`` and prints them; a step that fails
or finds no time leaves the others alone. ``--device torch:cpu`` tries the script
without a card.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
import sys
import time
import traceback
from pathlib import Path

NEEDED = ("numpy", "scipy", "sklearn", "joblib", "threadpoolctl", "torch", "cvst")
WANTED = {1_000: 0.05, 5_000: 0.15, 10_000: 0.5}


class Run:
    """Where results go, and how much time is left."""

    def __init__(self, options):
        self.device = options.device
        self.sizes = [int(size) for size in options.sizes.split(",")]
        self.is_small = options.small
        self.out = Path(options.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.file = self.out / "gpu.jsonl"
        self.file.write_text("")
        self.end = time.perf_counter() + options.seconds
        self.peak = None

    def left(self):
        """Return the seconds left."""
        return self.end - time.perf_counter()

    def tell(self, step, **values):
        """Print a line and write it to the file."""
        line = json.dumps({"step": step, **values}, default=str)
        print(line, flush=True)
        with self.file.open("a") as file:
            file.write(line + "\n")

    def guarded(self, name, function, *arguments, needs=5.0):
        """Do a step, unless there is no time; say what went wrong."""
        if self.left() < needs:
            self.tell(name, skipped=f"{self.left():.0f} s left, {needs:.0f} needed")
            return
        start = time.perf_counter()
        try:
            function(self, *arguments)
        except Exception as error:
            text = traceback.format_exc()
            self.tell(name, failed=f"{type(error).__name__}: {error}", trace=text)
        self.tell("time", of=name, seconds=round(time.perf_counter() - start, 2))


def everything(run, steps):
    """Go through all steps, those that tell most first."""
    run.guarded("peak", steps.peak)
    run.guarded("same KRR", steps.same_ridge)
    run.guarded("same KRR, low rank", steps.same_low_rank)
    for size in run.sizes:
        for strategy in ("cvst", "track_and_confirm"):
            run.guarded(f"KRR {size} {strategy}", steps.ridge, size, strategy)
    for size in run.sizes:
        run.guarded(f"CV {size}", steps.cross_validation, size)
    run.guarded("same KLR", steps.same_logistic)
    for size in (1_000, 5_000):
        run.guarded(f"KLR {size}", steps.logistic, size)
    for size in (10_000, 50_000):
        run.guarded(f"k-NN {size}", steps.neighbours, size)
    run.guarded("few factorisations", steps.few_factorisations)
    run.guarded("factorisations", steps.factorisations)
    run.guarded("low rank or not", steps.low_rank)
    run.guarded("profile", steps.profile)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", default="gpu-results")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--sizes", default="1000,5000,10000,20000,50000")
    parser.add_argument("--seconds", type=float, default=225.0)
    parser.add_argument("--small", action="store_true", help="short, to try the script")
    run = Run(parser.parse_args())
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        run.tell("missing", packages=missing)
        sys.exit(f"cannot run without {', '.join(missing)}")
    import steps  # only now: it imports them

    run.tell("machine", python=platform.python_version(), **steps.machine(run))
    everything(run, steps)
    run.tell("end", seconds_left=round(run.left(), 1))


if __name__ == "__main__":
    main()
