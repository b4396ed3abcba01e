"""How many configurations remain, look by look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cvst._searched import FittedSearch
from cvst._typing import IntArray
from cvst.displays._race import (
    MOST_LOOK_LABELS,
    Race,
    check_started,
    draw_legend,
    draw_stages,
    draw_title,
    label_looks,
)
from cvst.displays._style import COLOURS, TOP, prepare_axes, tidy
from cvst.race import RaceState

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SurvivorsDisplay"]

# From this many configurations on the last survivors need a logarithmic axis.
MANY = 50
TESTED = "#8C8C8C"


class SurvivorsDisplay:
    """Configurations tested, found top and left after each look.

    Parameters
    ----------
    n_tested, n_top, n_active : ndarray of shape (n_looks,), int
        How many took part, were top, and were not dropped afterwards.
    subset_sizes : ndarray of shape (n_looks,), int
        Training rows of each look.
    stages : list of str
        Stage of each look.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from cvst import RaceGridSearchCV
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> search = RaceGridSearchCV(
    ...     KNeighborsClassifier(), {"n_neighbors": [1, 5]}, random_state=0)
    >>> display = SurvivorsDisplay.from_search(search.fit(*load_iris(return_X_y=True)))
    >>> int(display.n_tested[0])
    2
    """

    def __init__(
        self,
        *,
        n_tested: IntArray,
        n_top: IntArray,
        n_active: IntArray,
        subset_sizes: IntArray,
        stages: Sequence[str],
    ) -> None:
        self.n_tested = n_tested
        self.n_top = n_top
        self.n_active = n_active
        self.subset_sizes = subset_sizes
        self.stages = stages

    @classmethod
    def from_search(cls, search: FittedSearch) -> SurvivorsDisplay:
        """Count in a fitted search.

        Parameters
        ----------
        search : RaceGridSearchCV or RaceRandomSearchCV
            A fitted search.

        Returns
        -------
        SurvivorsDisplay
        """
        return cls.from_state(Race.from_search(search).state)

    @classmethod
    def from_state(cls, state: RaceState) -> SurvivorsDisplay:
        """Count in a race that may still be under way.

        Parameters
        ----------
        state : RaceState
            The race.

        Returns
        -------
        SurvivorsDisplay
        """
        check_started(state)
        seen = state.observations
        return cls(
            n_tested=np.array([len(one.look.configurations) for one in seen]),
            n_top=np.array([int(one.top.sum()) for one in seen]),
            # As it was then: a later stage may take up what was dropped.
            n_active=state.left_after,
            subset_sizes=state.subset_sizes,
            stages=[one.look.stage for one in seen],
        )

    def plot(self, ax: Axes | None = None) -> SurvivorsDisplay:
        """Draw a line each for those tested, top and left.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SurvivorsDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        self.figure_, ax = prepare_axes(ax)
        self.ax_ = ax
        looks = np.arange(1, len(self.n_tested) + 1)
        largest = int(max(self.n_tested.max(), self.n_active.max()))
        logarithmic = largest >= MANY
        if logarithmic:
            ax.set_yscale("log")
        ax.plot(looks, self.n_tested, "D-", color=TESTED, ms=5, label="tested")
        ax.plot(looks, self.n_active, "o-", color=COLOURS[0], label="left afterwards")
        # A look may find no configuration top; a logarithmic axis cannot show zero.
        top = np.where(self.n_top > 0, self.n_top, np.nan)
        ax.plot(looks, top, "s--", color=TOP, ms=4, lw=1, label="top")
        if len(looks) <= MOST_LOOK_LABELS:
            for look, count in zip(looks, self.n_active, strict=True):
                ax.annotate(
                    str(count),
                    (look, count),
                    xytext=(0, 6),
                    textcoords="offset points",
                    ha="center",
                    fontsize="small",
                    color=COLOURS[0],
                    bbox={"boxstyle": "round,pad=0.1", "fc": "#FFFFFFCC", "ec": "none"},
                )
        label_looks(ax, self.subset_sizes)
        ax.set_xlim(0.4, looks[-1] + 0.6)
        # Above the highest point there must be room for its number.
        ax.set_ylim((0.8, largest * 2) if logarithmic else (0, largest * 1.15))
        ax.set_ylabel("configurations")
        title = f"From {self.n_tested[0]:,} configurations to {self.n_active[-1]:,}"
        if self.n_active.max() > self.n_tested[0]:
            # Where configurations join, the first look says nothing about their number.
            title = f"{self.n_active[-1]:,} configurations left, as others joined"
        draw_title(ax, title, self.stages)
        tidy(ax)
        ax.grid(visible=False, axis="x")
        _whole_counts(ax, logarithmic)
        draw_stages(ax, self.stages)
        draw_legend(ax)
        return self


def _whole_counts(ax: Axes, logarithmic: bool) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    if logarithmic:
        ax.yaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
    else:
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
