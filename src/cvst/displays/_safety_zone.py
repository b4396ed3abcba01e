"""The safety zone over the number of steps, for some levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.displays._style import legend_below, ordered_colours, prepare_axes, tidy
from cvst.theory import minimal_steps, safety_zone

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SafetyZoneDisplay"]


class SafetyZoneDisplay:
    """Share of a race in which nothing can be dropped (Lemma 1).

    Parameters
    ----------
    max_steps : ndarray of shape (n_max_steps,), int
        Numbers of steps.
    loser_levels : ndarray of shape (n_levels,)
        Levels of the lines.
    winner_level : float
        The other level, the same for all.
    zones : ndarray of shape (n_levels, n_max_steps)
        Safety zones in steps, NaN where no test exists.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> display = SafetyZoneDisplay.from_levels([10, 20], loser_levels=[0.1])
    >>> display.zones.round(2)
    array([[2.73, 7.88]])
    """

    def __init__(
        self,
        *,
        max_steps: IntArray,
        loser_levels: FloatArray,
        winner_level: float,
        zones: FloatArray,
    ) -> None:
        self.max_steps = max_steps
        self.loser_levels = loser_levels
        self.winner_level = winner_level
        self.zones = zones

    @classmethod
    def from_levels(
        cls,
        max_steps: Sequence[int] = range(5, 101),
        *,
        loser_levels: Sequence[float] = (0.01, 0.05, 0.1, 0.2, 0.4),
        winner_level: float = 0.01,
    ) -> SafetyZoneDisplay:
        """Compute the zones.

        Parameters
        ----------
        max_steps : sequence of int
            Numbers of steps.
        loser_levels : sequence of float
            One line for each.
        winner_level : float
            The other level of the test.

        Returns
        -------
        SafetyZoneDisplay
        """
        zones = np.full((len(loser_levels), len(max_steps)), np.nan)
        for row, level in enumerate(loser_levels):
            fewest = minimal_steps(level, winner_level)
            for column, steps in enumerate(max_steps):
                # With fewer steps Eq. (2) has a probability of 1: there is no test.
                if steps >= fewest:
                    zones[row, column] = safety_zone(steps, level, winner_level)
        return cls(
            max_steps=np.asarray(max_steps, dtype=np.intp),
            loser_levels=np.asarray(loser_levels, dtype=float),
            winner_level=winner_level,
            zones=zones,
        )

    def plot(self, ax: Axes | None = None) -> SafetyZoneDisplay:
        """Draw one line for each level.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SafetyZoneDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        self.figure_, ax = prepare_axes(ax)
        self.ax_ = ax
        # Levels have an order, and so have their colours.
        hues = ordered_colours(len(self.loser_levels))
        for level, zones, hue in zip(self.loser_levels, self.zones, hues, strict=True):
            ax.plot(
                self.max_steps, zones / self.max_steps, color=hue, label=f"{level:g}"
            )
        ax.set(
            ylim=(0, 1.05),
            xlabel="steps of the race",
            ylabel="safety zone / steps of the race",
            title=f"Safety zone, winner level {self.winner_level:g}",
        )
        tidy(ax)
        legend_below(ax, "loser level")
        return self
