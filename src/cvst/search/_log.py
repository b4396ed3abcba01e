"""What a race tells while it runs: structured events through ``logging``."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from cvst._text import (
    configuration_text,
    counted,
    left_text,
    score_text,
    seconds_text,
)
from cvst.race import Look, PlannedLook, Problem, RaceState, Strategy
from cvst.race.machinery import deciding_mean

__all__ = [
    "LOGGER",
    "log_begin",
    "log_end",
    "log_ensemble",
    "log_look",
    "log_predictions",
    "log_progress",
    "log_rows",
    "log_start",
    "log_unused_device",
]

# One logger for all events: live views, reports and users listen to it.
LOGGER = logging.getLogger("cvst")


def log_start(
    problem: Problem,
    planned: Sequence[PlannedLook],
    strategy: Strategy,
    seconds: float | None = None,
) -> None:
    """Report the looks of the longest race, and what is expected of them.

    The seconds are those of a budget that is kept for the strategy.
    """
    if not LOGGER.isEnabledFor(logging.DEBUG):
        return  # without a listener nothing needs to be expected
    expected = strategy.expected_configurations(problem)[: len(planned)]
    event = {
        "event": "start",
        "n_configurations": problem.n_configurations,
        "n_samples": problem.n_samples,
        "looks": [
            {**asdict(look), "expected_configurations": float(count)}
            for look, count in zip(planned, expected, strict=True)
        ],
        "expected_looks": min(len(planned), strategy.expected_looks(problem)),
        "proposes": strategy.proposes,
        "seconds": problem.seconds if seconds is None else seconds,
    }
    # Those that are proposed later, and the looks at them, cannot be counted yet.
    most = f"in at most {counted(len(planned), 'look')}"
    LOGGER.debug(
        "%s on %d rows, %s",
        counted(problem.n_configurations, "configuration"),
        problem.n_samples,
        "to begin with" if strategy.proposes else most,
        extra={"cvst": event},
    )


def log_rows(problem: Problem, remarks: Sequence[str]) -> None:
    """Say how many rows are raced if not all are, and what else limits them."""
    if problem.n_refit is not None:
        LOGGER.info(
            "%s rows are raced, drawn at random; the winner is fitted on %s",
            f"{problem.n_samples:,}",
            f"{problem.n_refit:,}",
        )
    for sentence in remarks:
        LOGGER.info("%s", sentence)


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
        "look %(look)d (%(stage)s, %(n_train)d rows) begins with %(looked)s",
        {**event, "looked": counted(len(look.configurations), "configuration")},
        extra={"cvst": event},
    )


def log_progress(n_done: int, n_total: int) -> None:
    """Report how far a look is."""
    event = {"event": "progress", "done": n_done, "total": n_total}
    total = counted(n_total, "configuration")
    LOGGER.debug("%d of %s", n_done, total, extra={"cvst": event})


def log_look(
    state: RaceState,
    strategy: Strategy,
    score_name: Callable[[], str],
) -> None:
    """Report the look just made; the leader's score is that over what decides."""
    if not LOGGER.isEnabledFor(logging.INFO):
        return  # without a listener nothing needs the ranking, or the name
    scoring = score_name()
    ranking, configurations = strategy.ranking(state), state.configurations
    observation = state.observations[-1]
    leader = int(ranking[0])
    n_looked = len(observation.look.configurations)
    leader_score = deciding_mean(state, leader, state.scores)
    event = {
        "event": "look",
        "look": state.n_looks,
        "stage": observation.look.stage,
        "n_train": observation.look.n_train,
        "n_configurations": n_looked,
        "n_top": int(observation.top.sum()),
        "n_dropped": len(observation.drops),
        "n_active": state.n_left,
        # Those that joined and were not looked at are neither left nor dropped.
        "n_waiting": state.n_waiting,
        "leader": leader,
        # Not of this look: the leader may have missed it, and one fold is chance.
        "leader_loss": deciding_mean(state, leader, state.mean_losses),
        "leader_score": leader_score,
        "scoring": scoring,
        "refit_seconds": strategy.refit_seconds(state),
    }
    name, score = score_text(scoring, leader_score)
    LOGGER.info(
        "look %(look)d (%(stage)s, %(n_train)d rows): %(looked)s, %(n_top)d top, "
        "%(n_dropped)d dropped, %(left)s; leader %(leader_text)s with "
        "%(score)s",
        {
            **event,
            "looked": counted(n_looked, "configuration"),
            "leader_text": configuration_text(configurations[leader]) or "(default)",
            "left": left_text(state.n_left, state.n_waiting),
            "score": f"{name} {score}",
            "params": configurations[leader],
        },
        # The state itself goes along, for listeners that draw.
        extra={"cvst": event, "cvst_race": (state, ranking, configurations)},
    )


def log_end(reason: str, sentence: str, state: RaceState, params: Any) -> None:
    """Report why the race ended and which configuration won."""
    event = {"event": "end", "reason": reason, "looks": state.n_looks}
    LOGGER.info(
        "%s The winner is %s.",
        sentence,
        configuration_text(params) or "the estimator as it is",
        extra={"cvst": event},
    )


def log_ensemble(n_members: int, kept: bool, reason: str) -> None:
    """Report whether an ensemble takes the place of the winner, and why."""
    event = {"event": "ensemble", "n_members": n_members, "kept": kept}
    LOGGER.info(
        "the ensemble of %s is %s: %s",
        counted(n_members, "configuration"),
        "kept" if kept else "not kept",
        reason,
        extra={"cvst": event},
    )


def log_predictions(
    n_configurations: int, n_folds: int, response: str, seconds: float
) -> None:
    """Report which predictions were made after the race."""
    event = {
        "event": "predictions",
        "n_configurations": n_configurations,
        "n_folds": n_folds,
        "response": response,
        "seconds": seconds,
    }
    LOGGER.info(
        "out-of-fold predictions (%s) of %s on %s in %s",
        response,
        counted(n_configurations, "configuration"),
        counted(n_folds, "fold"),
        seconds_text(seconds),
        extra={"cvst": event},
    )


def log_unused_device(device: str, estimator: Any) -> None:
    """Say that configurations are fitted one by one, wherever the estimator is."""
    LOGGER.info(
        "device=%r is not used: %s has no batched solver. It is fitted as it is; set "
        "its own device if it has one",
        device,
        type(estimator).__name__,
    )
