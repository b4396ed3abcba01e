"""Kill searches at random moments, let them go on, and compare with quiet ones.

Every search is run once without a checkpoint, which says what the result is to be and
how long it takes. Then it is run with one in a process that gets ``SIGKILL`` at any
moment, once to three times, and at last to its end. Compared to the last bit are
``cv_results_`` without times, the state of the race, the winner, and what the winner
predicts. Searches with a time budget are to have the looks that the killed ones had.

Groups that finish within milliseconds may wait to be saved together when the process is
killed. ``--every-group`` saves each group at once.

    python benchmarks/faults/kills.py --kills 200 --seed 0 --out results.json
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy.stats import loguniform, randint
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cvst import (
    CVST,
    RaceGridSearchCV,
    RaceRandomSearchCV,
    RaceSearchCV,
    load_checkpoint,
)
from cvst.exceptions import BudgetTooSmallError, CheckpointError
from cvst.race.machinery import BitTable
from cvst.search.checkpoint import _pace

C = [0.01, 0.1, 1.0, 10.0]


def classification(n=600, **options):
    return make_classification(
        n, 8, n_informative=5, flip_y=0.15, random_state=0, **options
    )


def regression(n=500):
    return make_regression(n, 6, noise=30.0, random_state=0)


class Fussy(DecisionTreeRegressor):
    """Refuses leaves of three rows."""

    def fit(self, X, y):
        """Fit, or refuse."""
        if self.min_samples_leaf == 3:
            raise ValueError("three is one too many")
        return super().fit(X, y)


class Slow(DecisionTreeRegressor):
    """Takes its time, and none of the processor's."""

    seconds = 0.03

    def fit(self, X, y, sample_weight=None):
        """Wait, and fit."""
        time.sleep(self.seconds)
        return super().fit(X, y, sample_weight)


class Slower(Slow):
    """Leaves no time for a look at all of many."""

    seconds = 0.1


class Stuck(DecisionTreeRegressor):
    """Hangs at a depth of three."""

    def fit(self, X, y):
        """Fit, or hang."""
        if self.max_depth == 3:
            time.sleep(600)
        return super().fit(X, y)


def weighted(data):
    X, y = data
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    return (X, y), {"sample_weight": weights}


