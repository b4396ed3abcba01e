"""What keeping a race on disk takes: seconds, share of the fit, bytes.

Everything that a checkpoint does is timed where the search calls it: reading the data
for the fingerprint, opening, saving, closing. Saving in a thread of its own counts too.

    python benchmarks/faults/saving.py
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
import warnings
from functools import wraps
from pathlib import Path

import numpy as np
from kills import searches
from sklearn.datasets import make_regression
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

from cvst import RaceGridSearchCV
from cvst.search.checkpoint import _opening
from cvst.search.checkpoint._recorder import Recorder

METHODS = ("begin", "known", "keep", "look", "end", "close", "_save_late")


class Stopwatch:
    """Adds up the outermost calls of some functions, thread by thread."""

    def __init__(self):
        self.seconds = 0.0
        self._inside = threading.local()

    def timed(self, function):
        """Return the function, timed."""

        @wraps(function)
        def call(*args, **kwargs):
            if getattr(self._inside, "depth", 0):
                return function(*args, **kwargs)
            self._inside.depth = 1
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - start
                self._inside.depth = 0

        return call


def larger():
    """Return searches whose losses are many, or whose fits are long."""
    wide = make_regression(100_000, 20, noise=5.0, random_state=0)
    rows = make_regression(4000, 10, noise=5.0, random_state=0)
    return {
        "grid, ridge, 100,000 rows": (
            lambda **k: RaceGridSearchCV(
                Ridge(), {"alpha": np.logspace(-3, 3, 60)}, strategy="cvst", **k
            ),
            (wide, {}),
        ),
        "grid, forests, 4,000 rows": (
            lambda **k: RaceGridSearchCV(
                RandomForestRegressor(n_estimators=20),
                {"max_depth": [2, 4, 8, None], "max_features": [0.3, 1.0]},
                **k,
            ),
            (rows, {}),
        ),
    }


def main():
    watch = Stopwatch()
    for name in METHODS:
        setattr(Recorder, name, watch.timed(getattr(Recorder, name)))
    for name in ("fingerprint", "create", "Lock"):
        setattr(_opening, name, watch.timed(getattr(_opening, name)))
    warnings.simplefilter("ignore")
    print(f"{'search':38} seconds  saving  share     bytes")
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, (make, ((X, y), params))) in enumerate(
            (searches() | larger()).items()
        ):
            path, watch.seconds = Path(folder) / str(number), 0.0
            start = time.perf_counter()
            make(random_state=0, checkpoint=path).fit(X, y, **params)
            seconds = time.perf_counter() - start
            share = watch.seconds / seconds
            print(
                f"{name:38} {seconds:7.2f} {watch.seconds:7.3f} {share:6.2%} "
                f"{path.stat().st_size:9,}",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
