"""Which configurations were top in which look: the trace matrix of a race."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvst._searched import FittedSearch
from cvst._text import counted
from cvst._typing import Configuration, FloatArray, IntArray
from cvst.displays._race import (
    MOST_LABELS,
    Race,
    check_started,
    draw_legend,
    draw_stages,
    draw_title,
    label_looks,
    stage_spans,
)
from cvst.displays._style import DROPPED, FLOP, TOP, import_pyplot, prepare_axes
from cvst.race import RaceState, Strategy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["TracesDisplay"]

ABSENT_CODE, TOP_CODE, FLOP_CODE, DROPPED_CODE = range(4)
ABSENT = "#F4F4F4"
MEANINGS = {
    TOP_CODE: ("top", TOP),
    FLOP_CODE: ("flop", FLOP),
    DROPPED_CODE: ("dropped", DROPPED),
    ABSENT_CODE: ("not looked at", ABSENT),
}


class TracesDisplay:
    """The trace matrix of a race, with a zoom on the last looks of the survivors.

    Rows are configurations, the winner on top; columns are looks. A blue line parts the
    survivors from the dropped below. As in the paper, black is top, orange is flop and
    grey is dropped. A configuration that a later stage took up again is grey only in
    between.

    Parameters
    ----------
    codes : ndarray of shape (n_configurations, n_looks), int
        0 not looked at, 1 top, 2 flop, 3 dropped; rows from the winner on.
    subset_sizes : ndarray of shape (n_looks,), int
        Training rows of each look.
    stages : list of str
        Stage of each look.
    labels : list of str
        Text of each row.
    survivors : ndarray of shape (n_configurations,), bool
        Rows that were not dropped.
    window : int
        Last looks that the zoom shows.

    Attributes
    ----------
    ax_, zoom_ax_ : matplotlib Axes
        The matrix and the zoom (None without one).
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from cvst import RaceGridSearchCV
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> search = RaceGridSearchCV(
    ...     KNeighborsClassifier(), {"n_neighbors": [1, 5]}, strategy="cvst",
    ...     random_state=0)
    >>> display = TracesDisplay.from_search(search.fit(*load_iris(return_X_y=True)))
    >>> display.codes.shape[0], display.window
    (2, 3)
    """

    def __init__(
        self,
        *,
        codes: IntArray,
        subset_sizes: IntArray,
        stages: Sequence[str],
        labels: Sequence[str],
        survivors: Any,
        window: int,
    ) -> None:
        self.codes = codes
        self.subset_sizes = subset_sizes
        self.stages = stages
        self.labels = labels
        self.survivors = survivors
        self.window = window

    @classmethod
    def from_search(cls, search: FittedSearch) -> TracesDisplay:
        """Read the traces of a fitted search.

        Parameters
        ----------
        search : RaceGridSearchCV or RaceRandomSearchCV
            A fitted search.

        Returns
        -------
        TracesDisplay
        """
        return cls._from_race(Race.from_search(search))

    @classmethod
    def from_state(
        cls,
        state: RaceState,
        configurations: Sequence[Configuration] | None = None,
        *,
        ranking: IntArray | None = None,
        strategy: Strategy | None = None,
    ) -> TracesDisplay:
        """Read the traces of a race that may still be under way.

        Parameters
        ----------
        state : RaceState
            The race.
        configurations : sequence of dict, optional
            What to call its configurations.
        ranking : ndarray of int, optional
            Survivors, the winner first; by the strategy or the last loss otherwise.
        strategy : Strategy, optional
            What decides.

        Returns
        -------
        TracesDisplay
        """
        return cls._from_race(Race.from_state(state, configurations, ranking, strategy))

    @classmethod
    def _from_race(cls, race: Race) -> TracesDisplay:
        state = race.state
        check_started(state)
        stages = [observation.look.stage for observation in state.observations]
        # Without a window of its own a race is zoomed to its last stage.
        _, first, last = stage_spans(stages)[-1]
        window = race.strategy.window if race.strategy is not None else 0
        order = _survivors_first(race)
        return cls(
            codes=_codes(state)[order],
            subset_sizes=state.subset_sizes,
            stages=stages,
            labels=[race.labels[index] for index in order],
            survivors=state.active[order],
            window=min(window or last - first + 1, state.n_looks),
        )

    def plot(
        self, ax: Axes | None = None, *, zoom_ax: Axes | None = None
    ) -> TracesDisplay:
        """Draw the matrix, and the zoom beside it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw the matrix; a new figure with matrix and zoom by default,
            without the zoom where it would be the matrix once more.
        zoom_ax : matplotlib Axes, optional
            Where to draw the zoom; no zoom if only ``ax`` is given.

        Returns
        -------
        TracesDisplay
            Itself, with ``ax_``, ``zoom_ax_`` and ``figure_``.
        """
        if ax is None:
            ax, zoom_ax = _new_axes(len(self.codes), zoomed=not self._zoom_is_all())
        self.figure_, self.ax_ = prepare_axes(ax)
        self.zoom_ax_ = zoom_ax
        self._draw_matrix(self.ax_)
        if zoom_ax is not None:
            self._draw_zoom(zoom_ax)
        return self

    def _zoom_is_all(self) -> bool:
        return bool(self.survivors.all()) and self.window >= self.codes.shape[1]

    def _draw_matrix(self, ax: Axes) -> None:
        n_rows, n_looks = self.codes.shape
        _draw_cells(ax, self.codes, np.arange(1, n_looks + 1))
        label_looks(ax, self.subset_sizes)
        draw_stages(ax, self.stages)
        if n_rows <= MOST_LABELS:
            ax.set_yticks(np.arange(1, n_rows + 1), self.labels, fontsize="small")
        else:
            ax.set_ylabel("configurations, the winner on top")
        n_kept = int(self.survivors.sum())
        # Two lines if the user's own refit chose one that was dropped: it stays on top.
        for row in np.flatnonzero(np.diff(self.survivors)) + 1:
            ax.axhline(row + 0.5, color="#0072B2", lw=1.4)
        text = f"{counted(n_rows, 'configuration')}, {n_kept:,} left"
        draw_title(ax, text, self.stages)
        shown = np.unique(self.codes)
        _legend(ax, [meaning for code, meaning in MEANINGS.items() if code in shown])

    def _draw_zoom(self, ax: Axes) -> None:
        n_looks = self.codes.shape[1]
        rows = self.codes[self.survivors][:, n_looks - self.window :]
        looks = np.arange(n_looks - self.window + 1, n_looks + 1)
        _draw_cells(ax, rows, looks)
        # A quarter of the figure has no room for more numbers.
        ax.set_xticks(looks if self.window <= 8 else looks[[0, -1]])
        ax.set_xlabel("look")
        if len(rows) > 1:
            ax.set_yticks([1, len(rows)], ["1", str(len(rows))], fontsize="small")
        else:
            ax.set_yticks([1])
        looks_text = "look" if self.window == 1 else f"{self.window} looks"
        draw_title(ax, f"survivors, last {looks_text}")


def _survivors_first(race: Race) -> IntArray:
    """Return the winner, the other survivors and the dropped, by rank each."""
    others = race.order[1:]
    # One that was dropped at the very end may rank before a survivor.
    active = race.state.active[others]
    return np.concatenate([race.order[:1], others[active], others[~active]])


def _codes(state: RaceState) -> IntArray:
    """Return what happened to each configuration in each look."""
    present, traces = state.present, state.traces
    codes = np.where(present, np.where(traces, TOP_CODE, FLOP_CODE), ABSENT_CODE)
    fallen = np.zeros(len(codes), dtype=bool)
    # Grey begins in the look after the drop, and ends where one is taken up again.
    for look, observation in enumerate(state.observations):
        fallen[observation.look.configurations] = False
        codes[fallen, look] = DROPPED_CODE
        fallen[list(observation.drops)] = True
    return codes.astype(np.intp)


def _new_axes(n_rows: int, *, zoomed: bool) -> tuple[Axes, Axes | None]:
    plt = import_pyplot()
    # About a line of text per row, as long as rows have names.
    height = float(np.clip(1.6 + 0.28 * n_rows, 3.2, 6.0))
    width = 9.0 if n_rows <= MOST_LABELS else 7.6
    if not zoomed:
        return plt.subplots(figsize=(0.75 * width, height), layout="constrained")[
            1
        ], None
    _, axes = plt.subplots(
        1, 2, figsize=(width, height), width_ratios=[3, 1], layout="constrained"
    )
    return axes[0], axes[1]


def _draw_cells(ax: Axes, codes: IntArray, looks: IntArray) -> None:
    from matplotlib.colors import to_rgb

    palette = np.array([to_rgb(MEANINGS[code][1]) for code in sorted(MEANINGS)])
    # Colours instead of codes: blending two codes would draw a third.
    image: FloatArray = palette[codes]
    n_rows = len(codes)
    crowded = n_rows > 2 * MOST_LABELS
    # Where rows are thinner than pixels their colours are blended. Columns are
    # repeated so that nothing is blended sideways.
    ax.imshow(
        np.repeat(image, 200, axis=1) if crowded else image,
        aspect="auto",
        interpolation="antialiased" if crowded else "nearest",
        # Upside down, so that row 1, the winner, is on top.
        extent=(looks[0] - 0.5, looks[-1] + 0.5, n_rows + 0.5, 0.5),
    )
    for look in looks[:-1]:
        ax.axvline(look + 0.5, color="white", lw=0.8)
    if not crowded:
        for row in range(1, n_rows):
            ax.axhline(row + 0.5, color="white", lw=0.8)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _legend(ax: Axes, meanings: list[tuple[str, str]]) -> None:
    from matplotlib.patches import Patch

    draw_legend(
        ax,
        [
            Patch(facecolor=colour, edgecolor="#999999", lw=0.5, label=text)
            for text, colour in meanings
        ],
    )
