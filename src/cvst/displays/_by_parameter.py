"""What pictures with one axis per hyper-parameter are computed from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from cvst._searched import FittedSearch
from cvst._typing import BoolArray, Configuration, FloatArray
from cvst.displays._configurations import (
    SeenConfigurations,
    chosen_names,
    evidence_labels,
)
from cvst.displays._parameter_axis import ParameterAxis, parameter_axis
from cvst.displays._scores import LOSS
from cvst.race import RaceState, Strategy

__all__ = ["ByParameter"]


class ByParameter:
    """Configurations by their hyper-parameters, with losses that can be compared.

    The parameters are those of :class:`SlicesDisplay`.
    """

    def __init__(
        self,
        *,
        axes: Sequence[ParameterAxis],
        losses: FloatArray,
        confirmed: BoolArray,
        winner: int,
        quantity: str = LOSS,
        by_folds: bool = True,
    ) -> None:
        self.axes = axes
        self.losses = losses
        self.confirmed = confirmed
        self.winner = winner
        self.quantity = quantity
        self.by_folds = by_folds

    @property
    def labels(self) -> tuple[str, str]:
        """What a legend calls those with less evidence than the winner, and others."""
        return evidence_labels(self.by_folds)

    @classmethod
    def from_search(
        cls,
        search: FittedSearch,
        *,
        parameters: Sequence[str] | None = None,
        score: str | None = None,
    ) -> Self:
        """Read a fitted search.

        Parameters
        ----------
        search : RaceGridSearchCV, RaceRandomSearchCV or RaceSearchCV
            A fitted search.
        parameters : sequence of str, optional
            Which to draw, and in which order; all that vary by default.
        score : str, optional
            Name of a score that was recorded; its negative takes the place of the
            losses, which are drawn by default.

        Returns
        -------
        Self
            A display, not drawn yet.
        """
        return cls._of(SeenConfigurations.from_search(search, score), parameters)

    @classmethod
    def from_state(
        cls,
        state: RaceState,
        configurations: Sequence[Configuration] | None = None,
        *,
        parameters: Sequence[str] | None = None,
        strategy: Strategy | None = None,
    ) -> Self:
        """Read a race that may still be under way.

        Parameters
        ----------
        state : RaceState
            The race.
        configurations : sequence of dict, optional
            Its configurations, where the state does not know them.
        parameters : sequence of str, optional
            Which to draw, and in which order; all that vary by default.
        strategy : Strategy, optional
            The strategy of the race, which ranks the survivors.

        Returns
        -------
        Self
            A display, not drawn yet.
        """
        seen = SeenConfigurations.from_state(state, configurations, strategy)
        return cls._of(seen, parameters)

    @classmethod
    def _of(cls, seen: SeenConfigurations, parameters: Sequence[str] | None) -> Self:
        names = chosen_names(seen, parameters)
        return cls(
            axes=tuple(parameter_axis(name, seen.configurations) for name in names),
            # Not the losses as they were: those of early drops come from few rows.
            losses=seen.comparable,
            confirmed=seen.confirmed,
            winner=seen.winner,
            quantity=seen.quantity,
            by_folds=seen.by_folds,
        )
