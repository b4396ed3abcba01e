"""Which configuration led when, and with which loss: the race over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvst._searched import FittedSearch
from cvst._text import counted, seconds_text
from cvst._typing import FloatArray, IntArray
from cvst.displays._race import (
    Race,
    check_started,
    draw_legend,
    draw_title,
    stage_spans,
)
from cvst.displays._scores import LOSS, label_of
from cvst.displays._style import (
    BOUNDARY,
    COLOURS,
    MARKERS,
    loss_ceiling,
    prepare_axes,
    tidy,
)
from cvst.race import Observation, RaceState, Strategy
from cvst.race.machinery import deciding_looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["IncumbentDisplay"]

# In longer races the strategy is asked only where the leader may have changed: one
# answer takes milliseconds, and there are thousands of looks.
MANY_LOOKS = 100


class IncumbentDisplay:
    """The loss of the leader over time, with all looks behind it.

    The leader after each look is the configuration that would have been returned then.
    Its loss is what was known of it at that time: in its last look, or over the folds
    of its last stage. Where that is another stage than before, the line is broken:
    losses on other rows do not compare.

    Parameters
    ----------
    times : ndarray of shape (n_looks,)
        End of each look in seconds, or its number where the clock is not known.
    unit : {"seconds", "looks"}
        What the times are.
    incumbents : ndarray of shape (n_looks,), int
        The leader after each look.
    losses : ndarray of shape (n_looks,)
        Its mean loss.
    loss_stages : list of str
        Stage in which that loss was measured.
    stages : list of str
        Stage of each look.
    point_looks : ndarray of shape (n_points,), int
        Look of each point behind, from 0.
    point_losses : ndarray of shape (n_points,)
        Its mean loss, NaN for a failed fit.
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
    >>> display = IncumbentDisplay.from_search(search.fit(*load_iris(return_X_y=True)))
    >>> display.unit, int(display.incumbents[-1]) == search.best_index_
    ('seconds', True)
    """

    def __init__(
        self,
        *,
        times: FloatArray,
        unit: str,
        incumbents: IntArray,
        losses: FloatArray,
        loss_stages: Sequence[str],
        stages: Sequence[str],
        point_looks: IntArray,
        point_losses: FloatArray,
        quantity: str = LOSS,
    ) -> None:
        self.times = times
        self.unit = unit
        self.incumbents = incumbents
        self.losses = losses
        self.loss_stages = loss_stages
        self.stages = stages
        self.point_looks = point_looks
        self.point_losses = point_losses
        self.quantity = quantity

    @classmethod
    def from_search(
        cls, search: FittedSearch, *, score: str | None = None
    ) -> IncumbentDisplay:
        """Read a fitted search.

        Parameters
        ----------
        search : RaceGridSearchCV, RaceRandomSearchCV or RaceSearchCV
            A fitted search.
        score : str, optional
            Name of a score that was recorded; its negative takes the place of the
            losses, which are drawn by default.

        Returns
        -------
        IncumbentDisplay
        """
        race = Race.from_search(search, score)
        # The losses of the race decided what led, whatever is drawn.
        check_started(race.state)
        incumbents = _incumbents(search.race_, race.strategy)
        return cls._of(race.state, incumbents, race.quantity)

    @classmethod
    def from_state(
        cls, state: RaceState, *, strategy: Strategy | None = None
    ) -> IncumbentDisplay:
        """Read a race that may still be under way.

        Parameters
        ----------
        state : RaceState
            The race.
        strategy : Strategy, optional
            What decides; without it the lowest loss on the most rows leads.

        Returns
        -------
        IncumbentDisplay
        """
        check_started(state)
        return cls._of(state, _incumbents(state, strategy), LOSS)

    @classmethod
    def _of(
        cls, state: RaceState, incumbents: IntArray, quantity: str
    ) -> IncumbentDisplay:
        seen = state.observations
        elapsed = np.array([one.elapsed for one in seen])
        # A state made without a clock has no times; then looks are counted.
        known = bool(np.isfinite(elapsed).all())
        losses, loss_stages = _losses_then(state, incumbents)
        counts = [len(one.look.configurations) for one in seen]
        return cls(
            times=elapsed if known else np.arange(1.0, len(seen) + 1),
            unit="seconds" if known else "looks",
            incumbents=incumbents,
            losses=losses,
            loss_stages=loss_stages,
            stages=[one.look.stage for one in seen],
            point_looks=np.repeat(np.arange(len(seen)), counts),
            point_losses=np.concatenate([one.mean_losses for one in seen]),
            quantity=quantity,
        )

    def plot(self, ax: Axes | None = None) -> IncumbentDisplay:
        """Draw the leader's loss as steps, and each look as a point.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        IncumbentDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        self.figure_, ax = prepare_axes(ax)
        self.ax_ = ax
        top = loss_ceiling(self.point_losses, self.losses)
        size = float(np.clip(3000 / max(1, len(self.point_losses)), 9, 28))
        stages = list(dict.fromkeys(self.stages))
        stage_of_point = np.array(self.stages, dtype=object)[self.point_looks]
        for place, stage in enumerate(stages):
            mine = stage_of_point == stage
            losses = self.point_losses[mine]
            ax.scatter(
                self.times[self.point_looks[mine]],
                np.minimum(losses, top),
                s=size,
                marker=MARKERS[(place + 1) % len(MARKERS)],
                color=COLOURS[(place + 1) % len(COLOURS)],
                alpha=0.55,
                lw=0,
                label=stage if len(stages) > 1 else "look at a configuration",
            )
        self._draw_line(ax)
        # Before the first look none leads, so that it counts as a change.
        changes = np.flatnonzero(np.diff(self.incumbents, prepend=-1))
        ax.plot(
            self.times[changes],
            self.losses[changes],
            "o",
            ms=5,
            mfc="white",
            mec="black",
            label="new leader",
        )
        self._name_end(ax)
        seconds = self.unit == "seconds"
        ax.set_xlabel("seconds since the start" if seconds else "look")
        ax.set_ylabel(label_of(self.quantity, "mean"))
        self._limit(ax, top)
        changed = counted(len(changes), "leader")
        looks = counted(len(self.times), "look")
        length = f", {seconds_text(float(self.times[-1]))}" if seconds else ""
        what = self.quantity.capitalize() if self.quantity == LOSS else self.quantity
        draw_title(ax, f"{what} of the leader: {changed} in {looks}{length}")
        tidy(ax)
        n_handles = len(ax.get_legend_handles_labels()[0])
        draw_legend(ax, n=n_handles if n_handles < 6 else 4)
        return self

    def _draw_line(self, ax: Axes) -> None:
        """Draw the leader's loss, broken where it was measured in another stage."""
        label = "leader"
        for _, first, last in stage_spans(self.loss_stages):
            # Each piece is drawn up to the look that replaced it: no gap is left.
            end = min(last, len(self.times) - 1)
            times = np.append(self.times[first - 1 : last], self.times[end])
            losses = np.append(self.losses[first - 1 : last], self.losses[last - 1])
            ax.step(times, losses, where="post", color="black", lw=1.8, label=label)
            # One entry for all pieces: labels with an underscore are left out.
            label = "_nolegend_"
            if first > 1:
                ax.axvline(times[0], color=BOUNDARY, lw=0.8, ls=(0, (2, 2)))

    def _limit(self, ax: Axes, top: float) -> None:
        finite = np.concatenate([self.point_losses, self.losses])
        finite = finite[np.isfinite(finite)]
        low = float(finite.min()) if len(finite) else 0.0
        # All losses may be equal, or even 0: axes need some height.
        margin = 0.05 * (top - low) or 0.05 * abs(top) or 0.05
        ax.set_ylim(low - margin, top + margin)
        far = self.point_losses[self.point_losses > top]
        if len(far):
            ax.annotate(
                f"{len(far):,} of {len(self.point_losses):,} points are higher, up to "
                f"{far.max():.3g}",
                (0.99, 0.99),
                xycoords="axes fraction",
                ha="right",
                va="top",
                fontsize="small",
                color="#444444",
                bbox={"boxstyle": "round,pad=0.2", "fc": "#FFFFFFDD", "ec": "none"},
            )

    def _name_end(self, ax: Axes) -> None:
        last = float(self.losses[-1])
        if np.isfinite(last):
            ax.annotate(
                f"{last:.4g}",
                (float(self.times[-1]), last),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
                # The last point is at the edge, and its number outside.
                annotation_clip=False,
            )


