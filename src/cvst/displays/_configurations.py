"""What is known of each configuration at the end: its loss, and how it got it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cvst._searched import FittedSearch
from cvst._text import shared_path
from cvst._typing import BoolArray, Configuration, FloatArray, IntArray
from cvst._values import exact_text
from cvst.displays._race import Race, check_started
from cvst.displays._scores import LOSS
from cvst.exceptions import InvalidInputError
from cvst.race import RaceState, Strategy
from cvst.race.machinery import (
    as_much_as,
    comparable_means,
    shared_deciding_looks,
)

__all__ = ["SeenConfigurations", "chosen_names", "evidence_labels"]


@dataclass(frozen=True, slots=True)
class SeenConfigurations:
    """Configurations that took part in a race, with one loss each.

    Attributes
    ----------
    configurations : tuple of dict
        Parameters, named without the path that all of them share.
    numbers : ndarray of shape (n_seen,), int
        Number of each in the race.
    losses : ndarray of shape (n_seen,)
        Mean loss of the last look, or over the folds of its last stage; NaN if failed.
    comparable : ndarray of shape (n_seen,)
        The same as if all had been seen on the same rows: a number for each
        configuration plus one for each set of rows, fitted to all looks. The set that
        most configurations have seen counts 0.
    n_train : ndarray of shape (n_seen,), int
        Training rows of these looks.
    confirmed : ndarray of shape (n_seen,), bool
        Those with as much evidence as the winner: as many folds and training rows.
    by_folds : bool
        Whether the winner ran folds; if not, nothing is confirmed, and rows alone are
        compared.
    winner : int
        Place of the winner here.
    quantity : str
        What the losses are.
    """

    configurations: tuple[Configuration, ...]
    numbers: IntArray
    losses: FloatArray
    comparable: FloatArray
    n_train: IntArray
    confirmed: BoolArray
    by_folds: bool
    winner: int
    quantity: str = LOSS

    @classmethod
    def from_search(
        cls, search: FittedSearch, score: str | None = None
    ) -> SeenConfigurations:
        """Read a fitted search."""
        race = Race.from_search(search, score)
        return cls.of(race, search.cv_results_["params"])

    @classmethod
    def from_state(
        cls,
        state: RaceState,
        configurations: Sequence[Configuration] | None,
        strategy: Strategy | None,
    ) -> SeenConfigurations:
        """Read a race that may still be under way."""
        known = list(state.configurations if configurations is None else configurations)
        if len(known) != state.n_configurations:
            raise InvalidInputError(
                f"{len(known)} configurations for a race of {state.n_configurations}: "
                "give one for each."
            )
        return cls.of(Race.from_state(state, known, strategy=strategy), known)

    @classmethod
    def of(
        cls, race: Race, configurations: Sequence[Configuration]
    ) -> SeenConfigurations:
        """Collect the looks that decide about each."""
        state = race.state
        check_started(state)
        losses = np.full(state.n_configurations, np.nan)
        n_train = np.zeros(state.n_configurations, dtype=np.intp)
        for members, _, looks in shared_deciding_looks(state):
            losses[members] = state.mean_losses[np.ix_(members, looks)].mean(axis=1)
            n_train[members] = state.subset_sizes[looks[-1]]
        # What no look has seen yet has no rows and no place in the pictures.
        numbers = np.flatnonzero(n_train)
        winner = int(race.order[0])
        as_much, by_folds = as_much_as(state, winner)
        path = shared_path(configurations)
        short = [
            {str(name).removeprefix(path): value for name, value in one.items()}
            for one in configurations
        ]
        return cls(
            tuple(short[number] for number in numbers.tolist()),
            numbers,
            losses[numbers],
            comparable_means(state)[numbers],
            n_train[numbers],
            as_much[numbers],
            by_folds,
            # While a race runs, the first may wait for its first look.
            int(np.flatnonzero(numbers == winner)[0]) if winner in numbers else 0,
            race.quantity,
        )

    def varying(self) -> tuple[str, ...]:
        """Return the parameters that differ, in the order of their appearance."""
        names = dict.fromkeys(name for one in self.configurations for name in one)
        # Not None, which may be a value of the parameter.
        nothing = object()
        return tuple(
            name
            for name in names
            # By their text: values may be lists or estimators, which have no hash.
            if len({exact_text(one.get(name, nothing)) for one in self.configurations})
            > 1
        )


def chosen_names(
    seen: SeenConfigurations, parameters: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the parameters asked for, by default those that vary."""
    varying = seen.varying()
    if parameters is None:
        return varying
    names = dict.fromkeys(name for one in seen.configurations for name in one)
    # A name with its path means the same as one without.
    wanted = []
    for name in parameters:
        short = [one for one in names if name == one or name.endswith(f"__{one}")]
        if not short:
            raise InvalidInputError(
                f"{name!r} is not a hyper-parameter of this race. Use one of "
                f"{', '.join(map(repr, names))}."
            )
        wanted.append(short[0])
    return tuple(wanted)


def evidence_labels(by_folds: bool) -> tuple[str, str]:
    """Name those with less evidence than the winner, and those with as much.

    A race that ended before its folds has confirmed nothing, nor has one without folds.

    Examples
    --------
    >>> evidence_labels(True)
    ('fewer folds', 'as many folds as the winner')
    """
    what = "folds" if by_folds else "rows"
    return f"fewer {what}", f"as many {what} as the winner"
