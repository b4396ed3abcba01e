"""Everything that may stand beside a parameter's name, and what may not."""

from __future__ import annotations

import numpy as np
import optuna
import pandas as pd
import pytest
from scipy.stats import kstest, loguniform, norm, rv_discrete, uniform

from cvst.exceptions import InvalidInputError
from cvst.spaces import Space, choices, floats, integers


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (optuna.distributions.FloatDistribution(0.5, 4), floats(0.5, 4)),
        (
            optuna.distributions.FloatDistribution(1e-4, 1, log=True),
            floats(1e-4, 1, log=True),
        ),
        (
            optuna.distributions.FloatDistribution(0, 1, step=0.25),
            floats(0, 1, step=0.25),
        ),
        (optuna.distributions.IntDistribution(2, 9), integers(2, 9)),
        (optuna.distributions.IntDistribution(2, 8, step=3), integers(2, 8, step=3)),
        (
            optuna.distributions.IntDistribution(1, 99, log=True),
            integers(1, 99, log=True),
        ),
        (
            optuna.distributions.CategoricalDistribution([1, 2, None]),
            choices([1, 2, None]),
        ),
    ],
    ids=str,
)
def test_optunas_distributions_are_read(theirs, ours):
    space = Space.of({"a": theirs})
    assert space.dimensions[0].marginal == ours


