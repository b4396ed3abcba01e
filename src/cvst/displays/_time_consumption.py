"""Time of a race, look by look, against full cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvst._searched import FittedSearch
from cvst._text import about_seconds, about_times, seconds_text
from cvst._typing import FloatArray, IntArray
from cvst.displays._race import (
    Race,
    check_started,
    draw_legend,
    draw_stages,
    draw_title,
    label_looks,
)
from cvst.displays._style import BOUNDARY, COLOURS, prepare_axes, tidy
from cvst.evaluation import OneByOne, batch_evaluator_for
from cvst.race import RaceState
from cvst.race.machinery import plain_search_seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["TimeConsumptionDisplay"]


class TimeConsumptionDisplay:
    """What each look of a race costs, and what cross-validation would have cost.

    Parameters
    ----------
    seconds : ndarray of shape (n_looks,)
        Time of each look.
    subset_sizes : ndarray of shape (n_looks,), int
        Training rows of each look.
    stages : list of str
        Stage of each look.
    cross_validation_seconds : float
        Time of a plain k-fold search of all configurations, estimated.
    n_folds : int
        Number of folds.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> display = TimeConsumptionDisplay(
    ...     seconds=np.array([1.0, 2.0]), subset_sizes=np.array([100, 200]),
    ...     stages=["race", "race"], cross_validation_seconds=60.0, n_folds=10)
    >>> display.speedup
    20.0
    """

    def __init__(
        self,
        *,
        seconds: FloatArray,
        subset_sizes: IntArray,
        stages: Sequence[str],
        cross_validation_seconds: float,
        n_folds: int,
    ) -> None:
        self.seconds = seconds
        self.subset_sizes = subset_sizes
        self.stages = stages
        self.cross_validation_seconds = cross_validation_seconds
        self.n_folds = n_folds

    @property
    def speedup(self) -> float:
        """Time of cross-validation over the time of the race."""
        return self.cross_validation_seconds / float(self.seconds.sum())

    @classmethod
    def from_search(
        cls, search: FittedSearch, *, n_folds: int = 10
    ) -> TimeConsumptionDisplay:
        """Add up the times of a fitted search.

        Cross-validation is that of ``GridSearchCV``, one fit at a time, estimated from
        the times of the race and of the final fit. Reports, the command line and
        ``cvst demo`` say the same.

        Parameters
        ----------
        search : RaceGridSearchCV or RaceRandomSearchCV
            A fitted search.
        n_folds : int
            Folds of the cross-validation to compare with.

        Returns
        -------
        TimeConsumptionDisplay
            Times are those of one worker, fits and predictions.
        """
        state = Race.from_search(search).state
        check_started(state)
        return cls(
            seconds=np.array(
                [
                    np.nansum(one.fit_seconds + one.score_seconds)
                    for one in state.observations
                ]
            ),
            subset_sizes=state.subset_sizes,
            stages=[one.look.stage for one in state.observations],
            cross_validation_seconds=plain_search_seconds(
                state,
                int(search.best_index_),
                n_folds,
                alone=getattr(search, "refit_time_", None),
                shared=shares_unknown_work(getattr(search, "estimator", None), state),
            ),
            n_folds=n_folds,
        )

    @classmethod
    def from_plan(cls, plan: Any) -> TimeConsumptionDisplay:
        """Take the expected times of a plan.

        Parameters
        ----------
        plan : RacePlan
            What ``search.plan(X, y)`` returned.

        Returns
        -------
        TimeConsumptionDisplay
        """
        return cls(
            seconds=np.array([look.seconds for look in plan.looks]),
            subset_sizes=np.array([look.n_train for look in plan.looks]),
            stages=[look.stage for look in plan.looks],
            cross_validation_seconds=plan.cross_validation_seconds,
            n_folds=plan.n_folds,
        )

    def plot(self, ax: Axes | None = None) -> TimeConsumptionDisplay:
        """Draw a bar per look, their sum so far, and the line to stay below.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        TimeConsumptionDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        self.figure_, ax = prepare_axes(ax)
        self.ax_ = ax
        looks = np.arange(1, len(self.seconds) + 1)
        full = self.cross_validation_seconds
        # Logarithmic, so that short looks can be seen beside cross-validation.
        ax.set_yscale("log")
        ax.bar(looks, self.seconds, color=COLOURS[5], width=0.7, label="this look")
        total = np.cumsum(self.seconds)
        ax.plot(looks, total, "o-", color=COLOURS[0], label="race so far")
        ax.axhline(full, color=BOUNDARY, lw=1.2, ls="--")
        ax.annotate(
            f"{self.n_folds}-fold cross-validation, {about_seconds(full)}",
            (0.01, full),
            # Across by share, upwards by value: right whatever the limits are.
            xycoords=("axes fraction", "data"),
            xytext=(0, 3),
            textcoords="offset points",
            fontsize="small",
            color=BOUNDARY,
        )
        label_looks(ax, self.subset_sizes)
        ax.set_xlim(0.4, looks[-1] + 0.6)
        # A logarithmic axis has no place for a look of 0 seconds.
        lowest = self.seconds[self.seconds > 0].min(initial=full)
        ax.set_ylim(lowest / 2, 2.5 * max(full, float(total[-1])))
        ax.set_ylabel("seconds")
        # Small searches may be slower, and the title must not hide it.
        ratio, than = self.speedup, "faster"
        if ratio < 1:
            ratio, than = 1 / ratio, "slower"
        text = f"Race {seconds_text(total[-1])}: {about_times(ratio)} times {than}"
        draw_title(ax, text, self.stages)
        tidy(ax)
        ax.grid(visible=False, axis="x")
        ax.yaxis.set_major_formatter("{x:g}")
        draw_stages(ax, self.stages)
        draw_legend(ax)
        return self


def shares_unknown_work(estimator: Any, state: RaceState) -> bool:
    """Return whether times in a race are shares of work that the race cannot split.

    One kernel serves many penalties, whatever each would take alone. What one fit
    covers, such as sizes of an ensemble, the race knows.
    """
    if estimator is None or state.problem.covered:
        return False
    return not isinstance(batch_evaluator_for(estimator), OneByOne)
