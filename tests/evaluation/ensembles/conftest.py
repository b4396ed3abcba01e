"""Rows with ties, for libraries that put them into bins."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(scope="session")
def draw_rows():
    """Draw inputs of few values, targets, and weights of 60 training rows."""

    def draw(seed):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 5, size=(90, 3)).astype(float)
        return X, X[:, 0] - X[:, 1] + rng.normal(size=90), rng.random(60) + 0.2

    return draw


@pytest.fixture(scope="module")
def make_weighted_task(make_task):
    """Make a task whose fits may have weights."""

    def make(estimator, grid, X, y, weights=None, response="predict"):
        fit_params = {} if weights is None else {"sample_weight": weights}
        return make_task(
            estimator, grid, X, y, fit_params=fit_params, response=response
        )

    return make
