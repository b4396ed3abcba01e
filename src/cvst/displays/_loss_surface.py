"""The loss over two hyper-parameters, with the regions that were dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvst._searched import FittedSearch
from cvst._typing import BoolArray, Configuration, FloatArray, IntArray
from cvst.displays._picture_axes import PictureAxis, choose_axes
from cvst.displays._race import Race, check_started, draw_legend, draw_title
from cvst.displays._scores import LOSS, label_of
from cvst.displays._style import prepare_axes
from cvst.race import RaceState, Strategy
from cvst.race.machinery import deciding_losses

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LossSurfaceDisplay"]

MOST_TICKS = 10
# Up to this many cells have room for the number of the look that dropped them.
MOST_CELL_TEXTS = 150
HATCH = "///"
NO_LOSS = "#D9D9D9"


class LossSurfaceDisplay:
    """Loss of the best configuration for each pair of values.

    Each configuration shows the loss of the last look it took part in (or the mean of
    its folds), so those dropped early show what they achieved with few rows. With
    more than two varying hyper-parameters a cell shows the best of those that share
    its two values.

    Parameters
    ----------
    x, y : PictureAxis
        The axes; ``y`` has one level if only one hyper-parameter varies.
    losses : ndarray of shape (n_y, n_x)
        Loss of the best configuration of each cell, NaN where there is none.
    dropped_at : ndarray of shape (n_y, n_x), int
        Look at which it fell, 0 if it was not dropped.
    winner : tuple of (int, int)
        Row and column of the winner.
    quantity : str, default="loss"
        What the losses are: ``"minus f1"`` where a score was chosen.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from cvst import RaceGridSearchCV
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> grid = {"n_neighbors": [1, 5, 9], "weights": ["uniform", "distance"]}
    >>> search = RaceGridSearchCV(KNeighborsClassifier(), grid, random_state=0)
    >>> display = LossSurfaceDisplay.from_search(
    ...     search.fit(*load_iris(return_X_y=True)), x="n_neighbors", y="weights")
    >>> display.losses.shape
    (2, 3)
    """

    def __init__(
        self,
        *,
        x: PictureAxis,
        y: PictureAxis,
        losses: FloatArray,
        dropped_at: IntArray,
        winner: tuple[int, int],
        quantity: str = LOSS,
    ) -> None:
        self.x = x
        self.y = y
        self.losses = losses
        self.dropped_at = dropped_at
        self.winner = winner
        self.quantity = quantity

    @classmethod
    def from_search(
        cls,
        search: FittedSearch,
        *,
        x: str | None = None,
        y: str | None = None,
        score: str | None = None,
    ) -> LossSurfaceDisplay:
        """Read the surface of a fitted search.

        Parameters
        ----------
        search : RaceGridSearchCV or RaceRandomSearchCV
            A fitted search.
        x, y : str, optional
            Names of hyper-parameters; those with the most values by default.
        score : str, optional
            Name of a score that was recorded; its negative takes the place of the
            losses, which are drawn by default.

        Returns
        -------
        LossSurfaceDisplay
        """
        race = Race.from_search(search, score)
        return cls._from_race(race, search.cv_results_["params"], x, y)

    @classmethod
    def from_state(
        cls,
        state: RaceState,
        configurations: Sequence[Configuration],
        *,
        x: str | None = None,
        y: str | None = None,
        ranking: IntArray | None = None,
        strategy: Strategy | None = None,
    ) -> LossSurfaceDisplay:
        """Read the surface of a race that may still be under way.

        Parameters
        ----------
        state : RaceState
            The race.
        configurations : sequence of dict
            Its configurations.
        x, y : str, optional
            Names of hyper-parameters; those with the most values by default.
        ranking : ndarray of int, optional
            Survivors, the winner first; by the strategy or the last loss otherwise.
        strategy : Strategy, optional
            What decides.

        Returns
        -------
        LossSurfaceDisplay
        """
        race = Race.from_state(state, configurations, ranking, strategy)
        return cls._from_race(race, configurations, x, y)

    @classmethod
    def _from_race(
        cls,
        race: Race,
        configurations: Sequence[Configuration],
        x: str | None,
        y: str | None,
    ) -> LossSurfaceDisplay:
        check_started(race.state)
        x_axis, y_axis = choose_axes(configurations, x, y)
        shape = (len(y_axis.texts), len(x_axis.texts))
        losses = np.full(shape, np.nan)
        dropped_at = np.zeros(shape, dtype=np.intp)
        last, fell = deciding_losses(race.state), race.state.dropped_at
        taken = np.zeros(shape, dtype=bool)
        # Several configurations may share a cell, where more than two parameters vary.
        # The order begins with the best, so the first to come is the one to show.
        for index in race.order.tolist():
            cell = y_axis.codes[index], x_axis.codes[index]
            if not taken[cell]:
                taken[cell] = True
                losses[cell], dropped_at[cell] = last[index], fell[index]
        winner = race.order[0]
        return cls(
            x=x_axis,
            y=y_axis,
            losses=losses,
            dropped_at=dropped_at,
            winner=(int(y_axis.codes[winner]), int(x_axis.codes[winner])),
            quantity=race.quantity,
        )

    def plot(self, ax: Axes | None = None) -> LossSurfaceDisplay:
        """Draw the losses, hatch what was dropped and mark the winner.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        LossSurfaceDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        self.figure_, ax = prepare_axes(ax)
        self.ax_ = ax
        if self._is_scattered():
            self._draw_points(ax)
        else:
            self._draw_cells(ax)
        row, column = self.winner
        ax.plot(column, row, "*", ms=15, mfc="white", mec="black", label="winner")
        _ticks(ax, "x", self.x)
        _ticks(ax, "y", self.y)
        ax.set_xlabel(self.x.name)
        ax.set_ylabel(self.y.name)
        what = self.quantity.capitalize() if self.quantity == LOSS else self.quantity
        draw_title(ax, f"{what} where each configuration was last seen")
        ax.spines[:].set_visible(False)
        handles = ax.get_legend_handles_labels()[0]
        if self._dropped.any():
            numbered = self.losses.size <= MOST_CELL_TEXTS and not self._is_scattered()
            text = "dropped at that look" if numbered else "dropped"
            handles.append(_dropped_handle(text, self._is_scattered()))
        draw_legend(ax, handles, below=52)
        return self

    def _is_scattered(self) -> bool:
        """Say whether most cells are empty, as after a random search."""
        filled = int(np.isfinite(self.losses).sum())
        # Cells of continuous draws would be hairlines; points can be seen.
        return self.losses.size > 4 * max(1, filled)

    def _norm(self) -> Any:
        from matplotlib.colors import LogNorm, Normalize

        finite = self.losses[np.isfinite(self.losses)]
        low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
        # On a linear scale a few bad corners would leave one colour for all the others.
        if low > 0 and high > 5 * low:
            return LogNorm(low, high)
        # All losses may be equal, and a scale of no width would divide by 0.
        return Normalize(low, high if high > low else low + 1)

    def _draw_cells(self, ax: Axes) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        norm = self._norm()
        # Masked cells are not drawn, so this shows through where nothing was fitted.
        ax.set_facecolor(NO_LOSS)
        picture = ax.imshow(
            np.ma.masked_invalid(self.losses),
            aspect="auto",
            # Rows of an image run downwards, values of a parameter upwards.
            origin="lower",
            cmap="cividis",
            norm=norm,
            interpolation="nearest",
        )
        ax.figure.colorbar(
            picture, ax=ax, label=label_of(self.quantity, "mean"), pad=0.02
        )
        fallen = np.argwhere(self._dropped)
        if not len(fallen):
            return
        # One patch for all cells: a patch each takes seconds on a large grid.
        unit = Path.unit_rectangle()
        corners = np.asarray(unit.vertices) - 0.5
        # Cells are (row, column), paths are (x, y).
        tiles = [Path(corners + cell[::-1], unit.codes) for cell in fallen]
        ax.add_patch(
            PathPatch(
                Path.make_compound_path(*tiles),
                hatch=HATCH,
                facecolor="none",
                # Hatches have the colour of the edge, which itself is not drawn.
                edgecolor="#FFFFFF",
                lw=0,
            )
        )
        self._outline_survivors(ax)
        if self.losses.size > MOST_CELL_TEXTS:
            return
        for r, c in fallen.tolist():
            ax.text(
                c,
                r,
                str(self.dropped_at[r, c]),
                ha="center",
                va="center",
                fontsize="small",
                bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none"},
            )

    @property
    def _dropped(self) -> BoolArray:
        return np.asarray(self.dropped_at > 0)

    def _outline_survivors(self, ax: Axes) -> None:
        """Part the survivors from the dropped by a line."""
        from matplotlib.collections import LineCollection

        fell = self._dropped
        # A line wherever two neighbours differ: survivors need not lie together.
        rows, columns = np.nonzero(fell[1:] != fell[:-1])
        across = [
            [(c - 0.5, r + 0.5), (c + 0.5, r + 0.5)]
            for r, c in zip(rows.tolist(), columns.tolist(), strict=True)
        ]
        rows, columns = np.nonzero(fell[:, 1:] != fell[:, :-1])
        along = [
            [(c + 0.5, r - 0.5), (c + 0.5, r + 0.5)]
            for r, c in zip(rows.tolist(), columns.tolist(), strict=True)
        ]
        ax.add_collection(LineCollection(across + along, colors="#D55E00", lw=2.5))

    def _draw_points(self, ax: Axes) -> None:
        # The dropped are drawn first: where points overlap, survivors are seen.
        kept = np.argwhere(np.isfinite(self.losses) & ~self._dropped)
        fallen = np.argwhere(np.isfinite(self.losses) & self._dropped)
        norm = self._norm()
        # Many points are drawn small, so that they do not hide each other.
        size = float(np.clip(4000 / max(1, len(kept) + len(fallen)), 12, 60))
        options: dict[str, Any] = {"norm": norm, "cmap": "cividis"}
        ax.scatter(
            fallen[:, 1],
            fallen[:, 0],
            c=self.losses[tuple(fallen.T)],
            s=0.6 * size,
            marker="x",
            lw=1.2,
            **options,
        )
        picture = ax.scatter(
            kept[:, 1],
            kept[:, 0],
            c=self.losses[tuple(kept.T)],
            s=size,
            ec="#D55E00",
            lw=1.2,
            label="not dropped",
            **options,
        )
        ax.figure.colorbar(
            picture, ax=ax, label=label_of(self.quantity, "mean"), pad=0.02
        )


def _ticks(ax: Axes, which: str, axis: PictureAxis) -> None:
    n_levels = len(axis.texts)
    every = max(1, -(-n_levels // MOST_TICKS))
    places = range(0, n_levels, every)
    texts = [axis.texts[place] for place in places]
    set_ticks = ax.set_xticks if which == "x" else ax.set_yticks
    set_ticks(places, texts, fontsize="small")
    ax.tick_params(length=0)
    # About the characters that fit below axes of the usual width.
    if which == "x" and max(map(len, texts), default=0) * len(texts) > 55:
        ax.tick_params(axis="x", rotation=30)


def _dropped_handle(text: str, scattered: bool) -> Any:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if scattered:
        return Line2D([], [], marker="x", ls="none", color="#555555", label=text)
    return Patch(facecolor="#7C7B78", edgecolor="white", hatch=HATCH, lw=0, label=text)