def grouped(data):
    return data, {"groups": np.arange(len(data[1])) // 3}


def plain(data):
    return data, {}


def searches():
    """Return searches of every kind, each with its data."""
    trees = {"max_depth": [1, 2, 4, 8], "min_samples_leaf": [1, 3, 10]}
    pipe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
    return {
        "grid, trees": (
            lambda **k: RaceGridSearchCV(DecisionTreeRegressor(), trees, **k),
            plain(regression(2000)),
        ),
        "grid, failing fits": (
            lambda **k: RaceGridSearchCV(Fussy(), trees, **k),
            plain(regression(1500)),
        ),
        "grid, trees, two workers": (
            # Enough rows for the fits to outlast the start of the workers.
            lambda **k: RaceGridSearchCV(DecisionTreeRegressor(), trees, n_jobs=2, **k),
            weighted(regression(40_000)),
        ),
        "grid, paper's race, kernel ridge": (
            lambda **k: RaceGridSearchCV(
                KernelRidge(kernel="rbf"),
                {"alpha": C, "gamma": [0.01, 0.1, 1.0]},
                strategy=CVST(stopping="never"),
                **k,
            ),
            plain(regression(700)),
        ),
        "grid, paper's race, support vectors": (
            lambda **k: RaceGridSearchCV(
                SVC(), {"C": C, "gamma": [0.01, 0.1]}, strategy="cvst", **k
            ),
            plain(classification(700)),
        ),
        "grid, pipeline, groups": (
            lambda **k: RaceGridSearchCV(
                pipe,
                {"logisticregression__C": C},
                scoring="neg_log_loss",
                strategy="cross_validation",
                **k,
            ),
            grouped(classification(3000)),
        ),
        "grid, neighbours, pointwise losses": (
            lambda **k: RaceGridSearchCV(
                KNeighborsClassifier(),
                {"n_neighbors": [1, 3, 5, 9, 15], "weights": ["uniform", "distance"]},
                return_pointwise=True,
                **k,
            ),
            plain(classification(1500)),
        ),
        "grid, incremental": (
            lambda **k: RaceGridSearchCV(
                SGDClassifier(),
                {"alpha": [1e-5, 1e-4, 1e-3, 1e-2], "penalty": ["l2", "l1"]},
                incremental=True,
                strategy="cvst",
                **k,
            ),
            plain(classification(3000)),
        ),
        "random, forest": (
            lambda **k: RaceRandomSearchCV(
                RandomForestClassifier(n_estimators=10),
                {"max_depth": randint(1, 9), "max_features": randint(1, 8)},
                n_iter=12,
                **k,
            ),
            plain(classification(400)),
        ),
        "random, trees, two workers": (
            lambda **k: RaceRandomSearchCV(
                DecisionTreeClassifier(),
                {"ccp_alpha": loguniform(1e-5, 1e-1), "max_depth": randint(1, 12)},
                n_iter=16,
                n_jobs=2,
                **k,
            ),
            plain(classification(30_000)),
        ),
        "proposals, boosting": (
            lambda **k: RaceSearchCV(
                HistGradientBoostingClassifier(max_iter=20),
                {
                    "learning_rate": loguniform(0.01, 0.5),
                    "max_leaf_nodes": randint(3, 40),
                    "max_iter": [5, 10, 20],
                },
                n_iter=10,
                **k,
            ),
            plain(classification(500)),
        ),
        "proposals, trees": (
            lambda **k: RaceSearchCV(
                DecisionTreeRegressor(),
                {"max_depth": randint(1, 20), "min_samples_leaf": randint(1, 50)},
                n_iter=24,
                **k,
            ),
            weighted(regression(1500)),
        ),
        "grid, time budget": (
            lambda **k: RaceGridSearchCV(
                DecisionTreeRegressor(), trees, time_budget=4, **k
            ),
            plain(regression(2000)),
        ),
        "random, time budget": (
            lambda **k: RaceRandomSearchCV(
                DecisionTreeRegressor(),
                {"max_depth": randint(1, 12), "ccp_alpha": loguniform(1e-4, 10)},
                n_iter=12,
                time_budget=4,
                **k,
            ),
            plain(regression(2000)),
        ),
        "proposals, time budget": (
            lambda **k: RaceSearchCV(
                DecisionTreeRegressor(),
                {"max_depth": randint(1, 20), "min_samples_leaf": randint(1, 50)},
                time_budget=4,
                **k,
            ),
            plain(regression(1500)),
        ),
        **in_a_hurry(),
        **besides(),
    }


def in_a_hurry():
    """Return searches whose time is short: races in turn, and looks that overlap."""
    many = {"max_depth": [*range(1, 25)], "min_samples_leaf": [1, 2, 3, 5, 10, 20]}
    drawn = {"max_depth": randint(1, 20), "min_samples_leaf": randint(1, 50)}
    return {
        "grid, in turn, time budget": (
            lambda **k: RaceGridSearchCV(Slower(), many, time_budget=4, **k),
            plain(regression(1000)),
        ),
        "random, in turn, time budget": (
            lambda **k: RaceRandomSearchCV(
                Slower(), drawn, n_iter=150, time_budget=4, **k
            ),
            weighted(regression(1000)),
        ),
        "grid, in turn, two threads, time budget": (
            lambda **k: RaceGridSearchCV(Slower(), many, time_budget=4, n_jobs=2, **k),
            plain(regression(1000)),
        ),
        "random, in turn, two threads, time budget": (
            lambda **k: RaceRandomSearchCV(
                Slower(), drawn, n_iter=150, time_budget=4, n_jobs=2, **k
            ),
            plain(regression(1000)),
        ),
        "proposals, overlapping looks, time budget": (
            lambda **k: RaceSearchCV(Slow(), drawn, time_budget=30, n_jobs=2, **k),
            plain(regression(1500)),
        ),
        "proposals, overlapping looks, two threads, time budget": (
            lambda **k: RaceSearchCV(Slow(), drawn, time_budget=4, n_jobs=2, **k),
            weighted(regression(1500)),
        ),
    }


def besides():
    """Return searches with watched fits, ensembles and two workers."""
    few = {"max_depth": [1, 2, 4, 8], "min_samples_leaf": [1, 3, 10]}
    drawn = {"max_depth": randint(1, 20), "min_samples_leaf": randint(1, 50)}
    return {
        "grid, fit timeout": (
            # One fit hangs and is ended; the others have time enough on a busy machine.
            lambda **k: RaceGridSearchCV(
                Stuck(), {"max_depth": [1, 2, 3, 4, 8]}, fit_timeout=40, **k
            ),
            plain(regression(300)),
        ),
        "proposals, fit timeout, two workers": (
            lambda **k: RaceSearchCV(
                Slow(), drawn, n_iter=12, fit_timeout=30, n_jobs=2, **k
            ),
            plain(regression(600)),
        ),
        "grid, ensemble": (
            lambda **k: RaceGridSearchCV(Slow(), few, ensemble=True, **k),
            plain(regression(600)),
        ),
        "proposals, ensemble": (
            lambda **k: RaceSearchCV(
                DecisionTreeClassifier(), drawn, n_iter=16, ensemble=True, **k
            ),
            plain(classification(600)),
        ),
        "proposals, two workers": (
            lambda **k: RaceSearchCV(Slow(), drawn, n_iter=24, n_jobs=2, **k),
            plain(regression(1500)),
        ),
    }


TIMES = {"seconds", "elapsed", "fit_seconds", "score_seconds"}


def plain_look(seen):
    """Return a look as tuples of bytes and text, without its times."""
    values = {f.name: getattr(seen, f.name) for f in fields(seen)}
    look = values.pop("look")
    values |= {f"look {f.name}": getattr(look, f.name) for f in fields(look)}
    return {k: exact(v) for k, v in values.items() if k not in TIMES}


def exact(value):
    """Return a value in a form that compares to the last bit."""
    if isinstance(value, BitTable):
        return exact(np.asarray(value))
    if isinstance(value, np.ma.MaskedArray):
        return exact(value.filled(0)), exact(value.mask)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.ndarray | list | tuple):
        return [exact(one) for one in value]
    if isinstance(value, dict):
        return {str(key): exact(one) for key, one in value.items()}
    return repr(value)


