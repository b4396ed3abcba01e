"""A level for the whole run: what is never dropped, and how the level is shared.

The longer simulation is ``benchmarks/guarantee.py``; the proof is in
docs/theory/guarantee.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from cvst.exceptions import InvalidInputError
from cvst.race import RaceState, TrackAndConfirm, race
from cvst.race._leader_tests import excess_p_values, level_of_each
from cvst.statistics import paired_excess_test, symmetric_excess_test

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from guarantee import KINDS, SimulatedLosses, fates, simulated_problem

N_ROWS, SIDE, N_RACES, LEVEL = 400, 6, 25, 0.2

# Without climbs and final a race has the looks on which the level is spent, no more.
SHORT = {"climbs": 0, "final_folds": 0, "level": LEVEL}


def setting_of(strategy, n_rows=N_ROWS, side=SIDE):
    rng = np.random.default_rng(0)
    return simulated_problem(n_rows, side, rng, strategy.fold_counts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gap", [0.0, 1.0])
def test_best_is_dropped_in_no_more_races_than_the_level_says(kind, gap):
    """Equal and nearly equal configurations, in looks, folds and by rank together."""
    strategy = TrackAndConfirm(guarantee="run", **SHORT)
    dropped = [
        fates(strategy, kind, gap, N_ROWS, SIDE, seed)[1] for seed in range(N_RACES)
    ]
    # What the bound allows is exceeded by chance once in a thousand.
    assert sum(dropped) <= binom.isf(0.001, N_RACES, LEVEL)


def test_without_the_guarantee_the_best_is_often_set_aside():
    """The simulation can tell: by rank the best of equals goes nearly always."""
    strategy = TrackAndConfirm(**SHORT)
    dropped = [fates(strategy, "squared", 0.0, N_ROWS, SIDE, s)[1] for s in range(20)]
    assert sum(dropped) > binom.isf(0.001, 20, LEVEL)


def test_no_equal_one_is_dropped_at_the_level_over_their_number():
    """The bound of each adds up to that of all."""
    level = LEVEL / SIDE**2
    strategy = TrackAndConfirm(guarantee="run", **(SHORT | {"level": level}))
    found = [fates(strategy, "0/1", 0.0, N_ROWS, SIDE, s)[2] for s in range(N_RACES)]
    assert sum(found) <= binom.isf(0.001, N_RACES, LEVEL)


def test_nothing_is_dropped_by_rank():
    """A drop is a test, and survivors that miss the final stay survivors."""
    strategy = TrackAndConfirm(guarantee="run")
    setting = setting_of(strategy)
    source = SimulatedLosses("squared", 3.0, N_ROWS, SIDE**2, np.random.default_rng(1))
    *_, state = race(RaceState(setting), source, strategy)
    reasons = {r for seen in state.observations for r in seen.drops.values()}
    assert reasons <= {"paired test"}
    final = [seen for seen in state.observations if seen.look.stage == "final"]
    assert len(final) == strategy.final_folds
    assert state.active.sum() > len(final[0].look.configurations) == 2
    ranking = strategy.ranking(state)
    assert set(ranking[:2]) == set(final[0].look.configurations)
    assert len(ranking) == state.active.sum()


def test_clearly_worse_ones_are_dropped_all_the_same():
    """A guarantee that drops nothing would be cheap to give."""
    strategy = TrackAndConfirm(guarantee="run", **SHORT)
    setting = setting_of(strategy)
    source = SimulatedLosses("squared", 60.0, N_ROWS, SIDE**2, np.random.default_rng(1))
    *_, state = race(RaceState(setting), source, strategy)
    np.testing.assert_array_equal(np.flatnonzero(state.active), [0])
    assert len(state.observations) < 2 + strategy.n_folds + 1


def test_planned_looks_are_an_upper_bound():
    """All survivors of the tests may run the folds."""
    strategy = TrackAndConfirm(guarantee="run")
    setting = setting_of(strategy)
    source = SimulatedLosses("squared", 0.0, N_ROWS, SIDE**2, np.random.default_rng(1))
    *_, state = race(RaceState(setting), source, strategy)
    planned = {}
    for look in strategy.planned_looks(setting):
        planned[look.stage] = look.max_configurations
    for seen in state.observations:
        assert len(seen.look.configurations) <= planned[seen.look.stage]


def test_level_is_shared_by_the_looks_and_by_all_that_could_lead():
    """Seven looks of 36 configurations: two subsets and five folds, climbs apart."""
    strategy = TrackAndConfirm(guarantee="run")
    stages = strategy.stages(setting_of(strategy, n_rows=1000))
    shared = {stage.name: (stage.level, stage.n_sharing) for stage in stages}
    assert shared.pop("final") == (0.0, 7)
    assert set(shared.values()) == {(0.05, 7)}
    assert level_of_each(0.05, 7, 36) == pytest.approx(0.05 / 7 / 35)
    assert level_of_each(0.05, 7, 1) == pytest.approx(0.05 / 7)


def test_few_share_the_level_over_the_folds_of_their_only_stage():
    """They meet no other folds."""
    strategy = TrackAndConfirm(guarantee="run")
    (folds,) = strategy.stages(setting_of(strategy, side=2))
    assert (folds.level, folds.n_sharing) == (0.05, strategy.n_folds)


def test_each_fold_is_tested_by_itself():
    """Losses of earlier folds do not enter: folds share training rows."""
    strategy = TrackAndConfirm(guarantee="run", direct_below=100, **SHORT)
    setting = setting_of(strategy)
    source = SimulatedLosses("squared", 0.5, N_ROWS, SIDE**2, np.random.default_rng(3))
    *_, state = race(RaceState(setting), source, strategy)
    seen = state.observations[2]
    leader = np.argmin(seen.mean_losses)
    table = np.delete(seen.losses - seen.losses[leader], leader, axis=0)
    expected = np.maximum(paired_excess_test(table), symmetric_excess_test(table))
    np.testing.assert_allclose(np.delete(seen.p_values, leader), expected)


def test_p_values_for_any_tails_are_never_smaller():
    """The larger of the two tests; McNemar's is exact as it is."""
    rng = np.random.default_rng(0)
    rows = list(rng.standard_t(2, (20, 100)) + 0.3)
    plain, safe = excess_p_values(rows), excess_p_values(rows, any_tails=True)
    assert np.all(safe >= plain)
    assert np.any(safe > plain)
    binary = list(rng.integers(-1, 2, (5, 60)).astype(float))
    np.testing.assert_array_equal(
        excess_p_values(binary), excess_p_values(binary, any_tails=True)
    )


def test_unknown_guarantee_is_named():
    """The message has the value and the way out."""
    strategy = TrackAndConfirm(guarantee="all")
    with pytest.raises(InvalidInputError, match=r"'all' is unknown.*'look'.*'run'"):
        strategy.check(setting_of(TrackAndConfirm()))
