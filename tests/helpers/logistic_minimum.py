"""What kernel logistic regression minimises, and how far from the minimum one is."""

from __future__ import annotations

import numpy as np
from scipy.special import expit


def objective(coefficients, kernel, y, alpha):
    """Return the sum of the losses and the penalty."""
    decision = kernel @ coefficients
    losses = np.logaddexp(0, np.where(y, -decision, decision))
    return losses.sum() + alpha / 2 * coefficients @ decision


def violation(coefficients, kernel, y, alpha):
    """Return the derivative by the decision function: residuals less the penalty."""
    return y - expit(kernel @ coefficients) - alpha * coefficients
