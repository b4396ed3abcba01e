"""Races on 1, 2, … workers: efficiency, bytes sent per look, overhead per task.

Run it from the root of the repository::

    PYTHONPATH=src OMP_NUM_THREADS=1 python3 benchmarks/clusters/run.py \
        --workers 1,2 --out benchmarks/results/clusters.jsonl

and on a larger machine with ``--workers 1,2,4,8,16``. What is measured was fixed
before the first run: a grid of SVC and one of LightGBM on the data below, the default
strategy, no final fit (``--strategy cross_validation`` runs all folds of all
configurations instead, which leaves no worker idle by itself). ``efficiency`` is the
time with one worker of the same engine over the number of workers times the time with
that number; ``efficiency_over_serial`` takes the time without any engine. With
``--beside`` the serial race runs in that many processes at once, which have nothing to
do with each other: ``beside`` is the time of one alone over the mean time of these, and
no engine can be expected to do better on this machine. A small race warms the workers
up before. Every race must be the serial one to the last bit, or the
line says so.

An engine whose package is missing is left out, and what finds no time before
``--deadline`` (seconds) is skipped with a line that says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import multiprocessing
import os
import pickle
import platform
import time
from contextlib import contextmanager
from pathlib import Path

import joblib
import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from cvst import RaceGridSearchCV
from cvst.parallel import Cluster
from cvst.parallel._pickling import cloudpickle

ENGINES = {"default": None, "loky": None, "dask": "distributed", "ray": "ray"}


def cases(size):
    """Return estimators, grids and data by name."""
    X, y = make_classification(
        size, 20, n_informative=8, flip_y=0.1, class_sep=0.8, random_state=0
    )
    grid = {"C": np.logspace(-2, 3, 12), "gamma": np.logspace(-3, 1, 16)}
    found = {"SVC": (SVC(cache_size=100), grid, X, y)}
    if importlib.util.find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        model = LGBMClassifier(n_jobs=1, verbose=-1, n_estimators=50)
        grid = {
            "num_leaves": [4, 8, 16, 31],
            "learning_rate": [0.01, 0.03, 0.1, 0.3],
            "min_child_samples": [5, 20, 80],
        }
        found["LightGBM"] = model, grid, X, y
    return found


class Tell:
    """Writes lines, and knows how much time is left."""

    def __init__(self, out, deadline):
        self.file = Path(out)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text("")
        self.end = time.perf_counter() + deadline

    def left(self):
        """Return the seconds left."""
        return self.end - time.perf_counter()

    def __call__(self, **values):
        """Write one line."""
        line = json.dumps(values, default=float)
        print(line, flush=True)
        with self.file.open("a") as file:
            file.write(line + "\n")


@contextmanager
def default(n_workers):
    """Leave it to the evaluators, as n_jobs does: those of both cases want threads."""
    with joblib.parallel_config(n_jobs=n_workers):
        yield


@contextmanager
def loky(n_workers):
    """Let joblib start processes of its own."""
    with joblib.parallel_config(backend="loky", n_jobs=n_workers):
        yield


@contextmanager
def dask(n_workers):
    """Start a Dask cluster of processes with one thread each."""
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with (
        LocalCluster(
            n_workers=n_workers, silence_logs=logging.CRITICAL, **options
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(n_workers)
        with joblib.parallel_config(backend="dask"):
            yield


@contextmanager
def ray(n_workers):
    """Start Ray with that many processors."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray
    from ray.util.joblib import register_ray

    quiet = {"include_dashboard": False, "log_to_driver": False}
    ray.init(num_cpus=n_workers, logging_level=logging.ERROR, **quiet)
    register_ray()
    try:
        with joblib.parallel_config(backend="ray"):
            yield
    finally:
        ray.shutdown()


class Traffic:
    """Counts what a cluster is asked to carry: rows, looks, tasks, results."""

    def __init__(self):
        self.rows = self.looks = self.tasks = self.results = 0
        self.n_looks = self.n_tasks = 0

    @contextmanager
    def counted(self):
        """Listen to all clusters for a while."""
        run, submit = Cluster.run, Cluster._submit

        def counted_run(cluster, function, *args, **options):
            self.rows = self.rows or len(pickle.dumps(cluster._rows))
            self.looks += len(cloudpickle.dumps(function))
            self.n_looks += 1
            for result in run(cluster, function, *args, **options):
                self.results += len(pickle.dumps(result))
                yield result

        def counted_submit(cluster, run, chunk):
            self.tasks += len(pickle.dumps(chunk))
            self.n_tasks += 1
            submit(cluster, run, chunk)

        Cluster.run, Cluster._submit = counted_run, counted_submit
        try:
            yield
        finally:
            Cluster.run, Cluster._submit = run, submit

    def line(self):
        """Return the counts, in bytes."""
        per_look = max(1, self.n_looks)
        return {
            "rows_bytes": self.rows,
            "looks": self.n_looks,
            "tasks": self.n_tasks,
            "sent_per_look": round(self.looks / per_look),
            "sent_per_task": round(self.tasks / max(1, self.n_tasks)),
            "back_per_look": round(self.results / per_look),
        }


def race(case, strategy):
    """Return a fitted search and the seconds it took."""
    estimator, grid, X, y = case
    options = {"strategy": strategy, "refit": False, "random_state": 0}
    search = RaceGridSearchCV(estimator, grid, **options)
    start = time.perf_counter()
    search.fit(X, y)
    return search, time.perf_counter() - start


def small(case):
    """Return the same with few rows: enough work to warm every worker up."""
    estimator, grid, X, y = case
    return estimator, grid, X[:200], y[:200]


