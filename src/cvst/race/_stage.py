"""A race as a program of stages, each of which says what enters and what goes on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from operator import is_
from typing import Any

import numpy as np

from cvst._text import shortened
from cvst._typing import IntArray
from cvst.exceptions import InvalidInputError
from cvst.race._folds import rank_by_folds
from cvst.race._look import Look, LookLosses, Verdict
from cvst.race._planned import PlannedLook
from cvst.race._problem import Problem
from cvst.race._state import RaceState
from cvst.race._strategy import Strategy

__all__ = ["Chooser", "Program", "Stage", "Staged", "nothing", "survivors"]

# The reason of a program to end.
ALL_STAGES = "all_stages"

# Picks configurations by what the race knows.
Chooser = Callable[[RaceState], IntArray]


def survivors(state: RaceState) -> IntArray:
    """Return all configurations that are not dropped."""
    return np.flatnonzero(state.active)


def nothing(state: RaceState) -> IntArray:
    """Return no configuration."""
    del state
    return np.empty(0, dtype=np.intp)


class Stage(ABC):
    """One part of a race.

    Attributes
    ----------
    name : str
        Name of its looks; no two stages of a race share it.
    enter : callable
        Given the state, returns the configurations that enter. Those that are still
        active take part in the later looks of the stage.
    fewest : int
        Fewer configurations than this are not worth a look: the stage is over.
    """

    name: str
    enter: Chooser
    fewest: int = 1

    @abstractmethod
    def look(self, state: RaceState, n_looks: int, members: IntArray) -> Look | None:
        """Return the next look, None when the stage is over.

        Parameters
        ----------
        state : RaceState
            The race so far.
        n_looks : int
            How many looks of this stage there have been.
        members : ndarray of int
            Configurations that take part.
        """

    @abstractmethod
    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Say which configurations go on."""

    @abstractmethod
    def planned_looks(self, problem: Problem, most: int) -> tuple[PlannedLook, ...]:
        """Return all looks that can come, with at most that many configurations."""

    @property
    def fold_counts(self) -> tuple[int, ...]:
        """Numbers of folds that ``problem.folds`` must offer for this stage."""
        return ()

    @property
    def sentences(self) -> Mapping[str, str]:
        """What its reasons to drop mean, by reason; the others are shown as they are.

        Each completes the sentence "It was dropped: …".
        """
        return {}

    def members(self, state: RaceState) -> IntArray:
        """Return the configurations of the next look of the stage."""
        looks = state.looks_of(self.name)
        if looks:
            # What joins the race later waits for the next stage.
            entered = looks[0].look.configurations
            return entered[state.active[entered]]
        # Before the first look there is nothing to choose by: all configurations enter.
        if not state.observations:
            return np.arange(state.n_configurations)
        return np.sort(self.enter(state))

    def next_look(self, state: RaceState) -> Look | None:
        """Return the next look, None when the stage is over or nothing enters."""
        members = self.members(state)
        if len(members) < (self.fewest if state.observations else 1):
            return None
        return self.look(state, len(state.looks_of(self.name)), members)


