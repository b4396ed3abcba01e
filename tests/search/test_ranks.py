"""Ranks and scores that a person can trust: they never contradict each other."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import randint
from sklearn.datasets import load_digits, make_regression
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier

from cvst import RaceGridSearchCV, RaceSearchCV, load_checkpoint
from cvst.race import (
    CrossValidation,
    FoldRace,
    LookLosses,
    Problem,
    Program,
    RaceState,
    SubsetLook,
    TrackAndConfirm,
    race,
)
from cvst.race.machinery import evidence, failed_last
from cvst.search._results import final_scores, ranked_by_score

N_ROWS = 90


class RandomLosses:
    """Configurations that differ a little, on noisy rows; some fits fail."""

    def __init__(self, seed, failing):
        self.rng = np.random.default_rng(seed)
        self.failing = failing

    def observe(self, look):
        members = look.configurations
        n_rows = len(np.arange(N_ROWS)[look.test])
        losses = self.rng.gamma(
            1.0, 1.0 + 0.1 * members[:, None] % 7, (len(members), n_rows)
        )
        failed = np.isin(members, self.failing) & (self.rng.random(len(members)) < 0.3)
        losses[failed] = np.nan
        nothing = np.zeros(len(members))
        failures = dict.fromkeys(members[failed].tolist(), "bad")
        means = losses.mean(axis=1)
        if np.isnan(means).all():
            return self.observe(look)
        return LookLosses(losses, means, nothing, nothing, failures=failures)


def folds_of_unequal_sizes(count, rng):
    cuts = np.sort(rng.choice(np.arange(5, N_ROWS - 5), count - 1, replace=False))
    parts = np.split(rng.permutation(N_ROWS), cuts)
    return tuple((np.setdiff1d(np.arange(N_ROWS), part), part) for part in parts)


STRATEGIES = [
    TrackAndConfirm(level=0.5),
    TrackAndConfirm(min_rows=20, direct_below=2, n_folds=3, final_folds=4, level=0.5),
    CrossValidation(5),
    Program([SubsetLook(0.3, level=0.5), FoldRace(5, level=0.5)]),
]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    strategy=st.sampled_from(STRATEGIES),
    size=st.integers(2, 40),
    n_looks=st.integers(1, 40),
)
def test_equal_looks_rank_by_the_mean_score(seed, strategy, size, n_looks):
    """Whatever the score makes of a loss in each fold, and wherever the race ends."""
    rng = np.random.default_rng(seed)
    folds = {n: folds_of_unequal_sizes(n, rng) for n in (3, 4, 5, 10)}
    problem = Problem(size, N_ROWS, folds=folds)
    failing = rng.choice(size, size // 4, replace=False)
    states = list(race(RaceState(problem), RandomLosses(seed, failing), strategy))
    state = states[min(n_looks, len(states)) - 1]
    # As r2 does: the same loss is worth more in a look whose rows are hard.
    scores = 1 - state.mean_losses / rng.uniform(0.5, 2, state.n_looks)

    ranking, ranks = ranked_by_score(strategy, state, scores)

    means = final_scores(state, scores)[0]
    folds_and_rows = np.array(evidence(state)).T
    assert sorted(ranks.tolist()) == list(range(1, size + 1))
    assert ranks[ranking[0]] == 1
    assert sorted(ranking.tolist()) == np.flatnonzero(state.active).tolist()
    if not strategy.ranks_by_mean(state):
        return
    known = np.flatnonzero(np.isfinite(means) & ~failed_last(state))
    left = set(ranking.tolist())
    for one, other in permutations(known.tolist(), 2):
        # The winner was not dropped; it may have been beaten by one that was.
        if {one, other} & {int(ranking[0])} and not {one, other} <= left:
            continue
        mine, theirs = folds_and_rows[[one, other]].tolist()
        if mine > theirs or (mine == theirs and means[one] > means[other]):
            assert ranks[one] < ranks[other]


class EqualInSum:
    """Configurations that err as often, but on other folds."""

    def observe(self, look):
        losses = np.zeros((len(look.configurations), len(np.arange(N_ROWS)[look.test])))
        for row, number in enumerate(look.configurations.tolist()):
            errors = np.roll([1, 2, 3, 4, 5], number)[int(look.test[0]) % 5]
            losses[row, :errors] = 1.0
        nothing = np.zeros(len(losses))
        means = losses.mean(axis=1)
        return LookLosses(losses, means, nothing, nothing, scores=1.0 - means)


def equal_in_sum(strategy, n_configurations):
    """Return the end of a race of configurations that differ by rounding only."""
    folds = tuple(
        (np.flatnonzero(np.arange(N_ROWS) % 5 != fold), np.arange(fold, N_ROWS, 5))
        for fold in range(5)
    )
    problem = Problem(n_configurations, N_ROWS, folds={5: folds})
    state = list(race(RaceState(problem), EqualInSum(), strategy))[-1]
    assert 0 < np.ptp(state.scores.mean(axis=1)) < 1e-12
    return state


@pytest.mark.parametrize("n_configurations", [4, 5])
def test_means_that_differ_by_rounding_keep_the_order_of_the_strategy(n_configurations):
    """So the leader of the last line of the log, which the strategy names, wins."""
    strategy = Program([FoldRace(5, level=0.0)])
    state = equal_in_sum(strategy, n_configurations)
    ranking, ranks = ranked_by_score(strategy, state, state.scores)
    assert ranking.tolist() == strategy.ranking(state).tolist()
    assert np.argsort(ranks).tolist() == ranking.tolist()
    # Nor does the last bit of the losses decide, which the strategy goes by.
    assert ranking.tolist() == list(range(n_configurations))


def test_under_cross_validation_the_last_bit_decides_as_in_grid_search():
    """Witness: the ranks of scikit-learn, which are those of the raw means."""
    state = equal_in_sum(CrossValidation(5), 5)
    _, ranks = ranked_by_score(CrossValidation(5), state, state.scores)
    assert np.argmin(ranks) == np.argmax(state.scores.mean(axis=1))
    by_mean = np.argsort(-state.scores.mean(axis=1), kind="stable")
    assert np.argsort(ranks).tolist() == by_mean.tolist()


def test_later_looks_rank_before_earlier_ones():
    """What reached the folds ranks before what was dropped on a subset."""
    problem = Problem(
        12, N_ROWS, folds={5: folds_of_unequal_sizes(5, np.random.default_rng(0))}
    )
    strategy = Program([SubsetLook(0.3, level=0.9), FoldRace(5, level=0.9)])
    state = list(race(RaceState(problem), RandomLosses(3, ()), strategy))[-1]
    _, ranks = ranked_by_score(strategy, state, -state.mean_losses)
    last = np.array([np.flatnonzero(row)[-1] for row in state.present])
    assert len(set(last.tolist())) > 1
    dropped = np.flatnonzero(~state.active)
    order = dropped[np.argsort(ranks[dropped])]
    assert np.all(np.diff(last[order]) <= 0)


def test_r2_ranks_as_grid_search_does():
    """Ridge on few rows: the best mean of r2 over folds wins."""
    X, y = make_regression(60, 20, noise=60.0, random_state=4)
    grid = {"alpha": np.logspace(-1, 3, 25).tolist()}
    for seed in range(6):
        search = RaceGridSearchCV(
            Ridge(), grid, strategy=TrackAndConfirm(level=1e-9), random_state=seed
        ).fit(X, y)
        results = search.cv_results_
        assert search.best_index_ == int(np.argmax(results["mean_test_score"]))
        assert search.best_score_ == results["mean_test_score"].max()
        by_score = np.argsort(-results["mean_test_score"], kind="stable")
        assert results["rank_test_score"][by_score].tolist() == list(range(1, 26))


@pytest.mark.parametrize("max_looks", [3, None])
def test_what_was_proposed_ranks_by_its_evidence_and_then_its_mean(tmp_path, max_looks):
    """Look by look others join, on the same rows; witness: the columns themselves."""
    X, y = (values[:600] for values in load_digits(return_X_y=True))
    space = {"max_depth": randint(1, 20), "min_samples_leaf": randint(1, 50)}
    file = tmp_path / "race.checkpoint"
    search = RaceSearchCV(
        DecisionTreeClassifier(random_state=0), space, n_iter=16, random_state=0,
        max_looks=max_looks, checkpoint=file,
    ).fit(X, y)  # fmt: skip
    results = search.cv_results_
    keys = [results[name] for name in ("n_folds", "score_n_train", "mean_test_score")]
    order = np.argsort(results["rank_test_score"])
    seen = [key[order[results["n_looks"][order] > 0]] for key in keys]
    assert [tuple(row) for row in np.array(seen).T.round(9)] == sorted(
        (tuple(row) for row in np.array(seen).T.round(9)), reverse=True
    )
    assert (results["n_folds"].max() > 0) == (max_looks is None)
    # Several looks had the same rows, or there would be nothing to sort.
    n_alike = np.unique(np.array(keys[:2]), axis=1, return_counts=True)[1].max()
    assert n_alike > 4
    assert not results["n_looks"][order[len(seen[0]) :]].any()
    assert order[0] == search.best_index_
    assert search.best_score_ == results["mean_test_score"][order[0]]
    stored = load_checkpoint(file)
    assert stored.best_index_ == search.best_index_
    ranks = stored.cv_results_["rank_test_score"]
    np.testing.assert_array_equal(ranks, results["rank_test_score"])
    on_page = [one["rank"] for one in stored.summary()["configurations"]]
    assert on_page == ranks.tolist()
