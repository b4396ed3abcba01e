"""The loss over two hyper-parameters: a model's surface and what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvst._searched import FittedSearch
from cvst._typing import BoolArray, Configuration, FloatArray
from cvst.displays._configurations import (
    SeenConfigurations,
    chosen_names,
    evidence_labels,
)
from cvst.displays._importance import ImportanceDisplay
from cvst.displays._parameter_axis import ParameterAxis, parameter_axis
from cvst.displays._race import draw_legend, draw_title
from cvst.displays._scores import LOSS
from cvst.displays._slices import draw_parameter_ticks, side_by_side
from cvst.displays._style import loss_ceiling, prepare_axes
from cvst.exceptions import InvalidInputError
from cvst.race import RaceState, Strategy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ContourDisplay"]

# Places per axis of the surface.
N_PLACES = 40

# Settings of the other parameters that a place is averaged over: those of the best.
N_OTHERS = 25


class ContourDisplay:
    """A model of the loss over two hyper-parameters, with all configurations on it.

    A forest learns the (comparable) loss from all parameters. A place of the surface
    is its mean prediction there, with the other parameters as the best configurations
    have them: what can be expected near the optimum, not on average over everything.

    Parameters
    ----------
    x, y : ParameterAxis
        The two parameters.
    surface_x, surface_y : ndarray of shape (n_places,)
        Positions of the surface.
    surface : ndarray of shape (n_places_y, n_places_x)
        Predicted losses.
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
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from cvst import RaceGridSearchCV
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> grid = {"n_neighbors": [1, 5, 20, 60], "leaf_size": [10, 30, 50]}
    >>> search = RaceGridSearchCV(KNeighborsClassifier(), grid, random_state=0)
    >>> display = ContourDisplay.from_search(
    ...     search.fit(*load_iris(return_X_y=True)), x="n_neighbors", y="leaf_size")
    >>> display.x.name, display.surface.shape
    ('n_neighbors', (40, 40))
    """

    def __init__(
        self,
        *,
        x: ParameterAxis,
        y: ParameterAxis,
        surface_x: FloatArray,
        surface_y: FloatArray,
        surface: FloatArray,
        losses: FloatArray,
        confirmed: BoolArray,
        winner: int,
        quantity: str = LOSS,
        by_folds: bool = True,
    ) -> None:
        self.x = x
        self.y = y
        self.surface_x = surface_x
        self.surface_y = surface_y
        self.surface = surface
        self.losses = losses
        self.confirmed = confirmed
        self.winner = winner
        self.quantity = quantity
        self.by_folds = by_folds

    @classmethod
    def from_search(
        cls,
        search: FittedSearch,
        *,
        x: str | None = None,
        y: str | None = None,
        random_state: int = 0,
        score: str | None = None,
    ) -> ContourDisplay:
        """Model what a fitted search has seen.

        Parameters
        ----------
        search : RaceGridSearchCV, RaceRandomSearchCV or RaceSearchCV
            A fitted search.
        x, y : str, optional
            Names of hyper-parameters; the two most important by default.
        random_state : int
            Seed of the forests.
        score : str, optional
            Name of a score that was recorded; its negative takes the place of the
            losses, which are drawn by default.

        Returns
        -------
        ContourDisplay
        """
        seen = SeenConfigurations.from_search(search, score)
        return cls._of(seen, x, y, random_state)

    @classmethod
    def from_state(
        cls,
        state: RaceState,
        configurations: Sequence[Configuration] | None = None,
        *,
        x: str | None = None,
        y: str | None = None,
        strategy: Strategy | None = None,
        random_state: int = 0,
    ) -> ContourDisplay:
        """Model what a race has seen so far.

        Parameters
        ----------
        state : RaceState
            The race.
        configurations : sequence of dict, optional
            Its configurations, where the state does not know them.
        x, y : str, optional
            Names of hyper-parameters; the two most important by default.
        strategy : Strategy, optional
            What decides.
        random_state : int
            Seed of the forests.

        Returns
        -------
        ContourDisplay
        """
        seen = SeenConfigurations.from_state(state, configurations, strategy)
        return cls._of(seen, x, y, random_state)

    @classmethod
    def _of(
        cls, seen: SeenConfigurations, x: str | None, y: str | None, random_state: int
    ) -> ContourDisplay:
        from sklearn.ensemble import ExtraTreesRegressor

        names = seen.varying()
        chosen = _pair(seen, x, y, random_state)
        axes = [parameter_axis(name, seen.configurations) for name in names]
        inputs = np.column_stack([axis.positions for axis in axes])
        known = np.flatnonzero(np.isfinite(seen.comparable))
        if not len(known):
            raise InvalidInputError(
                "All fits of this race have failed so far, so there is no surface to "
                "draw. Wait for one that succeeds."
            )
        losses = seen.comparable[known]
        # One disaster would take all colours, and leave one for the rest.
        losses = np.minimum(losses, loss_ceiling(losses, losses[:0]))
        # Leaves of one would draw the noise of single configurations as hills.
        forest = ExtraTreesRegressor(
            200, min_samples_leaf=2, random_state=random_state
        ).fit(inputs[known], losses)
        columns = [names.index(name) for name in chosen]
        # With the margin of the axis, so that the surface fills the picture.
        places = [np.linspace(*axes[column].span, N_PLACES) for column in columns]
        asked = [_snapped(axes[column], places[n]) for n, column in enumerate(columns)]
        best = known[np.argsort(losses, kind="stable")][:N_OTHERS]
        return cls(
            x=axes[columns[0]],
            y=axes[columns[1]],
            surface_x=places[0],
            surface_y=places[1],
            surface=_surface(forest, inputs[best], columns, asked),
            losses=seen.comparable,
            confirmed=seen.confirmed,
            winner=seen.winner,
            quantity=seen.quantity,
            by_folds=seen.by_folds,
        )

    def plot(self, ax: Axes | None = None) -> ContourDisplay:
        """Draw the surface, the configurations and the winner.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ContourDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        self.figure_, ax = prepare_axes(ax)
        self.ax_ = ax
        levels = 12 if np.ptp(self.surface) > 0 else 1
        picture = ax.contourf(
            self.surface_x,
            self.surface_y,
            self.surface,
            levels=levels,
            cmap="cividis",
        )
        ax.figure.colorbar(picture, ax=ax, label=f"predicted {self.quantity}", pad=0.02)
        x, y = side_by_side(self.x), side_by_side(self.y)
        failed = ~np.isfinite(self.losses)
        size = float(np.clip(2500 / max(1, len(x)), 8, 30))
        fewer, as_many = evidence_labels(self.by_folds)
        groups = (
            (fewer, ~self.confirmed & ~failed, "o", "#FFFFFF99", "#333333"),
            (as_many, self.confirmed & ~failed, "o", "#56B4E9", "black"),
            ("failed", failed, "x", "#D55E00", "#D55E00"),
        )
        for label, mine, marker, face, edge in groups:
            if mine.any():
                # matplotlib warns of an edge colour on a marker without a face.
                colours: dict[str, Any] = {"fc": face, "ec": edge}
                ax.scatter(
                    x[mine],
                    y[mine],
                    s=size,
                    marker=marker,
                    lw=0.7,
                    label=label,
                    **({"c": edge} if marker == "x" else colours),
                )
        ax.plot(
            x[self.winner], y[self.winner], "*", ms=15, mfc="#E69F00", mec="black",
            ls="none", label="winner",
        )  # fmt: skip
        # About twice as wide as a panel of slices, which the default is for.
        draw_parameter_ticks(ax, self.x, room=60)
        draw_parameter_ticks(ax, self.y, "y")
        what = self.quantity.capitalize() if self.quantity == LOSS else self.quantity
        draw_title(ax, f"{what} that a forest expects, others as the best have them")
        ax.spines[:].set_visible(False)
        draw_legend(ax, below=52)
        return self


