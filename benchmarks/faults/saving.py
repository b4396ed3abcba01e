"""What keeping a race on disk takes of the time of a fit.

Everything that a checkpoint does is timed where the search calls it: reading the data
for the fingerprint, opening, saving, closing. The share is told twice: of processor
time, which other work on the machine does not change, and of the clock, which knows of
waiting for the disk. A thread that saves while the race goes on costs processor time;
the clock counts only what the race waits for. Each is taken in a run of its own: to ask
for the processor time of a thread is a call of the system, after which a busy machine
likes to let others run, and the clock would count that as saving.

Runs without a checkpoint, with one by the clock, with one by processor time take turns.

    python benchmarks/faults/saving.py                  # races of half a minute each
    python benchmarks/faults/saving.py --short          # those of kills.py, seconds
    python benchmarks/faults/saving.py --only trees --turns 5
    python benchmarks/faults/saving.py --out benchmarks/results/saving.md
    python benchmarks/faults/saving.py --short --only ensemble --parts   # what takes it
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
import warnings
from functools import wraps
from pathlib import Path

import numpy as np
from kills import searches, surroundings
from scipy.stats import loguniform, randint
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

from cvst import CVST, RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV
from cvst.search.checkpoint import _opening
from cvst.search.checkpoint._journal import Journal
from cvst.search.checkpoint._recorder import Recorder

METHODS = ("begin", "known", "keep", "look", "end", "close", "_save_late")

HEAD = """# What a checkpoint takes

`python benchmarks/faults/saving.py`: races with `checkpoint=`, one worker, one thread.
*Saving* is all that a checkpoint does, from the fingerprint of the data to closing the
file. By processor time, of all threads: other work on the machine does not change it.
By the clock, what the race waits for, the disk included. *Groups* finished, *saves*
wrote them: where fits are short, several groups that finish close together are one
save. *Without*: processor seconds of the same search without a checkpoint. Medians of
runs that take turns; shares with the lowest and the highest.

