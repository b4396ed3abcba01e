"""A look that lies ahead: how large it will be, not which configurations it has."""

from __future__ import annotations

from dataclasses import dataclass, field

from cvst.race._problem import Folds, Problem

__all__ = ["PlannedLook", "Prospect", "planned_folds", "planned_prefix"]


@dataclass(frozen=True, slots=True)
class Prospect:
    """How many of the configurations that can take part in a look probably will.

    Attributes
    ----------
    share : float
        Share of the most that can take part, as it usually is.
    by_tests : bool
        Whether tests alone decide who stays from look to look: the more rows they see,
        the fewer stay.
    rare : bool
        Whether most races have no such look; else at least two take part.
    several : bool
        Whether there is no such look for a single configuration.
    """

    share: float = 1.0
    by_tests: bool = False
    rare: bool = False
    several: bool = False


@dataclass(frozen=True, slots=True)
class PlannedLook:
    """What is known of a look before the race.

    Attributes
    ----------
    stage : str
        Name of the part of the race.
    n_train, n_test : int
        Rows to train and to test on.
    max_configurations : int
        Most configurations that can take part.
    prospect : Prospect or None
        How many probably will, which forecasts go by if all looks of a race say it.
    """

    stage: str
    n_train: int
    n_test: int
    max_configurations: int
    prospect: Prospect | None = field(default=None, repr=False)


def planned_prefix(
    problem: Problem,
    n_train: int,
    stage: str,
    max_configurations: int,
    most_tested: int | None = None,
) -> PlannedLook:
    """Plan a look at the first rows, with a limit on the test rows or without.

    Examples
    --------
    >>> planned_prefix(Problem(5, 1000), 90, "race", 5)
    PlannedLook(stage='race', n_train=90, n_test=910, max_configurations=5)
    """
    # A separate test set is used whole, whatever the look trains on.
    n_test = problem.n_validation or problem.n_samples - n_train
    if most_tested is not None:
        n_test = min(n_test, most_tested)
    return PlannedLook(stage, n_train, n_test, max_configurations)


def planned_folds(
    folds: Folds, stage: str, max_configurations: int
) -> tuple[PlannedLook, ...]:
    """Plan a look per fold."""
    return tuple(
        PlannedLook(stage, len(train), len(test), max_configurations)
        for train, test in folds
    )
