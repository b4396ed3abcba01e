"""Where the time of eight workers goes: slower cores, more work, idle workers.

Run it from the root of the repository::

    PYTHONPATH=src OMP_NUM_THREADS=1 python3 benchmarks/clusters/parts.py

The share that ``run.py`` prints is the time in one process over the number of workers
times the time with that number. Here it is taken apart, for all folds of the same two
grids:

- *slower*: what the same piece of work takes longer when eight processes do it at once
  that have nothing to do with each other, free to move, on the processors 0 to 7, and
  on every other one (two neighbours may be threads of one core);
- *work*: the processor seconds of all chunks over those of the search in one process.
  It holds what is computed more than once, and the slower cores;
- *busy*: the seconds of all chunks over the workers' seconds. What is missing are
  workers that wait, for the last chunk of a look or for this process;
- *parent*: the processor seconds of this process, which hands out work and judges.

Share = busy / work, as far as a chunk has a processor to itself. A search over the
same rows with two of the configurations comes first, so that no compilation and no
start of a worker is in the times; ``start`` is what that takes with new workers.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import threading
import time
from pathlib import Path

import joblib
import numpy as np
from run import Tell, cases, is_same, race
from sklearn.svm import SVC

import cvst.parallel._chunks as chunks_module
import cvst.parallel._processes as processes_module

N_WORKERS = 8
FREE = "free"
# Processors that workers may use, by name.
PLACES = {
    FREE: None,
    "0-7": list(range(N_WORKERS)),
    "even": list(range(0, 2 * N_WORKERS, 2)),
}


# Pieces of work that have nothing to do with each other ------------------------------


def arithmetic():
    """Multiply matrices that stay in a core's own cache."""
    a = np.random.default_rng(0).random((160, 160))
    for _ in range(2500):
        a = a @ a
        a /= np.abs(a).max()


def memory():
    """Read much more than fits into any cache."""
    a = np.ones(40_000_000)
    for _ in range(25):
        a.sum()


def one_svc():
    """Fit a machine as scikit-learn does."""
    _, _, X, y = cases(2500)["SVC"]
    SVC(C=10, gamma=0.1, cache_size=100).fit(X, y)


def one_lightgbm():
    """Fit some trees."""
    found = cases(4000)
    if "LightGBM" in found:
        model, _, X, y = found["LightGBM"]
        for _ in range(4):
            model.fit(X, y)


PIECES = {one.__name__: one for one in (arithmetic, memory, one_svc, one_lightgbm)}


def timed_piece(name, processors, barrier):
    """Return the seconds that a piece takes, when all are ready to begin."""
    if processors is not None:
        os.sched_setaffinity(0, processors)
    if name == "one_lightgbm":
        PIECES[name]()
    barrier.wait()
    start = time.perf_counter()
    PIECES[name]()
    return time.perf_counter() - start


def side_by_side(name, n, processors):
    """Return the seconds of a piece in each of n processes that do it at once."""
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        barrier = manager.Barrier(n)
        with context.Pool(n) as pool:
            own = [None if processors is None else [processors[k]] for k in range(n)]
            work = [(name, one, barrier) for one in own]
            return pool.starmap(timed_piece, work, chunksize=1)


def slower(tell):
    """Say how much longer each piece takes beside seven others."""
    n_here = os.cpu_count() or 1
    for name in PIECES:
        alone = min(side_by_side(name, 1, None) + side_by_side(name, 1, None))
        for place, processors in PLACES.items():
            if processors is not None and max(processors) >= n_here:
                continue
            seconds = side_by_side(name, min(N_WORKERS, n_here), processors)
            tell(what="slower", piece=name, place=place, alone=alone,
                 seconds=seconds, times=float(np.mean(seconds)) / alone)  # fmt: skip


# Searches ---------------------------------------------------------------------------


class Timed:
    """What a worker returns, with the time it took."""

    def __init__(self, result, line):
        self.result, self.line = result, line


def timed_chunk(function, *args):
    """Do a chunk in a worker process, and return when and how long."""
    from cvst.parallel._single import below_processes

    start, spent = time.perf_counter(), time.process_time()
    result = below_processes(function, *args)
    end, spent_then = time.perf_counter(), time.process_time()
    return Timed(result, (os.getpid(), start, end, spent_then - spent))


class Diary:
    """Keeps the times of all chunks of a search."""

    def __init__(self):
        self.lines = []

    def __enter__(self):
        self._old = (
            processes_module.below_processes,
            processes_module.answered,
            chunks_module.single_threaded,
        )
        processes_module.below_processes = timed_chunk
        processes_module.answered = self.answered
        chunks_module.single_threaded = self.in_thread
        return self

    def __exit__(self, *_):
        (
            processes_module.below_processes,
            processes_module.answered,
            chunks_module.single_threaded,
        ) = self._old

    def answered(self, future, executor):
        """Take the times off what a process has sent."""
        told = self._old[1](future, executor)
        self.lines.append(told.line)
        return told.result

    def in_thread(self, function, *args):
        """Do a chunk in a thread of this process."""
        start, spent = time.perf_counter(), time.thread_time()
        result = self._old[2](function, *args)
        end, spent_then = time.perf_counter(), time.thread_time()
        self.lines.append((threading.get_ident(), start, end, spent_then - spent))
        return result


