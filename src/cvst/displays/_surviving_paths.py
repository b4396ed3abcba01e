"""The worst case of a late winner as a grid of surviving paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cvst._typing import FloatArray
from cvst.displays._style import (
    BOUNDARY,
    COLOURS,
    REGION,
    prepare_axes,
    tidy,
    whole_steps,
)
from cvst.exceptions import InvalidInputError
from cvst.statistics import WaldTest
from cvst.theory import loser_boundaries, surviving_paths

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SurvivingPathsDisplay"]

# More numbers than this do not fit on a page.
MOST_READABLE_STEPS = 30


class SurvivingPathsDisplay:
    """Number of paths above the loser boundary (the paper's worst-case figure).

    A configuration flops up to the safety zone; from there a flop leads to the right, a
    top diagonally upwards. Each number counts the ways to its point (Lemma 2).

    Parameters
    ----------
    paths : ndarray of shape (max_steps + 1, max_steps + 1), int objects
        ``paths[wins, step]``.
    loser_boundary : ndarray of shape (max_steps,)
        The boundary in steps 1, 2, ..., ``max_steps``.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> display = SurvivingPathsDisplay.from_levels(10)
    >>> display.n_flops
    2
    """

    def __init__(
        self, *, paths: npt.NDArray[np.object_], loser_boundary: FloatArray
    ) -> None:
        self.paths = paths
        self.loser_boundary = loser_boundary

    @property
    def n_flops(self) -> int:
        """Flops at the start that are survived."""
        return int(np.flatnonzero(self.paths[0])[-1])

    @classmethod
    def from_levels(
        cls, max_steps: int = 20, loser_level: float = 0.1, winner_level: float = 0.01
    ) -> SurvivingPathsDisplay:
        """Count the paths.

        Parameters
        ----------
        max_steps : int
            Steps of the race, at most 30.
        loser_level, winner_level : float
            Levels of the open test.

        Returns
        -------
        SurvivingPathsDisplay
        """
        if max_steps > MOST_READABLE_STEPS:
            raise InvalidInputError(
                f"max_steps={max_steps} gives a grid too fine to read: draw "
                f"{MOST_READABLE_STEPS} steps or fewer, or call "
                "cvst.theory.surviving_paths for the numbers."
            )
        test = WaldTest(max_steps, loser_level, winner_level)
        return cls(
            paths=surviving_paths(max_steps, loser_level, winner_level),
            loser_boundary=loser_boundaries(test),
        )

    def plot(self, ax: Axes | None = None) -> SurvivingPathsDisplay:
        """Draw the grid.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SurvivingPathsDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        self.figure_, ax = prepare_axes(ax)
        self.ax_ = ax
        n_steps = len(self.loser_boundary)
        steps = np.arange(1, n_steps + 1)
        ax.fill_between(steps, -1, self.loser_boundary, color=REGION, lw=0)
        ax.plot(steps, self.loser_boundary, color=BOUNDARY, label="loser boundary")
        ax.text(0.97, 0.05, "LOSER", color=BOUNDARY, ha="right", transform=ax.transAxes)
        self._draw_edges(ax)
        for wins, step in np.argwhere(self.paths != 0):
            ax.text(
                step,
                wins,
                str(self.paths[wins, step]),
                ha="center",
                va="center",
                fontsize=7,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            )
        ax.set(
            xlim=(-0.5, n_steps + 0.7),
            ylim=(-0.7, n_steps - self.n_flops + 0.7),
            xlabel="step",
            ylabel="steps won so far",
            title="Paths of a late winner that survive",
        )
        tidy(ax)
        # The edges are a grid already.
        ax.grid(visible=False)
        whole_steps(ax, both=True)
        ax.legend(loc="upper left")
        return self

    def _draw_edges(self, ax: Axes) -> None:
        """Join each point to the points that its paths come from."""
        from matplotlib.collections import LineCollection

        edges = []
        for wins, step in np.argwhere(self.paths != 0):
            for fewer in (0, 1):
                # A path comes from a flop, with as many wins, or from a top.
                before = (wins - fewer, step - 1)
                if min(before) >= 0 and self.paths[before] != 0:
                    edges.append([(before[1], before[0]), (step, wins)])
        ax.add_collection(LineCollection(edges, colors=COLOURS[0], linewidths=0.6))
