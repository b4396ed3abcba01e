"""The strategy that tracks the optimum and confirms it by folds."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.race import (
    CVST,
    Axis,
    Look,
    LookLosses,
    Problem,
    RaceState,
    SearchSpace,
    TrackAndConfirm,
    race,
)

N_WIDTHS, N_PENALTIES = 31, 4


class DriftingOptimum:
    """Mean losses with a valley that moves along the first axis as rows grow."""

    def __init__(self, n_samples=1000, noise=1.0, own=0.1, binary=False, failing=()):
        self.n_samples = n_samples
        self.noise = noise
        self.own = own
        self.binary = binary
        self.failing = set(failing)
        self.looks: list[Look] = []

    def best_width(self, n_train):
        return 5 + 20 * n_train / self.n_samples

    def expected(self, n_train, configurations):
        width, penalty = np.divmod(configurations, N_PENALTIES)
        excess = 0.02 * np.abs(width - self.best_width(n_train))
        return 0.2 + excess + 0.03 * penalty

    def observe(self, look):
        self.looks.append(look)
        rows = np.arange(self.n_samples)[look.test]
        # Rows are noisy, and equally so for every configuration.
        rng = np.random.default_rng(0)
        shared = rng.random(self.n_samples)[rows]
        means = self.expected(look.n_train, look.configurations)[:, None]
        if self.binary:
            losses = (shared < means).astype(float)
        else:
            own = np.random.default_rng(1).normal(size=(len(means), len(rows)))
            losses = means * (1 + self.noise * (shared - 0.5) + self.own * own) ** 2
        failures = {i: "bad" for i in look.configurations.tolist() if i in self.failing}
        for row, index in enumerate(look.configurations.tolist()):
            if index in failures:
                losses[row] = np.nan
        nothing = np.zeros(len(losses))
        return LookLosses(
            losses, losses.mean(axis=1), nothing, nothing, failures=failures
        )


def problem(n_samples=1000, folds=(3, 5, 10), **options):
    codes = np.divmod(np.arange(N_WIDTHS * N_PENALTIES), N_PENALTIES)
    space = SearchSpace(
        (Axis("width", codes[0], True), Axis("penalty", codes[1], True))
    )
    rng = np.random.default_rng(0)
    made = {}
    for count in folds:
        parts = np.array_split(rng.permutation(n_samples), count)
        made[count] = tuple(
            (np.setdiff1d(np.arange(n_samples), part), np.sort(part)) for part in parts
        )
    return Problem(
        N_WIDTHS * N_PENALTIES, n_samples, folds=made, space=space, **options
    )


def run(strategy, source, setting):
    strategy.check(setting)
    return list(race(RaceState(setting), source, strategy))[-1]


@pytest.mark.parametrize("binary", [False, True])
def test_winner_is_the_optimum_at_full_size(binary):
    """The valley moves from width 9 to 25; the paper's rule stays behind."""
    strategy = TrackAndConfirm()
    state = run(strategy, DriftingOptimum(binary=binary), problem())
    winner = int(strategy.ranking(state)[0])
    # Folds train on 800 of 1000 rows: the valley is at width 21 there.
    assert abs(winner // N_PENALTIES - 21) <= 2
    assert winner % N_PENALTIES == 0
    paper = CVST()
    fooled = int(paper.ranking(run(paper, DriftingOptimum(), problem()))[0])
    assert fooled // N_PENALTIES < 16


def test_stages_come_in_order_and_are_named():
    """First look, late look, folds of the confirmation, then climbs."""
    source = DriftingOptimum()
    state = run(TrackAndConfirm(), source, problem())
    stages = [look.stage for look in source.looks]
    assert stages[:7] == ["first look", "late look", *["confirm"] * 5]
    assert {stage.split()[0] for stage in stages[7:]} <= {"climb", "final"}
    assert stages[-1] == "final"
    assert [look.n_train for look in source.looks[:3]] == [200, 400, 800]
    assert TrackAndConfirm().stop_reason(state) == "confirmed"


def test_dropped_levels_come_back_in_the_late_look():
    """Every width is represented, whatever the first look said of it."""
    source = DriftingOptimum(noise=0.1)
    state = run(TrackAndConfirm(widen=False), source, problem())
    first, late = state.observations[0], state.observations[1]
    widths = set((late.look.configurations // N_PENALTIES).tolist())
    assert widths == set(range(N_WIDTHS))
    returned = set(late.look.configurations.tolist()) & set(first.drops)
    assert returned
    reasons = set(first.drops.values())
    assert reasons <= {"paired test", "rank"}


def test_who_failed_the_first_test_comes_back_alone():
    """Neighbours come along with representatives that passed it, and with no others."""
    looks = []
    for wide in (True, False):
        strategy = TrackAndConfirm(max_survivors=5, widen=wide)
        state = run(strategy, DriftingOptimum(own=2.0), problem())
        looks.append(state.observations[1].look.configurations)
    passed = np.flatnonzero(state.observations[0].top)
    assert 5 < len(passed) < N_WIDTHS * N_PENALTIES / 2
    added = np.setdiff1d(*looks)
    near = {i for j in passed.tolist() for i in problem().space.neighbours(j, 1)}
    assert len(added)
    assert set(added.tolist()) <= near


def test_a_number_is_as_good_as_a_truth_value():
    """``widen=1`` does what ``widen=True`` does."""
    looks = []
    for wide in (True, 1):
        strategy = TrackAndConfirm(max_survivors=5, widen=wide)
        state = run(strategy, DriftingOptimum(own=2.0), problem())
        looks.append(state.observations[1].look.configurations.tolist())
    assert looks[0] == looks[1]


def test_few_survive_the_first_look_on_their_own():
    """What is set aside by rank, not by a test, is called so."""
    source = DriftingOptimum(own=5.0)
    state = run(TrackAndConfirm(max_survivors=5), source, problem())
    reasons = list(state.observations[0].drops.values())
    assert N_WIDTHS * N_PENALTIES - len(reasons) == 5
    assert "rank" in reasons
    assert "paired test" in reasons


def test_hopeless_representatives_are_left_out():
    """No look for a gap beyond three times the lead over a constant prediction."""

    class Cliff(DriftingOptimum):
        def expected(self, n_train, configurations):
            width = configurations // N_PENALTIES
            return super().expected(n_train, configurations) + 9.0 * (width == 30)

    source = Cliff(noise=0.1)
    run(TrackAndConfirm(), source, problem(constant_loss=1.0))
    late = source.looks[1].configurations // N_PENALTIES
    assert 30 not in late
    assert 29 in late


def test_few_configurations_go_straight_to_the_folds():
    """Under thirty there is nothing to save on subsets, and no final."""
    few = Problem(12, 1000, folds=problem().folds)
    source = DriftingOptimum(own=5.0)
    run(TrackAndConfirm(level=1e-99), source, few)
    assert [look.stage for look in source.looks] == ["confirm"] * 5
    # None is set aside by rank.
    assert [len(look.configurations) for look in source.looks] == [12] * 5


@pytest.mark.parametrize("own", [0.1, 5.0])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 15, 29])
def test_few_configurations_never_run_more_folds_than_a_plain_search(size, own):
    """Whatever a fit costs, the race costs no more: nothing is fitted six times."""
    few = Problem(size, 1000, folds=problem().folds)
    source = DriftingOptimum(own=own)
    run(TrackAndConfirm(), source, few)
    plan = TrackAndConfirm().planned_looks(few)
    assert [look.max_configurations for look in plan] == [size] * 5
    runs = np.concatenate([look.configurations for look in source.looks])
    assert np.bincount(runs).max() <= 5
    trained = {look.n_train for look in source.looks}
    assert trained == {len(train) for train, _ in few.folds[5]}


@pytest.mark.parametrize(
    ("n_samples", "sizes"), [(200, []), (300, [150]), (400, [160]), (1000, [200, 400])]
)
def test_small_data_get_fewer_and_larger_looks(n_samples, sizes):
    """No look has fewer than 150 rows."""
    looks = TrackAndConfirm().look_sizes(problem(n_samples))
    assert list(looks.values()) == sizes


@pytest.mark.parametrize(
    ("boundaries", "sizes"),
    [
        ([5, 905], [905]),
        ([100, 180, 420], [180, 420]),
        ([100, 180], [180]),
        ([5, 30], []),
    ],
)
def test_groups_do_not_shrink_looks_below_their_minimum(boundaries, sizes):
    """The nearest cut between groups may have 5 rows: then a larger one is taken."""
    setting = problem(boundaries=np.array(boundaries))
    assert list(TrackAndConfirm().look_sizes(setting).values()) == sizes


def test_losers_of_a_fold_skip_the_later_ones():
    """The confirmation is a race: clear losers run fewer folds."""
    source = DriftingOptimum(noise=0.1)
    state = run(TrackAndConfirm(n_folds=5, n_raced=0), source, problem())
    counts = [len(o.look.configurations) for o in state.observations[2:7]]
    assert counts[-1] < counts[0]
    dropped = [o.drops for o in state.observations[2:7]]
    assert any("paired test" in drops.values() for drops in dropped)
    assert not any("rank" in drops.values() for drops in dropped)


def test_the_best_of_a_fold_go_on_to_the_next():
    """Fifteen, then seven, then five, by the mean loss so far: all others are worse."""
    source = DriftingOptimum()
    state = run(TrackAndConfirm(n_folds=5, level=1e-99), source, problem())
    folds = state.observations[2:7]
    counts = [len(o.look.configurations) for o in folds]
    assert counts[0] > 15
    assert counts[1:] == [15, 7, 5, 5]
    left = np.setdiff1d(folds[0].look.configurations, list(folds[0].drops))
    aside = [i for i, reason in folds[0].drops.items() if reason == "rank"]
    losses = state.column("mean_losses", 2)
    assert max(losses[left]) <= min(losses[aside])


class Flat(DriftingOptimum):
    """No configuration is better than another."""

    def expected(self, n_train, configurations):
        return np.full(len(configurations), 0.2)


def going_on(folds, place):
    """Return p-values and ranks of a fold, and which are seen in the next one."""
    one, after = folds[place], folds[place + 1]
    members = one.look.configurations
    tables = [
        fold.mean_losses[fold.look.places(members)] for fold in folds[: place + 1]
    ]
    ranks = np.argsort(np.argsort(np.mean(tables, axis=0)))
    p_values = np.nan_to_num(one.p_values, nan=1.0)
    return p_values, ranks, np.isin(members, after.look.configurations)


@pytest.mark.parametrize(("of_all_rows", "doubtful"), [(False, 0.1), (True, 0.3)])
def test_who_is_about_as_good_is_not_set_aside_by_rank(of_all_rows, doubtful):
    """By scores of all rows together, fewer of those beyond the best count as such."""
    state = run(TrackAndConfirm(), Flat(own=1.0), problem(of_all_rows=of_all_rows))
    p_values, ranks, kept = going_on(state.observations[2:7], 0)
    assert kept.sum() > 15
    np.testing.assert_array_equal(kept, (ranks < 15) | (p_values > doubtful))


@pytest.mark.parametrize(
    ("n_samples", "of_all_rows", "limited"),
    [(1000, False, False), (1000, True, True), (240, True, False)],
)
def test_few_configurations_are_limited_by_scores_of_all_rows(
    n_samples, of_all_rows, limited
):
    """The test drops hardly any by such a score; on few rows it is left to the test."""
    setting = problem(n_samples, of_all_rows=of_all_rows)
    strategy = TrackAndConfirm(direct_below=1_000, level=1e-99, final_folds=0)
    source = Flat(n_samples, own=1.0)
    folds = run(strategy, source, setting).observations
    counts = [len(one.look.configurations) for one in folds]
    assert counts[0] == setting.n_configurations
    if not limited:
        assert counts == [counts[0]] * 5
        return
    for place, best in enumerate([15, 7, 5, 5]):
        p_values, ranks, kept = going_on(folds, place)
        np.testing.assert_array_equal(kept, (ranks < best) | (p_values > 0.3))
        assert set(folds[place].drops.values()) <= {"rank"}


@pytest.mark.parametrize("strategy", [TrackAndConfirm(), TrackAndConfirm(n_folds=3)])
def test_no_look_is_larger_than_planned(strategy):
    """The plan bounds every fold of every stage."""
    source = DriftingOptimum(own=5.0, noise=0.1)
    run(strategy, source, problem())
    planned = strategy.planned_looks(problem())
    for stage in {look.stage for look in source.looks}:
        seen = [len(k.configurations) for k in source.looks if k.stage == stage]
        most = [k.max_configurations for k in planned if k.stage == stage]
        assert all(n <= m for n, m in zip(seen, most, strict=False))
        assert len(seen) <= len(most)


def test_hedges_enter_the_first_fold():
    """Every bin of every axis is represented among the confirmed."""
    source = DriftingOptimum(noise=0.1)
    run(TrackAndConfirm(), source, problem())
    widths = source.looks[2].configurations // N_PENALTIES
    assert set(widths * 10 // N_WIDTHS) == set(range(10))
    bare = DriftingOptimum(noise=0.1)
    run(TrackAndConfirm(n_hedges=0), bare, problem())
    assert len(bare.looks[2].configurations) < len(source.looks[2].configurations)


def test_final_confirms_the_last_two_by_more_folds():
    """The final runs ten folds for at most two configurations."""
    source = DriftingOptimum(own=2.0)
    strategy = TrackAndConfirm()
    state = run(strategy, source, problem())
    final = [look for look in source.looks if look.stage == "final"]
    assert 1 <= len(final) <= 10
    assert len(final[0].configurations) == 2
    winner = strategy.ranking(state)[0]
    assert winner in final[0].configurations


def test_separate_test_set_replaces_the_folds():
    """With a test set, each tracked configuration is trained on all rows once."""
    source = DriftingOptimum(n_samples=1000)
    setting = problem(500, folds=(), n_validation=500)
    source.n_samples = 1000
    strategy = TrackAndConfirm()
    run(strategy, source, setting)
    confirm = [look for look in source.looks if look.stage == "confirm"]
    assert len(confirm) == 1
    assert confirm[0].n_train == 500
    assert confirm[0].test == slice(500, 1000)


def test_failed_fits_are_dropped_with_their_reason():
    """A configuration without a result on a fold cannot win."""
    best = 21 * N_PENALTIES
    source = DriftingOptimum(failing=[best])
    strategy = TrackAndConfirm()
    state = run(strategy, source, problem())
    assert int(strategy.ranking(state)[0]) != best


def test_failures_on_subsets_come_back_but_not_all_of_them():
    """One that needs more rows than the looks have can win; planned sizes hold."""

    class Hungry(DriftingOptimum):
        def observe(self, look):
            # Beyond width 12 a fit takes more than half of the rows.
            wide = set(range(13 * N_PENALTIES, N_WIDTHS * N_PENALTIES))
            self.failing = wide if look.n_train <= 500 else set()
            return super().observe(look)

    source, strategy = Hungry(), TrackAndConfirm()
    state = run(strategy, source, problem())
    # Folds train on 800 of 1000 rows: the valley is at width 21 there.
    assert abs(int(strategy.ranking(state)[0]) // N_PENALTIES - 21) <= 3
    failed = set(state.observations[0].failures)
    late = set(state.observations[1].look.configurations.tolist())
    assert len(failed & late) == 40
    # No neighbour of those that could be fitted is as wide as that.
    assert max(source.looks[2].configurations) > 20 * N_PENALTIES
    planned = {look.stage: look for look in strategy.planned_looks(problem())}
    for look in source.looks:
        assert len(look.configurations) <= planned[look.stage].max_configurations


def test_races_survive_a_climb_in_which_every_fit_fails():
    """The neighbours of the winner fail on the folds: the winner stays."""

    class Cliff(DriftingOptimum):
        def observe(self, look):
            climbs = look.stage.startswith("climb")
            self.failing = look.configurations.tolist() if climbs else []
            return super().observe(look)

    source = Cliff(noise=0.1)
    strategy = TrackAndConfirm(n_tracked=2, n_leaders=1, n_hedges=0)
    state = run(strategy, source, problem())
    climbs = [look for look in source.looks if look.stage.startswith("climb")]
    assert climbs
    assert all(look.may_fail for look in climbs)
    confirmed = set(source.looks[2].configurations.tolist())
    assert int(strategy.ranking(state)[0]) in confirmed


@pytest.mark.parametrize("n_failing_rows", [300, 500])
def test_looks_without_any_fit_leave_all_to_the_next(n_failing_rows):
    """If every fit fails on few rows, all configurations get the next look."""

    class Hungry(DriftingOptimum):
        def observe(self, look):
            all_of_them = range(N_WIDTHS * N_PENALTIES)
            self.failing = all_of_them if look.n_train < n_failing_rows else ()
            return super().observe(look)

    source, strategy = Hungry(), TrackAndConfirm()
    state = run(strategy, source, problem())
    next_look = next(x for x in source.looks if x.n_train >= n_failing_rows)
    assert len(next_look.configurations) == N_WIDTHS * N_PENALTIES
    assert abs(int(strategy.ranking(state)[0]) // N_PENALTIES - 21) <= 2


class Fickle(DriftingOptimum):
    """The final, on 900 rows, turns the order of its two around."""

    def best_width(self, n_train):
        return 20.0

    def expected(self, n_train, configurations):
        means = super().expected(n_train, configurations)
        return 1 - means if n_train == 900 else means


@pytest.mark.parametrize(("n_raced", "n_looks"), [(0, 10), (15, 5)])
def test_a_final_ends_when_one_is_behind(n_raced, n_looks):
    """Not before it weighs as much as the confirmation, and no climb follows it."""
    source = Fickle(noise=0.1)
    options = {"n_tracked": 3, "n_leaders": 1, "n_hedges": 0, "level": 1e-99}
    strategy = TrackAndConfirm(**options, n_raced=n_raced)
    state = run(strategy, source, problem())
    stages = [look.stage for look in source.looks]
    assert stages[-n_looks:] == ["final"] * n_looks
    assert "final" not in stages[:-n_looks]
    losses, p_values = state.column("mean_losses"), state.column("p_values")
    loser, winner = np.argsort(-losses)[:2]
    assert p_values[loser] < 0.1
    assert int(strategy.ranking(state)[0]) == winner


def test_leader_is_known_at_every_moment():
    """An interrupted race has a winner after every look."""
    strategy = TrackAndConfirm()
    for state in race(RaceState(problem()), DriftingOptimum(), strategy):
        leader = strategy.ranking(state)[0]
        assert np.isfinite(state.mean_losses[leader]).any()


def test_resumed_race_ends_like_the_uninterrupted_one():
    """The next look depends on the state alone."""
    strategy = TrackAndConfirm()
    states = list(race(RaceState(problem()), DriftingOptimum(), strategy))
    resumed = list(race(states[3], DriftingOptimum(), strategy))
    np.testing.assert_array_equal(resumed[-1].mean_losses, states[-1].mean_losses)


@pytest.mark.parametrize(
    "params",
    [
        {"first_fraction": 0.5},
        {"late_fraction": 1.0},
        {"level": 0},
        {"n_folds": 1},
        {"n_tracked": 0},
        {"n_raced": -1},
        {"final_folds": 1},
    ],
)
def test_bad_parameters_are_refused(params):
    """One sentence with the value."""
    with pytest.raises(InvalidInputError, match=next(iter(params))):
        TrackAndConfirm(**params).check(problem())
