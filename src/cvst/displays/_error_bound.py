"""The bound on dropping a stable winner over the number of steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.displays._style import MARKERS, colours, legend_below, prepare_axes, tidy
from cvst.theory import drop_error_bound

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ErrorBoundDisplay"]


class ErrorBoundDisplay:
    """Bound on dropping a late but stable winner (Theorem 1).

    Parameters
    ----------
    max_steps : ndarray of shape (n_max_steps,), int
        Numbers of steps.
    win_probabilities : ndarray of shape (n_probabilities,)
        Chances of the winner to be top in a step.
    bounds : ndarray of shape (n_probabilities, n_max_steps)
        The bounds.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> display = ErrorBoundDisplay.from_levels([10, 100], win_probabilities=[0.9])
    >>> display.bounds.round(3)
    array([[0.132, 0.111]])
    """

    def __init__(
        self, *, max_steps: IntArray, win_probabilities: FloatArray, bounds: FloatArray
    ) -> None:
        self.max_steps = max_steps
        self.win_probabilities = win_probabilities
        self.bounds = bounds

    @classmethod
    def from_levels(
        cls,
        max_steps: Sequence[int] = range(10, 201),
        *,
        win_probabilities: Sequence[float] = (0.9, 0.95, 0.99),
        loser_level: float = 0.1,
        winner_level: float = 0.01,
    ) -> ErrorBoundDisplay:
        """Compute the bounds.

        Parameters
        ----------
        max_steps : sequence of int
            Numbers of steps.
        win_probabilities : sequence of float
            One row of points for each.
        loser_level, winner_level : float
            Levels of the open test.

        Returns
        -------
        ErrorBoundDisplay
        """
        bounds = [
            [drop_error_bound(p, s, loser_level, winner_level) for s in max_steps]
            for p in win_probabilities
        ]
        return cls(
            max_steps=np.asarray(max_steps, dtype=np.intp),
            win_probabilities=np.asarray(win_probabilities, dtype=float),
            bounds=np.asarray(bounds),
        )

    def plot(self, ax: Axes | None = None) -> ErrorBoundDisplay:
        """Draw the bounds for each chance, and dotted what it tends to.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ErrorBoundDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        self.figure_, ax = prepare_axes(ax)
        self.ax_ = ax
        hues = colours(len(self.win_probabilities))
        for row, chance in enumerate(self.win_probabilities):
            # Points: neighbouring numbers of steps differ too much to be joined.
            ax.plot(
                self.max_steps,
                self.bounds[row],
                linestyle="none",
                marker=MARKERS[row % len(MARKERS)],
                markersize=3,
                color=hues[row],
                label=f"{chance:g}",
            )
            # The ruin of a gambler one loss away from it; see docs/theory.
            limit = (1 - chance) / chance if chance > 0.5 else 1.0
            ax.axhline(limit, color=hues[row], ls=":", lw=1)
        ax.set(
            ylim=(0, None),
            xlabel="steps of the race",
            ylabel="probability of being dropped, at most",
            title="Losing a late but stable winner",
        )
        tidy(ax)
        legend_below(ax, "chance to be top in a step")
        return self