def result_of(search, X):
    """Return all of a fitted search that must not depend on kills."""
    results = search.cv_results_
    pointwise = getattr(search, "pointwise_losses_", [])
    several = search.ensemble_estimator_.predict(X) if search.ensemble else []
    return {
        "results": {k: exact(v) for k, v in results.items() if "_time" not in k},
        "looks": [plain_look(seen) for seen in search.race_.observations],
        "configurations": exact(list(search.race_.configurations)),
        "winner": exact([search.best_index_, search.best_params_, search.best_score_]),
        "reason": search.stop_reason_,
        "predictions": exact(search.predict(X)),
        "predictions of the ensemble": exact(several),
        "pointwise": exact(pointwise),
    }


def in_child(work, seconds=None):
    """Run something in a process of its own; kill it after some seconds.

    Returns what it returned, None if it was killed before.
    """
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(read)
        os.setsid()
        status = 1
        try:
            with os.fdopen(write, "wb") as pipe:
                pickle.dump(work(), pipe)
            status = 0
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(status)
    os.close(write)
    if seconds is not None:
        time.sleep(seconds)
        # Its workers too: a machine that loses power spares nobody.
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            os.kill(pid, signal.SIGKILL)  # not the head of a group yet
    with os.fdopen(read, "rb") as pipe:
        content = pipe.read()
    os.waitpid(pid, 0)
    try:
        return pickle.loads(content)
    except (EOFError, pickle.UnpicklingError):
        return None


def surroundings(name):
    """Return how workers are to be had: as threads, which start at once, or as usual.

    Processes that have to start take most of a short budget on a busy machine.
    """
    backend = "threading" if "two threads" in name else None
    return joblib.parallel_config(backend) if backend else nullcontext()


def fitted(make, data, path=None):
    (X, y), params = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(random_state=0, checkpoint=path).fit(X, y, **params)


