"""The paper's strategy: fast cross-validation via sequential testing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from cvst._text import repr_text
from cvst._typing import FloatArray, IntArray
from cvst._values import is_whole
from cvst.exceptions import InvalidInputError
from cvst.race._elimination import NoElimination
from cvst.race._growing_steps import SENTENCES, GrowingSteps
from cvst.race._problem import Problem
from cvst.race._rules import (
    EliminationRule,
    Schedule,
    SimilarityRule,
    StoppingRule,
    WinnerRule,
)
from cvst.race._schedule import LinearSchedule
from cvst.race._similarity import (
    SIMILARITY_TESTS,
    OutlierSimilarity,
    PrefixSimilarity,
)
from cvst.race._stage import Staged
from cvst.race._state import RaceState
from cvst.race._stopping import NeverStop, SimilarTraces
from cvst.race._winner import MeanRank
from cvst.statistics import SpicerTest, WaldTest, minimal_steps
from cvst.theory import drop_error_bound, expected_active, first_drop, steady_steps

__all__ = ["CVST"]

# More steps than anyone has rows for would only fill the memory.
LARGEST_STEPS = 100_000

# Tests that compare losses of 0 and 1 only.
BINARY_TESTS = ("cochran", "wilson")

# Share of the configurations that outlives the safety zone. The paper asks the user
# for it; grids over several powers of ten lose more than that, hard problems less.
SURVIVAL_RATE = 0.2

# Share of the races that end at each step from which they can end by similar
# performance: of 282 races of the paper's study 45, 32, 42, 21, 27 and 43 percent.
END_RATE = 0.4

# With a time budget: more steps buy little safety and take longer (see steady_steps),
# and a loser level above a half would take every other winner for a loser.
MOST_STEPS, LARGEST_LEVEL = 20, 0.5

# Significance levels and what the paper takes for them.
LEVELS = {
    "similarity_level": 0.05,
    "stopping_level": 0.05,
    "loser_level": 0.1,
    "winner_level": 0.01,
}


class CVST(Staged):
    r"""Race on linearly growing subsets, drop significant losers, stop when alike.

    Algorithms 1 to 5 of Krueger, Panknin and Braun (2015). Each part is a name or an
    object of your own with the one method of its protocol.

    Parameters
    ----------
    max_steps : int, default=10
        Number of subsets, the paper's :math:`S`.
    stopping_window : int or "auto", default="auto"
        Steps compared by early stopping and averaged for the winner; ``"auto"`` is
        ``round(0.3 * max_steps)``.
    similarity_level, stopping_level : float, default=0.05
        Significance levels of the tests within a step and of early stopping.
    loser_level, winner_level : float, default=0.1 and 0.01
        Levels :math:`\beta_l` and :math:`\alpha_l` of the sequential test.
    similarity : str or SimilarityRule, default="auto"
        ``"auto"`` (Cochran's test for losses of 0 and 1, else Friedman's),
        ``"friedman"``, ``"cochran"``, the unpaired ``"kruskal_wallis"`` and
        ``"wilson"``, or ``"outliers"``.
    elimination : {"open", "closed", "none"} or EliminationRule, default="open"
        Wald's open test, Spicer's closed one, or nothing is dropped.
    stopping : str or StoppingRule, default="similar"
        ``"similar"`` stops when the survivors behave alike, tested from step
        window + 1 on, ``"similar_within_window"`` from step window on; ``"never"``
        runs all steps.
    shuffle_each_step : bool, default=False
        Draw each subset anew instead of growing one.
    schedule : "linear" or Schedule, default="linear"
        Sizes of the subsets.
    winner : "mean_rank" or WinnerRule, default="mean_rank"
        How the winner is picked among the survivors.

    Examples
    --------
    >>> CVST(max_steps=20).window
    6
    """

    def __init__(
        self,
        max_steps: int = 10,
        stopping_window: int | str = "auto",
        similarity_level: float = 0.05,
        stopping_level: float = 0.05,
        loser_level: float = 0.1,
        winner_level: float = 0.01,
        similarity: str | SimilarityRule = "auto",
        elimination: str | EliminationRule = "open",
        stopping: str | StoppingRule = "similar",
        shuffle_each_step: bool = False,
        schedule: str | Schedule = "linear",
        winner: str | WinnerRule = "mean_rank",
    ) -> None:
        self.max_steps = max_steps
        self.stopping_window = stopping_window
        self.similarity_level = similarity_level
        self.stopping_level = stopping_level
        self.loser_level = loser_level
        self.winner_level = winner_level
        self.similarity = similarity
        self.elimination = elimination
        self.stopping = stopping
        self.shuffle_each_step = shuffle_each_step
        self.schedule = schedule
        self.winner = winner

    @property
    def window(self) -> int:
        """The stopping window as a number."""
        if self.stopping_window == "auto":
            return max(1, round(0.3 * self.max_steps))
        return int(self.stopping_window)

    @property
    def rescales(self) -> bool:
        """The paper's configurations follow the subset size."""
        return True

    @property
    def n_orders(self) -> int:
        """One permutation per step when each step is shuffled anew."""
        return self.max_steps if self.shuffle_each_step else 0

    @property
    def needs_residuals(self) -> bool:
        """Only the outlier variant looks at residuals."""
        rule = self.similarity
        return rule == "outliers" or isinstance(rule, OutlierSimilarity)

    @property
    def binary_test(self) -> str | None:
        """Cochran's and Wilson's tests compare losses of 0 and 1 only."""
        return self.row_test if self.row_test in BINARY_TESTS else None

    @property
    def row_test(self) -> str | None:
        """Every test but the one that ``"auto"`` finds ranks or counts single rows."""
        rule = self.similarity
        test = rule.test if isinstance(rule, PrefixSimilarity) else rule
        return test if isinstance(test, str) and test in SIMILARITY_TESTS else None

    @property
    def sequential_test(self) -> WaldTest | SpicerTest | None:
        """The test that drops losers; None if another rule does."""
        rule = self._elimination_rule()
        return rule if isinstance(rule, WaldTest | SpicerTest) else None

    def check(self, problem: Problem) -> None:
        """Raise an error that explains why this race cannot be run, if so."""
        self._check_numbers()
        self._similarity_rule()
        self._elimination_rule()
        self._stopping_rule()
        self._winner_rule()
        self._check_sizes(problem)

    def subset_sizes(self, problem: Problem) -> list[int]:
        """Return the training rows of all steps."""
        rule = self._schedule_rule()
        if type(rule) is LinearSchedule:
            return problem.cuts(rule.sizes(problem))
        steps = range(1, self.max_steps + 1)
        return problem.cuts([rule.n_train(step, problem) for step in steps])

    def stages(self, problem: Problem) -> Sequence[GrowingSteps]:
        """Return its one stage."""
        return (
            GrowingSteps(
                self.subset_sizes(problem),
                self._similarity_rule(),
                self._elimination_rule(),
                self._stopping_rule(),
                self.shuffle_each_step,
            ),
        )

    def expected_configurations(self, problem: Problem) -> FloatArray:
        """Return how many each step is expected to see.

        All of them in the safety zone and a fixed share beyond it.
        """
        drop = self.first_drop
        if drop is None:
            return super().expected_configurations(problem)
        return expected_active(
            problem.n_configurations,
            len(self.planned_looks(problem)),
            safety_zone=drop - 1,
            survival_rate=SURVIVAL_RATE,
        )

    def expected_looks(self, problem: Problem) -> int:
        """Return how many steps a race is expected to have.

        All of them, or those until the survivors have had two chances to end it by
        behaving alike: of the races that can end so, most end at one of these.
        """
        n_planned, window = len(self.planned_looks(problem)), self._compared
        return n_planned if window is None else min(n_planned, window + 2)

    def look_chances(self, problem: Problem) -> FloatArray:
        """Return how probable it is that the race gets to each step.

        Certain until the survivors can end it by behaving alike; from then on a fixed
        share of the races ends at each step.
        """
        n_planned = len(self.planned_looks(problem))
        window = self._compared
        if window is None:
            return np.ones(n_planned)
        # As many as the window holds, and one more, are made in any case.
        late = np.maximum(0, np.arange(1, n_planned + 1) - (window + 1))
        return np.asarray((1 - END_RATE) ** late, dtype=float)

    def fewest_looks(self, problem: Problem) -> int:
        """Return the steps until losers can be dropped and the race can stop early."""
        drop = self.first_drop
        n_planned = len(self.planned_looks(problem))
        return n_planned if drop is None else min(n_planned, drop + self.window)

    def may_stop_early(self, problem: Problem) -> bool:
        """Return whether there are steps to leave out: drops may leave only one."""
        return len(self.planned_looks(problem)) > 1

    @property
    def budget_levels(self) -> tuple[float, float]:
        """Loser levels that a time budget tries in turn: as asked for, and raised."""
        return self.loser_level, max(self.loser_level, LARGEST_LEVEL)

    def variants(self, problem: Problem) -> Iterator[Sequence[CVST]]:
        """Yield the race with other numbers of steps, then with a larger loser level.

        Only where the sizes of the steps are the paper's and not the user's choice.
        """
        if not isinstance(self._schedule_rule(), LinearSchedule):
            return
        for level in self.budget_levels:
            yield [
                self._with(max_steps=steps, loser_level=level)
                for steps in self._numbers_of_steps(problem, level)
            ]

    @property
    def first_drop(self) -> int | None:
        """Step in which the first drop is possible, None without a sequential test."""
        test = self.sequential_test
        # Nothing is dropped before the second step, however short the zone.
        return None if test is None else max(2, first_drop(test))

    def drop_error_bounds(
        self, win_probabilities: Sequence[float]
    ) -> dict[float, float]:
        """Bound the chance that the open test drops a stable winner."""
        test = self.sequential_test
        if not isinstance(test, WaldTest):
            return {}
        levels = test.max_steps, test.loser_level, test.winner_level
        return {p: float(drop_error_bound(p, *levels)) for p in win_probabilities}

    def stop_reason(self, state: RaceState) -> str | None:
        """Say why the race is over, or None while it is not."""
        return self.stages(state.problem)[0].end(state)

    def ranking(self, state: RaceState) -> IntArray:
        """Return the survivors by mean rank, ties in grid order."""
        survivors = np.flatnonzero(state.active)
        scores = self._winner_rule().scores(state.mean_losses[survivors])
        return survivors[np.argsort(scores, kind="stable")]

    @property
    def sentences(self) -> Mapping[str, str]:
        """What its reasons mean."""
        return SENTENCES

    def criterion(self, state: RaceState) -> str:
        """Say by what the winner ranks first."""
        rule = self._winner_rule()
        if not isinstance(rule, MeanRank):
            return super().criterion(state)
        looks = "look" if rule.window < 2 else f"{rule.window} looks"
        return f"by the mean rank of its loss in the last {looks}"

    @property
    def _compared(self) -> int | None:
        """Steps after which survivors that behave alike end it, None if none do."""
        rule = self._stopping_rule()
        if isinstance(rule, SimilarTraces):
            return None if rule.never_stops else rule.window
        return None if isinstance(rule, NeverStop) else self.window

    def _with(self, **params: Any) -> CVST:
        return type(self)(**(self.get_params() | params))

    def _numbers_of_steps(self, problem: Problem, level: float) -> Sequence[int]:
        """Return those that the test allows and where the error bound does not jump."""
        most = MOST_STEPS
        if self.shuffle_each_step:
            most = min(most, len(problem.orders))
        if self.elimination == "open":
            return steady_steps(level, self.winner_level, most)
        without_test = self.sequential_test is None
        fewest = 1 if without_test else minimal_steps(level, self.winner_level)
        return range(fewest, most + 1)

    def _check_numbers(self) -> None:
        if not is_whole(self.max_steps) or not 1 <= self.max_steps <= LARGEST_STEPS:
            raise InvalidInputError(
                f"max_steps={repr_text(self.max_steps)} must be a whole number of at "
                f"least 1 and at most {LARGEST_STEPS:,}; 10 is the paper's choice."
            )
        for name in LEVELS:
            level = getattr(self, name)
            if not isinstance(level, int | float | np.floating) or not 0 < level < 1:
                raise InvalidInputError(
                    f"{name}={level!r} must lie strictly between 0 and 1; "
                    f"{LEVELS[name]} is the paper's choice."
                )
        window = self.stopping_window
        if isinstance(window, str) and window == "auto":
            return
        if not is_whole(window) or int(window) < 0:
            raise InvalidInputError(
                f"stopping_window={window!r} must be 'auto' or a whole number of "
                "steps (0 or 1 switches early stopping off)."
            )
        if int(window) > self.max_steps:
            raise InvalidInputError(
                f"stopping_window={window} is larger than max_steps={self.max_steps}. "
                "Lower the window or raise max_steps."
            )

    def _check_sizes(self, problem: Problem) -> None:
        """Refuse too few groups, and subsets that leave nothing to train or test on."""
        allowed = problem.allowed_cuts
        if allowed is not None and len(allowed) < self.max_steps:
            rest = "" if problem.n_validation else " and one must remain for testing"
            raise InvalidInputError(
                f"{problem.n_groups} groups are too few for "
                f"max_steps={self.max_steps}: each step must add a group{rest}. Lower "
                "max_steps or use smaller groups."
            )
        largest = problem.n_samples - (0 if problem.n_validation else 1)
        sizes = self.subset_sizes(problem)
        # Too few rows for the paper's own schedule are compared by folds instead.
        wrong = [size for size in sizes if not 1 <= size <= largest]
        if wrong and not isinstance(self._schedule_rule(), LinearSchedule):
            raise InvalidInputError(
                f"schedule={self.schedule!r} asks for a subset of {wrong[0]} rows out "
                f"of {problem.n_samples}. Each step must have between 1 and {largest}."
            )

    def _similarity_rule(self) -> SimilarityRule:
        level = self.similarity_level
        rules: dict[str, Callable[[], SimilarityRule]] = {
            name: partial(PrefixSimilarity, level, name)
            for name in ("auto", *SIMILARITY_TESTS)
        }
        rules["outliers"] = lambda: OutlierSimilarity(level)
        rule: SimilarityRule = _resolve("similarity", self.similarity, rules, "compare")
        return rule

    def _elimination_rule(self) -> EliminationRule:
        levels = (self.max_steps, self.loser_level, self.winner_level)
        rules: dict[str, Callable[[], EliminationRule]] = {
            "open": lambda: WaldTest(*levels),
            "closed": lambda: _closed_test(*levels),
            "none": NoElimination,
        }
        rule: EliminationRule = _resolve(
            "elimination", self.elimination, rules, "is_loser"
        )
        return rule

    def _stopping_rule(self) -> StoppingRule:
        similar = (self.window, self.stopping_level)
        rules: dict[str, Callable[[], StoppingRule]] = {
            "similar": lambda: SimilarTraces(*similar),
            "similar_within_window": lambda: SimilarTraces(*similar, True),
            "never": NeverStop,
        }
        rule: StoppingRule = _resolve("stopping", self.stopping, rules, "should_stop")
        return rule

    def _schedule_rule(self) -> Schedule:
        rules = {"linear": lambda: LinearSchedule(self.max_steps)}
        rule: Schedule = _resolve("schedule", self.schedule, rules, "n_train")
        return rule

    def _winner_rule(self) -> WinnerRule:
        rules = {"mean_rank": lambda: MeanRank(self.window)}
        rule: WinnerRule = _resolve("winner", self.winner, rules, "scores")
        return rule


@lru_cache(maxsize=16)
def _closed_test(max_steps: int, loser_level: float, winner_level: float) -> SpicerTest:
    # Its fortunes are searched for, which takes seconds if there are many steps.
    return SpicerTest(max_steps, loser_level, winner_level)


def _resolve(parameter: str, value: Any, rules: dict[str, Any], method: str) -> Any:
    """Return the rule of that name, or the object itself if it has the method."""
    if isinstance(value, str) and value in rules:
        return rules[value]()
    is_object = not isinstance(value, str | type)
    if is_object and callable(getattr(value, method, None)):
        return value
    raise InvalidInputError(
        f"{parameter}={value!r} is not known. Use one of "
        f"{', '.join(map(repr, rules))}, or an object with a method {method!r}."
    )
