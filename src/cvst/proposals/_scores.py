"""Losses on a scale that a model can learn.

Losses of hyper-parameters have a long tail: a divergent net may be a thousand times
worse than the best, and a model of raw losses would spend itself on the tail.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from cvst._typing import FloatArray

__all__ = ["clipped_scores", "normal_scores"]


def normal_scores(losses: FloatArray) -> FloatArray:
    """Replace losses by the normal quantiles of their ranks.

    Examples
    --------
    >>> normal_scores(np.array([5.0, 1e9, 7.0])).round(2)
    array([-0.97,  0.97,  0.  ])
    """
    # Half a rank less: the quantile of the worst would be infinite.
    scores: FloatArray = ndtri((rankdata(losses) - 0.5) / max(len(losses), 1))
    return scores


def clipped_scores(losses: FloatArray) -> FloatArray:
    """Centre and scale by the better half, and bend what is far worse.

    The unit is the distance from the best to the median loss. Above the median the
    scores grow like the logarithm, up to 3: far worse is worse, but not much.

    Examples
    --------
    >>> clipped_scores(np.array([0.0, 1.0, 2.0, 1e9])).round(2)
    array([-1.  , -0.33,  0.29,  3.  ])
    """
    middle = np.median(losses)
    unit = middle - losses.min()
    # Half of the losses or more tie with the best, so there is no unit.
    if unit <= 0:
        return normal_scores(losses)
    scores = (losses - middle) / unit
    # The logarithm starts with slope 1, so that there is no kink at the median.
    bent = np.minimum(np.log1p(np.maximum(scores, 0)), 3)
    result: FloatArray = np.where(scores > 0, bent, scores)
    return result