"""
COLUMNS = (
    "| race | turns | processor s | without | saving s | share | clock s | saving s "
    "| share | groups | saves | bytes |\n" + "|---" * 12 + "|\n"
)


class Stopwatch:
    """Adds up the outermost calls of some functions, thread by thread."""

    def __init__(self):
        self._inside = threading.local()
        self.reset(time.perf_counter)

    def reset(self, clock):
        """Begin anew, by another clock."""
        self.clock = clock
        self.seconds = 0.0
        self.calls = {}

    def timed(self, function):
        """Return the function, timed."""

        @wraps(function)
        def call(*args, **kwargs):
            self.calls[function.__name__] = self.calls.get(function.__name__, 0) + 1
            aside = self.clock is time.perf_counter and not _is_main()
            if aside or getattr(self._inside, "depth", 0):
                return function(*args, **kwargs)
            self._inside.depth = 1
            start = self.clock()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += self.clock() - start
                self._inside.depth = 0

        return call


def _is_main():
    return threading.current_thread() is threading.main_thread()


def half_minutes():
    """Return races of about half a minute: short fits, long ones, proposals."""
    numbers = make_regression(8000, 10, noise=5.0, random_state=0)
    many = make_regression(100_000, 20, noise=50.0, random_state=0)
    kernels = make_regression(2400, 6, noise=30.0, random_state=0)
    classes = make_classification(
        4000, 12, n_informative=6, flip_y=0.15, random_state=0
    )
    leaves = {"max_depth": [2, 4, 6, 8, 10, 12], "min_samples_leaf": [1, 2, 4, 8, 16]}
    return {
        "many short fits: grid of trees": (
            lambda **k: RaceGridSearchCV(
                DecisionTreeRegressor(),
                leaves | {"max_features": [0.3, 0.5, 0.7, 0.8, 0.9, 1.0]},
                **k,
            ),
            (numbers, {}),
        ),
        "few long fits: grid of forests": (
            lambda **k: RaceGridSearchCV(
                RandomForestRegressor(n_estimators=30),
                {"max_depth": [4, 8, None], "max_features": [0.3, 1.0]},
                **k,
            ),
            (numbers, {}),
        ),
        "many losses: grid of ridges, 100,000 rows": (
            lambda **k: RaceGridSearchCV(
                Ridge(), {"alpha": np.logspace(-3, 6, 300)}, strategy="cvst", **k
            ),
            (many, {}),
        ),
        "shared work: paper's race of kernel ridges": (
            lambda **k: RaceGridSearchCV(
                KernelRidge(kernel="rbf"),
                {"alpha": np.logspace(-3, 3, 12), "gamma": np.logspace(-3, 1, 12)},
                strategy=CVST(stopping="never"),
                **k,
            ),
            (kernels, {}),
        ),
        "draws: random support vectors": (
            lambda **k: RaceRandomSearchCV(
                SVC(),
                {"C": loguniform(0.01, 1000), "gamma": loguniform(1e-3, 1)},
                n_iter=40,
                **k,
            ),
            (classes, {}),
        ),
        "proposals: histogram boosting": (
            lambda **k: RaceSearchCV(
                HistGradientBoostingClassifier(max_iter=60),
                {
                    "learning_rate": loguniform(0.02, 0.5),
                    "max_leaf_nodes": randint(4, 64),
                    "min_samples_leaf": randint(2, 60),
                },
                n_iter=30,
                **k,
            ),
            (classes, {}),
        ),
    }


def one_turn(make, data, path, watch):
    """Run a race three times; return seconds: all and saving, by either clock."""
    (X, y), params = data
    start = time.process_time()
    make(random_state=0).fit(X, y, **params)
    told = {"without": time.process_time() - start}
    for name, whole, part in (
        ("clock", time.perf_counter, time.perf_counter),
        ("processor", time.process_time, time.thread_time),
    ):
        path.unlink(missing_ok=True)
        watch.reset(part)
        start = whole()
        make(random_state=0, checkpoint=path).fit(X, y, **params)
        told |= {name: whole() - start, f"saving, {name}": watch.seconds}
        told[f"share, {name}"] = watch.seconds / told[name]
    told["groups"], told["saves"] = (watch.calls.get(n, 0) for n in ("keep", "append"))
    return told | {"bytes": path.stat().st_size}


def parts(make, data, path):
    """Run a race once; return the calls and milliseconds that the race waited for."""
    (X, y), params = data
    taken = {}

    def heard(name, function):
        @wraps(function)
        def call(*args, **kwargs):
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                if _is_main():
                    calls, seconds = taken.get(name, (0, 0.0))
                    taken[name] = calls + 1, seconds + time.perf_counter() - start

        return call

    places = {
        "waiting for the disk": (os, "fsync"),
        "fingerprint": (_opening, "fingerprint"),
        "records": (Journal, "append"),
    }
    before = {name: getattr(*place) for name, place in places.items()}
    path.unlink(missing_ok=True)
    try:
        for name, place in places.items():
            setattr(*place, heard(name, before[name]))
        start = time.perf_counter()
        make(random_state=0, checkpoint=path).fit(X, y, **params)
        seconds = time.perf_counter() - start
    finally:
        for name, place in places.items():
            setattr(*place, before[name])
    told = (f"{name} {n} times, {1000 * s:.0f} ms" for name, (n, s) in taken.items())
    return f"{seconds:.1f} s: {'; '.join(told)}"


def row(name, turns):
    """Return a line of the table."""
    middle = {key: float(np.median([one[key] for one in turns])) for key in turns[0]}

    def share(clock):
        shares = [one[f"share, {clock}"] for one in turns]
        return f"{np.median(shares):.2%} ({min(shares):.2%} to {max(shares):.2%})"

    return (
        f"| {name} | {len(turns)} | {middle['processor']:.1f} | "
        f"{middle['without']:.1f} | {middle['saving, processor']:.2f} | "
        f"{share('processor')} | {middle['clock']:.1f} | "
        f"{middle['saving, clock']:.2f} | {share('clock')} | {middle['groups']:.0f} | "
        f"{middle['saves']:.0f} | {middle['bytes']:,.0f} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="races of seconds")
    parser.add_argument("--only", action="append", help="a part of the name of a race")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--out", type=Path, help="file for the table")
    parser.add_argument("--parts", action="store_true", help="only what it is made of")
    options = parser.parse_args()
    watch = Stopwatch()
    for name in METHODS:
        setattr(Recorder, name, watch.timed(getattr(Recorder, name)))
    for name in ("fingerprint", "create", "Lock"):
        setattr(_opening, name, watch.timed(getattr(_opening, name)))
    Journal.append = watch.timed(Journal.append)
    Journal.sync = watch.timed(Journal.sync)
    warnings.simplefilter("ignore")
    lines = []
    races = searches() if options.short else half_minutes()
    with tempfile.TemporaryDirectory() as folder:
        for name, (make, data) in races.items():
            if not any(part in name for part in options.only or [""]):
                continue
            path = Path(folder) / "race"
            with surroundings(name):
                if options.parts:
                    for _ in range(options.turns):
                        print(f"{name}, {parts(make, data, path)}", flush=True)
                    continue
                turns = [
                    one_turn(make, data, path, watch) for _ in range(options.turns)
                ]
            lines.append(row(name, turns))
            print(lines[-1], flush=True)
    if options.out is not None:
        text = HEAD + COLUMNS + "\n".join(lines) + "\n"
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
