"""A look that lies ahead: how large it will be, not which configurations it has."""

from __future__ import annotations

from dataclasses import dataclass

from cvst.race._problem import Folds, Problem

__all__ = ["PlannedLook", "planned_folds", "planned_prefix"]


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
    """

    stage: str
    n_train: int
    n_test: int
    max_configurations: int


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
