"""The paper's strategy, its parts and its checks."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest
from sklearn.base import clone

from cvst.exceptions import InvalidInputError, TooFewStepsError
from cvst.race import (
    CVST,
    Comparison,
    LinearSchedule,
    LookLosses,
    MeanRank,
    NeverStop,
    OutlierSimilarity,
    PrefixSimilarity,
    Problem,
    RaceState,
    SimilarTraces,
    race,
)


class Noise:
    """Configurations whose losses grow with their index, if at all."""

    def __init__(self, gaps, seed=0, n_points=400, failing=lambda step, index: False):
        self.gaps = np.asarray(gaps, dtype=float)
        self.rng = np.random.default_rng(seed)
        self.n_points = n_points
        self.failing = failing
        self.steps = count(1)

    def observe(self, look):
        step = next(self.steps)
        noise = self.rng.normal(size=(len(look.configurations), self.n_points)) ** 2
        losses = noise + self.gaps[look.configurations, None]
        failures = {
            int(index): "ValueError: no"
            for index in look.configurations
            if self.failing(step, index)
        }
        for row, index in enumerate(look.configurations):
            if int(index) in failures:
                losses[row] = np.nan
        nothing = np.zeros(len(losses))
        return LookLosses(
            losses, losses.mean(axis=1), nothing, nothing, failures=failures
        )


def run(strategy, source, n_configurations, n_samples=1100, **problem):
    strategy.check(Problem(n_configurations, n_samples, **problem))
    start = RaceState(Problem(n_configurations, n_samples, **problem))
    return list(race(start, source, strategy))[-1]


def test_losers_fall_right_after_the_safety_zone():
    """With the default levels a constant flop is dropped in step 3, not before."""
    state = run(CVST(), Noise([0, 0, 5, 5]), 4)
    assert state.dropped_at.tolist()[2:] == [3, 3]
    assert set(state.drop_reasons.values()) == {"sequential test"}


def test_equal_configurations_stop_the_race_after_the_window():
    """Nothing distinguishes the configurations, so the race ends at window + 1."""
    state = run(CVST(similarity_level=1e-9), Noise([0, 0, 0]), 3)
    assert state.n_looks == 4
    assert CVST(similarity_level=1e-9).stop_reason(state) == "similar_performance"


def test_window_rule_may_stop_one_step_earlier():
    """``similar_within_window`` tests as soon as the window is full."""
    strategy = CVST(similarity_level=1e-9, stopping="similar_within_window")
    assert run(strategy, Noise([0, 0, 0]), 3).n_looks == 3


def test_race_without_stopping_runs_all_steps():
    """``stopping="never"`` leaves the number of steps as the only end."""
    state = run(CVST(stopping="never", elimination="none"), Noise([0, 0, 5]), 3)
    assert state.n_looks == 10
    assert state.active.all()
    sizes = [step * 1100 // 11 for step in range(1, 11)]
    assert state.subset_sizes.tolist() == sizes


def test_lone_survivor_ends_the_race():
    """Once all others are dropped there is nothing left to decide."""
    strategy = CVST(stopping="never")
    state = run(strategy, Noise([0, 5, 5]), 3)
    assert strategy.stop_reason(state) == "one_survivor"
    assert state.n_looks == 3


def test_failed_fit_is_a_flop_and_falls_like_one():
    """A configuration that always fails is dropped by the sequential test."""
    source = Noise([0, 0, 0], failing=lambda step, index: index == 0)
    state = run(CVST(similarity_level=1e-9), source, 3)
    assert state.dropped_at[0] == 3
    assert not state.traces[0].any()


def test_configuration_that_fails_at_the_largest_size_is_dropped():
    """A late failure never wins, whatever came before."""
    source = Noise([0, 0], failing=lambda step, index: index == 0 and step == 10)
    strategy = CVST(stopping="never", similarity_level=1e-9)
    state = run(strategy, source, 2)
    assert state.drop_reasons == {0: "fit failed"}
    assert strategy.ranking(state).tolist() == [1]


def test_shuffled_steps_draw_their_rows_anew():
    """Each step takes the first rows of its own permutation."""
    rng = np.random.default_rng(0)
    orders = tuple(rng.permutation(110) for _ in range(10))
    strategy = CVST(shuffle_each_step=True)
    state = RaceState(Problem(2, 110, orders=orders))
    look = strategy.next_look(state)
    np.testing.assert_array_equal(look.train, orders[0][:10])
    np.testing.assert_array_equal(look.test, orders[0][10:])


def test_separate_test_set_lets_the_last_step_train_on_all_rows():
    """With a test set of its own the schedule divides by S, not S + 1."""
    problem = Problem(2, 100, n_validation=50)
    assert CVST().subset_sizes(problem) == [10 * step for step in range(1, 11)]
    assert CVST().next_look(RaceState(problem)).test == slice(100, 150)


def test_own_rules_are_used_as_they_are():
    """Any object with the one method of a protocol is a rule."""

    class OnlyFirst:
        def compare(self, seen):
            top = np.arange(len(seen.losses)) == 0
            return Comparison(top, np.full(len(top), 0.5))

    class DropAll:
        def is_loser(self, traces):
            return np.ones(len(traces), dtype=bool)

    state = run(CVST(similarity=OnlyFirst(), elimination=DropAll()), Noise([0, 0]), 2)
    assert state.active.sum() == 1
    np.testing.assert_array_equal(state.p_values[:, 0], 0.5)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"similarity_level": 0}, "similarity_level=0 must lie strictly between"),
        ({"stopping_level": 1.5}, "stopping_level=1.5 must lie strictly between"),
        ({"loser_level": 1}, "loser_level=1 must lie strictly between"),
        ({"winner_level": -0.1}, "winner_level=-0.1 must lie strictly between"),
        ({"similarity_level": "0.05"}, "similarity_level='0.05' must lie strictly"),
        ({"loser_level": None}, "loser_level=None must lie strictly between"),
        ({"winner_level": [0.01]}, "must lie strictly between 0 and 1"),
        ({"elimination": "none", "loser_level": 2}, "loser_level=2 must lie"),
        ({"max_steps": True}, "max_steps=True must be a whole number"),
        ({"stopping_window": True}, "must be 'auto' or a whole number"),
        ({"stopping_window": 11}, "larger than max_steps=10"),
        ({"stopping_window": 2.5}, "must be 'auto' or a whole number"),
        ({"max_steps": 0}, "must be a whole number of at least 1"),
        ({"similarity": "median"}, "similarity='median' is not known"),
        ({"elimination": "closd"}, "Use one of 'open', 'closed', 'none'"),
        ({"stopping": object()}, "or an object with a method 'should_stop'"),
        ({"stopping": NeverStop}, "or an object with a method 'should_stop'"),
        ({"schedule": "quadratic"}, "schedule='quadratic' is not known"),
        ({"winner": "best"}, "winner='best' is not known"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(params, message):
    """The message holds the value, the rule and the way out."""
    with pytest.raises(InvalidInputError, match=message):
        CVST(**params).check(Problem(2, 1000))


def test_too_few_steps_for_the_levels_names_the_smallest_number():
    """The sequential test needs ceil(log((1 - beta) / alpha) / log 2) steps."""
    with pytest.raises(TooFewStepsError, match="at least 7 steps"):
        CVST(max_steps=6, stopping_window=2).check(Problem(2, 1000))


@pytest.mark.parametrize("n_groups", [1, 3, 10])
def test_fewer_groups_than_steps_are_refused(n_groups):
    """Every step must add a group, and one must remain; the message counts them."""
    problem = Problem(2, 100, boundaries=np.arange(1, n_groups))
    message = f"^{n_groups} groups are too few for max_steps=10"
    with pytest.raises(InvalidInputError, match=message):
        CVST().check(problem)


def test_uneven_groups_race_if_there_are_enough_of_them():
    """One group of half the rows does not stop a race of eleven groups."""
    problem = Problem(
        2, 100, boundaries=np.array([5, 10, 15, 20, 25, 30, 35, 40, 45, 95])
    )
    CVST().check(problem)
    state = RaceState(problem)
    assert CVST().subset_sizes(problem) == problem.boundaries.tolist()
    assert CVST().next_look(state).n_train == 5


@pytest.mark.parametrize("size", [0, 100, 250])
def test_own_schedules_must_leave_rows_to_train_and_to_test(size):
    """Nothing is fitted before the sizes are known to be possible."""

    class Constant:
        def n_train(self, step, problem):
            del step, problem
            return size

    with pytest.raises(InvalidInputError, match=f"a subset of {size} rows out of 100"):
        CVST(schedule=Constant()).check(Problem(2, 100))


def test_parameters_can_be_set_cloned_and_shown():
    """A strategy follows scikit-learn's parameter contract."""
    strategy = CVST(max_steps=20).set_params(loser_level=0.2)
    copy = clone(strategy, safe=False)
    assert copy is not strategy
    assert copy.get_params() == strategy.get_params()
    assert repr(copy) == "CVST(max_steps=20, loser_level=0.2)"
    with pytest.raises(InvalidInputError, match="no parameter 'steps'"):
        strategy.set_params(steps=3)


