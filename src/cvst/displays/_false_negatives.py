"""How often switching configurations are dropped, over their change point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cvst.displays._style import (
    MARKERS,
    REGION,
    legend_below,
    ordered_colours,
    prepare_axes,
    tidy,
    whole_steps,
)
from cvst.statistics import SpicerTest, WaldTest
from cvst.theory import FalseNegatives, simulate_false_negatives

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FalseNegativesDisplay"]


class FalseNegativesDisplay:
    """False negatives of a sequential test (Sections 5.1 and 7.2).

    Parameters
    ----------
    result : FalseNegatives
        The simulation.
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
    >>> display = FalseNegativesDisplay.from_test(WaldTest(10), n_resamples=100)
    >>> display.result.rates.shape
    (5, 9)
    """

    def __init__(
        self, *, result: FalseNegatives, safety_zone: float, name: str
    ) -> None:
        self.result = result
        self.safety_zone = safety_zone
        self.name = name

    @classmethod
    def from_test(
        cls, test: WaldTest | SpicerTest, **simulation: Any
    ) -> FalseNegativesDisplay:
        """Simulate switching configurations.

        Parameters
        ----------
        test : WaldTest or SpicerTest
            The test.
        **simulation
            Further arguments of :func:`cvst.theory.simulate_false_negatives`.

        Returns
        -------
        FalseNegativesDisplay
        """
        return cls(
            result=simulate_false_negatives(test, **simulation),
            safety_zone=test.safety_zone,
            name="Closed test" if isinstance(test, SpicerTest) else "Open test",
        )

    def plot(
        self, ax: Axes | None = None, *, legend: bool = True
    ) -> FalseNegativesDisplay:
        """Draw one line for each chance before the change, and shade the safety zone.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        legend : bool
            Whether to explain the lines; one of several panels will do.

        Returns
        -------
        FalseNegativesDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        self.figure_, ax = prepare_axes(ax)
        self.ax_ = ax
        result = self.result
        # Where the theory promises 0: the lines show whether it holds.
        ax.axvspan(0, self.safety_zone, color=REGION, lw=0, label="safety zone")
        # Chances have an order, and so have their colours.
        hues = ordered_colours(len(result.win_probabilities_before))
        for row, before in enumerate(result.win_probabilities_before):
            ax.plot(
                result.change_points,
                result.rates[row],
                color=hues[row],
                marker=MARKERS[row % len(MARKERS)],
                markersize=4,
                label=f"{before:g}",
            )
        ax.set(
            xlim=(0, result.max_steps),
            # Lines at 0 and 1 would be cut in half by the edge.
            ylim=(-0.03, 1.03),
            xlabel="change point (last step before the change)",
            ylabel="share dropped",
            title=f"{self.name}, {result.max_steps} steps",
        )
        tidy(ax)
        whole_steps(ax)
        if legend:
            legend_below(ax, "chance to be top before the change")
        return self
