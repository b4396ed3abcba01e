"""What passes between a race that proposes and its source of configurations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cvst._typing import Configuration, FloatArray

__all__ = ["Plan", "Source", "Trial"]


@dataclass(frozen=True, slots=True)
class Trial:
    """What a source of proposals learns of one look at one configuration.

    Attributes
    ----------
    configuration : dict
        The member of a family with most rounds.
    loss : float
        Mean loss of the best member, infinite if the fit failed.
    fidelity : float
        Training rows as a share of the largest rung.
    seconds : float
        What the look took.
    """

    configuration: Configuration
    loss: float
    fidelity: float
    seconds: float


class Source(Protocol):
    """Where new configurations come from."""

    def propose(
        self, trials: Sequence[Trial], count: int, seed: Sequence[int]
    ) -> list[list[Configuration]]:
        """Return families of new configurations, fewer if there are no more.

        Parameters
        ----------
        trials : sequence of Trial
            All looks so far, in order.
        count : int
            How many families are wanted.
        seed : sequence of int
            The only source of randomness.
        """
        ...

    def enlarge(self, n_members: int) -> None:
        """Let averages that are proposed have at least this many members, if they can.

        It is asked only where looks of the screening have some of the members.
        """
        ...

    def seconds(
        self, configurations: Sequence[Configuration], trials: Sequence[Trial]
    ) -> FloatArray:
        """Forecast what looks at unseen configurations take, by others like them."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What the next look is about: families that are known, or new ones.

    Attributes
    ----------
    stage : str
        Name of the part of the race.
    families : tuple of int
        What takes part; empty if new ones are to be proposed.
    rung, fold : int
        Where.
    alone : bool
        Whether it has to know what all others have found.
    """

    stage: str
    families: tuple[int, ...]
    rung: int = 0
    fold: int = 0
    alone: bool = False
