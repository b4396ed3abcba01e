"""Wrappers of a strategy: each question is passed on, or answered on purpose."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import uniform
from shifted_mean import ShiftedMean

from cvst import CVST, RaceRandomSearchCV
from cvst.exceptions import InvalidInputError
from cvst.race import AtMost, Decider, Problem, Relay, Strategy
from cvst.race._limits import Alone, Limit
from cvst.search.budget._clock import Within
from cvst.search.checkpoint._recorder import Ended

# What a relay leaves to the defaults of the protocol, and why.
LEFT_OUT = {
    "get_params": "its own arguments",
    "set_params": "its own arguments",
    "looks_alone": "which leg is next is known when the looks under way are over",
    "takes_turns": "in turn there would be no legs",
    "variants": "their legs would have other sizes",
    "sequential_test": "it starts anew in each leg, and its figure shows one race",
    "first_drop": "it goes with the sequential test",
    "drop_error_bounds": "they hold for a single race",
}


def public(protocol):
    """Return the public members of a protocol and of what it derives from."""
    return {name for name in dir(protocol) if not name.startswith("_")}


def test_a_relay_answers_whatever_is_asked_of_a_strategy():
    """A question that comes later must be passed on, or left out on purpose."""
    own = vars(Relay).keys()
    assert public(Strategy) - own == set(LEFT_OUT)


@pytest.mark.parametrize("kind", [AtMost, Alone, Within, Ended])
def test_a_limit_answers_whatever_the_loop_asks(kind):
    """The loop asks what a decider answers, and nothing else."""
    assert issubclass(kind, Limit)
    assert public(Decider) == public(Limit) - {"decider"} <= vars(Limit).keys()
    fields = {field.name for field in dataclasses.fields(kind)}
    assert public(kind) - fields == public(Decider)


PROBLEM = Problem(10, 1000, configurations=tuple({"a": i} for i in range(10)), folds={})


@pytest.mark.parametrize(
    "name",
    [
        *("level", "n_orders", "most_rows", "binary_test", "row_test", "window"),
        *("needs_residuals", "rescales", "keeps_order", "fold_counts", "proposes"),
        *("takes_all_folds", "rehearses", "bounds_run"),
    ],
)
def test_what_a_leg_needs_is_what_the_strategy_needs(name):
    class Asks(CVST):
        level = 0.001
        most_rows = 700
        keeps_order = takes_all_folds = bounds_run = True
        fold_counts = (3, 5)

    inner = Asks(20, shuffle_each_step=True, similarity="cochran")
    assert getattr(Relay(inner, (5, 5)), name) == getattr(inner, name)


@pytest.mark.parametrize(
    "name",
    [
        *("subset_sizes", "subsets", "fewest_looks", "remarks", "planned_looks"),
        *("expected_looks", "look_chances", "expected_configurations"),
    ],
)
def test_what_is_known_beforehand_is_that_of_the_first_leg(name):
    class Remarks(CVST):
        def remarks(self, problem):
            return [f"{problem.n_samples} rows"]

        def subsets(self, problem):
            return super().subsets(problem)[:2]

    inner = Remarks(8)
    expected = getattr(inner, name)(PROBLEM)
    np.testing.assert_equal(getattr(Relay(inner, (5, 5)), name)(PROBLEM), expected)
    assert len(np.atleast_1d(np.asarray(expected, dtype=object))) > 0


def test_what_is_true_of_a_single_race_alone_is_not_said_of_legs():
    relay = Relay(CVST(), (5, 5))
    assert relay.sequential_test is None
    assert relay.first_drop is None
    assert relay.drop_error_bounds([0.9]) == {}
    assert list(relay.variants(PROBLEM)) == []


def test_legs_that_cannot_be_run_are_refused():
    with pytest.raises(InvalidInputError, match="max_steps=0"):
        Relay(CVST(0), (5, 5)).check(PROBLEM)


@pytest.mark.parametrize(
    "inner", [CVST(8, shuffle_each_step=True), CVST(8, similarity="kruskal_wallis")]
)
def test_legs_are_raced_whatever_the_strategy_needs(inner):
    """A second leg draws its subsets from the orders that the first had."""
    rng = np.random.default_rng(0)
    search = RaceRandomSearchCV(
        ShiftedMean(), {"shift": uniform(0, 2)}, n_iter=10, random_state=0
    )
    search.set_params(strategy=Relay(inner, (5, 5)))
    search.fit(rng.normal(size=(300, 1)), rng.normal(size=300))
    looks = [one.look.configurations for one in search.race_.observations]
    assert looks[0].tolist() == list(range(5))
    assert any(look.max() >= 5 for look in looks)
    assert search.best_params_["shift"] == search.cv_results_["param_shift"].min()


def test_the_final_fit_is_that_of_the_leg_that_decides():
    """Of a leg that is cut nothing counts, so the leg before is asked about."""

    class Tells(CVST):
        def refit_seconds(self, state):
            return float(state.n_configurations)

    rng = np.random.default_rng(0)
    search = RaceRandomSearchCV(
        ShiftedMean(), {"shift": uniform(0, 2)}, n_iter=9, random_state=0
    )
    search.set_params(
        strategy=Relay(Tells(5, elimination="none", stopping="never"), (4, 5))
    )
    data = rng.normal(size=(300, 1)), rng.normal(size=300)
    expected = {4: 4, 5: 4, 9: 4, 10: 6}
    for n_looks, n_raced in expected.items():
        search.set_params(max_looks=n_looks).fit(*data)
        assert search.n_looks_ == n_looks
        assert search.strategy_.refit_seconds(search.race_) == n_raced, n_looks
