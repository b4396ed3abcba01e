"""Run searches in several processes, and keep each result at once.

All problems are run once, then all twice, and so on, cheap ones first: a run that is
stopped early has something for every row, and the next run goes on from there.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from grids import LEARNERS
from items import Fit
from joblib import Parallel, delayed, parallel_config
from methods import METHODS, ON_CARDS, TIMED_BY_CVST, Finding, Trial, run_method
from problems import Problem
from profiles import Profile
from store import Key, Run, Store, as_params
from threadpoolctl import threadpool_limits

import cvst
from cvst.evaluation.svm._fits import load_compiled_solver
from cvst.exceptions import DataUnavailableError

__all__ = ["HERE", "Place", "Task", "plan", "run"]

VERSION = f"cvst {cvst.__version__}, scikit-learn {sklearn.__version__}"


@dataclass(frozen=True)
class Place:
    """Where searches run.

    Attributes
    ----------
    machine : str
        A name; seconds of several machines are not compared.
    device : str
        A card for the learners that have evaluators there; empty for none.
    """

    machine: str = ""
    device: str = ""

    def methods(self, fit: Fit) -> set[str]:
        """Return the searches of a problem that can be run here."""
        methods = set(fit.methods)
        if not self.device:
            return methods
        on_card = LEARNERS[fit.problem.learner].on_card
        return methods & set(ON_CARDS) if on_card else set()


HERE = Place()


@dataclass(frozen=True)
class Task:
    """The searches of one problem in one repetition, in the order they are run.

    Attributes
    ----------
    seconds : float
        What CVST took, where its line is in another file than that of the runs.
    """

    problem: Problem
    repetition: int
    methods: tuple[str, ...]
    profile: Profile
    place: Place = HERE
    seconds: float = np.inf

    def key(self, method: str) -> Key:
        """Return the key of a search in the file of runs."""
        problem = self.problem
        return (
            self.profile.name,
            problem.data,
            problem.learner,
            as_text(problem.d),
            as_text(problem.noise),
            str(problem.n_train),
            str(self.repetition),
            method,
            self.place.machine,
            self.place.device,
        )

    def only(self, methods: tuple[str, ...]) -> Task:
        """Return the same with these searches alone."""
        return replace(self, methods=methods)


@dataclass(frozen=True)
class Done:
    """What a process says about a task."""

    task: Task
    lines: tuple[str, ...]
    failures: tuple[str, ...] = ()


def as_text(value: float | None, digits: int = 6) -> str:
    """Return a number for the file, empty if there is none."""
    if value is None or np.isnan(value):
        return ""
    return f"{value:.{digits}g}"


def plan(
    fits: Iterable[Fit], profile: Profile, done: Iterable[Key], place: Place = HERE
) -> list[Task]:
    """Return what is left to do at a place, in its order.

    Searches that take as long as CVST did bring it along.
    """
    known = set(done)
    order = list(METHODS)
    tasks = []
    for fit in fits:
        methods = place.methods(fit)
        if methods & set(TIMED_BY_CVST):
            methods.add("cvst")
        for repetition in range(fit.repetitions):
            task = Task(
                fit.problem,
                repetition,
                tuple(sorted(methods, key=order.index)),
                profile,
                place,
            )
            left = tuple(name for name in task.methods if task.key(name) not in known)
            if left:
                tasks.append(task.only(left))
    return sorted(tasks, key=lambda task: (task.repetition, task.problem.cost))


def run(
    tasks: list[Task], store: Store, jobs: int, seconds: float | None = None
) -> list[str]:
    """Run tasks and return the sentences of those that failed.

    Parameters
    ----------
    tasks : list of Task
        In the order to take them.
    store : Store
        Gets a line as soon as a search is done.
    jobs : int
        Number of processes.
    seconds : float or None
        No search begins later than this.
    """
    deadline = None if seconds is None else time.time() + seconds
    failures: list[str] = []
    with Progress(len(tasks)) as bar:
        for done in results(tasks, store.path, jobs, deadline):
            bar.advance(done)
            failures.extend(done.failures)
    return failures


def results(
    tasks: list[Task], path: Path, jobs: int, deadline: float | None
) -> Iterator[Done]:
    if jobs == 1:
        for task in tasks:
            yield perform(task, path, deadline)
        return
    with parallel_config("loky", inner_max_num_threads=1):
        # One task at a time per process: the order is kept, and none waits in a queue.
        workers = Parallel(
            n_jobs=jobs,
            return_as="generator_unordered",
            pre_dispatch="n_jobs",
            batch_size=1,
        )
        yield from workers(delayed(perform)(task, path, deadline) for task in tasks)


def perform(task: Task, path: Path, deadline: float | None) -> Done:
    """Run the searches of a task that nobody has run meanwhile."""
    store = Store(path)
    lines: list[str] = []
    failures: list[str] = []
    for method in task.methods:
        if deadline is not None and time.time() > deadline:
            break
        known = store.runs()
        if task.key(method) in known:
            continue
        took = known.get(task.key("cvst"))
        try:
            with threadpool_limits(1):
                seconds = float(took.seconds) if took else task.seconds
                run = search(task, method, seconds)
        except DataUnavailableError as error:
            failures.append(str(error))
            break
        # One bad problem must not end the night.
        except Exception as error:
            failures.append(f"{title(task)}, {method}: {type(error).__name__}: {error}")
            continue
        store.add(run)
        lines.append(f"{method} {run.error or '-'} in {run.seconds} s")
    return Done(task, tuple(lines), tuple(failures))


def search(task: Task, method: str, seconds: float) -> Run:
    """Run one search and return its line."""
    if method in TIMED_BY_CVST and not np.isfinite(seconds):
        raise ValueError(f"{method} takes the time of cvst, which was not run.")
    make_ready(task)
    trial = trial_of(task, seconds)
    finding, error = run_method(method, trial)
    return as_run(task, method, trial, finding, error)


def make_ready(task: Task) -> None:
    """Load what a task needs before anything is timed.

    Otherwise the first races of each process would do without the compiled solver, and
    take several times as long.
    """
    if LEARNERS[task.problem.learner].penalty == "nu":
        load_compiled_solver()


def trial_of(task: Task, seconds: float = np.inf) -> Trial:
    """Return what the searches of a task are called with."""
    return Trial(
        task.problem,
        task.repetition,
        task.profile.shape,
        task.profile.plain_share,
        seconds,
        device=task.place.device,
    )


def as_run(
    task: Task, method: str, trial: Trial, finding: Finding, error: float
) -> Run:
    """Return the line of a search."""
    key = task.key(method)
    return Run(
        profile=task.profile.name,
        data=task.problem.data,
        substitute=task.problem.substitute,
        task=task.problem.task,
        learner=task.problem.learner,
        d=key[3],
        noise=key[4],
        n_train=str(len(trial.rows.y_train)),
        n_rows_paper=str(task.problem.n_rows_paper),
        n_test=str(len(trial.rows.y_test)),
        n_configurations=str(len(trial.grid)),
        repetition=str(task.repetition),
        method=method,
        error=as_text(error, 8),
        seconds=as_text(finding.seconds),
        wall_seconds=as_text(finding.wall_seconds),
        n_looks=str(finding.n_looks),
        stop_reason=finding.stop_reason,
        survivors=";".join(map(str, finding.survivors)),
        params=as_params(described(trial, finding)),
        load=as_text(load(), 3),
        version=VERSION,
        machine=task.place.machine,
        device=task.place.device,
        day=datetime.now(UTC).date().isoformat(),
    )


def described(trial: Trial, finding: Finding) -> dict[str, Any] | None:
    """Return the winner's parameters, with what its learner iterates by."""
    if finding.params is None:
        return None
    own = trial.learner.estimator.get_params()
    stated = {name: own[name] for name in ("tol", "max_iter") if name in own}
    return (
        {**finding.params, **stated} if trial.learner.name == "KLR" else finding.params
    )


