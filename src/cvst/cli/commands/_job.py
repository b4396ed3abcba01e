"""Everything that can go wrong before a race does so here; then the race."""

from __future__ import annotations

import hashlib
import os
from argparse import Namespace
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from cvst import RaceGridSearchCV, RaceRandomSearchCV
from cvst.cli.commands._options import DEFAULT_STRATEGY
from cvst.cli.commands._termination import termination_as_interrupt
from cvst.cli.grid import Grid, parameter_grids, read_grid
from cvst.cli.models import find_model
from cvst.cli.table import (
    ColumnOptions,
    Learning,
    Prepared,
    learning_problem,
    prepared_model,
    read_table,
    with_numbered_classes,
)
from cvst.cli.terminal import RaceView, live_view, warnings_as_notes
from cvst.exceptions import InvalidInputError

__all__ = ["Job", "make_job", "plan_job", "run_job", "strategy_name"]

# A grid is enumerated; one larger than this fills the memory before the race begins.
MOST_CONFIGURATIONS = 1_000_000

# Draws of a random search if the user gives no number.
DEFAULT_DRAWS = 100

# Options that are parameters of the strategy.
STRATEGY_OPTIONS = (
    "max_steps",
    "stopping_window",
    "loser_level",
)


@dataclass(slots=True)
class Job:
    """A search that can start, and what there is to say about it.

    Attributes
    ----------
    learning : Learning
        The data.
    prepared : Prepared
        The model in its pipeline.
    grid : Grid
        What is tried.
    search : RaceGridSearchCV or RaceRandomSearchCV
        The search.
    sha256 : str
        Checksum of the data file.
    notes : list of str
        What the user should know.
    seconds : float
        Time of the race and the final fit.
    """

    learning: Learning
    prepared: Prepared
    grid: Grid
    search: Any
    sha256: str
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def arrays(self) -> tuple[Any, Any]:
        """Inputs and target, as ``fit`` takes them."""
        return self.learning.X, self.learning.target.values

    @property
    def fit_params(self) -> dict[str, Any]:
        """What ``fit`` takes besides."""
        groups = self.learning.groups
        return {} if groups is None else {"groups": groups}

    @property
    def n_configurations(self) -> int:
        """How many configurations take part."""
        count = self.grid.n_configurations
        drawn = getattr(self.search, "n_iter", None)
        if drawn is None:
            assert count is not None
            return count
        return int(drawn if count is None else min(count, drawn))


def make_job(options: Namespace) -> Job:
    """Read data, model and grid, and put the search together."""
    if options.groups is not None and options.time_order:
        raise InvalidInputError(
            "--groups and --time-order cannot be combined: groups that stay together "
            "are not in order of time. Choose one."
        )
    model = find_model(options.model, has_grid=options.grid is not None)
    grid = None if options.grid is None else read_grid(options.grid)
    frame, notes = read_table(options.data)
    said = ColumnOptions(
        target=options.target,
        groups=options.groups,
        time_order=options.time_order,
        drop=options.drop,
        task=options.task,
        tasks=model.tasks,
        raw=options.raw,
    )
    learning = learning_problem(frame, said)
    if model.numbered_classes:
        target, note = with_numbered_classes(learning.target)
        learning = replace(learning, target=target)
        notes += [note] if note else []
    prepared = prepared_model(model, learning, options.raw)
    if grid is None:
        grid = read_grid(model.choice(learning.target.task).grid)
    return Job(
        learning=learning,
        prepared=prepared,
        grid=grid,
        search=_search(options, grid, prepared, learning),
        sha256=_checksum(Path(options.data)),
        notes=[*notes, *learning.notes],
    )


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _search(
    options: Namespace, grid: Grid, prepared: Prepared, learning: Learning
) -> Any:
    grids = parameter_grids(grid, prepared.estimator, prepared.prefix)
    common = {
        "scoring": options.scoring,
        "strategy": strategy_name(options),
        "ordering": "given" if learning.in_order else "auto",
        "n_jobs": options.n_jobs,
        "random_state": options.random_state,
        "on_interrupt": "return",
        "time_budget": options.time_budget,
        "max_looks": options.max_looks,
        "checkpoint": options.checkpoint,
    }
    drawn = grid.n_configurations is None or options.n_iter is not None
    if not drawn:
        _check_size(grid)
    if drawn:
        n_iter = DEFAULT_DRAWS if options.n_iter is None else options.n_iter
        search = RaceRandomSearchCV(prepared.estimator, grids, n_iter=n_iter, **common)
    else:
        search = RaceGridSearchCV(prepared.estimator, grids, **common)
    for name in STRATEGY_OPTIONS:
        value = getattr(options, name)
        if value is not None:
            _set_strategy(search, name, value)
    return search


def _check_size(grid: Grid) -> None:
    count = grid.n_configurations or 0
    if count > MOST_CONFIGURATIONS:
        raise InvalidInputError(
            f"The grid has {count:,} configurations, and at most "
            f"{MOST_CONFIGURATIONS:,} can race. Draw some of them with --n-iter, or "
            "make it coarser."
        )


def strategy_name(options: Namespace) -> str:
    """Return the strategy asked for, or the one that has the options given."""
    if options.strategy is not None:
        return str(options.strategy)
    has_steps = any(getattr(options, name) is not None for name in STRATEGY_OPTIONS)
    return "cvst" if has_steps else DEFAULT_STRATEGY


def _set_strategy(search: Any, name: str, value: Any) -> None:
    strategy = search.strategy
    try:
        search.set_params(**{f"strategy__{name}": value})
    except ValueError as error:
        # An unknown strategy is another mistake, with a sentence of its own.
        if repr(name) not in str(error):
            raise
        raise InvalidInputError(
            f"--{name.replace('_', '-')} belongs to the paper's race, not to "
            f"{strategy!r}. Leave it out, or choose --strategy cvst."
        ) from error


def plan_job(job: Job) -> Any:
    """Say what the race would be, after timing a few small fits."""
    with warnings_as_notes(job.notes):
        return job.search.plan(*job.arrays, **job.fit_params)


def run_job(job: Job, view: RaceView | None) -> bool:
    """Race and fit the winner; False if it was interrupted after the first look.

    The view, if any, shows the race meanwhile.

    Before the first look is finished there is no leader to keep, and the interrupt is
    raised again.
    """
    if job.search.n_jobs not in (None, 1):
        # Warnings of workers would be printed over everything else.
        os.environ.setdefault("PYTHONWARNINGS", "ignore")
        # Nor may they import what lies in the current folder.
        os.environ.setdefault("PYTHONSAFEPATH", "1")
    start = perf_counter()
    with warnings_as_notes(job.notes), live_view(view), termination_as_interrupt():
        try:
            job.search.fit(*job.arrays, **job.fit_params)
        except KeyboardInterrupt:
            # Attributes are set once the race is over: it was the final fit, then.
            if not hasattr(job.search, "best_params_"):
                raise
        job.seconds = perf_counter() - start
    return hasattr(job.search, "best_estimator_")
