"""From the configurations of a search to axes, levels and fits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cvst.race.machinery import space_of


def axes_of(configurations, **options):
    space = space_of(configurations, **options)
    return {axis.name: axis for axis in space.axes}


def values_back(axis, name, configurations):
    """Return the values of each level, found by looking them up again."""
    levels = {}
    for code, configuration in zip(axis.codes, configurations, strict=True):
        levels.setdefault(int(code), set()).add(configuration.get(name))
    return levels


def test_numbers_are_ordered_by_value_whatever_their_order_in_the_grid():
    """Levels ascend with the value; integers and floats mix."""
    configurations = list(ParameterGrid({"C": [100.0, 1, 10], "shift": [0.5, -2]}))
    axes = axes_of(configurations)
    assert all(axis.ordered for axis in axes.values())
    levels = values_back(axes["C"], "C", configurations)
    assert levels == {0: {1}, 1: {10}, 2: {100.0}}
    assert axes["shift"].codes.tolist() == [
        int(c["shift"] == 0.5) for c in configurations
    ]


@pytest.mark.parametrize(
    "values",
    [
        ["linear", "rbf"],
        [True, False],
        [None, 3],
        [0.1, "scale"],
        [(10,), (10, 10)],
        [1.0, np.inf],
    ],
)
def test_other_values_are_categories(values):
    """Texts, switches, None and sequences have no neighbours."""
    configurations = list(ParameterGrid({"a": values, "C": [1, 2, 3]}))
    space = space_of(configurations)
    axis = {axis.name: axis for axis in space.axes}["a"]
    assert not axis.ordered
    assert axis.n_levels == 2
    index = configurations.index({"a": values[0], "C": 2})
    near = [configurations[i] for i in space.neighbours(index, 1)]
    assert all(c["a"] == values[0] for c in near)
    assert sorted(c["C"] for c in near) == [1, 3]


def test_conditional_grids_have_gaps():
    """A hyper-parameter that a configuration lacks has no level there."""
    configurations = list(
        ParameterGrid(
            [
                {"kernel": ["rbf"], "gamma": [0.1, 1.0, 10.0], "C": [1, 10]},
                {"kernel": ["linear"], "C": [1, 10]},
            ]
        )
    )
    space = space_of(configurations)
    axes = {axis.name: axis for axis in space.axes}
    lacking = np.array(["gamma" not in c for c in configurations])
    np.testing.assert_array_equal(axes["gamma"].codes < 0, lacking)
    linear = configurations.index({"kernel": "linear", "C": 1})
    assert [configurations[i] for i in space.neighbours(linear, 1)] == [
        {"kernel": "linear", "C": 10}
    ]


def test_what_does_not_vary_is_no_axis():
    """One value for all is nothing to follow; one configuration spans no space."""
    configurations = list(ParameterGrid({"C": [1, 2], "kernel": ["rbf"]}))
    assert set(axes_of(configurations)) == {"C"}
    assert space_of([{"C": 1}]) is None
    assert space_of([{}]) is None


def test_random_configurations_are_recognised():
    """Drawn values hardly repeat: neighbours are near ones, not next levels."""
    drawn = list(
        ParameterSampler(
            {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-3, 1e3)},
            60,
            random_state=0,
        )
    )
    space = space_of(drawn)
    assert not space.is_grid
    near = space.neighbours(0, 1)
    ranks = np.stack([axis.codes for axis in space.axes])
    gaps = np.hypot(*(ranks - ranks[:, :1]).astype(float))
    gaps[0] = np.inf
    assert set(near) == set(np.argsort(gaps)[:4])


def test_one_long_axis_is_a_grid():
    """All values of a single axis differ, and still its levels are neighbours."""
    space = space_of([{"C": c} for c in np.logspace(-3, 3, 100)])
    assert space.is_grid
    assert space.neighbours(50, 1).tolist() == [49, 51]


def test_ten_axes():
    """Each axis of two levels gives one neighbour."""
    names = "abcdefghij"
    configurations = [
        dict(zip(names, map(int, f"{number:010b}"), strict=True))
        for number in range(1024)
    ]
    space = space_of(configurations)
    assert len(space.axes) == 10
    near = space.neighbours(0, 1)
    assert sorted(near.tolist()) == [2**n for n in range(10)]


def test_estimators_as_values_are_categories_with_hyper_parameters_of_their_own():
    """Equal estimators share a level, though they are different objects."""
    configurations = [
        *({"model": SVC(), "model__C": c} for c in (1, 10)),
        *({"model": DecisionTreeClassifier(), "model__max_depth": d} for d in (1, 2)),
    ]
    axes = axes_of(configurations)
    assert not axes["model"].ordered
    assert axes["model"].codes.tolist() == [0, 0, 1, 1]
    assert axes["model__C"].codes.tolist() == [0, 1, -1, -1]


def test_covered_axes_make_siblings():
    """One fit per learning rate, whatever the number of trees."""
    configurations = list(ParameterGrid({"rate": [0.1, 1], "trees": [10, 20, 30]}))
    space = space_of(configurations, covered={"trees": "smaller"})
    rates = [c["rate"] for c in configurations]
    same = np.equal.outer(rates, rates)
    np.testing.assert_array_equal(np.equal.outer(space.fits, space.fits), same)
    chosen = np.array([configurations.index({"rate": 1, "trees": 20})])
    served = [configurations[i] for i in space.with_siblings(chosen)]
    assert served == [{"rate": 1, "trees": 10}, {"rate": 1, "trees": 20}]


def test_replaced_parts_cover_nothing():
    """Another model under the same name may need a fit per value."""
    configurations = [
        {"model": model, "model__n": n} for model in ("this", "that") for n in (1, 2, 3)
    ]
    axes = axes_of(configurations, covered={"model__n": "smaller"})
    assert axes["model__n"].covered == ""


def test_categories_have_no_smaller_ones():
    """A covered hyper-parameter with None among its values is left alone."""
    configurations = [{"n": n, "rate": r} for n in (None, 5) for r in (1, 2)]
    assert axes_of(configurations, covered={"n": "smaller"})["n"].covered == ""
    assert axes_of(configurations, covered={"n": "all"})["n"].covered == "all"
