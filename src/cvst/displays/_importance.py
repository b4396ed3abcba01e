"""Which hyper-parameters matter, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvst._searched import FittedSearch
from cvst._text import counted
from cvst._typing import Configuration, FloatArray
from cvst.displays._configurations import SeenConfigurations
from cvst.displays._parameter_axis import ParameterAxis, parameter_axis
from cvst.displays._race import draw_legend, draw_title
from cvst.displays._scores import LOSS
from cvst.displays._style import COLOURS, prepare_axes, tidy
from cvst.race import RaceState

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ImportanceDisplay"]

# Fewer configurations than this say nothing about single parameters.
FEWEST = 8

# Repetitions of the whole estimate: each draws configurations anew and fits a forest.
N_BOOTSTRAPS = 20
N_TREES = 25

# Points at which the forest is asked for the effect of one parameter, and settings of
# the others over which that effect is averaged.
N_PLACES, N_OTHERS = 16, 100

# Ends of the interval over the repetitions.
INTERVAL = (0.05, 0.95)


class ImportanceDisplay:
    """How much of the loss's variation depends on each hyper-parameter.

    Losses are made comparable first: what was dropped early has been seen on few rows
    only. A forest then learns the loss from the parameters. The importance of one is
    the share of the variance of the predictions, over the range that was searched, that
    would vanish if it were fixed (its total effect in a functional analysis of
    variance); shares add up to more than 1 where parameters act together. The part
    that it explains alone, the others averaged out, is drawn darker.

    Whiskers go from 5 to 95 % over forests on configurations drawn anew: they are short
    where the answer is the same whatever was drawn, long where more configurations are
    needed.

    The worst tenth of losses is moved to the tenth percentile from above, so that a few
    disasters do not decide what matters among good configurations.

    Parameters
    ----------
    names : tuple of str
        Parameters that vary, the most important first.
    importances : ndarray of shape (n_parameters, n_repetitions)
        Shares of the variance, one column per forest.
    alone : ndarray of shape (n_parameters, n_repetitions)
        The part of it that the parameter explains without the others.
    n_configurations : int
        Configurations with a loss.
    too_few : bool
        Whether these are too few to say anything; then there are no importances.
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
    >>> grid = {"n_neighbors": [1, 20, 60, 80], "leaf_size": [10, 30, 50]}
    >>> search = RaceGridSearchCV(KNeighborsClassifier(), grid, random_state=0)
    >>> display = ImportanceDisplay.from_search(search.fit(*load_iris(return_X_y=True)))
    >>> display.names[0]
    'n_neighbors'
    """

    def __init__(
        self,
        *,
        names: Sequence[str],
        importances: FloatArray,
        alone: FloatArray,
        n_configurations: int,
        too_few: bool,
        quantity: str = LOSS,
    ) -> None:
        self.names = names
        self.importances = importances
        self.alone = alone
        self.n_configurations = n_configurations
        self.too_few = too_few
        self.quantity = quantity

    @property
    def means(self) -> FloatArray:
        """Mean importance of each parameter."""
        return np.asarray(self.importances.mean(axis=1))

    @property
    def intervals(self) -> FloatArray:
        """Interval of each importance, of shape (n_parameters, 2)."""
        return np.quantile(self.importances, INTERVAL, axis=1).T

    @classmethod
    def from_search(
        cls, search: FittedSearch, *, random_state: int = 0, score: str | None = None
    ) -> ImportanceDisplay:
        """Fit forests to what a fitted search has seen.

        Parameters
        ----------
        search : RaceGridSearchCV, RaceRandomSearchCV or RaceSearchCV
            A fitted search.
        random_state : int
            Seed of the forests.
        score : str, optional
            Name of a score that was recorded; its negative takes the place of the
            losses, which are drawn by default.

        Returns
        -------
        ImportanceDisplay
        """
        return cls._of(SeenConfigurations.from_search(search, score), random_state)

    @classmethod
    def from_state(
        cls,
        state: RaceState,
        configurations: Sequence[Configuration] | None = None,
        *,
        random_state: int = 0,
    ) -> ImportanceDisplay:
        """Fit forests to what a race has seen so far.

        Parameters
        ----------
        state : RaceState
            The race.
        configurations : sequence of dict, optional
            Its configurations, where the state does not know them.
        random_state : int
            Seed of the forests.

        Returns
        -------
        ImportanceDisplay
        """
        # No strategy: nothing here depends on the winner.
        seen = SeenConfigurations.from_state(state, configurations, None)
        return cls._of(seen, random_state)

    @classmethod
    def _of(cls, seen: SeenConfigurations, random_state: int) -> ImportanceDisplay:
        names = seen.varying()
        n_known = int(np.isfinite(seen.comparable).sum())
        if n_known < max(FEWEST, 2 * len(names)) or not names:
            return cls(
                names=names,
                importances=np.full((len(names), 0), np.nan),
                alone=np.full((len(names), 0), np.nan),
                n_configurations=n_known,
                too_few=True,
                quantity=seen.quantity,
            )
        axes = [parameter_axis(name, seen.configurations) for name in names]
        total, alone = _shares(axes, seen, random_state)
        order = np.argsort(-total.mean(axis=1), kind="stable")
        return cls(
            names=tuple(names[place] for place in order.tolist()),
            importances=total[order],
            alone=alone[order],
            n_configurations=n_known,
            too_few=False,
            quantity=seen.quantity,
        )

    def plot(self, ax: Axes | None = None) -> ImportanceDisplay:
        """Draw a bar with its interval for each parameter.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ImportanceDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        self.figure_, ax = prepare_axes(ax)
        # After prepare_axes, which says in a sentence if matplotlib is missing.
        from matplotlib.lines import Line2D
        from matplotlib.ticker import PercentFormatter

        self.ax_ = ax
        looked_at = counted(self.n_configurations, "configuration")
        draw_title(ax, f"What the {self.quantity} of {looked_at} depends on")
        if self.too_few:
            ax.set_axis_off()
            ax.text(0.5, 0.5, _too_few_text(self), ha="center", va="center", wrap=True)
            return self
        places = np.arange(len(self.names))
        means, intervals = self.means, self.intervals
        ax.barh(places, means, height=0.6, color=COLOURS[5], label="with others")
        alone = self.alone.mean(axis=1)
        ax.barh(places, alone, height=0.6, color=COLOURS[0], label="alone")
        ax.hlines(places, intervals[:, 0], intervals[:, 1], color="black", lw=1.5)
        for end in intervals.T:
            ax.plot(end, places, "|", color="black", ms=8, mew=1.5)
        small = len(places) > 12
        ax.set_yticks(places, self.names, fontsize="x-small" if small else "small")
        # Upside down, so that the most important parameter is on top.
        ax.set_ylim(len(places) - 0.4, -0.6)
        ax.set_xlim(0, max(0.1, 1.05 * float(intervals.max())))
        ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        ax.set_xlabel("share of the variation that would vanish if it were fixed")
        tidy(ax)
        ax.grid(visible=False, axis="y")
        ax.tick_params(axis="y", length=0)
        whisker = Line2D([], [], color="black", marker="|", label="5 to 95 %")
        draw_legend(ax, [*ax.get_legend_handles_labels()[0], whisker])
        return self


