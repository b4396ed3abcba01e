"""A race holds a bounded number of bytes, whatever the rows and configurations."""

from __future__ import annotations

import gc
import pickle
import tracemalloc

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from cvst import (
    CVST,
    RaceGridSearchCV,
    RaceRandomSearchCV,
    RaceSearchCV,
)
from cvst.exceptions import InvalidInputError
from cvst.race import Problem
from cvst.race.machinery import LOSS_BYTES
from cvst.search._memory import shared_room

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


def n_losses(look):
    return look.n_test * len(look.configurations)


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


@pytest.mark.parametrize(
    ("strategy", "bound"), [("track_and_confirm", "8MB"), ("cvst", 9_000_000)]
)
def test_looks_keep_within_max_memory(strategy, bound):
    """The first looks hold half of it for losses; the rest is for shared work."""
    X, y = rows(9000)
    search(strategy).fit(X[:300], y[:300])
    n_bytes = 8_000_000 if bound == "8MB" else bound
    bounded = search(strategy, max_looks=2, max_memory=bound)
    peak, _, fitted = peak_and_kept(lambda: bounded.fit(X, y))
    looks = [seen.look for seen in fitted.race_.observations]
    assert looks[0].n_test == n_bytes // 80 // K
    assert all(n_losses(look) <= n_bytes // 80 for look in looks)
    # The draws of the estimate are not part of it: three numbers for a row, 400 times.
    draws = 8 * 3 * 400 * looks[0].n_test
    assert peak < n_bytes + 12 * (X.nbytes + y.nbytes) + 5000 * K + draws
    free = search(strategy, max_looks=2).fit(X, y)
    assert free.race_.observations[0].look.n_test > 3 * looks[0].n_test


def test_a_large_bound_changes_nothing():
    X, y = rows(3000)
    free = search("track_and_confirm").fit(X, y)
    bounded = search("track_and_confirm", max_memory="2GiB").fit(X, y)
    assert bounded.best_index_ == free.best_index_
    ranks = bounded.cv_results_["rank_test_score"]
    np.testing.assert_array_equal(ranks, free.cv_results_["rank_test_score"])


def test_shared_kernels_keep_within_max_memory():
    """Matrices that are not kept are computed again: slower, and the same winner."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=500)
    grid = {"alpha": [1e-2, 1e-1, 1.0], "gamma": [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30]}

    def make(**options):
        strategy = CVST(stopping="never", elimination="none")
        ridges = KernelRidge(kernel="laplacian")
        choice = {"strategy": strategy, "refit": False, "random_state": 0}
        return RaceGridSearchCV(ridges, grid, **choice, **options)

    make().fit(X[:60], y[:60])
    free_peak, _, free = peak_and_kept(lambda: make().fit(X, y))
    peak, _, bounded = peak_and_kept(lambda: make(max_memory="2MB").fit(X, y))
    assert bounded.best_params_ == free.best_params_
    # One fit needs the matrix of its rows, a copy and the test rows' besides.
    most = 2_000_000 + 4 * 8 * 500**2
    assert peak < most < free_peak


def test_a_quarter_is_for_each_kind_of_shared_work():
    """As the user guide says; half is for the losses of a look."""
    assert shared_room("8MB") == 2_000_000
    assert shared_room(None) is None
    assert Problem(10, 100, max_bytes=8_000_000).largest_look * LOSS_BYTES == 4_000_000


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_workers_find_the_same_within_a_bound(n_jobs):
    X, y = rows(900)
    one = search("cvst", max_memory="2MB").fit(X, y)
    other = search("cvst", max_memory="2MB", n_jobs=n_jobs).fit(X, y)
    assert other.best_index_ == one.best_index_
    np.testing.assert_array_equal(
        other.cv_results_["mean_test_score"], one.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize(
    "bad", ["", "lots", "-5MB", "5XB", "0", "0.1B", "nan", "1e3", "9" * 400, "5 M B"]
)
def test_a_text_that_is_no_amount_is_refused(bad):
    X, y = rows(100)
    with pytest.raises(InvalidInputError, match="is not an amount of memory"):
        search("cvst", max_memory=bad).fit(X, y)


@pytest.mark.parametrize("bad", [0, -1, 2.5, [1]])
def test_other_bad_bounds_are_refused(bad):
    X, y = rows(100)
    with pytest.raises(ValueError, match="'max_memory' parameter"):
        search("cvst", max_memory=bad).fit(X, y)


@pytest.mark.parametrize(
    ("strategy", "stage"),
    [
        ("track_and_confirm", "first look"),
        ("cvst", "race"),
        ("cross_validation", "folds"),
    ],
)
def test_a_bound_that_no_look_can_keep_is_refused_before_any_fit(strategy, stage):
    """The least that is named will do."""
    X, y = rows(2000)
    with pytest.raises(InvalidInputError, match=f"for a look .{stage}. of") as refusal:
        search(strategy, max_memory="100kB").fit(X, y)
    least = str(refusal.value).split("Set max_memory='")[1].split("'")[0]
    search(strategy, max_memory=least, max_looks=1).fit(X, y)


@pytest.mark.parametrize("kind", [RaceRandomSearchCV, RaceSearchCV])
def test_every_search_has_the_bound(kind):
    """Proposals are few at a time, so that little will do for them."""
    X, y = rows(9000)
    space = {"alpha": loguniform(1e-4, 1e4)}
    options = {"n_iter": 60, "max_looks": 1, "refit": False, "random_state": 0}
    bounded = kind(Ridge(), space, max_memory="6MB", **options).fit(X, y)
    assert n_losses(bounded.race_.observations[0].look) <= 6_000_000 // 80
    with pytest.raises(InvalidInputError, match="max_memory='100kB' is too little"):
        kind(Ridge(), space, max_memory="100kB", **options).fit(X, y)
