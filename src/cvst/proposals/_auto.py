"""The proposer used unless another is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cvst._text import ShortRepr
from cvst._typing import FloatArray
from cvst.proposals._gaussian import GaussianProposer
from cvst.proposals._history import History
from cvst.proposals._mixed import MixedProposer
from cvst.proposals._protocol import Proposer

__all__ = ["AutoProposer"]


@dataclass(frozen=True, repr=False)
class AutoProposer(ShortRepr):
    """A Gaussian process, with some random and local proposals once there are many.

    On tables of everyday models it was the best from 20 to 200 trials (see
    ``benchmarks/results/proposers.md``). With more trials it learns from part of them
    only, so other proposals guard against what it no longer sees.

    Parameters
    ----------
    n_gaussian : int, default=200
        Number of evaluations after which the mixture takes over.
    early, late : Proposer, optional
        Asked before and after that.
    """

    # The comparison of proposers ends at 200 trials. There the mixture lost to the pure
    # process, in 16 runs (benchmarks/results/proposers.md).
    n_gaussian: int = 200
    early: Proposer = field(default_factory=GaussianProposer)
    late: Proposer = field(default_factory=lambda: MixedProposer(GaussianProposer()))

    def propose(
        self,
        n_choices: Sequence[int],
        history: History,
        count: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Propose ``count`` points; see :class:`Proposer`."""
        # Decided by the length of the history, not by a count kept here: a resumed
        # search asks whom the uninterrupted one would have asked.
        model = self.early if len(history) < self.n_gaussian else self.late
        return model.propose(n_choices, history, count, rng)
