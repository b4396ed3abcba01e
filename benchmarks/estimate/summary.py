"""What ``run.py`` measured, as the tables of ``docs/user_guide/estimate.md``.

    python benchmarks/estimate/summary.py           # the held-out problems
    python benchmarks/estimate/summary.py tuning
    python benchmarks/estimate/summary.py write     # put the table on the page

The files hold what each estimate was made from. Value and interval are made from it
here by the library itself, so that the tables are those of the rule as it is.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cvst.search.estimate import Evidence, Growth

RESULTS = Path(__file__).parents[1] / "results"
PAGE = Path(__file__).parents[2] / "docs" / "user_guide" / "estimate.md"
MARKS = "<!-- begin of the table -->", "<!-- end of the table -->"
RACE, PLAIN = "track_and_confirm", "cross_validation"
FAMILIES = ("linear", "kernel", "boosting")
# Earlier draws of the held-out problems helped to choose the rule.
FIRST = 12

BIASES = "bias of the estimate", "bias of `GridSearchCV.best_score_`"


def read(name: str) -> Any:
    """Return one row per race, with errors in units of the score's standard error."""
    path = RESULTS / f"estimate_{name}.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    rows = []
    for record in records:
        made = dict(record["evidence"])
        known = Evidence(**{**made, "growth": Growth(**made["growth"])})
        low, high = known.ends
        rows.append(
            {
                **{name: record[name] for name in ("problem", "family", "n_rows")},
                "draw": record["draw"],
                "strategy": record["strategy"],
                "covered": low <= record["truth"] <= high,
                "width": (high - low) / 2,
                "unit": known.error,
                # The chance of the rows is shared by all good models, and is known.
                "error": known.value - record["truth"] - record["chance"],
                "best_error": record["best_score"] - record["truth"] - record["chance"],
            }
        )
    table = pd.DataFrame(rows)
    unit = table.groupby("problem")["unit"].transform("mean")
    for column in ("error", "best_error", "width"):
        table[column] /= unit
    return table


def bias(table: Any, column: str) -> tuple[float, float]:
    """Return a mean over problems, and its standard error over draws."""
    each = table.groupby("problem")[column]
    variance = (each.var(ddof=1) / each.count()).sum()
    return float(each.mean().mean()), float(np.sqrt(variance)) / each.ngroups


def plain_bias(table: Any) -> tuple[float, float]:
    """Return the bias of ``GridSearchCV.best_score_``, which few draws have.

    That of the race's own ``best_score_`` is known on all draws. On some the two are
    compared, and as they mostly agree, the difference is known well.
    """
    raced, plain = (table[table["strategy"] == one] for one in (RACE, PLAIN))
    keys = ["problem", "draw"]
    both = plain.merge(raced, on=keys, suffixes=("", "_raced"))
    both["more"] = both["best_error"] - both["best_error_raced"]
    parts = bias(raced, "best_error"), bias(both, "more")
    return parts[0][0] + parts[1][0], float(np.hypot(parts[0][1], parts[1][1]))


def coverage(table: Any) -> float:
    """Return the share of races whose interval holds the true score."""
    return float(table["covered"].mean())


def lines(name: str = "held_out") -> list[str]:
    """Return the table of the page: draws that took no part in choosing the rule."""
    table = read(name)
    if name == "held_out":
        table = table[table["draw"] >= FIRST]
    titles = "family", "problems", "races", "interval holds", *BIASES
    shown = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for family in (*FAMILIES, "all"):
        part = table if family == "all" else table[table["family"] == family]
        raced = part[part["strategy"] == RACE]
        cells = (
            family,
            str(raced["problem"].nunique()),
            f"{len(raced):,}",
            f"{100 * coverage(raced):.1f} %",
            _signed(*bias(raced, "error")),
            _signed(*plain_bias(part)),
        )
        shown.append(f"| {' | '.join(cells)} |")
    return shown


def _signed(mean: float, error: float) -> str:
    return f"{mean:+.2f} ± {error:.2f}"


def words() -> str:
    """Return the sentences below the table."""
    table = read("held_out")
    new, whole = (_told(part) for part in (table[table["draw"] >= FIRST], table))
    n_draws = table["draw"].nunique()
    return (
        f"The table has draws {FIRST} to {n_draws - 1} of each problem; the others "
        f"helped to choose the rule. {new} Over all {n_draws} draws: {whole} In single "
        f"problems, whatever its sign, it is {_size(table, 'error'):.2f} on average "
        f"against {_size(table, 'best_error'):.2f}, each known to "
        f"± {_noise(table):.2f}."
    )


def _size(table: Any, column: str) -> float:
    """Return the mean size of the bias in single problems."""
    raced = table[table["strategy"] == RACE]
    return float(raced.groupby("problem")[column].mean().abs().mean())


def _noise(table: Any) -> float:
    """Return the mean standard error of the bias in a single problem."""
    each = table[table["strategy"] == RACE].groupby("problem")["error"]
    return float((each.std(ddof=1) / np.sqrt(each.count())).mean())


def _told(table: Any) -> str:
    raced = table[table["strategy"] == RACE]
    told, best = bias(raced, "error")[0], plain_bias(table)[0]
    return (
        f"{100 * coverage(raced):.1f} % of {len(raced):,} intervals hold the score, "
        f"and the bias is {abs(told / best):.2f} times that of "
        "`GridSearchCV.best_score_`."
    )


def write() -> None:
    """Put the table and the sentence on the page, between their marks."""
    before, rest = PAGE.read_text(encoding="utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    text = "\n".join(["", *lines(), "", words(), ""])
    PAGE.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}", encoding="utf-8")


def main() -> None:
    """Print the table, and a row for each problem."""
    name = sys.argv[1] if len(sys.argv) > 1 else "held_out"
    if name == "write":
        write()
        return
    print("\n".join(lines(name)), "\n")
    table = read(name)
    each = table[table["strategy"] == RACE].groupby("problem", sort=False)
    print(each[["covered", "width", "error", "best_error"]].mean().round(2).to_string())


if __name__ == "__main__":
    main()