class Staged(Strategy):
    """A strategy that is a program of stages, run one after the other."""

    @abstractmethod
    def stages(self, problem: Problem) -> Sequence[Stage]:
        """Return the stages in order."""

    def stop_reason(self, state: RaceState) -> str | None:
        """Stop when no stage has a look left."""
        return ALL_STAGES if self._coming(state) is None else None

    def next_look(self, state: RaceState) -> Look:
        """Return the next look of the present stage, or the first of a later one."""
        look = self._coming(state)
        assert look is not None
        return look

    def judge(self, state: RaceState, look: Look, seen: LookLosses) -> Verdict:
        """Let the stage of the look judge."""
        # By name: each call of ``stages`` may make new objects.
        stages = {stage.name: stage for stage in self.stages(state.problem)}
        return stages[look.stage].judge(state, look, seen)

    def planned_looks(self, problem: Problem) -> tuple[PlannedLook, ...]:
        """Return the looks of all stages; every configuration may stay to the end."""
        most = problem.n_configurations
        return tuple(
            look
            for stage in self.stages(problem)
            for look in stage.planned_looks(problem, most)
        )

    def may_stop_early(self, problem: Problem) -> bool:
        """Return whether more than one look is planned: a stage may leave only one."""
        return len(self.planned_looks(problem)) > 1

    def _coming(self, state: RaceState) -> Look | None:
        """Return the next look, which a race asks for twice; None at the end."""
        settings, look = state.once(self._with_settings)
        # They may have been set anew in between.
        now = tuple(vars(self).values())
        same = len(settings) == len(now) and all(map(is_, settings, now))
        return look if same else self._look(state)

    def _with_settings(self, state: RaceState) -> tuple[tuple[Any, ...], Look | None]:
        return tuple(vars(self).values()), self._look(state)

    def _look(self, state: RaceState) -> Look | None:
        stages = list(self.stages(state.problem))
        names = [stage.name for stage in stages]
        present = 0 if state.stage is None else names.index(state.stage)
        # A stage that was left is never entered again.
        looks = (stage.next_look(state) for stage in stages[present:])
        return next((look for look in looks if look is not None), None)


class Program(Staged):
    """A race made of your own stages.

    Parameters
    ----------
    program : sequence of Stage
        The stages in order. All configurations enter the first one.

    Examples
    --------
    >>> from cvst.race import FoldRace, SubsetLook
    >>> Program([SubsetLook(rows=0.2), FoldRace(n_folds=5)]).fold_counts
    (5,)
    """

    def __init__(self, program: Sequence[Stage]) -> None:
        self.program = program

    @property
    def fold_counts(self) -> tuple[int, ...]:
        """Ask for the folds of all stages."""
        counts = [count for stage in self._stages for count in stage.fold_counts]
        return tuple(dict.fromkeys(counts))

    def stages(self, problem: Problem) -> Sequence[Stage]:
        """Return the stages in order."""
        del problem
        return self._stages

    @property
    def _stages(self) -> Sequence[Stage]:
        # Not in ``__init__``, which stores what it is given.
        if not isinstance(self.program, Sequence):
            raise InvalidInputError(
                f"program={self.program!r} is not a list of stages. Put them in one."
            )
        for place, stage in enumerate(self.program):
            _check_stage(stage, place)
        return self.program

    @property
    def sentences(self) -> Mapping[str, str]:
        """What its reasons mean, and those of its stages."""
        said = {ALL_STAGES: "all stages are done"}
        for stage in self._stages:
            said |= stage.sentences
        return said

    def ranking(self, state: RaceState) -> IntArray:
        """Order by the folds of the last stage that has any, then by the last loss."""
        return rank_by_folds(state, [(stage.name,) for stage in reversed(self._stages)])

    def ranks_by_mean(self, state: RaceState) -> bool:
        """Rank by means alone."""
        del state
        return True


def _check_stage(given: Any, place: int) -> None:
    """Refuse what is no stage, or not all of one: stages come from users."""
    needed = ("name", *sorted({"enter", *Stage.__abstractmethods__}))
    faults = []
    if isinstance(given, type):
        faults.append(f"it is a class: {given.__name__}(...) makes an object of it")
    else:
        if not isinstance(given, Stage):
            faults.append("it does not derive from cvst.race.Stage")
        missing = [name for name in needed if not hasattr(given, name)]
        if missing:
            faults.append(f"it lacks {', '.join(missing)}")
    if faults:
        raise InvalidInputError(
            f"program[{place}]={shortened(repr(given), 100)} is not a stage: "
            f"{', and '.join(faults)}. Use a stage such as FoldRace(5), or an object "
            "of a class of your own that derives from cvst.race.Stage."
        )