def _pair(
    seen: SeenConfigurations, x: str | None, y: str | None, random_state: int
) -> list[str]:
    """Return the two parameters asked for, else the most important ones."""
    varying = seen.varying()
    given = [None if name is None else chosen_names(seen, [name])[0] for name in (x, y)]
    for name in given:
        if name is not None and name not in varying:
            raise InvalidInputError(
                f"{name!r} has one value in this race. Use two of "
                f"{', '.join(map(repr, varying))}."
            )
    if not varying:
        raise InvalidInputError(
            "No hyper-parameter of this race has two values, and a contour needs two "
            "that vary. Give the search more to choose from."
        )
    if len(varying) < 2:
        raise InvalidInputError(
            f"A contour needs two parameters that vary, and here only {varying[0]!r} "
            "does. Use SlicesDisplay for one."
        )
    if given[0] is not None and given[0] == given[1]:
        raise InvalidInputError(
            f"A contour needs two parameters that vary, and got {x!r} twice. Use two "
            f"of {', '.join(map(repr, varying))}, or SlicesDisplay for one."
        )
    ranked = list(varying)
    # Only if it is needed: importances take twenty forests.
    if None in given:
        ranked = list(ImportanceDisplay._of(seen, random_state).names)
    free = iter([name for name in ranked if name not in given])
    return [next(free) if name is None else name for name in given]


def _snapped(axis: ParameterAxis, places: FloatArray) -> FloatArray:
    """Return the nearest value where there is nothing in between."""
    ends = [0.0, 1.0] if axis.scale != "categories" else []
    known = np.append(ends, np.unique(axis.positions))
    nearest = known[np.abs(places[:, None] - known).argmin(axis=1)]
    # Left of the scale stand None and the like, and nothing lies between these.
    in_between = (places >= 0) & (places <= 1) & (axis.scale != "categories")
    return np.asarray(np.where(in_between, places, nearest))


def _surface(
    forest: Any, others: FloatArray, columns: list[int], places: list[FloatArray]
) -> FloatArray:
    x, y = np.meshgrid(*places)
    asked = np.repeat(others[None], x.size, axis=0)
    asked[:, :, columns[0]] = x.ravel()[:, None]
    asked[:, :, columns[1]] = y.ravel()[:, None]
    flat = forest.predict(asked.reshape(-1, others.shape[1]))
    return np.asarray(flat.reshape(*x.shape, len(others)).mean(axis=2))