@pytest.mark.parametrize(("max_steps", "window"), [(10, 3), (20, 6), (7, 2)])
def test_automatic_window_is_three_tenths_of_the_steps(max_steps, window):
    """The paper's choices for 10 and 20 steps follow from one rule."""
    assert CVST(max_steps=max_steps).window == window


@pytest.mark.parametrize("window", [0, 1])
def test_tiny_windows_switch_early_stopping_off(window):
    """Windows of 0 and 1 crash the R package; here they never stop a race."""
    strategy = CVST(stopping_window=window, similarity_level=1e-9)
    assert run(strategy, Noise([0, 0]), 2).n_looks == 10


class TestSimilarity:
    """Top or flop."""

    def seen(self, losses, residuals=None):
        losses = np.asarray(losses, dtype=float)
        nothing = np.zeros(len(losses))
        return LookLosses(losses, losses.mean(axis=1), nothing, nothing, residuals)

    def test_binary_losses_go_to_cochran(self):
        """``auto`` looks at the losses, not at the task."""
        rng = np.random.default_rng(0)
        losses = (rng.random((4, 200)) < 0.3).astype(float)
        auto = PrefixSimilarity(0.05).compare(self.seen(losses))
        named = PrefixSimilarity(0.05, "cochran").compare(self.seen(losses))
        np.testing.assert_array_equal(auto.p_values, named.p_values)

    @pytest.mark.parametrize("test", ["cochran", "wilson"])
    def test_binary_tests_refuse_other_losses(self, test):
        """A test of proportions on squared errors would compare nothing."""
        with pytest.raises(InvalidInputError, match="losses of 0 and 1"):
            PrefixSimilarity(0.05, test).compare(self.seen([[0.5, 1], [0, 1]]))

    def test_all_similar_are_all_top(self):
        """When no test rejects, the last configuration is top as well."""
        losses = np.random.default_rng(1).random((5, 50))
        assert PrefixSimilarity(1e-12).compare(self.seen(losses)).top.all()

    def test_unpaired_test_misses_what_pairing_shows(self):
        """A small constant gap under large shared noise is seen by pairs only."""
        rng = np.random.default_rng(2)
        shared = rng.normal(size=300) ** 2 * 10
        losses = np.stack([shared, shared + 0.05])
        assert PrefixSimilarity(0.05, "friedman").compare(
            self.seen(losses)
        ).top.tolist() == [True, False]
        assert (
            PrefixSimilarity(0.05, "kruskal_wallis")
            .compare(self.seen(losses))
            .top.all()
        )

    def test_outliers_are_ordered_by_loss_and_need_residuals(self):
        """The outlier variant compares which rows are outliers."""
        rng = np.random.default_rng(3)
        residuals = rng.normal(size=(3, 300))
        residuals[2, :60] = rng.choice([-9, 9], size=60)
        comparison = OutlierSimilarity(0.05).compare(self.seen(residuals**2, residuals))
        assert comparison.top.tolist() == [True, True, False]
        with pytest.raises(InvalidInputError, match="needs signed residuals"):
            OutlierSimilarity(0.05).compare(self.seen(residuals**2))


