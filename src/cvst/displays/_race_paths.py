"""The paths of all configurations through the sequential test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from cvst._searched import FittedSearch
from cvst._typing import FloatArray, IntArray
from cvst.displays._race import Race, check_started, draw_legend, draw_title
from cvst.displays._style import (
    BOUNDARY,
    COLOURS,
    FLOP,
    REGION,
    prepare_axes,
    tidy,
    whole_steps,
)
from cvst.race import RaceState, Strategy
from cvst.statistics import SpicerTest, WaldTest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RacePathsDisplay"]

# Most ends of paths that get their number of configurations written beside them.
MOST_COUNTS = 40


class RacePathsDisplay:
    """Looks won over looks run, for all configurations, and where each was dropped.

    Configurations with the same history share their path; the wider a path, the more
    of them. Where the strategy has a sequential test its boundaries are drawn.

    Parameters
    ----------
    edges : dict of (n_run, n_won, won) to int
        Configurations that went on from a point, upwards (True) or level.
    falls : dict of (n_run, n_won) to int
        Configurations dropped at a point.
    winner_path : ndarray of shape (n_run + 1,), int
        Looks that the winner had won after each of its looks.
    test : WaldTest, SpicerTest or None
        The sequential test.

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
    >>> display = RacePathsDisplay.from_search(search.fit(*load_iris(return_X_y=True)))
    >>> sum(n for (n_run, _, _), n in display.edges.items() if n_run == 0)
    2
    """

    def __init__(
        self,
        *,
        edges: Mapping[tuple[int, int, bool], int],
        falls: Mapping[tuple[int, int], int],
        winner_path: IntArray,
        test: WaldTest | SpicerTest | None,
    ) -> None:
        self.edges = edges
        self.falls = falls
        self.winner_path = winner_path
        self.test = test

    @classmethod
    def from_search(cls, search: FittedSearch) -> RacePathsDisplay:
        """Follow the paths in a fitted search.

        Parameters
        ----------
        search : RaceGridSearchCV or RaceRandomSearchCV
            A fitted search.

        Returns
        -------
        RacePathsDisplay
        """
        return cls._from_race(Race.from_search(search))

    @classmethod
    def from_state(
        cls,
        state: RaceState,
        *,
        ranking: IntArray | None = None,
        strategy: Strategy | None = None,
    ) -> RacePathsDisplay:
        """Follow the paths in a race that may still be under way.

        Parameters
        ----------
        state : RaceState
            The race.
        ranking : ndarray of int, optional
            Survivors, the winner first; by the strategy or the last loss otherwise.
        strategy : Strategy, optional
            What decides; its sequential test is drawn.

        Returns
        -------
        RacePathsDisplay
        """
        return cls._from_race(Race.from_state(state, None, ranking, strategy))

    @classmethod
    def _from_race(cls, race: Race) -> RacePathsDisplay:
        check_started(race.state)
        winner = int(race.order[0])
        edges, falls, winner_path = _follow(race.state, winner)
        return cls(
            edges=edges,
            falls=falls,
            winner_path=winner_path,
            test=None if race.strategy is None else race.strategy.sequential_test,
        )

    def plot(self, ax: Axes | None = None) -> RacePathsDisplay:
        """Draw the boundaries, the paths, the drops and the winner.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        RacePathsDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        self.figure_, ax = prepare_axes(ax)
        self.ax_ = ax
        last = max(n_run for n_run, _, _ in self.edges) + 1
        if self.test is not None:
            # The whole test, even if the race has ended early.
            last = max(last, self.test.max_steps)
            self._draw_test(ax, last)
        self._draw_paths(ax)
        self._draw_falls(ax)
        runs = np.arange(len(self.winner_path))
        ax.plot(
            runs, self.winner_path, "o-", color=COLOURS[0], ms=4, lw=2, label="winner"
        )
        ax.set(
            xlim=(0, last + 0.4),
            ylim=(-0.6, last + 0.4),
            xlabel="looks run",
            ylabel="looks won (top)",
        )
        draw_title(ax, self._title())
        tidy(ax)
        whole_steps(ax, both=True)
        draw_legend(ax, below=34, n=5)
        return self

    def _title(self) -> str:
        if self.test is None:
            return "Paths (this strategy has no sequential test)"
        name = "closed" if isinstance(self.test, SpicerTest) else "open"
        n_fallen = sum(self.falls.values())
        return f"Paths through the {name} test: {n_fallen} dropped"

    def _draw_test(self, ax: Axes, last: int) -> None:
        assert self.test is not None
        steps = np.arange(last + 1)
        loser: FloatArray = self.test.loser_boundary(steps)
        ax.fill_between(steps, -1, loser, color=REGION, lw=0)
        ax.plot(steps, loser, color=BOUNDARY, lw=1, label="loser boundary")
        ax.plot(
            steps,
            self.test.winner_boundary(steps),
            "--",
            color=BOUNDARY,
            lw=1,
            label="winner boundary",
        )

    def _draw_paths(self, ax: Axes) -> None:
        from matplotlib.collections import LineCollection

        counts = np.array(list(self.edges.values()), dtype=float)
        lines = [
            [(n_run, n_won), (n_run + 1, n_won + won)]
            for n_run, n_won, won in self.edges
        ]
        # By the root, since one configuration must be visible beside hundreds.
        widths = 0.8 + 5 * np.sqrt(counts / counts.max())
        ax.add_collection(
            LineCollection(lines, colors="#999999", linewidths=widths, capstyle="round")
        )
        # One handle for lines of all widths.
        ax.plot([], [], color="#999999", lw=3, label="all")

    def _draw_falls(self, ax: Axes) -> None:
        if not self.falls:
            return
        points = np.array(list(self.falls), dtype=float)
        ax.plot(*points.T, "X", color=FLOP, ms=7, mec="white", label="dropped")
        if len(self.falls) > MOST_COUNTS:
            return
        for (n_run, n_won), count in self.falls.items():
            ax.annotate(
                str(count),
                (n_run, n_won),
                xytext=(5, -3),
                textcoords="offset points",
                va="top",
                fontsize="x-small",
                color=FLOP,
            )


def _follow(
    state: RaceState, winner: int
) -> tuple[Counter[tuple[int, int, bool]], Counter[tuple[int, int]], IntArray]:
    n_configurations = state.n_configurations
    # A configuration's own looks, not those of the race: the path of one that sat out a
    # look goes on where it was.
    n_run = np.zeros(n_configurations, dtype=np.intp)
    n_won = np.zeros(n_configurations, dtype=np.intp)
    edges: Counter[tuple[int, int, bool]] = Counter()
    falls: Counter[tuple[int, int]] = Counter()
    path = [0]
    for observation in state.observations:
        who = observation.look.configurations
        top = observation.top
        edges.update(
            zip(n_run[who].tolist(), n_won[who].tolist(), top.tolist(), strict=True)
        )
        n_run[who] += 1
        # Falls are counted after the look, at the point where the path ends.
        n_won[who] += top
        fallen = list(observation.drops)
        falls.update(zip(n_run[fallen].tolist(), n_won[fallen].tolist(), strict=True))
        if winner in who:
            path.append(int(n_won[winner]))
    return edges, falls, np.array(path)
