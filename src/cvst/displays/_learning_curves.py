"""Loss over the number of training rows, for survivors and the best dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cvst._searched import FittedSearch
from cvst._text import shortened
from cvst._typing import Configuration, FloatArray, IntArray
from cvst.displays._race import Race, check_started, draw_legend, draw_title
from cvst.displays._scores import LOSS, label_of
from cvst.displays._style import MARKERS, colours, prepare_axes, tidy
from cvst.race import RaceState, Strategy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LearningCurvesDisplay"]

OTHERS = "#D0D0D0"
# As many subset sizes get a label each.
FEW_SIZES = 4


@dataclass(frozen=True, slots=True)
class Curve:
    """Mean losses of one configuration over the rows it was trained on.

    Attributes
    ----------
    index : int
        Index into the grid.
    label : str
        Its parameters.
    n_train : ndarray of shape (n_points,)
        Training rows; folds of one stage are one point.
    losses, errors : ndarray of shape (n_points,)
        Mean losses and their standard errors, NaN where these are not known.
    dropped : bool
        Whether the race dropped it.
    """

    index: int
    label: str
    n_train: FloatArray
    losses: FloatArray
    errors: FloatArray
    dropped: bool


class LearningCurvesDisplay:
    """How the loss falls with the number of rows, and how sure that is.

    The bars show one standard error of the mean loss to each side. All
    configurations meet the same test rows, so the tests of a race see differences
    that are much smaller than the bars.

    Parameters
    ----------
    survivors, dropped : list of Curve
        The best survivors, and the best of those dropped.
    others : list of Curve
        All others.
    quantity : str, default="loss"
        What the losses are: ``"minus f1"`` where a score was chosen.

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
    >>> display = LearningCurvesDisplay.from_search(
    ...     search.fit(*load_iris(return_X_y=True)))
    >>> len(display.survivors) + len(display.dropped)
    2
    """

    def __init__(
        self,
        *,
        survivors: Sequence[Curve],
        dropped: Sequence[Curve],
        others: Sequence[Curve],
        quantity: str = LOSS,
    ) -> None:
        self.survivors = survivors
        self.dropped = dropped
        self.others = others
        self.quantity = quantity

    @classmethod
    def from_search(
        cls,
        search: FittedSearch,
        *,
        n_survivors: int = 4,
        n_dropped: int = 3,
        score: str | None = None,
    ) -> LearningCurvesDisplay:
        """Read the curves of a fitted search.

        Parameters
        ----------
        search : RaceGridSearchCV or RaceRandomSearchCV
            A fitted search.
        n_survivors, n_dropped : int
            How many curves to tell apart; the others are drawn in grey.
        score : str, optional
            Name of a score that was recorded; its negative takes the place of the
            losses, which are drawn by default.

        Returns
        -------
        LearningCurvesDisplay
        """
        return cls._from_race(Race.from_search(search, score), n_survivors, n_dropped)

    @classmethod
    def from_state(
        cls,
        state: RaceState,
        configurations: Sequence[Configuration] | None = None,
        *,
        ranking: IntArray | None = None,
        strategy: Strategy | None = None,
        n_survivors: int = 4,
        n_dropped: int = 3,
    ) -> LearningCurvesDisplay:
        """Read the curves of a race that may still be under way.

        Parameters
        ----------
        state : RaceState
            The race.
        configurations : sequence of dict, optional
            What to call its configurations.
        ranking : ndarray of int, optional
            Survivors, the winner first; by the strategy or the last loss otherwise.
        strategy : Strategy, optional
            What decides.
        n_survivors, n_dropped : int
            How many curves to tell apart; the others are drawn in grey.

        Returns
        -------
        LearningCurvesDisplay
        """
        race = Race.from_state(state, configurations, ranking, strategy)
        return cls._from_race(race, n_survivors, n_dropped)

    @classmethod
    def _from_race(
        cls, race: Race, n_survivors: int, n_dropped: int
    ) -> LearningCurvesDisplay:
        check_started(race.state)
        curves = _curves(race)
        # What failed in every look has nothing to draw.
        curves = [curve for curve in curves if np.isfinite(curve.losses).any()]
        kept = [curve for curve in curves if not curve.dropped]
        fallen = [curve for curve in curves if curve.dropped]
        return cls(
            survivors=kept[:n_survivors],
            dropped=fallen[:n_dropped],
            others=kept[n_survivors:] + fallen[n_dropped:],
            quantity=race.quantity,
        )

    def plot(self, ax: Axes | None = None) -> LearningCurvesDisplay:
        """Draw survivors solid, the best dropped dashed, all others in grey.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        LearningCurvesDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        self.figure_, ax = prepare_axes(ax)
        self.ax_ = ax
        self._draw_others(ax)
        # What is drawn last lies on top, and that should be the winner.
        shown = [*self.dropped[::-1], *self.survivors[::-1]]
        # If none is told apart, the others set the limits.
        measure = shown or self.others
        if not measure:
            draw_title(ax, "Learning curves")
            ax.set_axis_off()
            ax.text(0.5, 0.5, "All fits so far have failed.", ha="center", va="center")
            return self
        hues = colours(len(shown))[::-1]
        # Side by side, so that bars of the same rows do not hide each other.
        widest = max(curve.n_train.max() for curve in measure)
        shifts = 0.006 * widest * (np.arange(len(shown)) - (len(shown) - 1) / 2)
        for position, (curve, hue) in enumerate(zip(shown, hues, strict=True)):
            marker = MARKERS[position % len(MARKERS)]
            _draw_curve(ax, curve, hue, marker, shifts[position])
        self._set_limits(ax, measure)
        sizes = np.unique(np.concatenate([curve.n_train for curve in measure]))
        if len(sizes) <= FEW_SIZES:
            ax.set_xticks(sizes, [f"{size:.0f}" for size in sizes])
        if len(sizes) == 1:
            # The shifts would fill the axis, and look like other numbers of rows.
            ax.set_xlim(0.9 * sizes[0], 1.1 * sizes[0])
        ax.set(xlabel="training rows", ylabel=label_of(self.quantity, "mean"))
        draw_title(ax, self._title(shown))
        tidy(ax)
        # Turned back again: the legend begins with the winner.
        draw_legend(ax, ax.get_legend_handles_labels()[0][::-1], n=2)
        return self

    def _title(self, shown: Sequence[Curve]) -> str:
        if not shown:
            return "Learning curves"
        known = any(np.isfinite(curve.errors).any() for curve in shown)
        bands = "± 1 standard error" if known else "uncertainty was not recorded"
        return f"Learning curves ({bands})"

    def _draw_others(self, ax: Axes) -> None:
        from matplotlib.collections import LineCollection

        if not self.others:
            return
        lines = [np.column_stack([c.n_train, c.losses]) for c in self.others]
        count = len(lines)
        ax.add_collection(
            LineCollection(
                lines,
                colors=OTHERS,
                linewidths=0.7 if count > 50 else 1,
                alpha=0.3 if count > 300 else 0.8,
                label=f"{count} more",
            )
        )
        # A configuration of one look is a point, which no line shows.
        single = np.array(
            [(c.n_train[0], c.losses[0]) for c in self.others if len(c.losses) == 1]
        ).reshape(-1, 2)
        ax.plot(*single.T, ".", color=OTHERS, ms=3, alpha=0.3 if count > 300 else 0.8)

    @staticmethod
    def _set_limits(ax: Axes, shown: Sequence[Curve]) -> None:
        """Show some curves in full; failures of others may leave the axes."""
        losses = np.concatenate([curve.losses for curve in shown])
        errors = np.nan_to_num(np.concatenate([curve.errors for curve in shown]))
        low, high = np.nanmin(losses), np.nanmax(losses)
        # Bars limit a linear axis only: on a logarithmic one they may go below 0.
        if not (low > 0 and high > 10 * low):
            low, high = np.nanmin(losses - errors), np.nanmax(losses + errors)
        if low > 0 and high > 10 * low:
            ax.set_yscale("log")
            ax.set_ylim(low / 1.5, high * 1.5)
        else:
            margin = 0.05 * (high - low) or 0.1 * abs(high) or 1.0
            ax.set_ylim(low - margin, high + margin)