def test_mean_rank_prefers_consistent_configurations():
    """Ranks are averaged over the window, ties within a step too."""
    losses = np.array([[9, 1, 3, 2.0], [9, 2, 1, 1], [0, 3, 3, 3]])
    # Last three steps: ranks 1, 2.5, 2 / 2, 1, 1 / 3, 2.5, 3.
    expected = [5.5 / 3, 4 / 3, 8.5 / 3]
    np.testing.assert_allclose(MeanRank(3).scores(losses), expected)


def test_mean_rank_puts_a_failed_last_step_behind_all():
    """A configuration without a result at the largest size cannot win."""
    losses = np.array([[1.0, np.nan], [2.0, 5.0]])
    assert np.argmin(MeanRank(2).scores(losses)) == 1


def test_similar_traces_reject_a_mixed_window():
    """Heterogeneous survivors keep the race going."""
    traces = np.zeros((30, 4), dtype=bool)
    traces[:15, 1:] = True
    assert not SimilarTraces(3, 0.05).should_stop(traces)


def test_linear_schedule_never_reaches_all_rows():
    """The last step keeps a part of 1 / (S + 1) for testing."""
    sizes = [LinearSchedule(20).n_train(s, Problem(1, 1000)) for s in range(1, 21)]
    assert sizes[0] == 47
    assert sizes[-1] == 952


@pytest.mark.parametrize(
    ("named", "rule"),
    [
        ({"stopping": "never"}, {"stopping": NeverStop()}),
        ({"stopping": "never"}, {"stopping_window": 1}),
        ({"stopping": "similar"}, {"stopping": SimilarTraces(3, 0.05)}),
        (
            {"stopping": "similar", "stopping_window": 5},
            {"stopping": SimilarTraces(5, 0.05)},
        ),
    ],
)
def test_a_rule_is_forecast_as_its_name_is(named, rule):
    problem = Problem(10, 1000)
    by_name, by_rule = CVST(**named), CVST(**rule)
    assert by_rule.expected_looks(problem) == by_name.expected_looks(problem)
    chances = by_name.look_chances(problem)
    np.testing.assert_array_equal(by_rule.look_chances(problem), chances)
    never = named["stopping"] == "never"
    assert (by_name.expected_looks(problem) == 10) == (chances[-1] == 1) == never


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "by the mean rank of its loss in the last 3 looks"),
        ({"winner": MeanRank(4)}, "by the mean rank of its loss in the last 4 looks"),
        ({"stopping_window": 0}, "by the mean rank of its loss in the last look"),
    ],
)
def test_by_what_the_winner_ranks_first_is_said_of_the_rule(options, said):
    assert CVST(**options).criterion(RaceState(Problem(2, 100))) == said
