"""Configurations become points and come back unharmed."""

from __future__ import annotations

import pickle
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import (
    chisquare,
    expon,
    kstest,
    loguniform,
    norm,
    poisson,
    randint,
    uniform,
)
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cvst.exceptions import InvalidInputError
from cvst.spaces import Space, choices, floats, integers
from cvst.spaces._scipy import frozen

MIXED = {
    "rate": loguniform(1e-3, 1),
    "leaves": integers(2, 500, log=True),
    "depth": randint(1, 30),
    "share": uniform(0.2, 0.8),
    "shift": norm(3, 2),
    "level": [0.1, 1, 10],
    "kernel": ["rbf", "linear", None],
    "layers": [(8,), (8, 8), [16]],
    "fixed": ["only"],
}
BRANCHES = [
    {"model": [SVC()], "model__C": loguniform(0.1, 10), "scale": [True, False]},
    {"model": [DecisionTreeClassifier()], "model__max_depth": integers(1, 9)},
    {"model": ["passthrough"], "scale": [True, False]},
]


def same(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        if isinstance(value, float):
            assert other[name] == pytest.approx(value, rel=1e-9, abs=1e-12)
        else:
            assert other[name] is value or other[name] == value
            assert type(other[name]) is type(value)


@given(st.lists(st.floats(0, 1), min_size=8, max_size=8))
def test_configurations_survive_the_way_to_a_point_and_back(coordinates):
    space = Space.of(MIXED)
    point = np.array(coordinates) * np.maximum(space.n_choices, 1)

    configuration = space.decode(point)
    encoded = space.encode(configuration)

    same(configuration, space.decode(encoded))
    assert encoded.min() >= 0
    assert np.all(encoded <= np.maximum(1, np.array(space.n_choices) - 1))


@given(st.integers(0, 2**32))
def test_draws_from_branches_survive_the_way_to_a_point_and_back(seed):
    space = Space.of(BRANCHES)
    for configuration in space.sample(3, seed) + space.spread(3, seed):
        point = space.encode(configuration)
        same(configuration, space.decode(point))
        inactive = [
            dimension.name not in configuration and dimension.name != "branch"
            for dimension in space.dimensions
        ]
        np.testing.assert_array_equal(np.isnan(point), inactive)


@given(
    low=st.integers(1, 50),
    width=st.integers(0, 10**6),
    log=st.booleans(),
    share=st.floats(0, 1),
)
def test_whole_numbers_survive(low, width, log, share):
    marginal = integers(low, low + width, log=log)
    (value,) = marginal.decode(np.array([share]))

    assert low <= value <= low + width
    assert marginal.decode(np.array([marginal.encode(value, clip=False)])) == [value]


@given(st.floats(1e-6, 1e6), st.floats(0, 6), st.booleans(), st.floats(0, 1))
def test_real_numbers_survive(low, decades, log, share):
    marginal = floats(low, low * 10**decades, log=log)
    (value,) = marginal.decode(np.array([share]))

    (again,) = marginal.decode(np.array([marginal.encode(value, clip=False)]))
    assert again == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(
    "distribution",
    [
        loguniform(1e-4, 10),
        uniform(-3, 7),
        norm(2, 5),
        expon(scale=3),
        floats(0.01, 5, log=True),
        floats(-2, 2),
    ],
    ids=["loguniform", "uniform", "norm", "expon", "log floats", "floats"],
)
def test_points_of_draws_are_uniform(distribution):
    """Whatever the distribution's own draws are, their points fill [0, 1] evenly."""
    space = Space.of({"a": distribution})
    draws = distribution.rvs(size=2000, random_state=np.random.RandomState(1))
    points = [space.encode({"a": value})[0] for value in draws]

    assert kstest(points, "uniform").pvalue > 0.01
    # A cdf of another distribution would be noticed.
    assert kstest(np.square(points), "uniform").pvalue < 1e-6


@pytest.mark.parametrize("method", ["sample", "spread"])
def test_continuous_draws_follow_scipys_distribution(method):
    space = Space.of({"a": loguniform(1e-3, 1), "b": norm(1, 2)})
    draws = getattr(space, method)(1024, 3)

    assert kstest([c["a"] for c in draws], loguniform(1e-3, 1).cdf).pvalue > 0.01
    assert kstest([c["b"] for c in draws], norm(1, 2).cdf).pvalue > 0.01


@pytest.mark.parametrize("method", ["sample", "spread"])
def test_whole_numbers_are_drawn_with_their_chances(method):
    """On a log scale k has the chance of [k - 1/2, k + 1/2] of the uniform log."""
    space = Space.of(
        {"a": randint(3, 8), "b": integers(1, 8, log=True), "c": poisson(2)}
    )
    draws = getattr(space, method)(4096, 0)

    ks = np.arange(1, 9)
    wanted = np.log((ks + 0.5) / (ks - 0.5)) / np.log(8.5 / 0.5)
    assert wanted.sum() == pytest.approx(1)
    counts = np.bincount([c["b"] for c in draws], minlength=9)[1:]
    assert chisquare(counts, 4096 * wanted).pvalue > 0.01
    counts = np.bincount([c["a"] for c in draws], minlength=8)
    assert counts[:3].sum() == 0
    assert chisquare(counts[3:8]).pvalue > 0.01
    share = np.mean([c["c"] <= 2 for c in draws])
    assert share == pytest.approx(poisson(2).cdf(2), abs=0.03)


def test_the_middle_of_a_log_range_is_the_geometric_mean():
    space = Space.of({"a": loguniform(1e-4, 1), "b": floats(1e-2, 1e4, log=True)})
    middle = space.decode(np.array([0.5, 0.5]))

    assert middle == pytest.approx({"a": 1e-2, "b": 10.0})


def test_spread_points_are_more_even_than_draws():
    """The largest gap between 64 neighbours is at most two cells of 1/64."""
    space = Space.of({"a": uniform(), "b": uniform()})
    for name in "ab":
        values = np.sort([c[name] for c in space.spread(64, 0)])
        assert np.diff(values).max() <= 2 / 64
        drawn = np.sort([c[name] for c in space.sample(64, 0)])
        assert np.diff(drawn).max() > 2 / 64


@pytest.mark.parametrize("n", [0, 1, 3, 100])
def test_as_many_configurations_as_asked_for(n):
    for given_space in (MIXED, BRANCHES, {"a": ["x"]}, {}):
        assert len(Space.of(given_space).spread(n, 0)) == n
        assert len(Space.of(given_space).sample(n, 0)) == n


def test_draws_depend_on_the_seed_alone():
    space = Space.of(MIXED)
    assert space.sample(5, 1) == space.sample(5, np.random.default_rng(1))
    assert space.spread(5, 1) == space.spread(5, np.random.default_rng(1))
    assert space.sample(5, 1) != space.sample(5, 2)
    assert space.spread(5, 1) != space.spread(5, 2)


def test_numbers_in_a_list_are_ordered_and_sit_in_the_middle_of_their_share():
    space = Space.of({"a": [100, 1, 10, 0.5]})
    points = [space.encode({"a": value})[0] for value in (0.5, 1, 10, 100)]

    np.testing.assert_allclose(points, [0.125, 0.375, 0.625, 0.875])
    assert space.n_choices == (0,)


def test_truth_values_none_and_words_are_categories():
    space = Space.of({"a": [True, False], "b": [None, 3], "c": choices([1, 2, 4])})
    assert space.n_choices == (2, 2, 3)
    np.testing.assert_array_equal(
        space.encode({"a": False, "b": None, "c": 4}), [1, 0, 2]
    )


def test_values_keep_their_type():
    configuration = Space.of(
        {
            "a": np.array([1, 2]),
            "b": randint(1, 9),
            "c": [(1, 2), (3,)],
            "d": range(3),
            "e": np.array(["x", "y"]),
        }
    ).sample(1, 0)[0]

    assert isinstance(configuration["a"], np.integer)
    assert type(configuration["b"]) is int
    assert type(configuration["c"]) is tuple
    assert type(configuration["d"]) is int
    assert isinstance(configuration["e"], str)


def test_equal_estimators_are_the_same_category():
    space = Space.of({"model": [SVC(C=1.0), SVC(C=2.0), np.array([1, 2])]})
    assert space.encode({"model": SVC(C=2.0)}) == [1]
    assert space.encode({"model": np.array([1, 2])}) == [2]
    with pytest.raises(InvalidInputError, match=r"model=SVC\(C=3.0\) is outside"):
        space.encode({"model": SVC(C=3.0)})


def test_branches_share_a_dimension_where_they_agree():
    space = Space.of(
        [
            {"C": loguniform(0.1, 10), "gamma": uniform(0, 1)},
            {"C": loguniform(0.1, 10), "gamma": uniform(0, 2)},
        ]
    )
    names = [(dimension.name, dimension.branches) for dimension in space.dimensions]
    assert names == [
        ("branch", (0, 1)),
        ("C", (0, 1)),
        ("gamma", (0,)),
        ("gamma", (1,)),
    ]
    assert space.names == ("C", "gamma")


def test_branches_are_equally_likely():
    draws = Space.of(BRANCHES).sample(3000, 0)
    shares = [
        np.mean(["model__C" in c for c in draws]),
        np.mean(["model__max_depth" in c for c in draws]),
    ]
    np.testing.assert_allclose(shares, 1 / 3, atol=0.03)


def test_the_grid_is_scikit_learns():
    lists = [{"a": [1, 2, 3], "b": ["x", "y"]}, {"a": [7], "c": [None, True]}]
    space = Space.of(lists)

    grid = space.grid()

    assert space.size == len(grid) == len(ParameterGrid(lists))
    assert all(configuration in grid for configuration in ParameterGrid(lists))


def test_the_grid_of_ranges_lists_every_value():
    space = Space.of(
        {"a": randint(2, 5), "b": integers(1, 7, step=3), "c": floats(0, 1, step=0.25)}
    )
    assert space.size == 3 * 3 * 5
    grid = space.grid()
    assert {c["a"] for c in grid} == {2, 3, 4}
    assert {c["b"] for c in grid} == {1, 4, 7}
    assert {c["c"] for c in grid} == {0, 0.25, 0.5, 0.75, 1}


def test_the_grid_of_a_large_space_is_refused():
    with pytest.raises(InvalidInputError, match="infinitely many configurations"):
        Space.of({"a": uniform()}).grid()
    with pytest.raises(InvalidInputError, match="1,000,000 configurations"):
        Space.of({"a": integers(1, 1000), "b": integers(1, 1000)}).grid()
    assert Space.of(MIXED).size == inf
    assert Space.of({"a": poisson(3)}).size == inf


def test_a_space_can_be_pickled():
    for given_space in (MIXED, BRANCHES):
        space = Space.of(given_space)
        again = pickle.loads(pickle.dumps(space))
        assert again.sample(3, 0).__repr__() == space.sample(3, 0).__repr__()
        assert again.n_choices == space.n_choices


def test_a_space_of_a_space_is_itself():
    space = Space.of(MIXED)
    assert Space.of(space) is space


@pytest.mark.parametrize(
    ("configuration", "point"),
    [
        ({"rate": 5.0, "trees": 500, "kernel": "rbf", "level": 99}, [1, 0.95, 0, 0.75]),
        ({"rate": 0, "trees": -1, "kernel": "poly"}, [0, 0.05, np.nan, np.nan]),
        ({"rate": None, "trees": 4.4, "kernel": "rbf", "new": 1, "level": 1.1}, None),
    ],
)
def test_clipping_takes_the_nearest_number_and_no_category(configuration, point):
    space = Space.of(
        {
            "rate": loguniform(1e-3, 1),
            "trees": integers(1, 10),
            "kernel": ["rbf", "linear"],
            "level": [1, 10],
        }
    )
    point = [np.nan, 0.35, 0, 0.25] if point is None else point
    np.testing.assert_allclose(space.encode(configuration, clip=True), point)
    with pytest.raises(InvalidInputError):
        space.encode(configuration)


@pytest.mark.parametrize(
    ("distribution", "value", "place"),
    [(randint(1, 11), 99, 0.95), (randint(1, 11), -5, 0.05), (randint(1, 11), 2, 0.15)],
)
def test_clipping_knows_the_ends_of_scipys_whole_numbers(distribution, value, place):
    point = Space.of({"a": distribution}).encode({"a": value}, clip=True)
    assert point == pytest.approx([place])


def test_clipping_takes_the_branch_that_fits_best():
    space = Space.of(
        [
            {"kernel": ["linear"], "C": uniform(0, 1)},
            {"kernel": ["rbf"], "C": uniform(0, 1), "gamma": uniform(0, 1)},
        ]
    )
    own = {"kernel": "rbf", "C": 1.0, "gamma": "scale", "coef0": 0.0}
    np.testing.assert_allclose(space.encode(own, clip=True), [1, 1, np.nan])


def test_coordinates_outside_are_clipped_on_the_way_back():
    space = Space.of({"a": integers(1, 9), "b": uniform(), "c": ["x", "y"]})
    low = space.decode(np.array([-3.0, -0.1, -2]))
    high = space.decode(np.array([3.0, 1.1, 5]))
    assert low == {"a": 1, "b": 0.0, "c": "x"}
    assert high == {"a": 9, "b": 1.0, "c": "y"}


def test_endless_distributions_have_finite_ends():
    space = Space.of({"a": norm(), "b": expon(), "c": poisson(3)})
    for corner in (0.0, 1.0):
        configuration = space.decode(np.full(3, corner))
        assert all(np.isfinite(value) for value in configuration.values())
        assert -9 < configuration["a"] < 9


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        ({"C": 200.0, "kernel": "rbf"}, r"C=200 is outside loguniform\(0.1, 10\)"),
        ({"C": 1.0}, "kernel is missing"),
        ({"C": 1.0, "kernel": "poly"}, r"kernel=poly is outside choices\(\['rbf', "),
        ({"C": 1.0, "kernel": "rbf", "d": 1}, "d is not one of its parameters"),
        ({"C": "1", "kernel": "rbf"}, "C=1 is outside"),
        ({"C": True, "kernel": "rbf"}, "C=True is outside"),
    ],
)
def test_a_configuration_outside_is_named(configuration, message):
    space = Space.of({"C": loguniform(0.1, 10), "kernel": ["rbf", "linear"]})
    with pytest.raises(InvalidInputError, match=message):
        space.encode(configuration)


