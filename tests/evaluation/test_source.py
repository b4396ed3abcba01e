"""From a look to losses, their means and the uncertainty of these."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import sem
from sklearn.linear_model import Ridge
from statsmodels.stats.weightstats import DescrStatsW

from cvst.evaluation import (
    DataSource,
    RaceData,
    batch_evaluator_for,
    resolve_loss,
    resolve_rescaling,
)
from cvst.race import Look


def observed(weights=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=60)
    estimator = Ridge()
    grid = [{"alpha": alpha} for alpha in (0.1, 10.0, 1000.0)]
    source = DataSource(
        estimator=estimator,
        configurations=grid,
        data=RaceData(X=X, y=y, n_samples=60, score_weights=weights),
        loss=resolve_loss("neg_mean_squared_error", estimator, y),
        rescaling=resolve_rescaling(None, estimator, grid, False),
        evaluator=batch_evaluator_for(estimator),
    )
    return source.observe(Look(slice(0, 40), slice(40, 60), 40, np.arange(3)))


def test_standard_errors_are_those_of_the_pointwise_losses():
    """Witness: scipy's standard error of the mean."""
    seen = observed()
    np.testing.assert_allclose(seen.standard_errors, sem(seen.losses, axis=1))


def test_rows_of_equal_weight_count_as_without_weights():
    """Weights that say nothing, and rows of weight zero, change nothing."""
    weights = np.full(60, 3.0)
    np.testing.assert_allclose(
        observed(weights).standard_errors, observed().standard_errors
    )
    weights[-5:] = 0
    seen = observed(weights)
    np.testing.assert_allclose(seen.standard_errors, sem(seen.losses, axis=1))


def test_weighted_means_are_as_uncertain_as_bootstrap_says():
    """Witness: the spread of the weighted mean over resampled rows."""
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.2, 5.0, size=60)
    seen = observed(weights)
    used = weights[40:]

    for losses, mean, error in zip(
        seen.losses, seen.mean_losses, seen.standard_errors, strict=True
    ):
        assert mean == pytest.approx(DescrStatsW(losses, used).mean)
        rows = rng.integers(20, size=(4000, 20))
        spread = np.average(losses[rows], axis=1, weights=used[rows]).std()
        assert error == pytest.approx(spread, rel=0.15)
