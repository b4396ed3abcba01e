from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from threadpoolctl import threadpool_info

from cvst.cli.commands import _demo_run
from cvst.datasets import make_noisy_sinc
from cvst.displays import TimeConsumptionDisplay

N_ROWS, N_FRESH = 150, 600


@pytest.fixture
def small(monkeypatch):
    """Shrink the demo: the same race and the same check on fewer rows."""
    monkeypatch.setattr(_demo_run, "N_ROWS", N_ROWS)
    monkeypatch.setattr(_demo_run, "N_FRESH", N_FRESH)
    monkeypatch.setattr(_demo_run, "N_FIRST", 200)


def test_winner_and_best_of_the_grid_are_measured(small, cvst):
    """The textbook formula for every configuration of the grid says the same."""
    result = cvst("demo", "--random-state", 5, "--json")
    told = json.loads(result.out)

    seeds = np.random.SeedSequence(5).generate_state(2)
    X, y = make_noisy_sinc(N_ROWS, random_state=int(seeds[0]))
    X_fresh, y_fresh = make_noisy_sinc(N_FRESH, random_state=int(seeds[1]))
    errors = {}
    for gamma in 10.0 ** np.linspace(-3, 3, 61):
        values, vectors = np.linalg.eigh(np.exp(-gamma * (X - X.T) ** 2))
        kernel = np.exp(-gamma * (X_fresh - X.T) ** 2)
        for alpha in N_ROWS * 10.0 ** np.arange(-7, 3):
            weights = vectors @ (vectors.T @ y / (values + alpha))
            errors[gamma, alpha] = np.mean((kernel @ weights - y_fresh) ** 2)
    best = min(errors, key=errors.__getitem__)
    nearest = min(
        errors,
        key=lambda key: np.abs(
            np.log(np.divide(key, [told["winner"]["gamma"], told["winner"]["alpha"]]))
        ).sum(),
    )

    assert result.code == 0
    assert len(errors) == told["looks"][0]["tested"] == 610
    assert told["check"]["best_error"] == pytest.approx(errors[best], rel=1e-6)
    assert [told["check"]["best"][name] for name in ("gamma", "alpha")] == (
        pytest.approx(best)
    )
    assert told["check"]["winner_error"] == pytest.approx(errors[nearest], rel=1e-6)
    rank = sum(error < errors[nearest] for error in errors.values()) + 1
    assert told["check"]["winner_rank"] == rank


def test_the_text_tells_steps_comparison_and_estimate(small, cvst):
    text = cvst("demo").out
    for words in (
        "610 configurations of kernel ridge regression race on noisy sinc, 150 rows",
        "look  rows",
        "Winner: alpha=",
        "best of the grid",
        "Full 10-fold cross-validation would take about",
        "estimate: 6,100 fits",
    ):
        assert words in text


@pytest.mark.usefixtures("two_blas_threads")
def test_the_estimate_is_that_of_the_displays(small, cvst, monkeypatch):
    """One estimate: what is drawn of this search is what was told of it.

    The final fit, from which it is made, has one thread like the race.
    """
    searches, threads = [], []
    check, fit = _demo_run._check, KernelRidge.fit

    def watched(self, *args, **kwargs):
        pools = threadpool_info()
        threads.extend(one["num_threads"] for one in pools if one["user_api"] == "blas")
        return fit(self, *args, **kwargs)

    def kept(search, *rows):
        searches.append(search)
        return check(search, *rows)

    monkeypatch.setattr(_demo_run, "_check", kept)
    monkeypatch.setattr(KernelRidge, "fit", watched)
    told = json.loads(cvst("demo", "--json").out)["cross_validation"]
    display = TimeConsumptionDisplay.from_search(searches[0], n_folds=told["n_folds"])
    assert told["estimated_seconds"] == display.cross_validation_seconds
    assert set(threads) == {1}
