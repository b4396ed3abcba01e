"""What all displays share: colours that are easy to tell apart, and axes.

The colours are Okabe and Ito's, chosen for colour-blind readers; lines also differ in
their marker, so that a black-and-white print keeps its meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from cvst._typing import FloatArray
from cvst.exceptions import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = [
    "BOUNDARY",
    "COLOURS",
    "DROPPED",
    "FLOP",
    "GRID",
    "MARKERS",
    "REGION",
    "TOP",
    "colours",
    "import_pyplot",
    "legend_below",
    "loss_ceiling",
    "numbers_on_log_axis",
    "ordered_colours",
    "prepare_axes",
    "prepare_figure",
    "tidy",
    "whole_steps",
]

# Okabe and Ito without their yellow, which is too pale for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

# Meanings that recur: one step, the whole race, the regions of a sequential test.
TOP = "#000000"
FLOP = "#D55E00"
DROPPED = "#BBBBBB"
BOUNDARY = "#444444"
REGION = "#EBEBEB"
GRID = "#DDDDDD"

# Losses beyond this many times the spread of the better half are drawn at the edge.
FAR = 4


def prepare_axes(
    ax: Axes | None, width: float = 6.4
) -> tuple[Figure | SubFigure, Axes]:
    """Return the axes to draw on and their figure; a new one if none is given.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    # At the call: a display can be computed where there is no matplotlib.
    plt = import_pyplot()
    if ax is None:
        _, ax = plt.subplots(figsize=(width, 4.2), layout="constrained")
    return ax.figure, ax


def import_pyplot() -> Any:
    """Return ``matplotlib.pyplot``, or say which extra is missing."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Displays draw with matplotlib, which is not installed. Install it with "
            "the extra cvst[plots]."
        ) from error
    return plt


def prepare_figure(
    axes: Sequence[Axes] | None, n_panels: int, shape: tuple[int, int]
) -> tuple[Figure | SubFigure, list[Axes]]:
    """Return panels to draw on and their figure; a new one if none are given.

    Parameters
    ----------
    axes : sequence of Axes or None
        Those of a user.
    n_panels : int
        How many are needed.
    shape : tuple of int
        Rows and columns of a new figure.
    """
    if axes is not None:
        given = list(np.ravel(np.asarray(axes, dtype=object)))
        if len(given) != n_panels:
            raise InvalidInputError(
                f"{len(given)} axes for {n_panels} parameters: give one for each."
            )
        return prepare_axes(given[0])[0], given
    plt = import_pyplot()
    rows, columns = shape
    size = (max(4.2, 2.6 * columns + 0.6), 2.4 * rows + 0.6)
    # Always a table of panels: without squeeze=False one panel comes bare.
    figure, grid = plt.subplots(
        rows, columns, figsize=size, layout="constrained", squeeze=False
    )
    panels = list(grid.ravel())
    for unused in panels[n_panels:]:
        # The last row of a grid is seldom full.
        unused.remove()
    return figure, panels[:n_panels]


def numbers_on_log_axis(ax: Axes) -> None:
    """Label 1, 2 and 5 of each power of ten with ordinary numbers."""
    from matplotlib.ticker import LogLocator

    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    # Minor ticks write numbers of their own where an axis has less than a decade.
    ax.set_yticks([], minor=True)


def tidy(ax: Axes) -> None:
    """Remove the ink that carries nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)


def legend_below(ax: Axes, title: str) -> None:
    """Put the legend in one row below the axes, where it covers nothing."""
    n_entries = len(ax.get_legend_handles_labels()[0])
    ax.legend(
        title=title,
        fontsize="small",
        title_fontsize="small",
        ncols=max(1, n_entries),
        loc="upper center",
        bbox_to_anchor=(0.5, -0.16),
        frameon=False,
        columnspacing=1.2,
        handlelength=1.6,
    )


def loss_ceiling(losses: FloatArray, must_show: FloatArray) -> float:
    """Return the loss above which points are drawn at the edge of a picture.

    A single disaster would otherwise press all others into a line.

    Examples
    --------
    >>> loss_ceiling(np.array([0.1, 0.2, 0.3, 9.0]), np.array([0.1]))
    0.85
    """
    finite = losses[np.isfinite(losses)]
    if not len(finite):
        return 1.0
    low, middle = float(finite.min()), float(np.median(finite))
    shown = must_show[np.isfinite(must_show)]
    # By the better half alone: what lies above the median may be arbitrarily far.
    far = max(middle + FAR * (middle - low), float(shown.max(initial=low)))
    return min(far, float(finite.max()))


def whole_steps(ax: Axes, *, both: bool = False) -> None:
    """Label whole steps only, and where both axes count also on the other."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if both:
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))


def colours(n: int) -> list[str]:
    """Return colours for things without an order; they repeat after seven.

    Examples
    --------
    >>> colours(2)
    ['#0072B2', '#D55E00']
    """
    return list(islice(cycle(COLOURS), n))


def ordered_colours(n: int) -> list[tuple[float, float, float, float]]:
    """Return colours from dark to light for things in an order.

    Examples
    --------
    >>> dark, light = ordered_colours(2)
    >>> bool(sum(dark[:3]) < sum(light[:3]))
    True
    """
    from matplotlib import colormaps

    # The end of the map is too pale for lines on white.
    shares = [0.85 * index / max(1, n - 1) for index in range(n)]
    return [colormaps["viridis"](share) for share in shares]