def in_time(make, data, path):
    """Return the result of a search, unless its time budget is refused."""
    try:
        return result_of(fitted(make, data, path), data[0][0])
    except BudgetTooSmallError:
        return "refused"


def on_disk(path):
    """Return the looks that a checkpoint has, and whether it has anything at all."""
    try:
        known = load_checkpoint(path)
    except (CheckpointError, FileNotFoundError):
        return [], False
    looks = [plain_look(seen) for seen in known.race_.observations]
    return looks, bool(looks) or known.n_under_way[0] > 0


def left_alone(make, data):
    """Return the result of a search that nobody kills, and how long it takes."""
    start = time.perf_counter()
    quiet = in_child(lambda: in_time(make, data, None))
    return quiet, time.perf_counter() - start


def one_story(name, make, data, quiet, seconds, most_kills, rng, folder):
    """Kill a search a few times and let it end; return what happened."""
    path = Path(folder) / "race.checkpoint"
    for left in Path(folder).iterdir():
        left.unlink()
    n_kills = rng.randint(1, most_kills)
    for _ in range(n_kills):
        in_child(lambda: fitted(make, data, path) and None, rng.uniform(0, seconds))
    seen, something = on_disk(path)
    result = in_child(lambda: in_time(make, data, path))
    if result == "refused" and not something:
        # A busy machine may have no time for anything.
        return n_kills, something, "nothing on disk, and refused for want of time"
    if not isinstance(result, dict):
        return n_kills, something, "no result"
    if "budget" in name:
        same = result["looks"][: len(seen)] == seen
        return n_kills, something, "identical" if same else "other looks"
    other = [part for part in quiet if result[part] != quiet[part]]
    if "results" in other:
        for one in (quiet, result):
            print(one["results"]["failure"], file=sys.stderr)
    what = "identical" if not other else f"other {', '.join(other)}"
    return n_kills, something, what


def run(kills, seed=0, names=None, most_kills=3, out=None):
    """Kill until there were enough; return what happened by search."""
    rng = random.Random(seed)
    table: dict[str, Any] = {}
    known: dict[str, Any] = {}
    todo = {k: v for k, v in searches().items() if names is None or k in names}
    with tempfile.TemporaryDirectory() as folder:
        n_done = 0
        while n_done < kills:
            for name, (make, data) in todo.items():
                if n_done >= kills:
                    break
                with surroundings(name):
                    if name not in known:
                        known[name] = left_alone(make, data)
                    quiet, seconds = known[name]
                    n, something, what = one_story(
                        name, make, data, quiet, 1.1 * seconds, most_kills, rng, folder
                    )
                n_done += n
                said = f"{n_done:4} kills; {name}, {seconds:.1f} s, {n} times: {what}"
                print(said, file=sys.stderr, flush=True)
                new = {"kills": 0, "with_something": 0, "outcomes": Counter()}
                row = table.setdefault(name, new)
                row["kills"] += n
                row["with_something"] += something
                row["outcomes"][what] += 1
                if out is not None:
                    out.write_text(json.dumps(table, indent=1) + "\n")
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", help="name of a search")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--every-group", action="store_true")
    options = parser.parse_args()
    if options.every_group:
        _pace.SHARE = np.inf
    table = run(options.kills, options.seed, options.only, out=options.out)
    outcomes = sum((row["outcomes"] for row in table.values()), Counter())
    print(f"{'search':38} kills  resumed  from something  identical")
    for name, row in table.items():
        resumed = sum(row["outcomes"].values())
        print(
            f"{name:38} {row['kills']:5} {resumed:8} {row['with_something']:15} "
            f"{row['outcomes']['identical']:10}"
        )
        for what in set(row["outcomes"]) - {"identical"}:
            print(f"    {what}: {row['outcomes'][what]}")
    n_kills = sum(row["kills"] for row in table.values())
    n_resumed = sum(outcomes.values())
    n_from = sum(row["with_something"] for row in table.values())
    print(
        f"{'all':38} {n_kills:5} {n_resumed:8} {n_from:15} {outcomes['identical']:10}"
    )
    return 0 if n_resumed == outcomes["identical"] else 1


if __name__ == "__main__":
    sys.exit(main())
