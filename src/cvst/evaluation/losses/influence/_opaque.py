"""A scorer that is only a function of a fitted model and rows: its values on blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from cvst._sklearn_compat import asked_by, num_samples, routing_enabled
from cvst._targets import to_array
from cvst._typing import FloatArray, IntArray
from cvst.evaluation._protocol import MODEL, FittedModel
from cvst.evaluation._rows import own_copy, take, writable
from cvst.evaluation.losses._pointwise import Assess, Assessed
from cvst.evaluation.losses.influence._jackknife import BlockMeans, all_on_one_row
from cvst.evaluation.losses.influence._remembering import remembering
from cvst.evaluation.losses.influence._whole import (
    AskedScore,
    Measured,
    blocks_of,
    quiet_blocks,
    remarked,
)
from cvst.exceptions import UnsupportedScoreError

__all__ = ["OpaqueScore"]

# What a score that is the only one may be called, as in scikit-learn.
ONLY = "score"

# The scorer is called for each block, so there are not many.
N_OPAQUE_BLOCKS = 20

# Of three classes or more, one with fewer rows may be missing in some blocks: else it
# would leave too few blocks for scores that hardly depend on it.
FEWEST_OF_A_CLASS = 5


class OpaqueScore(AskedScore):
    """A callable ``scorer(estimator, X, y)`` that returns a number, or several.

    Parameters
    ----------
    scorer : callable
        Higher is better.
    name : str
        Name for messages.
    key : str, default=None
        Which number counts if it returns a dictionary.
    refit : str, default=None
        Which of the others is wanted in the end.
    """

    def __init__(
        self,
        scorer: Callable[..., Any],
        *,
        name: str,
        key: str | None = None,
        refit: str | None = None,
    ) -> None:
        super().__init__(name=name, top=0.0)
        self.response = MODEL
        self.scorer = scorer
        self.key = key
        self.refit = refit
        self.weighted = _takes_weights(scorer)

    def assess(self, y_true: Any, weights: Any = None) -> Assess:
        """Return the losses and the scores of fitted models for fixed test rows."""
        by_block = self._by_block(y_true, weights)

        def assessed(prediction: FittedModel, classes: Any) -> Assessed:
            del classes
            # The scorer is called for each block, but the model predicts once.
            prediction = remembering(prediction)
            everything, prediction = self._of_all(prediction, y_true, weights)
            score = self._chosen(everything)
            influence = by_block(prediction, score)
            others = None
            if isinstance(everything, Mapping):
                if self.refit is not None and self.refit not in everything:
                    raise self._without(self.refit, everything)
                others = {
                    str(name): self._number(one)
                    for name, one in everything.items()
                    if name != self.key
                }
            if np.isnan(score):
                return Assessed(np.zeros(len(influence)), score, others)
            return Assessed(self.top - score - influence, score, others)

        return assessed

    def measure(self, y_true: Any, weights: Any = None) -> Measured:
        """Return the function that measures fitted models for fixed test rows."""
        by_block = self._by_block(y_true, weights)

        def measured(prediction: FittedModel, classes: Any) -> tuple[float, FloatArray]:
            del classes
            prediction = remembering(prediction)
            found, prediction = self._of_all(prediction, y_true, weights)
            score = self._chosen(found)
            return score, by_block(prediction, score)

        return measured

    def value(self, y_true: Any, weights: Any = None) -> Callable[[Any, Any], float]:
        """Return the score of fitted models for fixed test rows, and nothing else."""

        def scored(prediction: FittedModel, classes: Any) -> float:
            del classes
            return self._chosen(self._of_all(prediction, y_true, weights)[0])

        return scored

    def __call__(
        self, estimator: Any, X: Any, y_true: Any = None, sample_weight: Any = None
    ) -> float:
        """Score a fitted estimator."""
        return self.value(y_true, sample_weight)(FittedModel(estimator, X), None)

    def _by_block(
        self, y: Any, weights: Any
    ) -> Callable[[FittedModel, float], FloatArray]:
        """Return the influence values of fitted models for fixed test rows."""

        @cache
        def dealt(n_points: int) -> tuple[list[IntArray], BlockMeans]:
            # The same for all models of a look.
            truth = np.zeros(n_points) if y is None else y
            by_class = self.classes is not None
            most = _most_blocks(truth) if by_class else N_OPAQUE_BLOCKS
            blocks = blocks_of(truth, most, by_class)
            if most < 2:
                blocks = np.zeros(n_points, dtype=np.intp)
            numbers = range(int(blocks.max()) + 1)
            mass = np.ones(n_points) if weights is None else np.asarray(weights, float)
            rows = [np.flatnonzero(blocks == number) for number in numbers]
            return rows, BlockMeans(blocks, mass)

        def influence(fitted: FittedModel, score: float) -> FloatArray:
            rows, by_means = dealt(num_samples(fitted.X))
            means = np.full(len(rows), np.nan)
            with quiet_blocks():
                for number, inside in enumerate(rows):
                    try:
                        found = self._call(fitted, y, weights, inside)
                        means[number] = self._chosen(found)
                    except (ValueError, ArithmeticError, Warning):
                        # A block may hold too little for the score, as one class.
                        continue
            return _of_ratio(score, means, by_means)

        return influence

    def _of_all(
        self, fitted: FittedModel, y: Any, weights: Any
    ) -> tuple[Any, FittedModel]:
        """Ask the scorer about all rows; return what to ask about blocks, too."""
        try:
            return self._call(fitted, y, weights), fitted
        except (ValueError, TypeError) as error:
            if "read-only" not in str(error):
                raise
        # The rows are those of all configurations. A scorer that writes into them gets
        # some of its own, for which no prediction is known.
        alone = FittedModel(fitted.model, fitted.X)
        return self._call(alone._replace(X=writable(fitted.X)), y, weights), alone

    def _call(
        self, fitted: FittedModel, y: Any, weights: Any, rows: IntArray | None = None
    ) -> Any:
        """Ask the scorer about some rows, all of them by default."""
        metadata = self.metadata
        if rows is not None:
            fitted, metadata = fitted.at(rows), metadata.at(rows)
            y, weights = take(y, rows), take(weights, rows)
        else:
            y, weights, metadata = own_copy(y), own_copy(weights), metadata.copied()
        values = [fitted.X] if y is None else [fitted.X, y]
        arguments = metadata.arguments
        if weights is not None and self.weighted:
            arguments["sample_weight"] = weights
        with remarked(metadata):
            return self.scorer(fitted.model, *values, **arguments)

    def _chosen(self, found: Any) -> float:
        """Return the number that counts."""
        if not isinstance(found, Mapping):
            wrong = self.refit if self.key in (None, self.name, ONLY) else self.key
            if wrong not in (None, self.key) or wrong not in (None, self.name, ONLY):
                raise UnsupportedScoreError(
                    f"scoring={self.name} returned one number, and none that is named "
                    f"{wrong!r}. Use refit=True, or SimplestNotWorse('alpha:-') for "
                    "the simplest configuration that is not worse than the best."
                )
            return self._number(found)
        if self.key in found:
            return self._number(found[self.key])
        raise self._without(self.key, found)

    def _without(self, key: str | None, found: Mapping[Any, Any]) -> Exception:
        """Return the error of a score that is not among those returned."""
        missing = "nothing says which of them to race on"
        if key is not None:
            missing = f"none of them is {key!r}"
        return UnsupportedScoreError(
            f"scoring={self.name} returned scores named {sorted(map(str, found))}, and "
            f"{missing}. Name the one to race on by refit= or race_by=."
        )

    def _number(self, found: Any) -> float:
        """Return a score as a float; arrays of one number are fine in scikit-learn."""
        try:
            return float(found.item() if isinstance(found, np.ndarray) else found)
        except (TypeError, ValueError) as error:
            raise UnsupportedScoreError(
                f"scoring={self.name} returned {found!r}, which is not a number. "
                "Return one number, higher is better, or a dictionary of them."
            ) from error


def _most_blocks(y_true: Any) -> int:
    """Return how many blocks there may be if each is to have rows of every class.

    On rows of which none is positive many scores are 0 by convention. Such zeros are
    alike for all models, so that blocks of them would make a test too sure.

    Examples
    --------
    >>> _most_blocks([0] * 90 + [1] * 7), _most_blocks([0] * 90 + [1] * 7 + [2] * 3)
    (7, 7)
    """
    truth = to_array(y_true)
    if truth.ndim > 1:
        return N_OPAQUE_BLOCKS
    counts = np.unique(truth, return_counts=True)[1]
    if len(counts) > 2:
        counts = counts[counts >= FEWEST_OF_A_CLASS]
    return int(min([N_OPAQUE_BLOCKS, *counts.tolist()]))


def _of_ratio(score: float, means: FloatArray, by_means: BlockMeans) -> FloatArray:
    """Return influence values where blocks without a score have none in the whole.

    The score is then about the mean m over the K blocks that have one, a ratio: the sum
    of their scores over their number. So the influence of a block is (score - m) times
    all blocks over K, and 0 without a score. Its square is by a factor of (K - 1) / K
    too small, as K blocks lie nearer to their own mean; what this is of the largest
    number of blocks is left as it is.
    """
    blocks, mass, sizes = by_means.blocks, by_means.mass, by_means.sizes
    there = sizes > 0
    known = np.isfinite(means) & there
    n_known = int(known.sum())
    if n_known < 2:
        first = np.argmax(mass > 0) if not n_known else np.argmax(known[blocks] * mass)
        return all_on_one_row(score, mass, int(first))
    if n_known == N_OPAQUE_BLOCKS:
        return by_means.on_first_rows(means)
    usual = (N_OPAQUE_BLOCKS - 1) / N_OPAQUE_BLOCKS
    correction = np.sqrt(usual * n_known / (n_known - 1))
    spread = correction * sizes[there].sum() / sizes[known].sum()
    return np.asarray(by_means.on_first_rows(means) * spread)


def _takes_weights(scorer: Any) -> bool:
    if routing_enabled():
        return True  # then there are weights only if it has requested them
    try:
        # scikit-learn's way to ask an estimator takes anything, and hands it on.
        asked = asked_by(scorer)
        score = scorer if asked is None else asked.score
        return "sample_weight" in signature(score).parameters
    except (TypeError, ValueError):
        return False
