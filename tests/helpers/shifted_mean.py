"""A regressor that costs nothing and whose best configuration is known."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin


class ShiftedMean(RegressorMixin, BaseEstimator):
    """Predicts the mean plus a shift: the nearer to 0, the better."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        self.mean_ = float(np.mean(y))
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_ + self.shift)