def load() -> float:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def title(task: Task) -> str:
    """Name a task in one line."""
    problem = task.problem
    setting = f" d={problem.d} noise={problem.noise}" if problem.is_toy else ""
    rows = f"{problem.n_train} rows"
    return f"{problem.data}{setting} {problem.learner}, {rows} #{task.repetition + 1}"


class Progress:
    """Show how far the run is: a bar on a terminal, else a line per task."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.count = 0
        self.bar: Any = None

    def __enter__(self) -> Progress:
        if self.total and sys.stderr.isatty():
            self.bar = self._rich()
        if self.bar is not None:
            self.bar.start()
            self.row = self.bar.add_task("", total=self.total)
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def advance(self, done: Done) -> None:
        """Count a task and say what it found."""
        self.count += 1
        text = f"{title(done.task)}: {', '.join([*done.lines, *done.failures])}"
        if self.bar is not None:
            self.bar.update(self.row, advance=1, description=title(done.task))
        elif done.lines or done.failures:
            print(f"[{self.count}/{self.total}] {text}", file=sys.stderr, flush=True)

    @staticmethod
    def _rich() -> Any:
        try:
            from rich import progress as rich_progress
            from rich.console import Console
        except ImportError:
            return None
        return rich_progress.Progress(
            rich_progress.TextColumn("{task.description}"),
            rich_progress.BarColumn(),
            rich_progress.MofNCompleteColumn(),
            rich_progress.TimeElapsedColumn(),
            rich_progress.TimeRemainingColumn(),
            console=Console(stderr=True),
        )