def _incumbents(state: RaceState, strategy: Strategy | None) -> IntArray:
    leaders: list[int] = []
    best: dict[tuple[Any, ...], dict[int, float]] = {}
    n_looks = state.n_looks
    for number, seen in enumerate(state.observations, start=1):
        # Only losses on the same rows can be compared without the strategy.
        key = (seen.look.stage, seen.look.n_train, seen.look.fold)
        here = best.setdefault(key, {})
        who = seen.look.configurations.tolist()
        here.update(zip(who, seen.mean_losses.tolist(), strict=True))
        asked = (
            not leaders
            or n_looks <= MANY_LOOKS
            or number == n_looks
            or _may_change(seen, leaders[-1], here)
        )
        leaders.append(_leader(state.until(number), strategy) if asked else leaders[-1])
    return np.array(leaders, dtype=np.intp)


def _may_change(seen: Observation, leader: int, here: dict[int, float]) -> bool:
    """Return whether a look may bring another leader.

    Not if it is not a fold and the leader was seen on the same rows with a lower loss
    than all of the look.
    """
    # A fold is averaged with others, so that its own losses tell nothing of the order.
    if seen.look.is_fold or leader not in here or leader in seen.drops:
        return True
    losses = seen.mean_losses[seen.look.configurations != leader]
    return bool(leader in seen.look.configurations or (losses < here[leader]).any())


def _leader(state: RaceState, strategy: Strategy | None) -> int:
    if strategy is not None:
        return int(strategy.ranking(state)[0])
    # Most rows first, then the lowest loss there.
    known: dict[int, tuple[int, float]] = {}
    for seen in state.observations:
        who = seen.look.configurations.tolist()
        for number, loss in zip(who, seen.mean_losses.tolist(), strict=True):
            if np.isfinite(loss):
                known[number] = (-seen.look.n_train, loss)
    left = {n: key for n, key in known.items() if state.active[n]}
    return min(left, key=lambda n: left[n]) if left else int(state.active.argmax())


def _losses_then(
    state: RaceState, incumbents: IntArray
) -> tuple[FloatArray, list[str]]:
    """Return what was known of each leader after each look, and from which stage."""
    losses = np.full(len(incumbents), np.nan)
    stages = []
    present, table = state.present, state.mean_losses
    for place, leader in enumerate(incumbents.tolist()):
        looks = np.flatnonzero(present[leader, : place + 1])
        if not len(looks):
            stages.append("")
            continue
        deciding = deciding_looks(state, looks, place + 1)
        # As reports rank: by the folds of the last stage, not by the last fold.
        losses[place] = table[leader, deciding].mean()
        stages.append(state.observations[int(deciding[-1])].look.stage)
    return losses, stages
