"""Worker processes that take too much of a short budget to start."""

from __future__ import annotations

import warnings
from dataclasses import replace

from cvst._users_line import users_line
from cvst.evaluation.machinery import workers_start
from cvst.exceptions import FallbackWarning
from cvst.search._options import SearchOptions
from cvst.search._setup import Setup

__all__ = ["with_workers"]

# Share of the time left that workers may take to start. What is left then is still
# worth a race in this process, and longer waits would cost more than workers save.
START_SHARE = 0.4


def with_workers(options: SearchOptions, setup: Setup, started: float) -> Setup:
    """Return a race whose workers are there, or one that does without them.

    Parameters
    ----------
    options : SearchOptions
        What the user set.
    setup : Setup
        The race.
    started : float
        Reading of the clock at the start.
    """
    if options.time_budget is None:
        return setup
    left = options.time_budget - (options.clock() - started)
    seconds = START_SHARE * max(0.0, left)
    if workers_start(setup.source, seconds):
        return setup
    warnings.warn(
        f"time_budget={options.time_budget:g} seconds: no worker process had started "
        f"after {seconds:.2g} of them, so that all fits are done in this one, as with "
        "n_jobs=1. Allow more time to use several.",
        FallbackWarning,
        stacklevel=users_line(),
    )
    return replace(setup, source=replace(setup.source, n_jobs=1))
