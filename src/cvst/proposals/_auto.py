"""The proposer used unless another is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cvst._typing import FloatArray
from cvst.proposals._forest import ForestProposer
from cvst.proposals._gaussian import GaussianProposer
from cvst.proposals._history import History
from cvst.proposals._mixed import MixedProposer
from cvst.proposals._protocol import Proposer

__all__ = ["AutoProposer"]


@dataclass(frozen=True)
class AutoProposer:
    """A Gaussian process while there are few evaluations, a forest afterwards.

    Parameters
    ----------
    n_gaussian : int, default=100
        The forest takes over after so many evaluations.
    """

    n_gaussian: int = 100
    few: Proposer = field(default_factory=GaussianProposer)
    many: Proposer = field(default_factory=lambda: MixedProposer(ForestProposer()))

    def propose(
        self,
        n_choices: Sequence[int],
        history: History,
        count: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Propose ``count`` points; see :class:`Proposer`."""
        model = self.few if len(history) < self.n_gaussian else self.many
        return model.propose(n_choices, history, count, rng)
