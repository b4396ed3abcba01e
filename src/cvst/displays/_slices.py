"""The loss against each hyper-parameter, one panel each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from cvst._typing import FloatArray
from cvst.displays._by_parameter import ByParameter
from cvst.displays._parameter_axis import ParameterAxis
from cvst.displays._scores import label_of
from cvst.displays._style import COLOURS, loss_ceiling, prepare_figure, tidy
from cvst.exceptions import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SlicesDisplay", "draw_parameter_ticks", "side_by_side"]

PANELS_PER_ROW = 3
OTHERS = "#9A9A9A"

# Points of one category lie side by side within this distance.
JITTER = 0.035


class SlicesDisplay(ByParameter):
    """The loss of each configuration against each of its parameters.

    Losses are made comparable: each is what it would be on the rows that most
    configurations have seen, by what those in common tell about other rows. Numbers
    that span decades are on a logarithmic axis; values that are not on the scale
    (``None``, 0 on a logarithmic one) stand left of it.

    Parameters
    ----------
    axes : tuple of ParameterAxis
        One per panel.
    losses : ndarray of shape (n_seen,)
        Comparable mean losses, NaN if the fit failed.
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
    axes_ : list of matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from cvst import RaceGridSearchCV
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> grid = {"n_neighbors": [1, 5, 9], "weights": ["uniform", "distance"]}
    >>> search = RaceGridSearchCV(KNeighborsClassifier(), grid, random_state=0)
    >>> display = SlicesDisplay.from_search(search.fit(*load_iris(return_X_y=True)))
    >>> [axis.name for axis in display.axes]
    ['n_neighbors', 'weights']
    """

    def plot(self, axes: Sequence[Axes] | None = None) -> SlicesDisplay:
        """Draw one panel for each parameter.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, optional
            Where to draw, one for each parameter; a new figure by default.

        Returns
        -------
        SlicesDisplay
            Itself, with ``axes_`` and ``figure_``.
        """
        if not self.axes:
            raise InvalidInputError(
                "No hyper-parameter of this race varies, so there is nothing to draw. "
                "Search more values, or name parameters to draw."
            )
        n_panels = len(self.axes)
        columns = min(PANELS_PER_ROW, n_panels)
        shape = ceil(n_panels / columns), columns
        self.figure_, panels = prepare_figure(axes, n_panels, shape)
        self.axes_ = panels
        # What was judged as the winner was stays within the picture, however far from
        # the rest.
        top = loss_ceiling(self.losses, self.losses[self.confirmed])
        for place, (ax, axis) in enumerate(zip(panels, self.axes, strict=True)):
            self._draw(ax, axis, top)
            if place % columns == 0:
                ax.set_ylabel(label_of(self.quantity, "comparable"))
            else:
                # All panels have the same losses, and so the same limits.
                ax.tick_params(axis="y", labelleft=False)
        # Outside the panels there is room in our layout only, not in a user's figure.
        if axes is None:
            self.figure_.legend(
                handles=panels[0].get_legend_handles_labels()[0],
                loc="outside lower center",
                ncols=4,
                frameon=False,
                fontsize="small",
            )
        return self

    def _draw(self, ax: Axes, axis: ParameterAxis, top: float) -> None:
        places = side_by_side(axis)
        losses = np.minimum(self.losses, top)
        known = np.isfinite(losses)
        rest = known & ~self.confirmed
        best = known & self.confirmed
        fewer, as_many = self.labels
        size = float(np.clip(2500 / max(1, len(losses)), 10, 36))
        ax.scatter(
            places[rest],
            losses[rest],
            s=size,
            color=OTHERS,
            alpha=0.6,
            lw=0,
            label=fewer,
        )
        ax.scatter(
            places[best],
            losses[best],
            s=1.3 * size,
            color=COLOURS[0],
            ec="white",
            lw=0.4,
            label=as_many,
        )
        ax.plot(
            places[self.winner],
            losses[self.winner],
            "*",
            ms=14,
            mfc=COLOURS[4],
            mec="black",
            mew=0.8,
            label="winner",
        )
        draw_parameter_ticks(ax, axis)
        low = float(losses[known].min()) if known.any() else 0.0
        margin = 0.06 * (top - low) or 0.05
        ax.set_ylim(low - margin, top + margin)
        tidy(ax)


def side_by_side(axis: ParameterAxis) -> FloatArray:
    """Return positions with those of equal values moved apart a little."""
    positions = axis.positions.copy()
    for position in np.unique(positions):
        alike = np.flatnonzero(positions == position)
        if len(alike) > 1:
            # Multiples of the golden ratio fill an interval evenly, in any number.
            spread = (np.arange(1, len(alike) + 1) * 0.618034) % 1 - 0.5
            positions[alike] += JITTER * spread
    return positions


def draw_parameter_ticks(
    ax: Axes, axis: ParameterAxis, which: str = "x", room: int = 30
) -> None:
    """Write the values of a parameter along an axis, slanted where they would touch.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to write.
    axis : ParameterAxis
        What to write.
    which : {"x", "y"}
        Along which side.
    room : int
        How many characters fit side by side.
    """
    ticks = sorted(axis.ticks)
    set_ticks = ax.set_xticks if which == "x" else ax.set_yticks
    set_ticks(
        [place for place, _ in ticks], [text for _, text in ticks], fontsize="small"
    )
    low, high = axis.span
    (ax.set_xlim if which == "x" else ax.set_ylim)(low, high)
    (ax.set_xlabel if which == "x" else ax.set_ylabel)(axis.name)
    touching = any(
        (len(text) + len(after)) / 2 + 1 > (place_after - place) / (high - low) * room
        for (place, text), (place_after, after) in pairwise(ticks)
    )
    if which == "x" and touching:
        for label in ax.get_xticklabels():
            label.set(rotation=40, ha="right", rotation_mode="anchor")
