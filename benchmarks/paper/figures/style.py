"""What all figures share: the look of ``cvst.displays``, boxes or points, files.

The colours are Okabe and Ito's, which colour-blind readers can tell apart; learners
also differ in their place or marker.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

__all__ = [
    "BOUNDARY",
    "COLOURS",
    "GRID",
    "LEARNER_COLOURS",
    "PAPER",
    "distribution",
    "learner_legend",
    "note",
    "panels",
    "plain_numbers",
    "save",
    "span",
    "tidy",
]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
BOUNDARY = "#444444"
GRID = "#DDDDDD"
PAPER = "#000000"

# Quartiles of fewer values say less than the values themselves.
FEWEST_FOR_A_BOX = 8
# Small letters that fit into an inch of a note.
LETTERS_PER_INCH = 14
# An axis that spans more than this factor has no room for tenths.
MOST_FOR_FINE_TICKS = 4

LEARNER_COLOURS = {
    "SVM": COLOURS[0],
    "SVR": COLOURS[0],
    "KLR": COLOURS[1],
    "KRR": COLOURS[1],
}


def panels(
    n_rows: int, n_columns: int, size: tuple[float, float], **options: Any
) -> tuple[Figure, np.ndarray]:
    """Return a figure that no window shows, and a table of axes."""
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False, **options)
    return figure, axes


def distribution(
    ax: Axes, place: float, values: Sequence[float], colour: str, width: float
) -> None:
    """Draw a box, or for a few values a point each and a line at their median."""
    kept = np.asarray(values, dtype=float)
    kept = kept[np.isfinite(kept)]
    if not len(kept):
        return
    if len(kept) >= FEWEST_FOR_A_BOX:
        ax.boxplot(
            [kept],
            positions=[place],
            widths=width,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": colour, "alpha": 0.35, "edgecolor": colour},
            medianprops={"color": colour, "lw": 2},
            whiskerprops={"color": colour},
            capprops={"color": colour},
            flierprops={"marker": ".", "ms": 4, "mec": colour, "mfc": colour},
        )
        return
    spread = np.linspace(-0.25, 0.25, len(kept)) * width if len(kept) > 1 else [0.0]
    ax.plot(place + np.asarray(spread), kept, ".", color=colour, ms=5, alpha=0.8)
    ends = place - width / 2, place + width / 2
    ax.plot(ends, [np.median(kept)] * 2, color=colour, lw=2)


def tidy(ax: Axes, *, along_x: bool = False) -> None:
    """Remove the ink that carries nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color=GRID, linewidth=0.6, axis="both" if along_x else "y")
    ax.set_axisbelow(True)


def plain_numbers(
    ax: Axes, ticks: Sequence[float], coarse: Sequence[float] = ()
) -> None:
    """Label a logarithmic axis with ordinary numbers, at those ticks in view.

    Where there are too many of them, the coarse ones are used.
    """
    low, high = ax.get_ylim()
    shown = [tick for tick in ticks if low <= tick <= high]
    if coarse and high > MOST_FOR_FINE_TICKS * low:
        shown = [tick for tick in coarse if low <= tick <= high]
    ax.set_yticks(shown, [f"{tick:g}" for tick in shown])
    ax.set_yticks([], minor=True)


def learner_legend(
    figure: Figure, learners: Sequence[str], *extra: Line2D | Patch
) -> None:
    """Explain the colours above the panels; learners of one colour share a line."""
    names: dict[str, list[str]] = {}
    for name in learners:
        names.setdefault(LEARNER_COLOURS[name], []).append(name)
    handles = [
        Patch(facecolor=colour, alpha=0.6, label=" / ".join(same))
        for colour, same in names.items()
    ]
    figure.legend(
        handles=[*handles, *extra],
        loc="outside upper center",
        ncols=len(handles) + len(extra),
        frameon=False,
        fontsize="small",
    )


def note(figure: Figure, text: str) -> None:
    """Say below the panels what they rest on."""
    n_letters = int(LETTERS_PER_INCH * figure.get_figwidth())
    lines = textwrap.wrap(text, n_letters)
    figure.supxlabel("\n".join(lines), fontsize="small", color=BOUNDARY)


def span(values: Sequence[int], one: str, many: str) -> str:
    """Return a range of counts in words.

    Examples
    --------
    >>> span([1000, 1000], "row", "rows"), span([3, 5, 4], "run", "runs")
    ('1,000 rows', '3 to 5 runs')
    """
    low, high = int(min(values)), int(max(values))
    if low == high:
        return f"{low:,} {one if low == 1 else many}"
    return f"{low:,} to {high:,} {many}"


def save(figure: Figure, path: Path) -> Path:
    """Write a figure so that the same data give the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Letters as text, not as outlines: smaller files that can be searched.
    with mpl.rc_context({"svg.hashsalt": "cvst", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None}, dpi=150)
    return path
