"""Likely reasons why a row differs from the paper's: rules, and a small table."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

from summary import BETTER, NOT_RUN, PUBLISHED_REPETITIONS, UNDECIDED, WORSE, Row

__all__ = ["reason"]

HERE = Path(__file__).parent
# Differences below this matter to nobody, however sure they are.
SMALL = 0.02

# With the paper's rows the gap is as wide: profile "full".
NOT_BY_ROWS = {("bank32nm", "KRR"), ("kin32nm", "KRR")}


@cache
def table() -> list[dict[str, str]]:
    """Return the committed reasons; ``*`` matches all, ``|`` separates values."""
    with (HERE / "reasons.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def reason(row: Row) -> str:
    """Return the likely reasons of a verdict, empty where none is needed."""
    verdict = row.verdict
    if verdict == NOT_RUN:
        return ""
    if verdict == UNDECIDED:
        return too_little(row)
    if verdict not in (BETTER, WORSE):
        return ""
    known = [*other_data(row), *fewer_rows(row), *tabled(row)]
    if abs(row.ours.mean - row.published) < SMALL:
        known.append(f"less than {SMALL:.0%} in any case")
    return "; ".join(known) or "not known"


def too_little(row: Row) -> str:
    """Say what keeps a row from a verdict."""
    n = row.ours.n
    if n >= PUBLISHED_REPETITIONS:
        return f"spread: {n} repetitions, as in the paper, are too few"
    return f"only {n} repetition" + ("s" if n > 1 else "")


def other_data(row: Row) -> list[str]:
    """Say that other data stand in."""
    if not row.substitute:
        return []
    return [f"other data: {row.substitute} stands in for {row.data}"]


def fewer_rows(row: Row) -> list[str]:
    """Say that the rows were capped."""
    if row.n_train >= row.n_rows_paper or (row.data, row.learner) in NOT_BY_ROWS:
        return []
    text = f"learned from {row.n_train:,} rows, the paper from {row.n_rows_paper:,}"
    if row.part == "ten-percent":
        text += f", and a tenth of that is only {row.n_train // 10:,}"
    return [text]


def tabled(row: Row) -> list[str]:
    """Return the committed reasons that match a row."""
    wanted = {
        "part": row.part,
        "data": row.data,
        "learner": row.learner,
        "verdicts": row.verdict,
    }
    return [
        line["reason"]
        for line in table()
        if all(
            line[name] == "*" or value in line[name].split("|")
            for name, value in wanted.items()
        )
    ]
