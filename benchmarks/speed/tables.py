"""How fast is the search? One table per task, in one thread.

    python benchmarks/speed/tables.py --task krr nusvr
    python benchmarks/speed/tables.py --task all --repetitions 10
    python benchmarks/speed/tables.py --task krr --method cvst --since '2027-01-31'
    python benchmarks/speed/tables.py --task all --full --estimate

Every search runs in a process of its own, which tells its peak memory. Each result is
added to a CSV file at once, and what is there is not measured again, so an interrupted
run goes on where it stopped. The most important comes first: the wanted ratios of all
tasks, then the other searches, then repetitions. Seconds are of processor time.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import sys
import warnings
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import scipy
import sklearn
from layout import document
from plan import Cell, cells, estimate
from records import Record, Records
from searches import METHODS, Trial, winner_error
from tasks import TASKS, Task

import cvst
from cvst.evaluation.svm._fits import load_compiled_solver

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


def measure_cell(cell: Cell, options: argparse.Namespace, records: Records) -> None:
    """Measure one search, at our time where that is the rule."""
    task = sized(cell.task, options)
    ours = records.rows.get((cell.task, "cvst", cell.repetition, task.n_samples))
    seconds = ours.seconds if ours else 1.0
    trial = Trial(task, cell.repetition, options.fraction, seconds)
    run(cell.task, cell.method, trial, records)


def sized(name: str, options: argparse.Namespace) -> Task:
    """Return a task with as many rows as asked for."""
    task = TASKS[name]
    return replace(task, n_samples=options.samples) if options.samples else task


def missing(options: argparse.Namespace, records: Records) -> list[Cell]:
    """Return what is asked for and not known yet."""
    names = list(TASKS) if "all" in options.task else options.task
    wanted = cells(
        names, options.method, options.repetitions, options.expensive, options.full
    )

    def is_known(cell: Cell) -> bool:
        n_samples = sized(cell.task, options).n_samples
        key = (cell.task, cell.method, cell.repetition, n_samples)
        return key in records.rows and records.rows[key].date >= options.since

    return [cell for cell in wanted if not is_known(cell)]


def use_one_thread() -> None:
    """Start again with one thread: libraries read these when they are loaded."""
    if any(os.environ.get(name) != "1" for name in THREADS):
        os.environ.update(dict.fromkeys(THREADS, "1"))
        os.execv(sys.executable, [sys.executable, *sys.argv])


def load_libraries() -> None:
    """Load what a longer search loads, so that every process inherits it.

    For support vector machines that is numba and the compiled solver: 0.7 seconds, and
    ten more where the solver was never compiled before.
    """
    load_compiled_solver()


def main() -> None:
    use_one_thread()
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--task", nargs="+", choices=[*TASKS, "all"], default=[])
    parser.add_argument("--method", nargs="+", choices=list(METHODS), default=[])
    parser.add_argument("--repetitions", type=int, help="draws for the cheap searches")
    parser.add_argument(
        "--expensive", type=int, default=1, help="repetitions of the expensive ones"
    )
    parser.add_argument("--fraction", type=float, default=0.05, help="of the grid")
    parser.add_argument("--samples", type=int, help="other training rows than usual")
    parser.add_argument("--full", action="store_true", help="the winners of full grids")
    parser.add_argument(
        "--since",
        default="",
        metavar="'YYYY-MM-DD HH:MM'",
        help="measure again what is older (UTC)",
    )
    parser.add_argument(
        "--estimate", action="store_true", help="only how long it takes"
    )
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    records = Records(options.output)
    todo = missing(options, records)
    if options.estimate:
        print(estimate(todo, records, options.fraction))
        return
    load_libraries()
    for cell in todo:
        measure_cell(cell, options, records)
        # Whoever interrupts has the tables of all that was measured.
        options.output.with_suffix(".md").write_text(document(records))
    options.output.with_suffix(".md").write_text(document(records))
    print("\n" + document(records))


if __name__ == "__main__":
    main()
