"""The best of many, corrected for the choice, and intervals of means and shares."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from cvst.exceptions import InvalidInputError
from cvst.statistics import _selection as selection
from cvst.statistics import (
    corrected_best,
    mean_interval,
    share_interval,
    standard_error_of_mean,
)


def by_loops(values, weights, n_resamples, seed):
    """Choose in the bag, judge out of the bag, one draw and one row at a time."""
    n_configurations, n_cells = values.shape
    share = [w / sum(weights) for w in weights]
    means = [
        sum(share[i] * values[k, i] for i in range(n_cells))
        for k in range(n_configurations)
    ]
    best = means.index(max(means))
    draws = np.random.default_rng(seed).integers(n_cells, size=(n_resamples, n_cells))
    gaps = []
    for bag in draws.tolist():
        drawn = [bag.count(cell) for cell in range(n_cells)]
        inside, outside = [], []
        for k in range(n_configurations):
            bag = [(share[i] * drawn[i], values[k, i]) for i in range(n_cells)]
            rest = [
                (share[i], values[k, i])
                for i in range(n_cells)
                if drawn[i] == 0 and share[i] > 0
            ]
            inside.append(sum(w * v for w, v in bag))
            outside.append(
                sum(w * v for w, v in rest) / sum(w for w, v in rest) if rest else None
            )
        if outside[0] is not None:
            chosen = inside.index(max(inside))
            gaps.append(outside[best] - outside[chosen])
    return best, means[best], max(0.0, float(np.mean(gaps)))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("block", [1, 12 * 7, selection.BLOCK])
def test_it_is_the_loop_over_draws_and_rows(weighted, block, monkeypatch):
    """However many draws are made at a time: one, seven (and a rest) or all."""
    monkeypatch.setattr(selection, "BLOCK", block)
    rng = np.random.default_rng(3)
    values = rng.normal(size=(5, 12))
    weights = rng.integers(0, 4, 12).astype(float) if weighted else np.ones(12)
    found = corrected_best(
        values, weights if weighted else None, n_resamples=60, seed=8
    )
    best, mean, optimism = by_loops(values, weights.tolist(), 60, 8)
    assert found.best == best
    assert found.mean == pytest.approx(mean)
    assert found.optimism == pytest.approx(optimism)
    assert found.optimism > 0
    assert found.value == pytest.approx(mean - optimism)


def test_equal_configurations_are_worth_zero_on_average():
    """The best of thirty seems two standard errors good; the correction ends that."""
    naive, corrected = [], []
    for seed in range(150):
        noise = np.random.default_rng(seed).normal(size=(30, 60))
        found = corrected_best(noise, n_resamples=60, seed=seed)
        naive.append(found.mean * np.sqrt(60))
        corrected.append(found.value * np.sqrt(60))
    assert np.mean(naive) > 1.8
    error = np.std(corrected) / np.sqrt(len(corrected))
    assert abs(np.mean(corrected)) < 4 * error
    assert error < 0.12


def test_one_that_is_far_ahead_needs_no_correction():
    values = np.random.default_rng(0).normal(size=(4, 50))
    values[2] += 5
    found = corrected_best(values)
    assert (found.best, found.optimism) == (2, 0.0)


@pytest.mark.parametrize("shape", [(1, 40), (7, 1)])
def test_without_a_choice_or_rows_nothing_is_corrected(shape):
    assert corrected_best(np.random.default_rng(0).normal(size=shape)).optimism == 0


def test_many_cells_are_dealt_out_to_fewer_with_the_same_means(monkeypatch):
    values = np.random.default_rng(1).normal(size=(6, 1001))
    weights = np.random.default_rng(2).random(1001)
    whole = corrected_best(values, weights)
    monkeypatch.setattr(selection, "MOST_CELLS", 100)
    fewer = corrected_best(values, weights)
    assert fewer.mean == whole.mean
    assert fewer.optimism == pytest.approx(whole.optimism, rel=0.4)
    table, shares = selection._dealt(values, weights / weights.sum())
    assert len(shares) <= 100
    assert table @ shares == pytest.approx(values @ (weights / weights.sum()))


def test_of_many_configurations_only_the_best_are_drawn(monkeypatch):
    values = np.random.default_rng(1).normal(size=(50, 80))
    values[:10] += 3
    whole = corrected_best(values)
    monkeypatch.setattr(selection, "MOST_CONFIGURATIONS", 10)
    assert corrected_best(values) == whole


@pytest.mark.parametrize(
    ("values", "weights", "words"),
    [
        ([[1.0, np.nan]], None, "finite numbers"),
        ([1.0, 2.0], None, "a row per configuration"),
        ([[1.0, 2.0]], [1.0], "one for each of the 2 cells"),
        ([[1.0, 2.0]], [0.0, 0.0], "not all 0"),
    ],
)
def test_bad_tables_are_refused(values, weights, words):
    with pytest.raises(InvalidInputError, match=words):
        corrected_best(values, weights)


def test_standard_errors_and_intervals_are_those_of_scipy():
    values = np.random.default_rng(0).gamma(2.0, size=37)
    error, freedom = standard_error_of_mean(values)
    assert error == pytest.approx(stats.sem(values))
    assert freedom == pytest.approx(36)
    expected = stats.t.interval(0.9, 36, loc=values.mean(), scale=stats.sem(values))
    assert mean_interval(values.mean(), error, freedom, 0.9) == pytest.approx(expected)
    assert mean_interval(0.0, np.inf, 0.0, 0.9) == (-np.inf, np.inf)


def test_a_weight_of_two_is_a_cell_of_two_rows():
    """Rows of one group say less than as many rows on their own."""
    values = np.random.default_rng(0).normal(size=30)
    error = standard_error_of_mean(values, np.full(30, 2.0))[0]
    assert error == pytest.approx(stats.sem(values))
    assert error > stats.sem(np.repeat(values, 2))
    assert standard_error_of_mean([1.0])[0] == np.inf


@pytest.mark.parametrize(("right", "n"), [(0, 20), (13, 20), (20, 20), (480, 500)])
def test_shares_have_wilsons_interval(right, n):
    expected = stats.binomtest(right, n).proportion_ci(0.9, method="wilson")
    assert share_interval(right / n, n, 0.9) == pytest.approx(tuple(expected))


def test_a_share_of_no_cells_may_be_anything():
    assert share_interval(0.5, 0, 0.9) == (0.0, 1.0)
