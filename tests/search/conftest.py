"""Small problems for the search tests."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification


@pytest.fixture
def regression():
    """One input, a smooth target, 220 rows: the first subset has 20."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(220, 1))
    y = np.sinc(X[:, 0]) + rng.normal(scale=0.1, size=220)
    return X, y


@pytest.fixture
def classification():
    """Three classes, 330 rows."""
    return make_classification(
        330, 6, n_informative=4, n_classes=3, class_sep=1.5, random_state=0
    )
