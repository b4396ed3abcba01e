"""What every proposer does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from cvst._typing import FloatArray
from cvst.proposals._history import History

__all__ = ["Proposer"]


@runtime_checkable
class Proposer(Protocol):
    """Says where to look next. Write your own: it is one method on arrays."""

    def propose(
        self,
        n_choices: Sequence[int],
        history: History,
        count: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Propose points to evaluate.

        Parameters
        ----------
        n_choices : sequence of int, length d
            For each parameter the number of its choices, or 0 for a number in [0, 1].
        history : History
            What was observed; may be empty, and every fit may have failed.
        count : int
            How many points are wanted.
        rng : numpy.random.Generator
            The only source of randomness.

        Returns
        -------
        ndarray of shape (count, d)
            Numbers in [0, 1] and whole codes, never NaN: the caller knows which
            parameters are inactive.
        """
        ...
