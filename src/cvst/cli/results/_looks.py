"""What happened in a race, look by look: as plain values and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cvst._searched import FittedSearch
from cvst._values import plain_value
from cvst.cli.terminal import shown_parameters, table
from cvst.race.machinery import deciding_mean
from cvst.report import machinery

__all__ = [
    "RaceLook",
    "looks_table",
    "plain",
    "race_looks",
    "stop_sentence",
]

# A longer table tells only of the looks that changed the leader.
MOST_LINES = 40


@dataclass(frozen=True, slots=True)
class RaceLook:
    """One look of a race, as people read it.

    Attributes
    ----------
    look : int
        Its number, from 1.
    stage : str
        Part of the race.
    rows : int
        Training rows.
    tested, top, dropped, left : int
        Configurations tested, found good, dropped and left afterwards.
    leader : mapping
        The configuration that would win if the race ended here.
    score : float
        The leader's mean score over the looks that decide about it so far.
    seconds : float
        Work of all fits and predictions.
    """

    look: int
    stage: str
    rows: int
    tested: int
    top: int
    dropped: int
    left: int
    leader: Mapping[str, Any]
    score: float
    seconds: float


def race_looks(search: FittedSearch) -> list[RaceLook]:
    """Return the looks of a fitted search."""
    state = search.race_
    configurations = search.cv_results_["params"]
    scores = state.scores
    looks = []
    for number, seen in enumerate(state.observations, start=1):
        # As it was then: configurations dropped later were still in the race.
        so_far = state.until(number)
        leader = int(search.strategy_.ranking(so_far)[0])
        looks.append(
            RaceLook(
                look=number,
                stage=seen.look.stage,
                rows=seen.look.n_train,
                tested=len(seen.look.configurations),
                top=int(seen.top.sum()),
                dropped=len(seen.drops),
                left=int(state.left_after[number - 1]),
                leader=configurations[leader],
                score=deciding_mean(state, leader, scores, number),
                seconds=float(np.nansum(seen.fit_seconds + seen.score_seconds)),
            )
        )
    return looks


def looks_table(looks: Sequence[Mapping[str, Any]], prefix: str, score: str) -> str:
    """Set the looks in a table; the stage is named where there are several.

    Scores that scikit-learn negates are shown as the errors that they are. Of a long
    race only the looks after which another configuration led are shown, and the last.
    """
    shown = _telling(looks)
    # People read errors, not negative errors.
    sign = -1 if score.startswith("neg_") else 1
    stages = len({look["stage"] for look in looks}) > 1
    counts = ("rows", "tested", "top", "dropped", "left")
    header = ["look", *(["stage"] if stages else []), *counts]
    header += [score.removeprefix("neg_"), "leader"]
    rows = [
        [
            look["look"],
            *([look["stage"]] if stages else []),
            *(look[name] for name in counts),
            None if look["score"] is None else sign * look["score"],
            shown_parameters(look["leader"], prefix),
        ]
        for look in shown
    ]
    text = table(header, rows, left=["stage", "leader"])
    if len(shown) == len(looks):
        return text
    return (
        f"{text}\n({len(looks):,} looks; shown are those after which another "
        "configuration led, and the last.)"
    )


def _telling(looks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the looks worth a line: all, or those of a long race that changed it."""
    if len(looks) <= MOST_LINES:
        return list(looks)
    changes = [
        look
        for before, look in zip([None, *looks], looks, strict=False)
        if before is None or before["leader"] != look["leader"]
    ]
    return changes if changes[-1] is looks[-1] else [*changes, looks[-1]]


def stop_sentence(search: FittedSearch) -> str:
    """Say why the race of a fitted search is over."""
    return machinery.stop_sentence(
        search.stop_reason_, search.n_looks_, search.strategy_, search.tie_
    )


def plain(value: Any) -> Any:
    """Turn NumPy's values into what JSON can hold; what is not finite becomes null.

    Examples
    --------
    >>> plain({"alpha": np.float64(0.5), "sizes": (8, 8), "score": float("nan")})
    {'alpha': 0.5, 'sizes': [8, 8], 'score': None}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    # Before the test for infinite: NumPy's own floats must be tested too.
    value = plain_value(value)
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    # Estimators and functions of a grid, for example.
    return str(value)
