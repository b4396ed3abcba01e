"""Numbers, tables and prose as Markdown."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from functools import cache
from math import isnan
from pathlib import Path

from summary import Estimate, Row

__all__ = [
    "data_text",
    "figure_texts",
    "markdown_table",
    "paper_ratio",
    "ratio_text",
    "rows_text",
    "speed_text",
    "text",
    "times",
]

MISSING = "-"
TEXTS = Path(__file__).parent / "texts"


def text(name: str) -> str:
    """Return prose that does not depend on numbers."""
    return (TEXTS / name).read_text(encoding="utf-8").rstrip()


@cache
def figure_texts() -> dict[str, str]:
    """Return where each figure stands in the paper, and what to know about ours."""
    with (TEXTS / "figures.csv").open(newline="", encoding="utf-8") as file:
        return {line["item"]: line["text"] for line in csv.DictReader(file)}


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; bars inside cells would end them."""
    lines = [list(header), ["---"] * len(header), *(list(row) for row in rows)]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines
    )


def ratio_text(one: Estimate, bold: bool | None = None) -> str:
    """Return a mean with its interval, bold by the paper's rule."""
    if not one.n:
        return MISSING
    shown = f"{one.mean:.3f}"
    if not isnan(one.half_width):
        shown += f" ± {one.half_width:.3f}"
    return f"**{shown}**" if bold else shown


def paper_ratio(row: Row) -> str:
    """Return what the paper prints."""
    shown = f"{row.published:.3f} ± {row.published_half_width:.3f}"
    return f"**{shown}**" if row.published_bold else shown


def speed_text(one: Estimate) -> str:
    """Return a mean speed to the digits that mean something."""
    if not one.n:
        return MISSING
    return f"{one.mean:,.0f}" if one.mean >= 100 else f"{one.mean:.1f}"


def data_text(data: str, substitute: str) -> str:
    """Return the name of a data set, with what stands in for it."""
    return f"{data} (here {substitute})" if substitute else data


def rows_text(row: Row) -> str:
    """Return the rows learned from, with the paper's where there were more."""
    if not row.n_train:
        return MISSING
    if row.n_train == row.n_rows_paper:
        return f"{row.n_train:,}"
    return f"{row.n_train:,} of {row.n_rows_paper:,}"


def times(counts: Sequence[int]) -> str:
    """Say how often, from the fewest to the most."""
    fewest, most = min(counts), max(counts)
    if most == 1:
        return "once" if fewest else "at most once"
    return f"{most} times" if fewest == most else f"{fewest} to {most} times"
