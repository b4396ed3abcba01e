"""Run searches on everyday tasks: one line of JSON for each cell.

    python benchmarks/everyday/run.py results.jsonl --split dev --seconds 15 60
    python benchmarks/everyday/run.py results.jsonl --jobs 16 --deadline 580

A cell is a task, a search, seconds and a seed; what the file already has is not run
again. Each worker has a core of its own and one thread; a search is a process of its
own that is stopped when its seconds are over. The parameters it named last are fitted
once on all training rows and judged on fresh ones, outside its time.
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import os
import resource
import signal
import sys
import traceback
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import one_thread  # noqa: F401 - before NumPy
from clocks import count_processor_seconds
from data_sets import SPLITS
from peers import SEARCHES, NotForThisError, RefusedError, Trial, preload
from tasks import TASKS, chosen_tasks

_FORK = multiprocessing.get_context("fork")

# A final fit that takes longer than this counts as failed.
LONGEST_FIT = 300.0

# By the clock of the processor a search may take this many times its seconds.
SLOWEST = 40


# Parameters and weights of an ensemble.
Members = list[tuple[dict[str, Any], float]]


class Cell(NamedTuple):
    """What a line is about."""

    task: str
    search: str
    seconds: float
    seed: int


def _search(cell: Cell, clock: str, limit: float, answers: Connection) -> None:
    """Run a search in a process of its own and send what it reports."""
    _quiet()
    if clock == "processor":
        count_processor_seconds(limit)

    def send(params: dict[str, Any] | None, n_tried: int) -> None:
        answers.send({"params": params, "n_tried": n_tried})

    def send_members(members: Members) -> None:
        answers.send({"members": members})

    try:
        SEARCHES[cell.search].run(
            Trial(TASKS[cell.task], cell.seconds, cell.seed, send, send_members)
        )
        answers.send({"end": "done"})
    except RefusedError as error:
        answers.send({"end": "refused", "reason": str(error)})
    except NotForThisError as error:
        answers.send({"end": "not for this", "reason": str(error)})
    except Exception:
        answers.send({"end": "error", "reason": traceback.format_exc(limit=-3)})


def _judge(
    task: str, params: dict[str, Any], members: Members, answers: Connection
) -> None:
    """Send the loss on fresh rows of parameters, and of an ensemble if there is one."""
    _quiet()
    try:
        found = {"loss": TASKS[task].judged(params)}
        if members:
            found["alone"] = found["loss"]
            found["loss"] = TASKS[task].judged_together(members)
        answers.send(found)
    except Exception:
        answers.send({"reason": traceback.format_exc(limit=-3)})


def _end_in_order() -> None:
    """Let a request to end run the clean-up, so that no process stays behind."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def _quiet() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)


def _answers(target: Any, arguments: tuple[Any, ...], seconds: float) -> Iterator[Any]:
    """Yield what a process sends until it ends; stop it after some seconds."""
    receive, give = _FORK.Pipe(duplex=False)
    process = _FORK.Process(target=target, args=(*arguments, give))
    process.start()
    give.close()
    end = perf_counter() + seconds
    try:
        while receive.poll(max(0.0, end - perf_counter())):
            yield receive.recv()
    except EOFError:
        pass
    finally:
        process.kill()
        process.join()
        receive.close()


def measured(cell: Cell, clock: str) -> dict[str, Any]:
    """Return the line of a cell."""
    task, search = TASKS[cell.task], SEARCHES[cell.search]
    _ = task.estimator, task.rows  # loaded before the clock starts
    line: dict[str, Any] = {**cell._asdict(), "split": task.split}
    best: dict[str, Any] | None = None
    members: Members = []
    limit = cell.seconds * search.grace if cell.seconds else LONGEST_FIT
    start, processor = perf_counter(), _processor_seconds()
    line |= {"end": "stopped", "n_tried": 0, "clock": clock}
    patience = limit if clock == "wall" else SLOWEST * limit
    for answer in _answers(_search, (cell, clock, limit), patience):
        line["used"] = perf_counter() - start
        members = answer.pop("members", members)
        params = answer.pop("params", None)
        if params is not None:
            best = params
            line["found"] = round(line["used"], 3)
        line |= answer
    if line["end"] == "stopped":
        line["used"] = perf_counter() - start
    line["used"] = round(line.get("used", 0.0), 3)
    # Far below the seconds used, it tells of other work on the machine.
    line["processor"] = round(_processor_seconds() - processor, 3)
    if clock == "processor":
        line["wall"], line["used"] = line["used"], line["processor"]
    if best is None:
        if line["end"] in ("done", "stopped"):
            line["end"] = "refused"
        return line
    return line | _judged(cell.task, best, members)


def _processor_seconds() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


def _judged(task: str, params: dict[str, Any], members: Members) -> dict[str, Any]:
    start = perf_counter()
    late = {"reason": f"the final fit did not end within {LONGEST_FIT:g} s"}
    answer = next(_answers(_judge, (task, params, members), LONGEST_FIT), late)
    if "loss" not in answer:
        answer["end"] = "error"
    answer["fit"] = round(perf_counter() - start, 3)
    answer["params"] = _plain_params(params)
    if members:
        answer["members"] = [[_plain_params(one), weight] for one, weight in members]
    return answer


