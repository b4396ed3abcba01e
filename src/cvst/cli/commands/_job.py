"""Everything that can go wrong before a race does so here; then the race."""

from __future__ import annotations

import hashlib
import os
from argparse import Namespace
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from cvst import RaceSearchCV
from cvst.cli.commands._chosen_search import (
    AnySearch,
    chosen_search,
    read_chosen_grid,
)
from cvst.cli.grid import Grid
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

__all__ = ["Job", "make_job", "plan_job", "run_job"]


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
    search : RaceGridSearchCV, RaceRandomSearchCV or RaceSearchCV
        The search.
    sha256 : str
        Checksum of the data file.
    notes : list of str
        What the user should know.
    seconds : float
        Time of the race and the final fit.
    failure : BaseException or None
        What ended the race after its first look, or the final fit.
    """

    learning: Learning
    prepared: Prepared
    grid: Grid
    search: AnySearch
    sha256: str
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    failure: BaseException | None = None

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
    def proposes(self) -> bool:
        """Whether configurations join while the race runs."""
        return isinstance(self.search, RaceSearchCV)

    @property
    def strategy(self) -> str:
        """The name of the race's strategy."""
        if self.proposes:
            return "propose_and_confirm"
        strategy = self.search.strategy
        return (
            strategy if isinstance(strategy, str) else type(strategy).__name__.lower()
        )

    @property
    def n_configurations(self) -> int | None:
        """How many configurations take part; None if time alone decides that."""
        count = self.grid.n_configurations
        drawn = getattr(self.search, "n_iter", None)
        if drawn is None or self.proposes:
            return drawn if self.proposes else count
        # Draws from lists do not repeat, so a small grid is all there is.
        return int(drawn if count is None else min(count, drawn))


def make_job(options: Namespace) -> Job:
    """Read data, model and grid, and put the search together."""
    if options.groups is not None and options.time_order:
        raise InvalidInputError(
            "--groups and --time-order cannot be combined: groups that stay together "
            "are not in order of time. Choose one."
        )
    # Model and grid before the data: a slip in them need not wait for a large file.
    model = find_model(options.model, has_grid=options.grid is not None)
    grid = read_chosen_grid(options)
    needed = {options.target, options.groups, options.time_order}
    frame, notes = read_table(options.data, set(options.drop) - needed)
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
    search, grid = chosen_search(options, model, grid, prepared, learning)
    return Job(
        learning=learning,
        prepared=prepared,
        grid=grid,
        search=search,
        sha256=_checksum(Path(options.data)),
        notes=[*notes, *learning.notes],
    )


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def plan_job(job: Job) -> Any:
    """Say what the race would be, after timing a few small fits."""
    with warnings_as_notes(job.notes):
        return job.search.plan(*job.arrays, **job.fit_params)


def run_job(job: Job, view: RaceView | None) -> bool:
    """Race and fit the winner; False if it was cut short after the first look.

    The view, if any, shows the race meanwhile.

    Before the first look is finished there is no leader to keep, and the interrupt or
    the error is raised again.
    """
    if job.search.n_jobs not in (None, 1):
        # Warnings of workers would be printed over everything else.
        os.environ.setdefault("PYTHONWARNINGS", "ignore")
    start = perf_counter()
    with warnings_as_notes(job.notes), live_view(view):
        try:
            job.search.fit(*job.arrays, **job.fit_params)
        except KeyboardInterrupt:
            # Attributes are set once the race is over: it was the final fit, then.
            if not hasattr(job.search, "best_params_"):
                raise
        except BaseException as error:
            # Hours of racing must not be lost to a lack of memory either, nor to an
            # exit or a panic of compiled code, which often is no Exception.
            if not hasattr(job.search, "best_params_"):
                raise
            job.failure = error
        job.seconds = perf_counter() - start
    return hasattr(job.search, "best_estimator_")
