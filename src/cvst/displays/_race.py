"""What the pictures of a race share: names, their order, and stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cvst._searched import FittedSearch
from cvst._text import configuration_text, shared_path
from cvst._typing import Configuration, IntArray
from cvst.displays._scores import LOSS, seen_by_score
from cvst.displays._style import BOUNDARY
from cvst.exceptions import InvalidInputError
from cvst.race import RaceState, Strategy
from cvst.race.machinery import rank_by_means

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Race",
    "check_started",
    "draw_legend",
    "draw_stages",
    "draw_title",
    "label_looks",
    "stage_spans",
]

# More labels than this on an axis would run into each other.
MOST_LABELS = 30
MOST_LOOK_LABELS = 14


@dataclass(frozen=True, slots=True)
class Race:
    """A race with names for its configurations.

    Attributes
    ----------
    state : RaceState
        What happened.
    order : ndarray of shape (n_configurations,), int
        Configurations, the winner first, the first to fall last.
    labels : tuple of str
        A text for each configuration, by index.
    strategy : object or None
        What decided, where that is known.
    quantity : str
        What the losses are.
    """

    state: RaceState
    order: IntArray
    labels: tuple[str, ...]
    strategy: Strategy | None = None
    quantity: str = LOSS

    @classmethod
    def from_search(cls, search: FittedSearch, score: str | None = None) -> Race:
        """Read a fitted search, with its losses or minus a score that it recorded."""
        if not hasattr(search, "race_"):
            raise InvalidInputError(
                f"This {type(search).__name__} has no race_ to draw. Fit it first."
            )
        raced = getattr(search, "score_name_", "score")
        order = np.argsort(search.cv_results_[f"rank_test_{raced}"], kind="stable")
        winner = int(search.best_index_)
        # Several may have rank 1, and the one that is refitted belongs on top.
        order = np.concatenate([[winner], order[order != winner]])
        labels = _labels(search.cv_results_["params"])
        state, quantity = seen_by_score(search, score)
        return cls(state, order, labels, search.strategy_, quantity)

    @classmethod
    def from_state(
        cls,
        state: RaceState,
        configurations: Sequence[Configuration] | None = None,
        ranking: IntArray | None = None,
        strategy: Strategy | None = None,
    ) -> Race:
        """Name and order the configurations, also while the race runs."""
        n_configurations = state.n_configurations
        if configurations is None:
            labels = tuple(f"configuration {n}" for n in range(n_configurations))
        else:
            labels = _labels(configurations)
        if len(labels) != n_configurations:
            raise InvalidInputError(
                f"{len(labels)} configurations for a race of {n_configurations}: give "
                "one for each."
            )
        if ranking is None:
            ranking = _ranking(state, strategy)
        by_mean = strategy is not None and strategy.ranks_by_mean(state)
        ranks = rank_by_means(state, np.asarray(ranking), state.scores, by_mean)
        return cls(state, np.argsort(ranks), labels, strategy)


def _labels(configurations: Sequence[Configuration]) -> tuple[str, ...]:
    path = shared_path(configurations)
    short = [
        {str(name).removeprefix(path): value for name, value in one.items()}
        for one in configurations
    ]
    return tuple(configuration_text(one, 40) or "(default)" for one in short)


def _ranking(state: RaceState, strategy: Strategy | None) -> IntArray:
    """Ask the strategy, or order the survivors by their last loss."""
    if strategy is not None and state.observations:
        return np.asarray(strategy.ranking(state))
    survivors = np.flatnonzero(state.active)
    if not state.observations:
        return survivors
    # Those that were absent from the last look have NaN, and come last.
    last = state.column("mean_losses")[survivors]
    return survivors[np.argsort(last, kind="stable")]


def check_started(state: RaceState) -> None:
    """Refuse to draw a race without a look."""
    if not state.observations:
        raise InvalidInputError(
            "This race has 0 looks, so there is nothing to draw. Wait for the first."
        )


def stage_spans(stages: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return each run of equal stages with its first and last look, from 1.

    Examples
    --------
    >>> stage_spans(["first", "late", "confirm", "confirm"])
    [('first', 1, 1), ('late', 2, 2), ('confirm', 3, 4)]
    """
    spans: list[tuple[str, int, int]] = []
    for look, stage in enumerate(stages, start=1):
        if spans and spans[-1][0] == stage:
            spans[-1] = (stage, spans[-1][1], look)
        else:
            spans.append((stage, look, look))
    return spans


def draw_stages(ax: Axes, stages: Sequence[str]) -> None:
    """Name the stages above the axes and part them, where there are several."""
    spans = stage_spans(stages)
    if len(spans) < 2:
        return
    for stage, first, last in spans:
        if first > 1:
            ax.axvline(first - 0.5, color=BOUNDARY, lw=0.8, ls=(0, (2, 2)))
        ax.annotate(
            # A name wider than its look would run into the next one.
            stage if last > first else stage.replace(" ", "\n"),
            ((first + last) / 2, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize="small",
            color=BOUNDARY,
            # It lies outside the axes, and would not be drawn otherwise.
            annotation_clip=False,
        )


def draw_title(ax: Axes, text: str, stages: Sequence[str] = ()) -> None:
    """Write the title flush left, above the names of the stages if there are any."""
    # Two lines of small text: names of stages may break.
    pad = 30 if len(stage_spans(stages)) > 1 else 6
    ax.set_title(text, loc="left", fontsize="medium", pad=pad)


def draw_legend(ax: Axes, handles: Any = None, *, below: int = 40, n: int = 4) -> None:
    """Draw a legend a number of points below the axes, however tall these are."""
    from matplotlib.transforms import ScaledTranslation

    # In points: a share of the height would leave a gap below tall axes and run
    # into the labels of flat ones.
    shift = ScaledTranslation(0, -below / 72, ax.figure.dpi_scale_trans)
    ax.legend(
        handles=ax.get_legend_handles_labels()[0] if handles is None else handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=ax.transAxes + shift,
        borderaxespad=0,
        ncols=n,
        frameon=False,
        fontsize="small",
        columnspacing=1.2,
        handlelength=1.8,
    )


def label_looks(ax: Axes, subset_sizes: IntArray) -> None:
    """Write the numbers of the looks, and below the rows they train on if they fit."""
    n_looks = len(subset_sizes)
    if n_looks > MOST_LOOK_LABELS:
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=10))
        ax.set_xlabel("look")
        return
    texts = [f"{n + 1}\n{size}" for n, size in enumerate(subset_sizes.tolist())]
    long = max(len(text) for text in texts) > 6 and n_looks > 8
    ax.set_xticks(
        np.arange(1, n_looks + 1), texts, fontsize="x-small" if long else "small"
    )
    ax.set_xlabel("look, and rows it trains on")
