"""Cohen's kappa: one minus the observed over the expected disagreement."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.evaluation.losses._pointwise import LabelArray
from cvst.evaluation.losses.influence._counts import (
    Counts,
    CountScore,
    Gradient,
    coded,
    flat_labels,
)
from cvst.exceptions import InvalidInputError

__all__ = ["KappaScore"]


class KappaScore(CountScore):
    """Cohen's kappa, with or without weights for how far labels are apart.

    With the weight w of a pair of labels, the shares c of the pairs and the shares t
    and p of true and predicted labels: 1 - sum(w c) / sum(w t p).

    Parameters
    ----------
    weights : {"linear", "quadratic"} or None
        Disagreement by the distance of the labels in their order, its square, or all
        alike.
    labels : array-like, default=None
        The labels that count; rows with another one are left out.
    """

    def __init__(self, *, weights: str | None = None, labels: Any = None) -> None:
        super().__init__(_not_counted, name="cohen_kappa_score", labels=labels)
        self.weights = weights

    def for_target(self, estimator: Any, y: Any) -> Self:
        """Learn the labels, some of which must be in ``y``."""
        labels = self.labels
        if labels is not None and not np.isin(labels, flat_labels(y)).any():
            raise InvalidInputError(
                f"None of labels={labels.tolist()} of {self.name} is in y. Leave them "
                "out, or list classes of y."
            )
        return super().for_target(estimator, y)

    def _of_labels(
        self,
        truth: LabelArray,
        predicted: LabelArray,
        mass: FloatArray,
        looked_up: IntArray | None,
    ) -> tuple[float, FloatArray]:
        classes, true, given = coded(truth, predicted, self.classes, looked_up)
        places = self._order(classes, np.union1d(true, given))
        rows, columns = places[true], places[given]
        counted = (rows >= 0) & (columns >= 0)
        kept = np.where(counted, mass, 0.0)
        total = kept.sum()
        if total == 0:
            return float("nan"), np.zeros(len(true))
        n_labels = int(places.max()) + 1
        table = self._disagreement(n_labels)
        true_share = np.bincount(rows[counted], kept[counted], n_labels)
        given_share = np.bincount(columns[counted], kept[counted], n_labels)
        apart = np.where(counted, table[rows, columns], 0.0)
        # In weights of rows, so that whole numbers stay whole.
        observed = kept @ apart * total
        expected = true_share @ table @ given_share
        if expected == 0:
            return float("nan"), np.zeros(len(true))
        by_chance = (table @ given_share)[rows] + (true_share @ table)[columns]
        values = -(apart * total - observed / expected * by_chance) * total / expected
        # Rows that do not count have no influence, the others more of it.
        share = total / mass.sum()
        values = np.where(counted, (values - kept @ values / total) / share, 0.0)
        return float(1.0 - observed / expected), values

    def _order(self, classes: LabelArray, present: Any) -> Any:
        """Return the place of each class among the labels that count, -1 for none."""
        places = np.full(len(classes), -1)
        if self.labels is None:
            # scikit-learn's table has labels that occur, so distances count steps among
            # those.
            places[present] = np.arange(len(present))
        else:
            chosen = np.searchsorted(classes, self.labels)
            places[chosen] = np.arange(len(self.labels))
        return places

    def _disagreement(self, n_labels: int) -> FloatArray:
        if self.weights is None:
            return 1.0 - np.eye(n_labels)
        steps = np.arange(n_labels, dtype=float)
        distances = np.abs(steps[:, None] - steps)
        return distances if self.weights == "linear" else distances**2


def _not_counted(counts: Counts) -> Gradient:
    raise NotImplementedError("kappa needs pairs of labels")
