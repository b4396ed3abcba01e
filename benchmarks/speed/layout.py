"""The speed tables as text, from the rows measured so far."""

from __future__ import annotations

import numpy as np
from records import Record, Records
from tasks import TASKS

__all__ = ["document", "table"]

# Each line of a table: the search, its name there, and who knows its winner.
LINES = {
    "GridSearchCV cv=10": ("`GridSearchCV(cv=10)`, scaled up", "full cv=10"),
    "GridSearchCV cv=5": ("`GridSearchCV()` (cv=5), scaled up", "full cv=5"),
    "HalvingGridSearchCV": ("`HalvingGridSearchCV()`", ""),
    "HalvingGridSearchCV N//10": ("`HalvingGridSearchCV(min_resources=N//10)`", ""),
    "RandomizedSearchCV": ("`RandomizedSearchCV(cv=10)` at our time", ""),
    "Optuna TPE": ("Optuna TPE, cv=10, at our time", ""),
    "own CV": ("`RidgeCV` / `LassoCV(cv=10)`", ""),
    "full cv=10": ("`CrossValidation(10)` with sharing", ""),
    "cvst, no sharing": ('ours, `strategy="cvst"`, without sharing', ""),
    "cvst": ('**ours, `strategy="cvst"`**', ""),
    "track_and_confirm": ('**ours, `strategy="track_and_confirm"`**', ""),
}
HEADER = (
    "| search | seconds | faster than GridSearchCV(cv=10) | x one full fit "
    "| peak MB | test error | runs |\n|---|---|---|---|---|---|---|"
)


def table(name: str, records: Records) -> str:
    """Return the table of a task, with what was wanted and what was reached."""
    task = TASKS[name]
    grid = mean_seconds(records.of(name, "GridSearchCV cv=10"))
    fit = mean_seconds(records.of(name, "one full fit"))
    lines = [f"### {task.title}", "", conditions(name, records), "", HEADER]
    for method, (label, winner) in LINES.items():
        rows = records.of(name, method)
        if rows:
            errors = records.of(name, winner) if winner else rows
            lines.append(line(label, rows, errors, grid, fit))
    return "\n".join([*lines, "", *verdicts(name, records, grid)]).rstrip()


def line(
    label: str, rows: list[Record], errors: list[Record], grid: float, fit: float
) -> str:
    seconds = mean_seconds(rows)
    peak = max(row.peak_mb for row in rows)
    cells = [
        label,
        f"{seconds:.2f}" if seconds < 100 else f"{seconds:.0f}",
        f"{grid / seconds:.1f}" if np.isfinite(grid) else "-",
        f"{seconds / fit:.1f}" if np.isfinite(fit) else "-",
        f"{peak:.0f}",
        error_text(errors),
        str(len(rows)),
    ]
    return f"| {' | '.join(cells)} |"


def error_text(rows: list[Record]) -> str:
    """Return the mean error and its standard error."""
    errors = np.array([row.error for row in rows])
    errors = errors[np.isfinite(errors)]
    if not len(errors):
        return "-"
    mean = f"{errors.mean():.4g}"
    if len(errors) == 1:
        return f"{mean} (first run)"
    return f"{mean} ± {errors.std(ddof=1) / np.sqrt(len(errors)):.2g}"


def conditions(name: str, records: Records) -> str:
    rows = [row for row in records.rows.values() if row.task == name]
    if not rows:
        return "Nothing measured yet."
    loads = [row.load for row in rows]
    base = max(row.base_mb for row in rows)
    return (
        f"N = {rows[0].n_samples:,}, {rows[0].n_configurations} configurations, "
        f"{rows[0].date} to {rows[-1].date} (load {min(loads):.1f} to "
        f"{max(loads):.1f}); the libraries alone take {base:.0f} MB."
    )


def verdicts(name: str, records: Records, grid: float) -> list[str]:
    """Say which wanted ratios were reached."""
    task = TASKS[name]
    ours = mean_seconds(records.of(name, "cvst"))
    halving = mean_seconds(records.of(name, "HalvingGridSearchCV"))
    wanted = {
        "GridSearchCV(cv=10)": (task.over_grid, grid),
        "HalvingGridSearchCV()": (task.over_halving, halving),
    }
    texts = []
    for other, (ratio, seconds) in wanted.items():
        if ratio is not None and np.isfinite(seconds / ours):
            reached = "reached" if seconds / ours >= ratio else "missed"
            texts.append(
                f"Wanted {ratio:g}x over `{other}`: {reached}, {seconds / ours:.1f}x."
            )
    return texts


def mean_seconds(rows: list[Record]) -> float:
    return float(np.mean([row.seconds for row in rows])) if rows else np.nan


INTRODUCTION = """# Speed

One thread, the same data and grid for every search of a repetition, one run. Seconds
are of processor time (a mean over the runs); memory is the largest of the process.
`GridSearchCV` is timed on a random part of the grid with all levels in equal shares,
and scaled up; the error of its winner comes from a run over the full grid by
`CrossValidation` on scikit-learn's own folds with evaluators that share work, which
gives the same scores up to rounding; "-" stands where that was not run. "Reached"
compares means, however few the runs and however small that part. "At our time"
means that ten-fold cross-validations of further configurations are begun until the
time of `strategy="cvst"` is over. Errors are mean squared errors, shares of wrong
classes or log losses on 5,000 fresh rows, with the standard error over repetitions
that draw new data. The raw rows are in `speed.csv`.
"""


def document(records: Records) -> str:
    """Return all tables measured so far."""
    tables = [table(name, records) for name in TASKS if _known(name, records)]
    versions = sorted({row.versions for row in records.rows.values()})
    return "\n\n".join([INTRODUCTION.rstrip(), *versions, *tables]) + "\n"


def _known(name: str, records: Records) -> bool:
    return any(row.task == name for row in records.rows.values())