def _plain_params(params: dict[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in params.items()}


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, int | float | str | None) else repr(value)


def _work(core: int, searches: list[str], clock: str, cells: Connection) -> None:
    """Measure the cells that come through a pipe, on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    _end_in_order()
    _quiet()
    preload(searches)
    cells.send(None)
    while (cell := cells.recv()) is not None:
        cells.send(measured(cell, clock))


def _cores() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _known(path: Path, again: bool) -> set[Cell]:
    if not path.exists():
        return set()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {
        Cell(*(line[name] for name in Cell._fields))
        for line in lines
        if not (again and line["end"] == "error")
    }


def wanted_cells(options: argparse.Namespace) -> list[Cell]:
    """Return the cells to run, the longest first and all tasks before other seeds."""
    cells = {
        Cell(task.name, search, *((0.0, 0) if search == "default" else (seconds, seed)))
        for task in chosen_tasks(options.split, options.tasks)
        for search in options.searches
        for seconds in options.seconds
        for seed in options.seeds
    }
    known = _known(options.output, options.again)
    order = list(TASKS)
    return sorted(
        cells - known,
        key=lambda cell: (-cell.seconds, cell.seed, order.index(cell.task), cell),
    )


class Progress:
    """Writes lines to the file and says how far it is."""

    def __init__(self, path: Path, n_cells: int) -> None:
        self.path, self.n_cells, self.n_done = path, n_cells, 0

    def add(self, line: dict[str, Any]) -> None:
        """Append a line at once, so that nothing is lost."""
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        self.n_done += 1
        loss = f"{line['loss']:.4f}" if "loss" in line else "-"
        print(
            f"{self.n_done}/{self.n_cells} {line['task']} {line['search']} "
            f"{line['seconds']:g} s seed {line['seed']}: {loss} after "
            f"{line['used']:.1f} s, {line['n_tried']} tried, {line['end']}",
            flush=True,
        )
        if line["end"] == "error":
            print(line.get("reason", ""), flush=True)


def _expected(cell: Cell) -> float:
    # Loading the rows and the final fit come on top.
    return 1.05 * cell.seconds + 8


def _next_cell(queue: deque[Cell], seconds_left: float) -> Cell | None:
    """Take the first cell that still fits; the others stay for another run."""
    for cell in queue:
        if _expected(cell) <= seconds_left:
            queue.remove(cell)
            return cell
    return None


def run(cells: list[Cell], options: argparse.Namespace) -> None:
    """Give cells to workers until none is left or the deadline is near."""
    start = perf_counter()
    progress = Progress(options.output, len(cells))
    queue = deque(cells)
    workers: dict[Any, Any] = {}
    for core in _cores()[: options.jobs]:
        ours, theirs = _FORK.Pipe()
        searches = sorted({cell.search for cell in cells})
        arguments = (core, searches, options.clock, theirs)
        worker = _FORK.Process(target=_work, args=arguments)
        worker.start()
        theirs.close()
        workers[ours] = worker

    def left() -> float:
        return options.deadline - (perf_counter() - start)

    try:
        while workers and left() > 0:
            for ready in wait(list(workers), timeout=min(left(), 3600)):
                line = _received(ready)
                if isinstance(line, dict):
                    progress.add(line)
                cell = _next_cell(queue, left()) if line != "gone" else None
                if cell is None:
                    _dismiss(ready, workers.pop(ready))
                else:
                    ready.send(cell)
    finally:
        for pipe, worker in workers.items():
            worker.terminate()
            _dismiss(pipe, worker)
    spent = perf_counter() - start
    print(f"{progress.n_done} cells in {spent:.0f} s, {len(queue)} not started")


def _received(pipe: Any) -> Any:
    try:
        return pipe.recv()
    except EOFError:
        return "gone"


def _dismiss(pipe: Any, worker: Any) -> None:
    with suppress(OSError):
        pipe.send(None)
    worker.join()
    pipe.close()


def parsed() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("output", type=Path, help="file of results, one line each")
    parser.add_argument("--split", choices=[*SPLITS, "all"], default="dev")
    parser.add_argument("--tasks", nargs="+", default=[], metavar="TASK")
    parser.add_argument(
        "--searches", nargs="+", choices=list(SEARCHES), default=list(SEARCHES)
    )
    parser.add_argument("--seconds", nargs="+", type=float, default=[15.0])
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(5)))
    parser.add_argument("--jobs", type=int, default=1, help="workers, a core each")
    parser.add_argument(
        "--deadline",
        type=float,
        default=float("inf"),
        help="seconds after which to end; cells that would not finish are not started",
    )
    parser.add_argument(
        "--clock",
        choices=["wall", "processor"],
        default="wall",
        help="what seconds are; 'processor' for a machine that others use too",
    )
    parser.add_argument("--again", action="store_true", help="repeat what failed")
    parser.add_argument("--list", action="store_true", help="only list the cells")
    return parser.parse_args()


def main() -> None:
    options = parsed()
    cells = wanted_cells(options)
    total = sum(_expected(cell) for cell in cells) / options.jobs
    print(f"{len(cells)} cells, about {total / 60:.0f} minutes")
    if options.list:
        for cell in cells:
            print(*cell)
        return
    if cells:
        _end_in_order()
        run(cells, options)


if __name__ == "__main__":
    main()
