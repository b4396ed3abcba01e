"""A race holds a bounded number of bytes, whatever the rows and configurations."""

from __future__ import annotations

import gc
import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from cvst import RaceGridSearchCV

K = 100
LARGEST = 20_000


def rows(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + rng.normal(size=n)


def search(strategy, **options):
    grid = {"alpha": np.logspace(-4, 6, K)}
    return RaceGridSearchCV(
        Ridge(),
        grid,
        scoring="neg_mean_squared_error",
        strategy=strategy,
        refit=False,
        random_state=0,
        **options,
    )


def peak_and_kept(fit):
    """Return the most bytes at any time, and those that are left, and the result."""
    gc.collect()
    tracemalloc.start()
    try:
        result = fit()
        gc.collect()
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak, kept, result


@pytest.mark.parametrize("strategy", ["track_and_confirm", "cvst"])
def test_looks_hold_no_more_than_the_bound(strategy, monkeypatch):
    """Without the bound the losses of one look alone would take more."""
    monkeypatch.setattr("cvst.race._problem.LARGEST_LOOK", LARGEST)
    monkeypatch.setattr("cvst.race._problem.FEWEST_TESTED", 10)
    X, y = rows(9000)
    search(strategy).fit(X[:300], y[:300])  # what is imported and cached does not count
    # Folds come later: they test few configurations, and each row once.
    peak, _, fitted = peak_and_kept(lambda: search(strategy, max_looks=2).fit(X, y))
    first = fitted.race_.observations[0].look
    assert first.n_test == LARGEST // K
    # Forty bytes for each loss, some copies of the rows, the tables of the results, and
    # the draws of the estimate, each with three numbers for a row that was tested.
    draws = 8 * 3 * 400 * first.n_test
    assert peak < 40 * LARGEST + 12 * (X.nbytes + y.nbytes) + 5000 * K + draws
    assert peak < 0.8 * (8 * K * 0.8 * len(y))


def test_what_a_fitted_search_keeps_is_small():
    """Losses that decide nothing any more are let go; a pickle has none of them."""
    X, y = rows(3000)
    search("track_and_confirm").fit(X[:300], y[:300])
    _, kept, fitted = peak_and_kept(lambda: search("track_and_confirm").fit(X, y))
    assert kept < 5 * K * len(y)
    assert len(pickle.dumps(fitted)) < K * len(y)
