"""Ranks and scores that a person can trust: they never contradict each other."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_regression
from sklearn.linear_model import Ridge

from cvst import RaceGridSearchCV
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
from cvst.race.machinery import shared_deciding_looks
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
    assert sorted(ranks.tolist()) == list(range(1, size + 1))
    assert ranks[ranking[0]] == 1
    assert sorted(ranking.tolist()) == np.flatnonzero(state.active).tolist()
    if not strategy.ranks_by_mean(state):
        return
    together = {}
    for members, _, deciding in shared_deciding_looks(state):
        together.setdefault(tuple(deciding.tolist()), []).extend(members.tolist())
    left = set(ranking.tolist())
    for members in together.values():
        known = [number for number in members if np.isfinite(means[number])]
        for one, other in combinations(known, 2):
            # The winner was not dropped; it may have been beaten by one that was.
            if {one, other} & {int(ranking[0])} and not {one, other} <= left:
                continue
            if means[one] > means[other]:
                assert ranks[one] < ranks[other]


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
