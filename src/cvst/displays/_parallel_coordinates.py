"""Every configuration as a line across all hyper-parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cvst._text import counted
from cvst._typing import FloatArray
from cvst.displays._by_parameter import ByParameter
from cvst.displays._parameter_axis import ParameterAxis, parameter_axis
from cvst.displays._race import draw_legend, draw_title
from cvst.displays._style import BOUNDARY, loss_ceiling, prepare_axes
from cvst.exceptions import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ParallelCoordinatesDisplay"]

WINNER = "#D55E00"

# Values of one category leave their axis within this distance, so that lines part.
SPREAD = 0.05


class ParallelCoordinatesDisplay(ByParameter):
    """Configurations as lines across one axis per parameter, coloured by their loss.

    Dark lines are good: bundles of them show which values go well together. The last
    axis is the loss, lower is better.

    Parameters
    ----------
    axes : tuple of ParameterAxis
        One per parameter.
    losses : ndarray of shape (n_seen,)
        Comparable mean losses (see :class:`SlicesDisplay`), NaN if the fit failed.
    confirmed : ndarray of shape (n_seen,), bool
        Those with as much evidence as the winner: as many folds, or rows.
    winner : int
        Place of the winner.
    quantity : str, default="loss"
        What the losses are: ``"minus f1"`` where a score was chosen.
    by_folds : bool, default=True
        Whether the winner ran folds; the evidence is that of rows if not.

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
    >>> display = ParallelCoordinatesDisplay.from_search(
    ...     search.fit(*load_iris(return_X_y=True)))
    >>> len(display.axes), display.losses.shape
    (2, (6,))
    """

    def plot(self, ax: Axes | None = None) -> ParallelCoordinatesDisplay:
        """Draw the lines, the best on top.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ParallelCoordinatesDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        if not self.axes:
            raise InvalidInputError(
                "No hyper-parameter of this race varies, so there is nothing to draw. "
                "Search more values, or name parameters to draw."
            )
        self.figure_, ax = prepare_axes(ax, width=max(6.4, 1.5 * len(self.axes) + 2))
        # After prepare_axes, which says in a sentence if matplotlib is missing.
        from matplotlib import colormaps
        from matplotlib.collections import LineCollection

        self.ax_ = ax
        loss_axis = _loss_axis(self.losses, self.quantity)
        all_axes = [*self.axes, loss_axis]
        known = np.flatnonzero(np.isfinite(self.losses))
        # The best are drawn last, above all others.
        known = known[np.argsort(-self.losses[known], kind="stable")]
        heights = np.column_stack([_heights(axis) for axis in all_axes])[known]
        # By rank: losses crowd at one end, and all lines would have its colour.
        shares = np.linspace(0, 1, len(known))
        across = np.broadcast_to(np.arange(len(all_axes)), heights.shape)
        ax.add_collection(
            LineCollection(
                list(np.dstack([across, heights])),
                colors=colormaps["viridis"](0.95 * (1 - shares)),
                linewidths=np.where(shares > 0.9, 1.6, 0.8),
                alpha=float(np.clip(60 / max(1, len(known)), 0.25, 0.9)),
            )
        )
        mine = known == self.winner
        ax.plot(
            np.arange(len(all_axes)), heights[mine].T, color=WINNER, lw=2.5,
            marker="o", ms=5, label="winner",
        )  # fmt: skip
        self._draw_axes(ax, all_axes)
        draw_title(ax, f"{counted(len(known), 'configuration')}, the better the darker")
        draw_legend(ax, below=30)
        return self

    def _draw_axes(self, ax: Axes, axes: Sequence[ParameterAxis]) -> None:
        lowest = min(_lowest(axis) for axis in axes)
        for place, axis in enumerate(axes):
            ax.axvline(place, color=BOUNDARY, lw=0.8, zorder=3)
            for position, text in axis.ticks:
                ax.annotate(
                    text,
                    (place, position),
                    xytext=(3, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize="x-small",
                    zorder=5,
                    annotation_clip=False,
                    bbox={"boxstyle": "round,pad=0.1", "fc": "#FFFFFFC8", "ec": "none"},
                )
        slanted = sum(len(axis.name) for axis in axes) > 12 * len(axes)
        ax.set_xticks(
            range(len(axes)),
            [axis.name for axis in axes],
            fontsize="small",
            rotation=20 if slanted else 0,
            ha="right" if slanted else "center",
        )
        ax.set_yticks([])
        ax.tick_params(length=0)
        # The numbers of the last axis stand to the right of it.
        ax.set_xlim(-0.1, len(axes) - 0.65)
        ax.set_ylim(lowest - 0.07, 1.05)
        ax.spines[:].set_visible(False)


def _loss_axis(losses: FloatArray, name: str) -> ParameterAxis:
    top = loss_ceiling(losses, losses[:0])
    # With NaN first, min returns it: no comparison with NaN holds.
    return parameter_axis(name, [{name: min(one, top)} for one in losses.tolist()])


def _lowest(axis: ParameterAxis) -> float:
    return min(0.0, float(axis.positions.min()))


def _heights(axis: ParameterAxis) -> FloatArray:
    """Return positions, with those of one of few values spread a little."""
    positions = axis.positions.copy()
    # With few configurations per tick the lines part by themselves.
    if len(axis.ticks) * 4 > len(positions):
        return positions
    for position in np.unique(positions):
        alike = np.flatnonzero(positions == position)
        if len(alike) > 1:
            positions[alike] += np.linspace(-SPREAD / 2, SPREAD / 2, len(alike))
    return positions
