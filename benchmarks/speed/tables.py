"""How fast is the search? One table per task, in one thread.

    python benchmarks/speed/tables.py --task krr nusvr
    python benchmarks/speed/tables.py --task all --repetitions 10
    python benchmarks/speed/tables.py --task boosting --method cvst --again
    python benchmarks/speed/tables.py --print

Every search runs in a process of its own, which tells its peak memory. Each result is
added to a CSV file at once, and what is there is not measured again, so an interrupted
run goes on where it stopped. Seconds are of processor time.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import scipy
import sklearn
from layout import CHEAP, FULL, document, table
from records import Record, Records
from searches import METHODS, Trial, winner_error
from tasks import MEMORY_TASKS, TASKS

import cvst

RESULTS = Path(__file__).parents[1] / "results" / "speed.csv"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
MEGABYTE = 1024.0  # the kernel counts memory in kilobytes


def measure(connection: Connection, method: str, trial: Trial) -> None:
    """Run a search in this process and send what it took and found."""
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE
    X, y, X_test, y_test = trial.rows()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = METHODS[method](trial, X, y)
    except LookupError:
        connection.send(None)
        return
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE
    error = np.nan
    if result.model is not None:
        error = winner_error(trial.task, result.model, X_test, y_test)
    params = {name: plain(value) for name, value in result.params.items()}
    connection.send(
        {
            "seconds": round(result.seconds, 5),
            "wall_seconds": round(result.wall_seconds, 5),
            "peak_mb": round(peak, 1),
            "base_mb": round(base, 1),
            "error": round(error, 6),
            "params": str(params) if params else "",
            "note": result.note,
        }
    )


def plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def in_own_process(method: str, trial: Trial) -> dict | None:
    """Run a search in a forked process, which inherits the loaded libraries."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=measure, args=(theirs, method, trial))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        raise RuntimeError(f"{method} died; its message is above") from None
    finally:
        process.join()


def run(name: str, method: str, trial: Trial, records: Records) -> None:
    """Measure a search and keep the row."""
    found = in_own_process(method, trial)
    if found is None:
        return
    record = Record(
        task=name,
        method=method,
        repetition=trial.repetition,
        n_samples=trial.task.n_samples,
        n_configurations=trial.task.n_configurations(),
        load=round(os.getloadavg()[0], 2),
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        versions=f"cvst {cvst.__version__}, scikit-learn {sklearn.__version__}, "
        f"numpy {np.__version__}, scipy {scipy.__version__}",
        **found,
    )
    records.add(record)
    print(
        f"{name:<11} {method:<26} #{trial.repetition} {record.seconds:9.3f} s "
        f"(clock {record.wall_seconds:8.2f}) error {record.error:.5f} "
        f"{record.peak_mb:6.0f} MB load {record.load:5.2f} {record.note}",
        flush=True,
    )


def run_task(name: str, options: argparse.Namespace, records: Records) -> None:
    """Measure what is missing of a task, one repetition after the other."""
    task = TASKS[name]
    if options.samples:
        task = replace(task, n_samples=options.samples)
    for repetition in range(options.repetitions):
        for method in wanted(name, options.method, repetition, options):
            key = (name, method, repetition, task.n_samples)
            if key in records.rows and not options.again:
                continue
            ours = records.rows.get((name, "cvst", repetition, task.n_samples))
            seconds = ours.seconds if ours else 1.0
            trial = Trial(task, repetition, options.fraction, seconds)
            run(name, method, trial, records)


def wanted(
    name: str, chosen: Sequence[str], repetition: int, options: argparse.Namespace
) -> list[str]:
    """Return the searches of a repetition: expensive ones are not repeated."""
    if chosen:
        return [method for method in METHODS if method in chosen]
    if name in MEMORY_TASKS:
        return ["cvst", "track_and_confirm"] if repetition == 0 else []
    if repetition >= options.expensive:
        return [method for method in METHODS if method in CHEAP]
    return [method for method in METHODS if options.full or method not in FULL]


def use_one_thread() -> None:
    """Start again with one thread: libraries read these when they are loaded."""
    if any(os.environ.get(name) != "1" for name in THREADS):
        os.environ.update(dict.fromkeys(THREADS, "1"))
        os.execv(sys.executable, [sys.executable, *sys.argv])


def main() -> None:
    use_one_thread()
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--task", nargs="+", choices=[*TASKS, "all"], default=[])
    parser.add_argument("--method", nargs="+", choices=list(METHODS), default=[])
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument(
        "--expensive", type=int, default=1, help="repetitions of the expensive ones"
    )
    parser.add_argument("--fraction", type=float, default=0.05, help="of the grid")
    parser.add_argument("--samples", type=int, help="other training rows than usual")
    parser.add_argument("--full", action="store_true", help="the winners of full grids")
    parser.add_argument("--again", action="store_true", help="also what is known")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--print", action="store_true", help="only the tables so far")
    options = parser.parse_args()
    records = Records(options.output)
    names = list(TASKS) if "all" in options.task else options.task
    for name in names:
        if not options.print:
            run_task(name, options, records)
        print("\n" + table(name, records) + "\n", flush=True)
    if not names:
        print(document(records))
    options.output.with_suffix(".md").write_text(document(records))


if __name__ == "__main__":
    main()
