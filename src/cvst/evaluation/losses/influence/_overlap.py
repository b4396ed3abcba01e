"""Precision, recall, F, Jaccard and balanced accuracy: overlaps of label counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.evaluation.losses.influence._counts import Counts, Gradient

__all__ = ["MeanRecall", "Overlap"]


@dataclass(frozen=True)
class Overlap:
    """Hits of a label over a mix of true, predicted and hit rows, averaged over labels.

    (0, 1, 0) is precision, (1, 0, 0) recall, (b, 1 - b, 0) an F-measure and (1, 1, -1)
    Jaccard's index.

    Parameters
    ----------
    true_share, predicted_share, both_share : float
        The mix.
    average : {"binary", "macro", "weighted", "micro"}
        Of one label only, the plain mean over labels, weighted by how often they are
        true, or of the sums over all labels.
    labels : array-like or None
        The labels to average; None for all that occur.
    undefined : float
        Value of a label that neither is true nor predicted; NaN leaves it out.
    """

    true_share: float
    predicted_share: float
    both_share: float
    average: str
    labels: Any = None
    undefined: float = 0.0

    def __call__(self, counts: Counts) -> Gradient:
        """Return the score and its gradient."""
        chosen = self._chosen(counts)
        sizes = (
            self.true_share * counts.true
            + self.predicted_share * counts.predicted
            + self.both_share * counts.both
        )
        if self.average == "micro":
            # Every label gets the sums and one of them is averaged, so that the
            # formulas below serve all averages.
            total = np.full(len(sizes), sizes[chosen].sum())
            hits = np.full(len(sizes), counts.both[chosen].sum())
            return self._averaged(counts, chosen[:1], hits, total, chosen)
        return self._averaged(counts, chosen, counts.both, sizes, chosen)

    def _averaged(
        self,
        counts: Counts,
        averaged: IntArray,
        hits: FloatArray,
        sizes: FloatArray,
        touched: IntArray,
    ) -> Gradient:
        """Average hits over sizes of some labels, which depend on touched labels."""
        n_classes = len(sizes)
        nothing = np.zeros(n_classes)
        ratios = np.full(n_classes, self.undefined)
        known = sizes > 0
        ratios[known] = hits[known] / sizes[known]
        averaged = averaged[~np.isnan(ratios[averaged])]
        if not len(averaged):
            return Gradient(self.undefined, nothing, nothing, nothing)
        # As in scikit-learn, labels count alike where none of them is ever true.
        is_weighted = self.average == "weighted" and np.any(counts.true[averaged] > 0)
        weights = counts.true[averaged] if is_weighted else np.ones(len(averaged))
        weights = weights / weights.sum()
        score = float(weights @ ratios[averaged])
        # The gradient of a ratio h / d is (dh - ratio dd) / d.
        factors = nothing.copy()
        factors[averaged] = np.where(
            known[averaged], weights / np.where(known, sizes, 1.0)[averaged], 0.0
        )
        if self.average == "micro":
            # The one ratio moves with the counts of each of its labels.
            factors[touched] = factors[averaged[0]]
        slopes = factors * np.nan_to_num(ratios)
        true = -self.true_share * slopes
        if is_weighted:
            # The weights are counts as well, and move with the rows.
            total = counts.true[averaged].sum()
            true[averaged] += (ratios[averaged] - score) / total
        both = factors - self.both_share * slopes
        return Gradient(score, true, -self.predicted_share * slopes, both)

    def _chosen(self, counts: Counts) -> IntArray:
        if self.labels is None:
            return np.flatnonzero(counts.present)
        return np.searchsorted(counts.classes, np.asarray(self.labels))


@dataclass(frozen=True)
class MeanRecall:
    """Balanced accuracy: the mean over the true labels of the share that is found.

    Parameters
    ----------
    adjusted : bool
        Whether chance is 0 and not one over the number of labels.
    """

    adjusted: bool = False

    def __call__(self, counts: Counts) -> Gradient:
        """Return the score and its gradient."""
        # scikit-learn leaves out labels that are only predicted.
        occurring = counts.classes[counts.true > 0]
        recall = Overlap(1.0, 0.0, 0.0, "macro", occurring)(counts)
        if not self.adjusted:
            return recall
        chance = 1.0 / len(occurring)
        # 0 / 0, as in scikit-learn.
        if chance == 1.0:
            return recall._replace(score=float("nan"))
        score, *slopes = recall
        rise = 1.0 / (1.0 - chance)
        return Gradient((score - chance) * rise, *(rise * slope for slope in slopes))
