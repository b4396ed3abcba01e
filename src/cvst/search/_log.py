"""What a race tells while it runs: structured events through ``logging``."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from cvst._typing import FloatArray
from cvst.race import Look, PlannedLook, Problem, RaceState, Strategy

__all__ = [
    "log_begin",
    "log_end",
    "log_look",
    "log_progress",
    "log_start",
    "verbose_logging",
]

# One logger for all events: live views, reports and users listen to it.
LOGGER = logging.getLogger("cvst")


@contextmanager
def verbose_logging(verbose: int) -> Iterator[None]:
    """Show the events of this search on standard output while ``verbose`` is set."""
    if not verbose:
        yield
        return
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter("[cvst] %(message)s"))
    LOGGER.addHandler(handler)
    _LEVELS.enter(logging.DEBUG if verbose > 1 else logging.INFO)
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        _LEVELS.leave(logging.DEBUG if verbose > 1 else logging.INFO)


class _Levels:
    """The levels that searches want now, in whatever threads; the lowest counts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted: list[int] = []
        self._before = logging.NOTSET

    def enter(self, level: int) -> None:
        with self._lock:
            if not self._wanted:
                self._before = LOGGER.level
            self._wanted.append(level)
            LOGGER.setLevel(min(self._wanted))

    def leave(self, level: int) -> None:
        # Restored afterwards: a library must not change the user's settings.
        with self._lock:
            self._wanted.remove(level)
            LOGGER.setLevel(min(self._wanted, default=self._before))


_LEVELS = _Levels()


def log_start(
    problem: Problem,
    planned: Sequence[PlannedLook],
    expected: FloatArray,
    expected_looks: int,
) -> None:
    """Report the looks of the longest race, and what is expected of them."""
    event = {
        "event": "start",
        "n_configurations": problem.n_configurations,
        "n_samples": problem.n_samples,
        "looks": [
            {**asdict(look), "expected_configurations": float(count)}
            for look, count in zip(planned, expected, strict=True)
        ],
        "expected_looks": min(len(planned), expected_looks),
    }
    LOGGER.debug(
        "%d configurations race on %d rows in at most %d looks",
        problem.n_configurations,
        problem.n_samples,
        len(planned),
        extra={"cvst": event},
    )


def log_begin(number: int, look: Look) -> None:
    """Report the look that comes now."""
    event = {
        "event": "begin",
        "look": number,
        "stage": look.stage,
        "n_train": look.n_train,
        "n_configurations": len(look.configurations),
    }
    LOGGER.debug(
        "look %(look)d (%(stage)s, %(n_train)d rows) begins with "
        "%(n_configurations)d configurations",
        event,
        extra={"cvst": event},
    )


def log_progress(n_done: int, n_total: int) -> None:
    """Report how far a look is."""
    event = {"event": "progress", "done": n_done, "total": n_total}
    LOGGER.debug("%d of %d configurations", n_done, n_total, extra={"cvst": event})


def log_look(state: RaceState, strategy: Strategy) -> None:
    """Report the look just made."""
    if not LOGGER.isEnabledFor(logging.INFO):
        return  # without a listener nothing needs the ranking
    ranking, configurations = strategy.ranking(state), state.configurations
    observation = state.observations[-1]
    leader = int(ranking[0])
    n_looked = len(observation.look.configurations)
    event = {
        "event": "look",
        "look": state.n_looks,
        "stage": observation.look.stage,
        "n_train": observation.look.n_train,
        "n_configurations": n_looked,
        "n_top": int(observation.top.sum()),
        "n_dropped": len(observation.drops),
        "n_active": int(state.active.sum()),
        "leader": leader,
        "leader_loss": float(state.column("mean_losses")[leader]),
    }
    LOGGER.info(
        "look %(look)d (%(stage)s, %(n_train)d rows): %(n_configurations)d "
        "configurations, %(n_top)d top, %(n_dropped)d dropped, %(n_active)d left; "
        "leader %(params)s with mean loss %(leader_loss).6g",
        {**event, "params": configurations[leader]},
        # The state itself goes along, for listeners that draw.
        extra={"cvst": event, "cvst_race": (state, ranking, configurations)},
    )


def log_end(reason: str, state: RaceState, params: Any) -> None:
    """Report why the race ended and which configuration won."""
    event = {"event": "end", "reason": reason, "looks": state.n_looks}
    LOGGER.info(
        "the race is over after %d looks (%s): %s wins",
        state.n_looks,
        reason,
        params,
        extra={"cvst": event},
    )
