"""Proposals from several proposers in turn, by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cvst._text import ShortRepr
from cvst._typing import FloatArray
from cvst.exceptions import InvalidInputError
from cvst.proposals._history import History
from cvst.proposals._local import LocalProposer
from cvst.proposals._protocol import Proposer
from cvst.proposals._random import RandomProposer
from cvst.proposals._space import as_choices

__all__ = ["MixedProposer"]


@dataclass(frozen=True, repr=False)
class MixedProposer(ShortRepr):
    """Ask a model most of the time, else stay near the best, or draw at random.

    A model can be wrong for long: random points correct it, and local steps do not
    need it.

    Parameters
    ----------
    model : Proposer
        Asked for all other proposals.
    random_share : float, default=0.1
        Probability of a random point.
    local_share : float, default=0.2
        Probability of a point near the best ones.
    """

    model: Proposer
    random_share: float = 0.1
    local_share: float = 0.2
    local: Proposer = field(default_factory=LocalProposer)

    def __post_init__(self) -> None:
        """Check the shares before anything is proposed."""
        shares = (self.random_share, self.local_share)
        if min(shares) < 0 or sum(shares) > 1:
            raise InvalidInputError(
                f"random_share={self.random_share} and local_share={self.local_share} "
                "are probabilities of different things: neither may be negative, and "
                "their sum is at most 1. Lower one of them."
            )

    def propose(
        self,
        n_choices: Sequence[int],
        history: History,
        count: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Propose ``count`` points; see :class:`Proposer`."""
        # Only a check: with a count of 0 none of the three is asked.
        as_choices(n_choices, history.points.shape[1], count)
        dice = rng.random(count)
        random = dice < self.random_share
        local = ~random & (dice < self.random_share + self.local_share)
        points = np.empty((count, len(n_choices)))
        for who, mask in (
            (RandomProposer(), random),
            (self.local, local),
            (self.model, ~random & ~local),
        ):
            if mask.any():
                wanted = int(mask.sum())
                points[mask] = who.propose(n_choices, history, wanted, rng)
        return points
