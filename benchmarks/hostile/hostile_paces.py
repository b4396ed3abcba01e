"""In what time, and with which workers, a case runs; and whether that may matter."""

from __future__ import annotations

import re
from contextlib import nullcontext

import joblib
import numpy as np

__all__ = ["ALIKE", "PACES", "RARE", "difference", "drawn_pace", "surroundings"]

# What the search gets besides, by name. A few milliseconds are enough for some of these
# cases, so that races in turn, budgets that end in the middle and refusals all occur.
PACES = {
    "usual": {},
    "in turn": {"time_budget": 0.02},
    "time budget": {"time_budget": 0.3},
    "two threads": {"n_jobs": 2},
    "two threads, time budget": {"n_jobs": 2, "time_budget": 0.3},
    "two threads, in turn": {"n_jobs": 2, "time_budget": 0.02},
    "ensemble": {"ensemble": True, "refit": True},
    "kept on disk": {"checkpoint": "race"},
    "kept on disk, time budget": {"checkpoint": "race", "time_budget": 0.2},
    "two processes": {"n_jobs": 2},
    "two processes, kept on disk": {"n_jobs": 2, "checkpoint": "race"},
    "fit timeout": {"fit_timeout": 60},
}

# Processes take seconds to start, and a minute on a busy machine.
RARE = ("two processes", "two processes, kept on disk", "fit timeout")
RARE_SHARE = 0.002

# Seeds from here on have these paces only.
FIRST_RARE = 30_000_000

# These must end as the usual pace does.
ALIKE = ("two threads", "kept on disk", *RARE)


def drawn_pace(seed: int) -> str:
    """Draw a pace that is not the usual one."""
    rng = np.random.default_rng([seed, 2])
    rare = rng.random() < RARE_SHARE or seed >= FIRST_RARE
    names = RARE if rare else [one for one in PACES if one not in (*RARE, "usual")]
    return str(names[rng.integers(len(names))])


def surroundings(pace: str):
    """Return how workers are to be had."""
    if "threads" in pace:
        return joblib.parallel_config("threading")
    return nullcontext()


def difference(fit, usual) -> str | None:
    """Return how two ends of the same case differ, None if they do not."""
    if isinstance(fit, BaseException) or isinstance(usual, BaseException):
        same = type(fit) is type(usual)
        return None if same else f"{_told(fit)}, and usually {_told(usual)}"
    mine, theirs = fit.cv_results_, usual.cv_results_
    names = [name for name in theirs if "_time" not in name]
    if names != [name for name in mine if "_time" not in name]:
        return "other columns of cv_results_"
    for name in names:
        if _exact(mine[name]) != _exact(theirs[name]):
            return f"another {name}"
    same = fit.best_index_ == usual.best_index_
    return None if same else f"winner {fit.best_index_}, not {usual.best_index_}"


def _told(fit) -> str:
    if not isinstance(fit, BaseException):
        return "a result"
    try:
        return f"{type(fit).__name__}: {str(fit)[:200]}"
    except Exception:
        return type(fit).__name__


def _exact(values):
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values.dtype.str, values.shape, values.tobytes()
    # Values of a grid may be told by their address, and are made anew for each search.
    return re.sub(r" at 0x[0-9a-f]+", "", repr(values))
