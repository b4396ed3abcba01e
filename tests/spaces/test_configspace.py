"""ConfigSpace's objects are read without the library.

The stand-ins have the names and attributes of ConfigSpace 1.2 that are read.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from scipy.stats import kstest, truncnorm

from cvst.exceptions import InvalidInputError
from cvst.spaces import Space, choices, floats, integers


class Hyperparameter:
    def __init__(self, name):
        self.name = name


class UniformFloatHyperparameter(Hyperparameter):
    def __init__(self, name, lower, upper, log=False):
        super().__init__(name)
        self.lower, self.upper, self.log = float(lower), float(upper), log


class UniformIntegerHyperparameter(Hyperparameter):
    def __init__(self, name, lower, upper, log=False):
        super().__init__(name)
        self.lower, self.upper, self.log = lower, upper, log


class NormalFloatHyperparameter(Hyperparameter):
    def __init__(self, name, mu, sigma, lower, upper, log=False):
        super().__init__(name)
        self.mu, self.sigma = float(mu), float(sigma)
        self.lower, self.upper, self.log = float(lower), float(upper), log


class BetaIntegerHyperparameter(Hyperparameter):
    def __init__(self, name, alpha, beta, lower, upper):
        super().__init__(name)
        self.alpha, self.beta, self.lower, self.upper = alpha, beta, lower, upper

    def sample_value(self, size=None, *, seed=None):
        draws = seed.beta(self.alpha, self.beta, size=size)
        return (self.lower + draws * (self.upper - self.lower)).round().astype(int)


class CategoricalHyperparameter(Hyperparameter):
    def __init__(self, name, choices, weights=None):
        super().__init__(name)
        self.choices = tuple(choices)
        self.weights = None if weights is None else tuple(weights)


class OrdinalHyperparameter(Hyperparameter):
    def __init__(self, name, sequence):
        super().__init__(name)
        self.sequence = tuple(sequence)


class Constant(Hyperparameter):
    def __init__(self, name, value):
        super().__init__(name)
        self.value = value


class EqualsCondition:
    def __init__(self, child, parent, value):
        self.child, self.parent, self.value = child, parent, value


class InCondition:
    def __init__(self, child, parent, values):
        self.child, self.parent, self.values = child, parent, values


class GreaterThanCondition(EqualsCondition):
    pass


class AndConjunction:
    def __init__(self, *components):
        self.components = components


class ConfigurationSpace(Mapping):
    def __init__(self, parameters, conditions=(), forbidden_clauses=()):
        self._parameters = {parameter.name: parameter for parameter in parameters}
        self.conditions = list(conditions)
        self.forbidden_clauses = list(forbidden_clauses)

    def __getitem__(self, name):
        return self._parameters[name]

    def __iter__(self):
        return iter(self._parameters)

    def __len__(self):
        return len(self._parameters)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (UniformFloatHyperparameter("a", 0, 2), floats(0, 2)),
        (
            UniformFloatHyperparameter("a", 1e-3, 2, log=True),
            floats(1e-3, 2, log=True),
        ),
        (UniformIntegerHyperparameter("a", 1, 20), integers(1, 20)),
        (
            UniformIntegerHyperparameter("a", 1, 20, log=True),
            integers(1, 20, log=True),
        ),
        (CategoricalHyperparameter("a", ["x", 2]), choices(["x", 2])),
        (
            CategoricalHyperparameter("a", ["x", "y"], weights=[1, 3]),
            choices(["x", "y"], weights=[1, 3]),
        ),
        (OrdinalHyperparameter("a", ["low", "high"]), choices(["low", "high"])),
    ],
    ids=lambda given: type(given).__name__,
)
def test_parameters_are_read(theirs, ours):
    assert Space.of({"a": theirs}).dimensions[0].marginal == ours


def test_ordered_numbers_stay_ordered():
    space = Space.of({"a": OrdinalHyperparameter("a", [1, 4, 9])})
    np.testing.assert_allclose(space.encode({"a": 4}), [0.5])


def test_a_normal_number_is_cut_at_its_ends():
    theirs = NormalFloatHyperparameter("a", mu=1, sigma=2, lower=0, upper=4)
    draws = [c["a"] for c in Space.of({"a": theirs}).sample(1000, 0)]
    assert kstest(draws, truncnorm(-0.5, 1.5, loc=1, scale=2).cdf).pvalue > 0.01


def test_others_are_replaced_by_their_draws():
    theirs = BetaIntegerHyperparameter("a", alpha=2, beta=5, lower=0, upper=10)
    space = Space.of({"a": theirs})
    draws = [c["a"] for c in space.sample(2000, 0)]
    assert space.n_choices == (0,)
    assert all(type(value) is int for value in draws)
    assert np.mean(draws) == pytest.approx(10 * 2 / 7, abs=0.2)


KERNEL = CategoricalHyperparameter("kernel", ["linear", "rbf", "poly"], [2, 1, 1])
GAMMA = UniformFloatHyperparameter("gamma", 0, 1)
DEGREE = UniformIntegerHyperparameter("degree", 2, 5)
MODE = Constant("mode", "fast")


def test_a_space_without_conditions_is_a_dictionary():
    space = Space.of(ConfigurationSpace([KERNEL, GAMMA, MODE]))
    assert space.n_choices == (3, 0)
    assert space.sample(1, 0)[0]["mode"] == "fast"


def test_conditions_become_branches_with_their_chances():
    conditions = [
        InCondition(GAMMA, KERNEL, ["rbf", "poly"]),
        AndConjunction(
            EqualsCondition(DEGREE, KERNEL, "poly"),
            EqualsCondition(DEGREE, MODE, "fast"),
        ),
    ]
    space = Space.of(ConfigurationSpace([KERNEL, MODE, GAMMA, DEGREE], conditions))

    draws = space.sample(2000, 0)

    wanted = {
        "linear": {"kernel", "mode"},
        "rbf": {"kernel", "mode", "gamma"},
        "poly": {"kernel", "mode", "gamma", "degree"},
    }
    assert all(set(draw) == wanted[draw["kernel"]] for draw in draws)
    shares = [np.mean([d["kernel"] == kernel for d in draws]) for kernel in wanted]
    np.testing.assert_allclose(shares, [0.5, 0.25, 0.25], atol=0.04)
    assert [d.name for d in space.dimensions] == ["branch", "gamma", "degree"]


def test_a_child_of_an_inactive_parent_is_inactive():
    inner = CategoricalHyperparameter("inner", ["a", "b"])
    leaf = UniformFloatHyperparameter("leaf", 0, 1)
    conditions = [
        EqualsCondition(inner, KERNEL, "rbf"),
        EqualsCondition(leaf, inner, "a"),
    ]
    space = Space.of(ConfigurationSpace([KERNEL, inner, leaf], conditions))

    names = [tuple(entry.name for entry in branch.entries) for branch in space.branches]

    assert names == [
        ("kernel",),
        ("kernel", "inner", "leaf"),
        ("kernel", "inner"),
        ("kernel",),
    ]
    weights = [branch.weight for branch in space.branches]
    np.testing.assert_allclose(weights, [0.5, 0.125, 0.125, 0.25])


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (
            ConfigurationSpace(
                [KERNEL, GAMMA], [GreaterThanCondition(GAMMA, KERNEL, 1)]
            ),
            "is a GreaterThanCondition, but only equals",
        ),
        (
            ConfigurationSpace([GAMMA, DEGREE], [EqualsCondition(DEGREE, GAMMA, 0.5)]),
            "condition on gamma asks for a number in a range",
        ),
        (
            ConfigurationSpace([GAMMA], forbidden_clauses=["gamma == 1"]),
            "has forbidden clauses",
        ),
    ],
)
def test_what_has_no_branches_gets_one_sentence(space, message):
    with pytest.raises(InvalidInputError, match=message):
        Space.of(space)


def test_too_many_branches_get_one_sentence():
    parents = [CategoricalHyperparameter(f"p{i}", range(5)) for i in range(3)]
    conditions = [
        AndConjunction(*[EqualsCondition(GAMMA, parent, 1) for parent in parents])
    ]
    with pytest.raises(InvalidInputError, match="make more than 64 branches"):
        Space.of(ConfigurationSpace([*parents, GAMMA], conditions))
