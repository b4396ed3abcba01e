"""Stored races that were run again: whether they are the same, and what they take.

They are in a file of their own, ``control.csv``, and count in no table.
"""

from __future__ import annotations

from math import inf, isinf

import pandas as pd
from claims import Evidence
from summary import PAIR, SLOWER, Estimate, Row, load_runs, pairs
from sure import Bounds, bounds, difference_bounds

__all__ = [
    "again_words",
    "extra_words",
    "gap_bounds",
    "speed_bounds",
    "too_low_by",
]

OUTCOME = ["survivors", "params", "error"]


def run_again(evidence: Evidence) -> pd.DataFrame:
    """Return each race that was run again, beside the stored one of the same name."""
    name = "control.csv"
    again = load_runs(evidence.output_dir, evidence.profile.name, name)
    if again.empty:
        return again
    stored = evidence.runs
    # Of several places the one that new searches were meant to be compared with.
    stored = stored[(stored["machine"] == "sixteen-cores") & (stored["device"] == "")]
    both = stored.merge(again, on=[*PAIR, "method"], suffixes=("_stored", ""))
    same = [(both[f"{column}_stored"] == both[column]) for column in OUTCOME]
    both["same"] = pd.concat(same, axis=1).all(axis=1)
    both["share"] = both["seconds"] / both["seconds_stored"]
    return both


def again_words(evidence: Evidence) -> str:
    """Say how far stored races can be repeated, and which speeds that concerns."""
    both = run_again(evidence)
    if both.empty:
        return ""
    share = both["share"].median()
    cv, plain = (mixed_rows(evidence.runs, name) for name in ("cv", "plain_grid"))
    rows = {(row.data, row.learner): row for row in evidence.tables["cross-validation"]}
    (day,), (machine,) = both["day"].unique(), both["machine"].unique()
    return (
        f"\n- **Run again**: on {day} the first race of each row of Table 1 was run "
        f"again (`benchmarks/results/paper/control.csv`, counted in no table). "
        f"{both['same'].sum()} of {len(both)} have the same survivors after each step, "
        "the same winner and the same error. They took "
        f"{share:.2f} times the stored seconds (median; {both['share'].min():.2f} to "
        f"{both['share'].max():.2f}), on a machine of the same kind, and whether the "
        "machine or the library is faster was not found out. So seconds of "
        "different days are not comparable. The searches of that day have names of "
        f"machines of their own, such as `{machine}`, and no speed beside older races."
        f"{_mixed_words(cv, plain, rows, share)}"
    )


def _mixed_words(
    cv: list[tuple[str, str]],
    plain: list[tuple[str, str]],
    rows: dict[tuple[str, str], Row],
    share: float,
) -> str:
    """Say which speeds divide by races of an earlier day, if any do."""
    if not cv and not plain:
        return ""
    slower = [rows[key] for key in cv if rows[key].speed_verdict == SLOWER]
    still = sum(row.speed.mean / share < row.published_speed for row in slower)
    names = f" ({', '.join(' '.join(key) for key in cv)})" if cv else ""
    return (
        " Where the race is of an earlier day than the other search, a speed may be "
        "too low by such a factor. That concerns full cross-validation in "
        f"{len(cv)} of {len(rows)} rows of Table 1{names} and plain search in "
        f"{len(plain)}. {still} of the {len(slower)} that are called slower would "
        "still be below the printed speed if they were divided by that median."
    )


def mixed_rows(runs: pd.DataFrame, other: str) -> list[tuple[str, str]]:
    """Return the rows with a speed whose two searches ran on different days."""
    found = pairs(runs, other)
    found = found[found["timed"] & found["d"].isna() & (found["day"] != found["last"])]
    return list(dict.fromkeys(zip(found["data"], found["learner"], strict=True)))


def too_low_by(evidence: Evidence) -> dict[tuple[str, str], float]:
    """Return the rows of Table 1 whose speeds may be too low, and by how much at most.

    They divide by races of an earlier day: up to the largest factor between that day
    and a later one that was seen, or any factor if none was.
    """
    both = run_again(evidence)
    most = inf if both.empty else 1 / float(both["share"].min())
    return dict.fromkeys(mixed_rows(evidence.runs, "cv"), max(most, 1.0))


def speed_bounds(speed: Estimate, factor: float) -> Bounds:
    """Return the interval of a mean speed that may be too low by a factor."""
    low, high = bounds(speed)
    return low, inf if isinf(factor) else high * factor


def gap_bounds(
    one: Estimate, other: Estimate, factor: float, other_factor: float
) -> Bounds:
    """Return the interval of a difference of speeds that may be too low by factors."""
    low = -inf if isinf(other_factor) else _gap(one, other, 1.0, other_factor)[0]
    high = inf if isinf(factor) else _gap(one, other, factor, 1.0)[1]
    return low, high


def _gap(one: Estimate, other: Estimate, factor: float, other_factor: float) -> Bounds:
    scaled = [
        Estimate(each.mean * by, each.standard_error * by, each.n)
        for each, by in ((one, factor), (other, other_factor))
    ]
    return difference_bounds(*scaled)


def extra_words(evidence: Evidence, titles: dict[str, str]) -> str:
    """Say how many repetitions the extra tables have, and what their seconds mean."""
    counts = []
    for method, title in titles.items():
        found = pairs(evidence.runs, method)
        found = found[found["d"].isna()]
        each = found.groupby(["data", "learner", "n_train", "n_configurations"])
        largest = each.size().groupby(["data", "learner"]).max()
        if len(largest):
            low, high = largest.min(), largest.max()
            span = f"{low}" if low == high else f"{low} to {high}"
            counts.append(f"{title} {span}")
    if not counts:
        return ""
    words = (
        f"The tables below differ in how often each row was run: {'; '.join(counts)}."
    )
    both = run_again(evidence)
    if both.empty:
        return words
    mixed = len(mixed_rows(evidence.runs, "track_and_confirm"))
    if mixed:
        words += (
            " Speeds over Track and confirm divide by races of an earlier day in "
            f"{mixed} rows, and are too low there."
        )
    return words + (
        " Optuna and random search judged on the test rows were given the stored "
        f"seconds of the race, about {1 / both['share'].median():.1f} times what the "
        "race took on the machine where most of them ran, so these two tables favour "
        "them."
    )