def some(case):
    """Return the same rows with two configurations: what has to be loaded is."""
    estimator, grid, X, y = case
    names = list(grid)
    first = {name: list(grid[name])[:1] for name in names}
    first[names[0]] = list(grid[names[0]])[:2]
    return estimator, first, X, y


def wide(case):
    """Return few rows and the whole grid: work for every worker."""
    estimator, grid, X, y = case
    return estimator, grid, X[:300], y[:300]


def searched(tell, name, case, engine, place, serial):
    """Run all folds with eight workers, and say where the time went."""
    options = {"n_jobs": N_WORKERS}
    if engine == "loky":
        options["backend"] = "loky"
        # Another setting means other workers, which begin on these processors.
        options["idle_worker_timeout"] = 300 + list(PLACES).index(place)
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    processors = PLACES[place]
    try:
        if processors is not None:
            os.sched_setaffinity(0, processors)
        with joblib.parallel_config(**options):
            begun = time.perf_counter()
            race(some(case), "cross_validation")
            race(wide(case), "cross_validation")
            start = time.perf_counter() - begun
            with Diary() as diary:
                own = time.process_time()
                search, seconds = race(case, "cross_validation")
                own = time.process_time() - own
    finally:
        if before is not None and processors is not None:
            os.sched_setaffinity(0, before)
    if engine != "loky":
        own -= sum(line[3] for line in diary.lines)
    tell(
        what="search",
        case=name,
        engine=engine,
        place=place,
        seconds=seconds,
        share=serial["seconds"] / N_WORKERS / seconds,
        same_as_serial=is_same(search, serial["search"]),
        start=start,
        parent=own,
        **apart(search, diary.lines, seconds, serial),
    )


def apart(search, lines, seconds, serial):
    """Return the parts of the time of a search."""
    lengths = np.array([end - start for _, start, end, _ in lines])
    spent = float(sum(line[3] for line in lines))
    by_worker = {}
    for worker, start, end, _ in lines:
        by_worker.setdefault(worker, []).append((start, end))
    looks = [round(one.seconds, 3) for one in search.race_.observations]
    return {
        "work": spent / serial["processor"],
        "work_by_the_clock": float(lengths.sum()) / serial["seconds"],
        "busy": float(lengths.sum()) / (N_WORKERS * seconds),
        "chunks": len(lines),
        "longest_chunk": float(lengths.max()),
        "workers_seen": len(by_worker),
        "look_seconds": looks,
        "last_chunks_end": sorted(
            round(max(end for _, end in own) - min(line[1] for line in lines), 3)
            for own in by_worker.values()
        ),
    }


def alone(case):
    """Return a search in this process, its seconds and processor seconds."""
    race(some(case), "cross_validation")
    spent = time.process_time()
    search, seconds = race(case, "cross_validation")
    spent = time.process_time() - spent
    fits = search.cv_results_["mean_fit_time"]
    return {
        "search": search,
        "seconds": seconds,
        "processor": spent,
        "longest_fit": float(np.max(fits)),
        "looks": [round(one.seconds, 3) for one in search.race_.observations],
    }


def first_line(path):
    """Return the first line of a file of the system, empty where there is none."""
    try:
        return Path(path).read_text().split("\n", 1)[0]
    except OSError:
        return ""


def machine(tell):
    """Say what the processors are, as the system tells."""
    cpu = "/sys/devices/system/cpu"
    neighbours = {
        first_line(f"{cpu}/cpu{k}/topology/thread_siblings_list")
        for k in range(os.cpu_count() or 1)
    }
    caches = {
        k: first_line(f"{cpu}/cpu0/cache/index{k}/size") for k in range(4)
    }  # fmt: skip
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = {one.partition(":")[2].strip() for one in lines if "model name" in one}
    tell(
        what="machine",
        cpus=os.cpu_count(),
        may_use=len(os.sched_getaffinity(0)),
        quota=first_line("/sys/fs/cgroup/cpu.max"),
        neighbours=sorted(neighbours),
        caches=caches,
        models=sorted(models),
        load=os.getloadavg(),
    )


def main():
    """Measure what there is time for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--deadline", type=float, default=230.0, help="in seconds")
    parser.add_argument(
        "--only-searches", action="store_true", help="no processes beside each other"
    )
    parser.add_argument("--out", default="parts.jsonl")
    options = parser.parse_args()
    tell = Tell(options.out, options.deadline)
    machine(tell)
    found = cases(options.rows)
    # The quick one first, should there be no time for both.
    for name in sorted(found, key=lambda one: one == "SVC"):
        serial = alone(found[name])
        told = {key: value for key, value in serial.items() if key != "search"}
        tell(what="alone", case=name, **told)
        for engine, place in (
            ("loky", FREE),
            ("threads", FREE),
            ("loky", "even"),
            ("loky", "0-7"),
        ):
            processors = PLACES[place]
            if processors and max(processors) >= (os.cpu_count() or 1):
                continue
            if tell.left() < 1.5 * serial["seconds"] / N_WORKERS + 5:
                tell(what="skipped", case=name, engine=engine, place=place)
                continue
            searched(tell, name, found[name], engine, place, serial)
    if tell.left() > 40 and not options.only_searches:
        slower(tell)
    print(json.dumps({"seconds_left": tell.left()}))


if __name__ == "__main__":
    main()