def test_whole_numbers_on_a_log_scale_are_drawn_as_optuna_draws_them():
    """Optuna's random sampler is the witness of the chances."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    theirs = optuna.distributions.IntDistribution(1, 6, log=True)
    drawn = [study.ask({"a": theirs}).params["a"] for _ in range(1500)]
    ours = [c["a"] for c in Space.of({"a": theirs}).spread(2048, 0)]

    np.testing.assert_allclose(
        np.bincount(drawn, minlength=7) / 1500,
        np.bincount(ours, minlength=7) / 2048,
        atol=0.04,
    )


class OnlyDraws:
    def __init__(self, draw):
        self.draw = draw

    def rvs(self, random_state=None):
        return self.draw(random_state)


def test_a_distribution_that_only_draws_becomes_a_list_of_numbers():
    space = Space.of({"a": OnlyDraws(lambda rng: rng.normal(5, 2))})
    draws = [c["a"] for c in space.sample(500, 0)]

    assert space.n_choices == (0,)
    assert kstest(draws, norm(5, 2).cdf).pvalue > 0.001
    same = Space.of({"a": OnlyDraws(lambda rng: rng.normal(5, 2))})
    assert same.sample(5, 0) == space.sample(5, 0)
    for value in draws[:10]:
        point = space.encode({"a": value})
        assert 0 <= point[0] <= 1
        assert space.decode(point) == {"a": value}


def test_a_distribution_that_only_draws_words_becomes_categories():
    space = Space.of({"a": OnlyDraws(lambda rng: ["x", "y"][rng.randint(2)])})
    assert space.n_choices == (2,)
    assert {c["a"] for c in space.sample(50, 0)} == {"x", "y"}


def test_a_table_of_chances_is_read():
    table = rv_discrete(values=([0.5, 2, 7], [0.2, 0.8, 0.0]))
    space = Space.of({"a": table})

    share = np.mean([c["a"] == 2 for c in space.sample(3000, 0)])
    assert share == pytest.approx(0.8, abs=0.03)
    assert {c["a"] for c in space.grid()} == {0.5, 2}


def test_a_distribution_of_ones_own_needs_cdf_and_ppf_only():
    class Squared:
        def cdf(self, values):
            return np.sqrt(values)

        def ppf(self, shares):
            return np.square(shares)

    space = Space.of({"a": Squared()})
    assert space.decode(np.array([0.5])) == {"a": 0.25}
    np.testing.assert_allclose(space.encode({"a": 0.81}), [0.9])


def test_columns_and_tuples_are_lists():
    space = Space.of({"a": pd.Series([3, 1]), "b": (1, 2), "c": range(4)})
    assert space.n_choices == (0, 0, 0)
    assert space.size == 16


def test_values_given_twice_are_twice_as_likely():
    space = Space.of({"a": [1, 1, 1, 5], "b": ["x", "y", "y", "y"]})
    draws = space.sample(2000, 0)
    assert np.mean([c["a"] == 1 for c in draws]) == pytest.approx(0.75, abs=0.03)
    assert np.mean([c["b"] == "y" for c in draws]) == pytest.approx(0.75, abs=0.03)
    assert space.size == 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (1.0, r"a=1 is a single value.*Write \[1.0\] to fix it"),
        ("rbf", r"a=rbf is a single value.*Write \['rbf'\]"),
        (None, "a=None is a single value"),
        ([], r"a=\[\] holds no value to try"),
        (np.ones((2, 2)), "has 2 dimensions"),
        (np.float64(3), "a=3 is a single value"),
        (lambda: 1, "is a function, which has no values"),
        ({1, 2}, "has no order of values"),
        ({"b": 1}, "has no order of values"),
        (loguniform, "has no quantiles"),
        (OnlyDraws(lambda rng: 1 / 0), "cannot be drawn from .ZeroDivisionError"),
    ],
)
def test_what_is_no_set_of_values_gets_one_sentence(given, message):
    with pytest.raises(InvalidInputError, match=message):
        Space.of({"a": given})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "param_distributions=3 must be a dictionary"),
        ("auto", "param_distributions=auto must be a dictionary"),
        ([], r"param_distributions=\[\] must be a dictionary"),
        ([{"a": [1]}, 3], "param_distributions holds 3"),
        ({1: [1]}, "has the key 1, but parameters have names"),
    ],
)
def test_what_is_no_dictionary_gets_one_sentence(given, message):
    with pytest.raises(InvalidInputError, match=message):
        Space.of(given)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: floats(2, 1), "must not start above its end"),
        (lambda: floats(0, 1, log=True), "must start above 0"),
        (lambda: floats(0, np.inf), "needs two finite numbers"),
        (lambda: floats(1, 2, log=True, step=1), "needs a step above 0"),
        (lambda: floats(1, 2, step=-1), "needs a step above 0"),
        (lambda: integers("a", 2), "needs two finite numbers"),
        (lambda: integers(0, 5, log=True), "a start of at least 1"),
        (lambda: integers(1, 5, log=True, step=2), "a step of 1"),
        (lambda: floats(1, 2, step="a"), r"step='a'\) needs a step above 0"),
        (lambda: floats(1, 2, step=np.inf), r"step=inf\) needs a step above 0"),
        (lambda: integers(1, 5.5), "needs whole numbers"),
        (lambda: integers(1, 9, step="a"), r"9, step='a'\) needs whole numbers"),
        (lambda: integers(1, 9, step=None), r"9, step=None\) needs whole numbers"),
        (lambda: integers(1, 9, step=np.inf), r"9, step=inf\) needs whole numbers"),
        (lambda: integers(1, 9, step=np.nan), r"9, step=nan\) needs whole numbers"),
        (lambda: choices([]), "An empty list"),
        (lambda: choices([1, 2], weights=[1]), "must be 2 numbers above 0"),
        (lambda: choices([1, 2], weights=[1, 0]), "must be 2 numbers above 0"),
    ],
)
def test_impossible_ranges_get_one_sentence(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


def test_ranges_are_written_as_they_are_made():
    made = [
        floats(0.1, 1, log=True),
        floats(0, 1, step=0.5),
        integers(1, 9, log=True),
        integers(1, 9, step=2),
        choices(["a", 1]),
    ]
    assert [repr(one) for one in made] == [
        "floats(0.1, 1, log=True)",
        "floats(0, 1, step=0.5)",
        "integers(1, 9, log=True)",
        "integers(1, 9, step=2)",
        "choices(['a', 1])",
    ]
    assert "uniform(0, 2)" in repr(Space.of({"a": uniform(0, 2)}))
