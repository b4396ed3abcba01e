"""What the charts of the page show, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvst._typing import Configuration
from cvst._values import finite_or_none
from cvst.displays import ImportanceDisplay, IncumbentDisplay, SlicesDisplay
from cvst.race import RaceState, Strategy
from cvst.race.machinery import as_much_as, deciding_mean
from cvst.report._measures import Measure

__all__ = ["importance_values", "incumbent_values", "slice_values", "stage_rows"]


def stage_rows(
    state: RaceState, measure: Measure, incumbent: IncumbentDisplay | None
) -> list[dict[str, Any]]:
    """Return one record per stage: a race that proposes has hundreds of looks.

    The leader is the one after the last look of the stage, and its value is the mean
    that decides then: the best single fold of anyone is luck.
    """
    rows = []
    for stage in dict.fromkeys(one.look.stage for one in state.observations):
        seen = state.looks_of(stage)
        sizes = [one.look.n_train for one in seen]
        places = [
            place
            for place, one in enumerate(state.observations)
            if one.look.stage == stage
        ]
        n_looks = places[-1] + 1
        assert incumbent is not None
        leader = int(incumbent.incumbents[n_looks - 1])
        value = deciding_mean(state, leader, measure.table, n_looks)
        work = [np.nansum(one.fit_seconds + one.score_seconds) for one in seen]
        rows.append(
            {
                "stage": stage,
                "n_looks": len(seen),
                "n_train": [int(min(sizes)), int(max(sizes))],
                "n_fits": sum(len(one.look.configurations) for one in seen),
                "n_dropped": sum(len(one.drops) for one in seen),
                "n_failed": sum(len(one.failures) for one in seen),
                "leader": finite_or_none(value),
                "seconds": float(sum(work)),
            }
        )
    return rows


def incumbent_values(display: IncumbentDisplay | None) -> dict[str, Any] | None:
    """Return the leader over time, None before the first look."""
    if display is None:
        return None
    return {
        "unit": display.unit,
        "times": display.times.tolist(),
        "incumbents": display.incumbents.tolist(),
        "losses": _numbers(display.losses),
        "loss_stages": list(display.loss_stages),
    }


def importance_values(display: ImportanceDisplay) -> dict[str, Any] | None:
    """Return importances with their intervals, None where too little is known."""
    # All that varies depends on a single parameter; a bar of 100 % tells nothing.
    if display.too_few or len(display.names) < 2:
        return None
    intervals = display.intervals
    return {
        "names": list(display.names),
        "means": _numbers(display.means),
        "alone": _numbers(display.alone.mean(axis=1)),
        "low": _numbers(intervals[:, 0]),
        "high": _numbers(intervals[:, 1]),
        "n_configurations": display.n_configurations,
    }


def slice_values(
    state: RaceState,
    configurations: Sequence[Configuration],
    strategy: Strategy | None,
    winner: int,
) -> dict[str, Any] | None:
    """Return each varying parameter as an axis, and comparable losses."""
    # The live page is drawn before the first look as well.
    if not state.n_looks:
        return None
    display = SlicesDisplay.from_state(state, configurations, strategy=strategy)
    if not display.axes:
        return None
    seen = state.present.any(axis=1)
    # Against the one that was chosen, which ``refit`` may have done.
    as_much, display.by_folds = as_much_as(state, winner)
    return {
        "numbers": np.flatnonzero(seen).tolist(),
        "losses": _numbers(display.losses),
        "as_much": as_much[seen].astype(int).tolist(),
        "labels": list(display.labels),
        "axes": [
            {
                "name": axis.name,
                "positions": axis.positions.tolist(),
                "ticks": [[place, text] for place, text in axis.ticks],
                "span": list(axis.span),
                "scale": axis.scale,
            }
            for axis in display.axes
        ],
    }


def _numbers(values: Any) -> list[float | None]:
    return [finite_or_none(value) for value in np.asarray(values, dtype=float).tolist()]
