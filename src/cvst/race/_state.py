"""What a race knows so far: the looks it has made and what followed from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from html import escape
from typing import Any, TypeVar

import numpy as np

from cvst._text import counted, left_text, score_text
from cvst._typing import BoolArray, Configuration, FloatArray, IntArray
from cvst.exceptions import InvalidInputError
from cvst.race._axes import space_of
from cvst.race._look import Look, LookLosses, Observation, Verdict
from cvst.race._packing import pack, unpack, without_losses
from cvst.race._problem import Problem
from cvst.race._space import SearchSpace

__all__ = ["RaceState"]

T = TypeVar("T")


@dataclass(frozen=True)
class RaceState:
    """All that a race knows: enough to plot, report or resume it.

    Tables have a row per configuration and a column per look; they are computed once
    and cannot be written to.

    Attributes
    ----------
    problem : Problem
        What was known before.
    observations : tuple of Observation
        The looks so far, oldest first.
    proposed : tuple of dict
        Configurations that joined during the race, numbered after those of the problem.
    pending : tuple of Look
        Looks that have begun and are not over. They are not part of what is kept.

    Examples
    --------
    >>> state = RaceState(Problem(n_configurations=3, n_samples=100))
    >>> state.active
    array([ True,  True,  True])
    """

    problem: Problem
    observations: tuple[Observation, ...] = ()
    proposed: tuple[Configuration, ...] = ()
    pending: tuple[Look, ...] = ()

    @property
    def n_looks(self) -> int:
        """Number of looks so far."""
        return len(self.observations)

    @property
    def n_configurations(self) -> int:
        """Number of configurations by now."""
        return self.problem.n_configurations + len(self.proposed)

    @cached_property
    def configurations(self) -> tuple[Configuration, ...]:
        """The configurations themselves by number, where the problem knows them."""
        return (*self.problem.configurations, *self.proposed)

    @property
    def elapsed(self) -> float:
        """Seconds from the start of the race to the end of its last look."""
        return self.observations[-1].elapsed if self.observations else 0.0

    @property
    def stage(self) -> str | None:
        """Name of the stage of the last look, None before the first."""
        return self.observations[-1].look.stage if self.observations else None

    @cached_property
    def space(self) -> SearchSpace | None:
        """All configurations by now as points on axes."""
        if not self.proposed:
            return self.problem.space
        return space_of(self.configurations, self.problem.covered)

    @cached_property
    def active(self) -> BoolArray:
        """Configurations not dropped, or back after a drop; read-only."""
        return reduce(_active_after, self.observations, _all_true(self))

    @cached_property
    def present(self) -> BoolArray:
        """Which configuration took part in which look."""
        present = np.zeros((self.n_configurations, self.n_looks), dtype=bool)
        for place, observation in enumerate(self.observations):
            present[observation.look.configurations, place] = True
        return _read_only(present)

    @cached_property
    def traces(self) -> BoolArray:
        """Top (True) or flop in each look, the paper's :math:`T_S`."""
        return self._table("top", False)

    @cached_property
    def mean_losses(self) -> FloatArray:
        """Mean loss in each look, the paper's :math:`P_S`; NaN if absent or failed."""
        return self._table("mean_losses", np.nan)

    @cached_property
    def standard_errors(self) -> FloatArray:
        """Standard error of the mean loss in each look, NaN where it is not known."""
        return self._table("standard_errors", np.nan)

    @cached_property
    def scores(self) -> FloatArray:
        """Score in each look, higher is better; NaN if absent, failed or undefined."""
        return self._table("scores", np.nan)

    def scores_named(self, name: str) -> FloatArray:
        """Return a score that was recorded besides, as a table like :attr:`scores`."""
        table = np.full((self.n_configurations, self.n_looks), np.nan)
        for place, seen in enumerate(self.observations):
            if name in seen.other_scores:
                table[seen.look.configurations, place] = seen.other_scores[name]
        return table

    @cached_property
    def p_values(self) -> FloatArray:
        """The p-value that decided in each look, NaN where nothing was tested."""
        return self._table("p_values", np.nan)

    @cached_property
    def fit_seconds(self) -> FloatArray:
        """Seconds of each fit, NaN where a configuration was absent."""
        return self._table("fit_seconds", np.nan)

    @cached_property
    def score_seconds(self) -> FloatArray:
        """Seconds of predicting the test rows, NaN where absent."""
        return self._table("score_seconds", np.nan)

    @property
    def subset_sizes(self) -> IntArray:
        """Training rows of each look."""
        sizes = [observation.look.n_train for observation in self.observations]
        return np.array(sizes, dtype=np.intp)

    @cached_property
    def dropped_at(self) -> IntArray:
        """Look (from 1) of each configuration's last drop, 0 if it is active."""
        dropped = np.zeros(self.n_configurations, dtype=np.intp)
        for number, observation in enumerate(self.observations, start=1):
            dropped[list(observation.drops)] = number
        dropped[self.active] = 0
        return _read_only(dropped)

    @property
    def n_left(self) -> int:
        """Number of configurations that were looked at and not dropped.

        Before the first look, all.
        """
        return int(self.left_after[-1] if self.n_looks else self.active.sum())

    @property
    def n_waiting(self) -> int:
        """Number of configurations that joined and that no look has seen yet.

        Before the first look they count as left.
        """
        return int(self.active.sum()) - self.n_left

    @cached_property
    def left_after(self) -> IntArray:
        """Number of configurations left after each look, of those seen by then."""
        left, seen = [], np.zeros(self.n_configurations, dtype=bool)
        for observation in self.observations:
            seen[observation.look.configurations] = True
            seen[list(observation.drops)] = False
            left.append(np.count_nonzero(seen))
        return _read_only(np.array(left, dtype=np.intp))

    @property
    def drop_reasons(self) -> dict[int, str]:
        """Why each dropped configuration was dropped, by its number."""
        reasons: dict[int, str] = {}
        for observation in self.observations:
            reasons.update(observation.drops)
        # What came back is not dropped any more.
        active = self.active
        return {index: text for index, text in reasons.items() if not active[index]}

    def column(self, name: str, look: int = -1) -> np.ndarray:
        """Return one value per configuration for a single look.

        Parameters
        ----------
        name : str
            An array of :class:`Observation`, such as ``"mean_losses"``.
        look : int
            Which look, counted from 0; the last by default.

        Returns
        -------
        ndarray of shape (n_configurations,)
            NaN (False for ``"top"``) where a configuration was absent.
        """
        observation = self.observations[look]
        column = np.full(self.n_configurations, False if name == "top" else np.nan)
        values = getattr(observation, name)
        if values is not None:
            column[observation.look.configurations] = values
        return column

    def once(self, make: Callable[[RaceState], T]) -> T:
        """Return what a function makes of the state; the second time what it made.

        Like the tables it is not part of a copy or a pickle.
        """
        # Several threads may make it twice: all of them get the one that was kept.
        made: dict[Any, Any] = vars(self).setdefault("_made", {})
        if make not in made:
            made.setdefault(make, make(self))
        kept: T = made[make]
        return kept

    def looks_of(self, stage: str) -> tuple[Observation, ...]:
        """Return the looks of a stage."""
        return tuple(one for one in self.observations if one.look.stage == stage)

    def until(self, n_looks: int) -> RaceState:
        """Return the race as it stood after some of its looks."""
        looks = self.observations[:n_looks]
        # What joined later was not looked at by then.
        known = [self.problem.n_configurations]
        known += [int(one.look.configurations.max()) + 1 for one in looks]
        joined = max(known) - self.problem.n_configurations
        proposed = self.proposed[:joined]
        return replace(self, observations=looks, proposed=proposed, pending=())

    def admit(self, configurations: Sequence[Configuration]) -> RaceState:
        """Return the state with more configurations, none of them looked at yet."""
        # New configurations are active from the start, so the mask only grows.
        state = replace(self, proposed=(*self.proposed, *configurations))
        grown = _all_true(state).copy()
        grown[: self.n_configurations] = self.active
        vars(state)["active"] = _read_only(grown)
        return state

    def begin(self, look: Look) -> RaceState:
        """Return the state with one more look under way."""
        return self._pending((*self.pending, look))

    def settled(self) -> RaceState:
        """Return the state without looks that are not over."""
        return self._pending(()) if self.pending else self

    def _pending(self, looks: tuple[Look, ...]) -> RaceState:
        state = replace(self, pending=looks)
        vars(state)["active"] = self.active
        return state

    def observe(self, look: Look, seen: LookLosses, verdict: Verdict) -> RaceState:
        """Return the state after a look, without drops that would leave nothing."""
        observation = Observation.of(look, seen, verdict)
        unknown = [n for n in observation.drops if not 0 <= n < self.n_configurations]
        if unknown:
            raise InvalidInputError(
                f"judge() drops configuration {unknown[0]}, but they are numbered from "
                f"0 to {self.n_configurations - 1}. Use numbers of look.configurations."
            )
        state = self._with(observation)
        if state.active.any():
            return state
        # Rules come from users too: the best of the look stays, whatever they say, and
        # all of them where every fit has failed.
        drops = {}
        if not np.isnan(seen.mean_losses).all():
            best = look.configurations[int(np.nanargmin(seen.mean_losses))]
            drops = {i: why for i, why in verdict.drops.items() if i != best}
        return self._with(replace(observation, drops=drops))

    def _with(self, observation: Observation) -> RaceState:
        state = replace(
            self,
            observations=(*self.observations, observation),
            pending=tuple(one for one in self.pending if one is not observation.look),
        )
        # A shortcut for the cached property, which would go through the whole race.
        vars(state)["active"] = _active_after(self.active, observation)
        return state

    def _table(self, name: str, absent: Any) -> np.ndarray:
        table = np.full((self.n_configurations, self.n_looks), absent)
        for place, observation in enumerate(self.observations):
            values = getattr(observation, name)
            if values is not None:
                table[observation.look.configurations, place] = values
        return _read_only(table)

    def __repr__(self) -> str:
        # Rows and losses would fill pages.
        stage = f", stage {self.stage!r}" if self.observations else ""
        looks = counted(self.n_looks, "look")
        configurations = counted(self.n_configurations, "configuration")
        left = left_text(self.n_left, self.n_waiting)
        return f"<RaceState: {looks} at {configurations}, {left}{stage}>"

    def _repr_html_(self) -> str:
        """Return a line and a table of the stages, for notebooks."""
        name, scores = self._shown_scores()
        shown = f"best mean {score_text(name, 0.0)[0]}"
        titles = ("stage", "looks", "rows", "fits", "dropped", shown, "seconds")
        head = "".join(f"<th>{escape(title)}</th>" for title in titles)
        body = ""
        for stage in dict.fromkeys(one.look.stage for one in self.observations):
            seen = self.looks_of(stage)
            sizes = sorted({one.look.n_train for one in seen})
            best = self._best_mean(stage, scores)
            seconds = np.array([one.seconds for one in seen])
            cells = (
                escape(stage),
                f"{len(seen):,}",
                f"{sizes[0]:,}" + (f" to {sizes[-1]:,}" if len(sizes) > 1 else ""),
                f"{sum(len(one.look.configurations) for one in seen):,}",
                f"{sum(len(one.drops) for one in seen):,}",
                score_text(name, best)[1] if np.isfinite(best) else "—",
                f"{seconds.sum():.3g}" if np.isfinite(seconds).all() else "—",
            )
            body += f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<p>{escape(repr(self))}</p>{table if body else ''}"

    def _shown_scores(self) -> tuple[str, FloatArray]:
        """Return the score that was raced on by name, and its table.

        Where no score is known these are losses, with the sign of scores.
        """
        table, name = self.scores, self.problem.scoring or "score"
        if not np.isfinite(table).any():
            name, table = "neg_loss", -self.mean_losses
        return name, table

    def _best_mean(self, stage: str, table: FloatArray) -> float:
        """Return the best mean of those left at the end of a stage, NaN if unknown.

        The mean is over the folds of the stage, or else the value of a last look. One
        fold is chance, so only those count that ran on as many folds, or rows, as any.
        """
        looks_of: dict[int, list[int]] = {}
        left: set[int] = set()
        for place, one in enumerate(self.observations):
            if one.look.stage == stage:
                members = one.look.configurations.tolist()
                left = left.union(members).difference(one.drops)
                for number in members:
                    looks_of.setdefault(number, []).append(place)
        seen = self.looks_of(stage)
        last = seen[-1].look
        if last.is_fold and len(seen) < last.fewest_folds and len(left) > 1:
            return float("nan")  # broken off before it decides
        weights = np.ones(self.n_looks) if last.is_fold else self.subset_sizes
        judged = {
            number: looks_of[number] if last.is_fold else looks_of[number][-1:]
            for number in left
        }
        evidence = {number: weights[looks].sum() for number, looks in judged.items()}
        means = [
            table[number, looks].mean()
            for number, looks in judged.items()
            if evidence[number] == max(evidence.values())
        ]
        return float(max(filter(np.isfinite, means), default=np.nan))

    def without_losses(self) -> RaceState:
        """Return the race without pointwise losses: enough to draw, report and rank.

        It cannot go on from there.
        """
        return replace(self, observations=without_losses(self.observations))

    def __getstate__(self) -> dict[str, Any]:
        # Tables can be computed again: a pickle holds what cannot, in little room.
        problem, observations = pack(self.problem, self.observations)
        return {
            "problem": problem,
            "observations": observations,
            "proposed": self.proposed,
        }

    def __setstate__(self, kept: dict[str, Any]) -> None:
        problem, observations = unpack(kept["problem"], kept["observations"])
        vars(self).update(kept, problem=problem, observations=observations)


def _all_true(state: RaceState) -> BoolArray:
    return _read_only(np.ones(state.n_configurations, dtype=bool))


def _active_after(active: BoolArray, observation: Observation) -> BoolArray:
    active = active.copy()
    active[observation.look.configurations] = True
    active[list(observation.drops)] = False
    return _read_only(active)


def _read_only(table: np.ndarray) -> np.ndarray:
    table.flags.writeable = False
    return table