def _draw_curve(ax: Axes, curve: Curve, hue: str, marker: str, shift: float) -> None:
    ax.plot(
        curve.n_train + shift,
        curve.losses,
        color=hue,
        marker=marker,
        ms=4,
        ls="--" if curve.dropped else "-",
        lw=1.2 if curve.dropped else 1.8,
        label=shortened(curve.label, 34) + (", dropped" if curve.dropped else ""),
    )
    if np.isfinite(curve.errors).any():
        ax.errorbar(
            curve.n_train + shift,
            curve.losses,
            yerr=curve.errors,
            fmt="none",
            ecolor=hue,
            elinewidth=1,
            alpha=0.6,
        )


def _curves(race: Race) -> list[Curve]:
    """Return the curve of each configuration, the winner's first."""
    state = race.state
    points = _points(state)
    active, losses, errors = state.active, state.mean_losses, state.standard_errors
    sizes = state.subset_sizes.astype(float)
    present = state.present
    curves = []
    for index in race.order.tolist():
        rows = []
        for looks in points:
            mine = looks[present[index, looks]]
            if len(mine):
                # Folds count alike, as in the score.
                error = np.sqrt(np.mean(errors[index, mine] ** 2) / len(mine))
                loss = losses[index, mine].mean()
                rows.append((sizes[mine].mean(), loss, error))
        table = np.array(rows, dtype=float).reshape(-1, 3)
        # By rows, since a later stage may train on fewer than an earlier one.
        table = table[np.argsort(table[:, 0], kind="stable")]
        n_train, means, spreads = table.T
        fell = not active[index]
        curves.append(
            Curve(index, race.labels[index], n_train, means, spreads, dropped=fell)
        )
    return curves


def _points(state: RaceState) -> list[IntArray]:
    """Return the looks that make one point: each alone, folds of a stage together."""
    points: dict[Any, list[int]] = {}
    for look, observation in enumerate(state.observations):
        stage = observation.look.stage if observation.look.is_fold else look
        points.setdefault(stage, []).append(look)
    return [np.array(looks) for looks in points.values()]