def is_same(one, other):
    """Return whether two searches have the same scores and drops, bit for bit."""
    names = [name for name in one.cv_results_ if "test_score" in name]
    return all(
        np.array_equal(one.cv_results_[n], other.cv_results_[n], equal_nan=True)
        for n in names
    )


def look_seconds(search):
    """Return what each look took, so that one sees which leave workers idle."""
    return [round(seen.seconds, 3) for seen in search.race_.observations]


def look_sizes(search):
    """Return how many configurations each look was at."""
    return [len(seen.look.configurations) for seen in search.race_.observations]


def nothing(chunk, rows=None):
    """Do nothing."""
    del rows
    return [chunk]


def overhead(tell, engine, n_workers, n_tasks=200):
    """Time tasks that do nothing."""
    from cvst.parallel import cluster_with, run_chunks

    chunks = [[[number]] for number in range(n_tasks)]
    warm = chunks[: 4 * n_workers]
    if engine == "loky":
        list(run_chunks(nothing, warm, n_workers, "processes"))
        start = time.perf_counter()
        list(run_chunks(nothing, chunks, n_workers, "processes"))
        seconds = time.perf_counter() - start
    else:
        cluster = cluster_with(np.zeros(10), None)
        list(cluster.run(nothing, warm, None))
        start = time.perf_counter()
        list(cluster.run(nothing, chunks, None))
        seconds = time.perf_counter() - start
        cluster.close()
    tell(
        what="overhead",
        engine=engine,
        workers=n_workers,
        tasks=n_tasks,
        ms_per_task=1000 * seconds / n_tasks,
    )


def measure(tell, engine, n_workers, known, options):
    """Run all cases on one cluster."""
    start = time.perf_counter()
    engines = {"default": default, "loky": loky, "dask": dask, "ray": ray}
    with engines[engine](n_workers):
        tell(
            what="start",
            engine=engine,
            workers=n_workers,
            seconds=time.perf_counter() - start,
        )
        if engine != "default" and (n_workers > 1 or engine != "loky"):
            overhead(tell, engine, n_workers)
        for name, case in cases(options.rows).items():
            guess = known[name] / n_workers * 1.5 + 2
            if tell.left() < guess:
                tell(what="race", engine=engine, workers=n_workers, case=name,
                     skipped=f"{tell.left():.0f} s left")  # fmt: skip
                continue
            race(small(case), "cross_validation")
            traffic = Traffic()
            with traffic.counted():
                search, seconds = race(case, options.strategy)
            known.setdefault((engine, name), seconds if n_workers == 1 else None)
            first = known[engine, name]
            tell(
                what="race",
                engine=engine,
                workers=n_workers,
                case=name,
                seconds=seconds,
                serial_seconds=known[name],
                efficiency=None if first is None else first / n_workers / seconds,
                efficiency_over_serial=known[name] / n_workers / seconds,
                same_as_serial=is_same(search, known[name, "search"]),
                look_seconds=look_seconds(search),
                **traffic.line(),
            )


def serial_seconds(name, options):
    """Return the seconds of a serial race, after a small one."""
    case = cases(options.rows)[name]
    race(small(case), "cross_validation")
    return race(case, options.strategy)[1]


def beside(tell, name, known, n_processes, options):
    """Run serial races at the same time, in processes of their own."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(n_processes) as pool:
        seconds = pool.starmap(
            serial_seconds, [(name, options)] * n_processes, chunksize=1
        )
    tell(
        what="beside",
        case=name,
        processes=n_processes,
        seconds=seconds,
        serial_seconds=known[name],
        beside=known[name] / np.mean(seconds),
    )


def main():
    """Measure what the options say."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--workers", default="1,2", help="e.g. 1,2,4,8,16")
    parser.add_argument("--engines", default="default,loky,dask,ray")
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--strategy", default="track_and_confirm")
    parser.add_argument("--beside", type=int, default=0, help="processes at once")
    parser.add_argument("--deadline", type=float, default=230.0, help="in seconds")
    parser.add_argument("--out", default="benchmarks/results/clusters.jsonl")
    options = parser.parse_args()
    tell = Tell(options.out, options.deadline)
    tell(what="machine", cpus=os.cpu_count(), python=platform.python_version(),
         rows=options.rows, strategy=options.strategy,
         machine=platform.machine())  # fmt: skip
    known = {}
    for name, case in cases(options.rows).items():
        race(small(case), "cross_validation")
        known[name, "search"], known[name] = race(case, options.strategy)
        tell(what="serial", case=name, seconds=known[name],
             looks=known[name, "search"].race_.n_looks,
             configurations=look_sizes(known[name, "search"]),
             look_seconds=look_seconds(known[name, "search"]))  # fmt: skip
    for name in cases(options.rows) if options.beside else ():
        beside(tell, name, known, options.beside, options)
    counts = [int(count) for count in options.workers.split(",")]
    # The most telling first, should there be no time for all.
    counts = sorted(counts, key=lambda count: (count != 1, count != 8, -count))
    for count in counts:
        for engine in options.engines.split(","):
            package = ENGINES[engine]
            if package is not None and importlib.util.find_spec(package) is None:
                tell(what="engine", engine=engine, missing=package)
            elif tell.left() < 5:
                tell(what="engine", engine=engine, workers=count, skipped="no time")
            else:
                try:
                    measure(tell, engine, count, known, options)
                except Exception as error:
                    tell(what="engine", engine=engine, workers=count,
                         failed=f"{type(error).__name__}: {error}")  # fmt: skip


if __name__ == "__main__":
    main()