def _too_few_text(display: ImportanceDisplay) -> str:
    if not display.names:
        return "No hyper-parameter varies."
    n = display.n_configurations
    seen = f"{counted(n, 'configuration')} {'has' if n == 1 else 'have'} a loss"
    wanted = max(FEWEST, 2 * len(display.names))
    return f"Too few to tell: {seen}.\nAt least {wanted} are needed."


def _shares(
    axes: Sequence[ParameterAxis], seen: SeenConfigurations, random_state: int
) -> tuple[FloatArray, FloatArray]:
    """Return total and main effects, one column per repetition."""
    from sklearn.ensemble import ExtraTreesRegressor

    known = np.flatnonzero(np.isfinite(seen.comparable))
    blocks = [_columns(axis) for axis in axes]
    inputs = np.hstack(blocks)[known]
    places = [_places(block[known]) for block in blocks]
    losses = seen.comparable[known]
    # Ranks would hide how much is at stake, disasters would hide everything else.
    losses = np.minimum(losses, np.quantile(losses, 0.9))
    rng = np.random.default_rng(random_state)
    shares = np.zeros((2, len(axes), N_BOOTSTRAPS))
    for repetition in range(N_BOOTSTRAPS):
        drawn = rng.integers(len(known), size=len(known))
        forest = ExtraTreesRegressor(
            N_TREES, min_samples_leaf=2, random_state=repetition + random_state
        ).fit(inputs[drawn], losses[drawn])
        others = _elsewhere(places, rng)
        shares[:, :, repetition] = _effects(forest, places, others)
    return shares[0], shares[1]


def _columns(axis: ParameterAxis) -> FloatArray:
    """Return numbers as one column, categories as one column each."""
    # On one column three categories would have an order, and splits would use it.
    if axis.scale != "categories" or len(axis.ticks) < 3:
        return axis.positions[:, None]
    places = np.array([position for position, _ in axis.ticks])
    return np.asarray(np.isclose(axis.positions[:, None], places), dtype=float)


def _places(block: FloatArray) -> FloatArray:
    """Return values of one parameter, evenly over what was searched.

    Proposals crowd around the best values; the range does not.
    """
    levels = np.unique(block, axis=0)
    if block.shape[1] > 1 or len(levels) <= N_PLACES:
        return levels
    beside = levels[levels < 0]
    # Numbers are on [0, 1], all else has places below.
    return np.append(beside, np.linspace(0, 1, N_PLACES))[:, None]


def _elsewhere(places: Sequence[FloatArray], rng: np.random.Generator) -> FloatArray:
    """Draw settings with each parameter on its own.

    A search looks most where losses are low, and there parameters depend on each
    other; drawn apart, each one's effect is its own.
    """
    drawn = [one[rng.integers(len(one), size=N_OTHERS)] for one in places]
    return np.hstack(drawn)


def _effects(
    forest: Any, places: Sequence[FloatArray], others: FloatArray
) -> FloatArray:
    """Return the total and the main effect of each parameter, as shares."""
    effects, first = [], 0
    for values in places:
        asked = np.repeat(others[None], len(values), axis=0)
        asked[:, :, first : first + values.shape[1]] = values[:, None, :]
        flat = forest.predict(asked.reshape(-1, others.shape[1]))
        table = flat.reshape(len(values), len(others))
        # A forest may predict the same everywhere; then all shares are 0.
        everything = float(np.var(table)) or 1.0
        # The variance that this parameter causes with the others held, averaged over
        # these: its total effect. The variance of its averages is the main effect.
        with_others = float(np.var(table, axis=0).mean()) / everything
        effects.append((with_others, float(np.var(table.mean(axis=1))) / everything))
        first += values.shape[1]
    return np.array(effects).T
