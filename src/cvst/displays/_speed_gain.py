"""Simulated speed gain over the number of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cvst.displays._style import (
    BOUNDARY,
    MARKERS,
    colours,
    legend_below,
    numbers_on_log_axis,
    prepare_axes,
    tidy,
    whole_steps,
)
from cvst.statistics import SpicerTest, WaldTest
from cvst.theory import SpeedGain, simulate_speed_gain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SpeedGainDisplay"]


class SpeedGainDisplay:
    """How much faster than cross-validation simulated races are (Section 7.2).

    Parameters
    ----------
    result : SpeedGain
        The simulation.
    name : str
        What the title calls the test.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> display = SpeedGainDisplay.from_test(max_steps=[10, 20], n_resamples=20)
    >>> display.result.gains.shape
    (3, 2, 20)
    """

    def __init__(self, *, result: SpeedGain, name: str) -> None:
        self.result = result
        self.name = name

    @classmethod
    def from_test(
        cls,
        make_test: Callable[[int], WaldTest | SpicerTest] = WaldTest,
        **simulation: Any,
    ) -> SpeedGainDisplay:
        """Simulate races.

        Parameters
        ----------
        make_test : callable
            Makes the sequential test for a number of steps.
        **simulation
            Further arguments of :func:`cvst.theory.simulate_speed_gain`.

        Returns
        -------
        SpeedGainDisplay
        """
        result = simulate_speed_gain(make_test, **simulation)
        # make_test may be any function: what it makes tells which test it is.
        closed = isinstance(make_test(int(result.max_steps[0])), SpicerTest)
        return cls(result=result, name="Closed test" if closed else "Open test")

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> SpeedGainDisplay:
        """Draw the median of each problem and a band that holds half of its races.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        legend : bool
            Whether to explain the lines; one of several panels will do.

        Returns
        -------
        SpeedGainDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        self.figure_, ax = prepare_axes(ax)
        self.ax_ = ax
        result = self.result
        hues = colours(len(result.problems))
        for row, problem in enumerate(result.problems):
            # Quartiles: gains are ratios, and their mean would depend on a few races.
            low, middle, high = np.quantile(
                result.gains[row], [0.25, 0.5, 0.75], axis=1
            )
            ax.fill_between(
                result.max_steps, low, high, color=hues[row], alpha=0.15, lw=0
            )
            ax.plot(
                result.max_steps,
                middle,
                color=hues[row],
                marker=MARKERS[row % len(MARKERS)],
                markersize=5,
                label=problem,
            )
        ax.axhline(1, color=BOUNDARY, lw=1, ls="--")
        ax.annotate(
            "as fast as cross-validation",
            (0.01, 1),
            # Across by share, upwards by value: right whatever the limits are.
            xycoords=("axes fraction", "data"),
            xytext=(0, 3),
            textcoords="offset points",
            fontsize="small",
            color=BOUNDARY,
        )
        # Ratios: twice as fast and half as fast are equally far from 1.
        ax.set_yscale("log")
        ax.set(
            xlabel="steps of the race",
            ylabel="times faster than cross-validation",
            title=self.name,
        )
        tidy(ax)
        whole_steps(ax)
        numbers_on_log_axis(ax)
        if legend:
            legend_below(ax, "problem")
        return self
