"""The winner among the survivors (Algorithm 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from cvst._typing import FloatArray
from cvst.race._rounding import without_rounding

__all__ = ["MeanRank"]


@dataclass(frozen=True, slots=True)
class MeanRank:
    """Mean rank over the last steps, ranks taken among the survivors.

    Examples
    --------
    >>> MeanRank(window=2).scores(np.array([[9.0, 0.1, 0.3], [0.0, 0.2, 0.1]]))
    array([1.5, 1.5])
    """

    window: int

    def scores(self, mean_losses: FloatArray) -> FloatArray:
        """Return mean ranks; those that failed in the last step come last."""
        recent = mean_losses[:, -max(1, self.window) :]
        # The paper ranks within the whole column, the R package among survivors with
        # ties averaged: other configurations no longer matter, so we follow R.
        known = np.where(np.isnan(recent), np.inf, recent)
        ranks = rankdata(without_rounding(known), axis=0)
        scores: FloatArray = ranks.mean(axis=1)
        return np.where(np.isnan(recent[:, -1]), np.inf, scores)
