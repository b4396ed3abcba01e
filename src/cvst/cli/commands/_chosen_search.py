"""Which search the options ask for: a grid, draws, or proposals while racing."""

from __future__ import annotations

from argparse import Namespace
from typing import Any, TypeAlias

from cvst import RaceGridSearchCV, RaceRandomSearchCV, RaceSearchCV
from cvst.cli.commands._options import DEFAULT_STRATEGY
from cvst.cli.grid import SUGGESTED, Grid, parameter_grids, read_grid
from cvst.cli.models import Model
from cvst.cli.table import Learning, Prepared
from cvst.exceptions import InvalidInputError
from cvst.spaces import suggest

__all__ = ["AnySearch", "chosen_search", "read_chosen_grid"]

AnySearch: TypeAlias = RaceGridSearchCV | RaceRandomSearchCV | RaceSearchCV

# A grid is enumerated; one larger than this fills the memory before the race begins.
MOST_CONFIGURATIONS = 1_000_000

# Draws of a random search if the user gives no number.
DEFAULT_DRAWS = 100

# Options that are parameters of the strategy.
STRATEGY_OPTIONS = ("max_steps", "stopping_window", "loser_level")


def read_chosen_grid(options: Namespace) -> Grid | None:
    """Read what the user wants to try; None if that is the program's choice."""
    if options.grid in (None, SUGGESTED):
        return None
    return read_grid(options.grid)


def chosen_search(
    options: Namespace,
    model: Model,
    grid: Grid | None,
    prepared: Prepared,
    learning: Learning,
) -> tuple[AnySearch, Grid]:
    """Return the search that the options ask for, and what it tries."""
    proposes = _proposes(options, model)
    space: Any
    if grid is None and (proposes or options.grid == SUGGESTED):
        space = suggest(
            prepared.estimator,
            n_samples=len(learning.X),
            n_features=learning.X.shape[1],
        )
        names = ", ".join(name.removeprefix(prepared.prefix) for name in space)
        grid = Grid([], f"suggested ranges of {names}")
    else:
        grid = grid or read_grid(model.choice(learning.target.task).grid)
        space = parameter_grids(grid, prepared.estimator, prepared.prefix)
    common = {
        "scoring": options.scoring,
        "ordering": "given" if learning.in_order else "auto",
        "n_jobs": options.n_jobs,
        "random_state": options.random_state,
        # Ctrl-C is told with the leader so far, not with a traceback.
        "on_interrupt": "return",
        "time_budget": options.time_budget,
        "max_looks": options.max_looks,
        "fit_timeout": options.fit_timeout,
        "device": options.device,
        "max_memory": options.max_memory,
        "checkpoint": options.checkpoint,
    }
    if proposes:
        n_iter = options.n_iter
        return RaceSearchCV(prepared.estimator, space, n_iter=n_iter, **common), grid
    return _fixed_search(options, grid, prepared.estimator, space, common), grid


def _proposes(options: Namespace, model: Model) -> bool:
    """Return whether configurations are proposed while the race runs."""
    given = [
        name for name in ("strategy", *STRATEGY_OPTIONS) if _is_given(options, name)
    ]
    if options.propose and given:
        raise InvalidInputError(
            f"--{given[0].replace('_', '-')} is for races whose configurations are "
            "known at the start, and --propose is for others. Leave one of them out."
        )
    if options.propose is not None:
        return bool(options.propose)
    chosen = options.grid == SUGGESTED or (options.grid is None and model.proposes)
    return chosen and not given


def _is_given(options: Namespace, name: str) -> bool:
    return getattr(options, name) is not None


def _fixed_search(
    options: Namespace, grid: Grid, estimator: Any, space: Any, common: dict[str, Any]
) -> RaceRandomSearchCV | RaceGridSearchCV:
    """Return a search whose configurations are known before the race."""
    strategy = options.strategy
    if strategy is None:
        stepwise = any(_is_given(options, name) for name in STRATEGY_OPTIONS)
        strategy = "cvst" if stepwise else DEFAULT_STRATEGY
    common = {**common, "strategy": strategy}
    search: RaceRandomSearchCV | RaceGridSearchCV
    if grid.n_configurations is None or options.n_iter is not None:
        n_iter = DEFAULT_DRAWS if options.n_iter is None else options.n_iter
        search = RaceRandomSearchCV(estimator, space, n_iter=n_iter, **common)
    else:
        _check_size(grid.n_configurations)
        search = RaceGridSearchCV(estimator, space, **common)
    for name in STRATEGY_OPTIONS:
        if _is_given(options, name):
            _set_strategy(search, name, getattr(options, name))
    return search


def _check_size(count: int) -> None:
    if count > MOST_CONFIGURATIONS:
        raise InvalidInputError(
            f"The grid has {count:,} configurations, and at most "
            f"{MOST_CONFIGURATIONS:,} can race. Draw some of them with --n-iter, or "
            "make it coarser."
        )


def _set_strategy(
    search: RaceRandomSearchCV | RaceGridSearchCV, name: str, value: Any
) -> None:
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
