"""The boundaries of a sequential test and the traces that run between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cvst._typing import BoolArray, FloatArray, IntArray
from cvst.displays._style import (
    BOUNDARY,
    MARKERS,
    REGION,
    colours,
    prepare_axes,
    tidy,
    whole_steps,
)
from cvst.exceptions import InvalidInputError
from cvst.statistics import SpicerTest, WaldTest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SequentialTestDisplay"]


class SequentialTestDisplay:
    """Boundaries and paths of a sequential test (lower left of the overview figure).

    Steps run to the right, the number of steps in which a configuration was top
    upwards. A path ends where it reaches the loser boundary.

    Parameters
    ----------
    steps : ndarray of shape (max_steps + 1,), int
        Steps from 0 on.
    loser_boundary, winner_boundary : ndarray of shape (max_steps + 1,)
        The two lines.
    paths : list of ndarray of shape (n_steps + 1,), int
        Wins of each trace so far, from step 0 to its drop or its end.
    dropped : ndarray of shape (n_traces,), bool
        Traces that end because they were dropped.
    labels : list of str
        One name for each trace.
    safety_zone : float
        Step up to which the test drops nothing.
    name : str
        What the title calls the test.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from cvst.statistics import WaldTest
    >>> display = SequentialTestDisplay.from_test(
    ...     WaldTest(10), [[0, 0, 0, 1, 1], [0, 1, 1, 0, 1]])
    >>> [path.tolist() for path in display.paths]
    [[0, 0, 0, 0], [0, 0, 1, 2, 2, 3]]
    """

    def __init__(
        self,
        *,
        steps: IntArray,
        loser_boundary: FloatArray,
        winner_boundary: FloatArray,
        paths: Sequence[IntArray],
        dropped: BoolArray,
        labels: Sequence[str],
        safety_zone: float,
        name: str,
    ) -> None:
        self.steps = steps
        self.loser_boundary = loser_boundary
        self.winner_boundary = winner_boundary
        self.paths = paths
        self.dropped = dropped
        self.labels = labels
        self.safety_zone = safety_zone
        self.name = name

    @classmethod
    def from_test(
        cls,
        test: WaldTest | SpicerTest,
        traces: npt.ArrayLike | None = None,
        *,
        labels: Sequence[str] | None = None,
    ) -> SequentialTestDisplay:
        """Compute boundaries and paths.

        Parameters
        ----------
        test : WaldTest or SpicerTest
            The test.
        traces : array-like of shape (n_traces, n_steps), bool, optional
            Top (True) or flop (False) in each step.
        labels : sequence of str, optional
            Names of the traces.

        Returns
        -------
        SequentialTestDisplay
        """
        rows = np.asarray([] if traces is None else traces, dtype=bool)
        # An empty list has one dimension, which the check below would refuse.
        rows = rows.reshape(0, 0) if rows.size == 0 else rows
        if rows.ndim != 2 or rows.shape[1] > test.max_steps:
            raise InvalidInputError(
                f"traces of shape {rows.shape} must have one row for each trace and at "
                f"most max_steps={test.max_steps} columns."
            )
        names = (
            [f"trace {n + 1}" for n in range(len(rows))] if labels is None else labels
        )
        if len(names) != len(rows):
            raise InvalidInputError(
                f"{len(names)} labels for {len(rows)} traces: give one for each."
            )
        steps = np.arange(test.max_steps + 1)
        boundary = test.loser_boundary(steps)
        wins = np.hstack([np.zeros((len(rows), 1), dtype=int), rows.cumsum(axis=1)])
        # Without step 0, where nothing has been tested.
        fallen = wins[:, 1:] <= boundary[1 : wins.shape[1]]
        paths = []
        for path, falls in zip(wins, fallen, strict=True):
            # The first crossing ends a path, even if it would come back.
            end = int(falls.argmax()) + 1 if falls.any() else len(falls)
            paths.append(path[: end + 1])
        closed = isinstance(test, SpicerTest)
        return cls(
            steps=steps,
            loser_boundary=boundary,
            winner_boundary=test.winner_boundary(steps),
            paths=paths,
            dropped=np.asarray(fallen.any(axis=1)),
            labels=list(names),
            safety_zone=test.safety_zone,
            name="Closed test (Spicer)" if closed else "Open test (Wald)",
        )

    def plot(self, ax: Axes | None = None) -> SequentialTestDisplay:
        """Draw the lines, the losers' region and the paths.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SequentialTestDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        self.figure_, ax = prepare_axes(ax)
        self.ax_ = ax
        last = int(self.steps[-1])
        self._draw_boundaries(ax)
        parts = zip(self.paths, self.labels, self.dropped, strict=True)
        for index, (path, label, dropped) in enumerate(parts):
            colour = colours(index + 1)[-1]
            # Later paths are thinner, so that one below them shows at its sides.
            layer = max(0, len(self.paths) - 1 - index)
            ax.plot(
                self.steps[: len(path)],
                path,
                color=colour,
                marker=MARKERS[index % len(MARKERS)],
                markersize=4 + 0.8 * layer,
                linewidth=1.5 + 0.7 * layer,
                label=f"{label}, dropped" if dropped else label,
            )
            if dropped:
                ax.plot(len(path) - 1, path[-1], "x", color=colour, ms=11, mew=2)
        ax.set(
            xlim=(0, last + 0.3),
            ylim=(-0.4, last + 0.3),
            xlabel="step",
            ylabel="steps won so far",
            title=f"{self.name}, safety zone {self.safety_zone:.2f} steps",
        )
        tidy(ax)
        whole_steps(ax, both=True)
        ax.legend(loc="upper left", fontsize="small", framealpha=0.9)
        return self

    def _draw_boundaries(self, ax: Axes) -> None:
        steps = self.steps.astype(float)
        ax.fill_between(steps, -1, self.loser_boundary, color=REGION, lw=0)
        ax.plot(
            steps, self.winner_boundary, "--", color=BOUNDARY, label="winner boundary"
        )
        ax.plot(steps, self.loser_boundary, color=BOUNDARY, label="loser boundary")
        ax.text(0.97, 0.05, "LOSER", color=BOUNDARY, ha="right", transform=ax.transAxes)