def test_several_points_are_decoded_as_one_by_one():
    space = Space.of(
        [
            {"kernel": ["rbf"], "gamma": loguniform(0.01, 10)},
            {"kernel": ["linear"], "C": [1.0, 2.0, 4.0]},
        ]
    )
    points = np.random.default_rng(0).random((20, space.n_dimensions))
    points[:, 0] = np.arange(20) % 2

    assert space.decode_all(points) == [space.decode(point) for point in points]


def test_points_of_another_space_are_refused():
    space = Space.of(BRANCHES)
    with pytest.raises(InvalidInputError, match="2 coordinates does not belong"):
        space.decode(np.zeros(2))
    with pytest.raises(InvalidInputError, match="coordinate of branch is NaN"):
        space.decode(np.full(4, np.nan))
    with pytest.raises(InvalidInputError, match="coordinate of model__C is NaN"):
        space.decode(np.array([0, np.nan, 0, 0]))


def test_our_ranges_serve_scikit_learns_sampler():
    ranges = {
        "a": integers(1, 100, log=True),
        "b": floats(0.1, 1),
        "c": choices(["x", "y"]),
    }
    draws = list(ParameterSampler(ranges, 50, random_state=0))
    space = Space.of(ranges)
    assert all(np.isfinite(space.encode(draw)).all() for draw in draws)
    assert draws == list(ParameterSampler(ranges, 50, random_state=0))
    assert len({draw["a"] for draw in draws}) > 10


@pytest.mark.parametrize(
    "distribution",
    [
        loguniform(1e-3, 100),
        loguniform(0.01, 0.5),
        loguniform(2.0, 3.0, loc=1.0),
        uniform(0.3, 0.7),
        uniform(-2.5, 1e3),
        uniform(loc=1.0, scale=2.0),
        uniform(),
    ],
)
def test_common_distributions_are_encoded_as_scipy_does(distribution):
    """To the last bit, at the ends too; scipy itself takes fifty times as long."""
    marginal = frozen(distribution)
    values = [*distribution.rvs(500, random_state=0), *distribution.support()]
    actual = [marginal.encode(float(value), clip=True) for value in values]
    assert actual == [float(distribution.cdf(float(value))) for value in values]
    assert pickle.loads(pickle.dumps(marginal)).encode(values[0], True) == actual[0]
