"""A score of all test rows together, as losses of single rows.

Such a score is a function of the rows' distribution. Moving a little of its mass to one
row changes the score in proportion to the row's *influence value*; the values have mean
zero, and their spread is that of the score. So the loss of a row is

    top - score - (influence value of the row),

whose mean is the loss that stands for the score, and whose spread is what a paired test
needs. The score itself is never estimated: it is computed from all rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from cvst._targets import to_array
from cvst._typing import FloatArray, IntArray
from cvst.evaluation._rows import Metadata
from cvst.evaluation.losses._pointwise import Assess, Assessed, PointwiseLoss, RowLosses
from cvst.parallel import without_warnings

__all__ = [
    "AskedScore",
    "Measured",
    "WholeScore",
    "blocks_of",
    "quiet_blocks",
    "remarked",
    "shares_of",
]

# The score of one prediction on fixed rows, and the influence value of each row.
Measured: TypeAlias = Callable[[Any, Any], tuple[float, FloatArray]]

# No block has fewer rows, unless there are not even two of them.
FEWEST_ROWS = 5


class WholeScore(PointwiseLoss):
    """A score that is not a mean over rows, and the influence value of each row.

    Parameters
    ----------
    name : str
        Name for messages.
    response : str
        Method of the fitted estimator that makes the prediction.
    top : float
        Largest value of the score, which has the loss 0; 0 for minus an error, and
        where there is no largest value.
    """

    # A difference that is due to chance shifts the losses of all rows: their mean and
    # spread are right, but in every single row the same model would rank first.
    rankable = False

    def __init__(self, *, name: str, response: str = "predict", top: float = 1.0):
        super().__init__(_no_loss_of_one_row, response=response, name=name)
        self.top = top

    @abstractmethod
    def measure(self, y_true: Any, weights: Any = None) -> Measured:
        """Return the function that measures predictions for fixed test rows.

        Its values have a weighted mean of zero; a score of NaN is undefined.
        """

    def assess(self, y_true: Any, weights: Any = None) -> Assess:
        """Return the losses and the score of predictions for fixed test rows."""
        measured = self.measure(y_true, weights)

        def assessed(prediction: Any, classes: Any) -> Assessed:
            score, influence = measured(prediction, classes)
            if np.isnan(score):
                # Nothing can be said on these rows: they tell no models apart.
                return Assessed(np.zeros(len(influence)), float("nan"))
            return Assessed(self.top - score - influence, float(score))

        return assessed

    def bind(self, y_true: Any, weights: Any = None) -> RowLosses:
        """Return the losses of predictions for fixed test rows."""
        assessed = self.assess(y_true, weights)
        return lambda prediction, classes: assessed(prediction, classes).losses

    def score(self, mean_losses: Any, y_true: Any, weights: Any = None) -> FloatArray:
        """Turn mean losses into scores."""
        del y_true, weights
        return np.asarray(self.top - np.asarray(mean_losses, dtype=float))


class AskedScore(WholeScore):
    """A score that is asked for its value on all rows, and on some of them.

    Nothing else is known about it, so it may take further arguments.
    """

    is_asked = True

    metadata = Metadata()

    def with_metadata(self, metadata: Metadata) -> Self:
        """Return the score for test rows that come with further arguments."""
        if not metadata:
            return self
        resolved = copy(self)
        resolved.metadata = metadata
        return resolved


@contextmanager
def remarked(metadata: Metadata) -> Iterator[None]:
    """Add what is to be known about further arguments to an error of the score."""
    try:
        yield
    except Exception as error:
        for remark in metadata.remarks:
            error.add_note(remark)
        raise


@contextmanager
def quiet_blocks() -> Iterator[None]:
    """Say nothing of a score that is undefined on some rows, which nobody asked for.

    If it is undefined on all rows, that is said where these are scored.
    """
    with without_warnings(UndefinedMetricWarning):
        yield


def _no_loss_of_one_row(y_true: Any, prediction: Any) -> FloatArray:
    raise NotImplementedError("the score belongs to all rows together")


def blocks_of(y_true: Any, most: int, by_class: bool) -> IntArray:
    """Deal the rows out to blocks of nearly equal size, class by class if wanted.

    Parameters
    ----------
    y_true : array-like
        Targets of the test rows.
    most : int
        Most blocks; fewer for few rows.
    by_class : bool
        Whether every block gets its share of each class.

    Returns
    -------
    ndarray of shape (n_points,)
        Number of each row's block, from 0.

    Examples
    --------
    >>> blocks_of(np.zeros(12), 40, by_class=False)
    array([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1])
    """
    truth = to_array(y_true)
    n_points = len(truth)
    n_blocks = min(n_points, max(2, min(most, n_points // FEWEST_ROWS)))
    dealt = np.arange(n_points) % n_blocks
    if not by_class or truth.ndim > 1:
        return dealt
    blocks = np.empty(n_points, dtype=np.intp)
    codes = np.unique(truth, return_inverse=True)[1]
    blocks[np.argsort(codes, kind="stable")] = dealt
    return blocks


def shares_of(n_points: int, weights: Any) -> FloatArray:
    """Return what share of the whole weight each row has."""
    if weights is None:
        return np.full(n_points, 1.0 / n_points)
    given = np.asarray(weights, dtype=float)
    return np.asarray(given / given.sum())
