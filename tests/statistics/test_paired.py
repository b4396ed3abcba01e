"""The guarded paired test; witnesses: scipy's t-test and simulated error rates.

Sizes at levels like 0.05 / 609 are far too small to count by plain simulation. The
number of informative rows is binomial, so each number gets its own samples and the
rejection rates are added up with exact binomial weights.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom, ttest_1samp
from scipy.stats import t as student_t

from cvst.exceptions import InvalidInputError
from cvst.statistics import paired_excess_test

LEVEL = 0.05 / 609


def two_point(rng, shape, mean):
    return np.full(shape, mean)


def log_normal(sigma):
    def draw(rng, shape, mean):
        return mean * np.exp(sigma * rng.standard_normal(shape) - sigma**2 / 2)

    return draw


def stratified_size(
    gains, n_points, noise, *, guard, n_samples=100, share=0.01, level=LEVEL
):
    """Return rejection rate and standard error where the true mean excess is zero.

    A share of the rows gains, the others lose 1 each, and all have normal noise.
    """
    rng = np.random.default_rng(0)
    weights = binom.pmf(np.arange(n_points), n_points, share)
    size = variance = 0.0
    for n_gains in np.flatnonzero(weights > 1e-3 * level):
        differences = 1 + noise * rng.standard_normal((n_samples, n_points))
        drawn = gains(rng, (n_samples, n_gains), mean=(1 - share) / share)
        differences[:, :n_gains] -= 1 + drawn
        rate = np.mean(paired_excess_test(differences, guard=guard) <= level)
        size += weights[n_gains] * rate
        variance += weights[n_gains] ** 2 * rate * (1 - rate) / n_samples
    return size, np.sqrt(variance)


@pytest.mark.parametrize(
    ("gains", "noise"),
    [
        (two_point, 0.3),
        (two_point, 3.0),
        (two_point, 10.0),
        (log_normal(0.5), 0.3),
        (log_normal(0.5), 3.0),
        (log_normal(0.5), 10.0),
        (log_normal(1.0), 0.3),
        (log_normal(1.0), 3.0),
    ],
)
def test_size_holds_where_one_row_in_a_hundred_carries_the_gain(gains, noise):
    """At 0.05 / 609 on 2000 rows, some twenty of which carry the whole difference.

    The second bound makes the first one sharp: it fails on a single rejection among
    the samples with a likely number of gains.
    """
    size, error = stratified_size(gains, 2000, noise, guard=True)
    assert size <= LEVEL + 3 * error
    assert error < LEVEL


@pytest.mark.parametrize("noise", [0.3, 3.0])
def test_size_holds_with_ten_informative_rows(noise):
    """On 1000 rows the gains are all missed with probability 4e-5, half the level."""
    size, error = stratified_size(two_point, 1000, noise, guard=True)
    assert 0.9 * 0.99**1000 <= size <= LEVEL + 3 * error


@pytest.mark.parametrize("level", [0.01, 0.001])
def test_size_holds_where_one_row_in_ten_carries_the_gain(level):
    """Forty such rows are too many to be missed; what counts here is the skewness."""
    size, error = stratified_size(
        two_point, 400, 0.3, guard=True, share=0.1, level=level
    )
    assert size <= level + 3 * error
    assert error < level / 10


@pytest.mark.parametrize("n_points", [1000, 2000])
def test_plain_t_rejects_far_too_often_there(n_points):
    """Without the guard: the reason for it."""
    size, error = stratified_size(two_point, n_points, 0.3, guard=False)
    assert size - 3 * error > 20 * LEVEL


@pytest.mark.parametrize("n_points", [100, 400])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, shape: rng.standard_normal(shape),
        lambda rng, shape: 1 - rng.exponential(size=shape),
        lambda rng, shape: rng.exponential(size=shape) - 1,
        lambda rng, shape: 1 - rng.standard_normal(shape) ** 2,
        lambda rng, shape: np.exp(0.5) - rng.lognormal(size=shape),
        lambda rng, shape: rng.standard_t(3, shape),
        lambda rng, shape: np.diff(rng.standard_normal((2, *shape)) ** 2, axis=0)[0],
    ],
    ids=["normal", "exp-", "exp+", "chi-", "lognormal-", "t3", "squares"],
)
def test_size_holds_at_usual_levels(draw, n_points):
    """Plain simulation of mean-zero differences, skewed to either side."""
    n_samples = 4000
    p_values = paired_excess_test(draw(np.random.default_rng(2), (n_samples, n_points)))
    for level in (0.05, 0.01):
        tolerance = 3 * np.sqrt(level * (1 - level) / n_samples)
        assert np.mean(p_values <= level) <= level + tolerance


@pytest.mark.parametrize("standard_errors", [5, 7])
def test_power_is_kept_on_normal_differences(standard_errors):
    """At 0.05 / 609 on 800 rows, within two percent of Student's t."""
    rng = np.random.default_rng(3)
    differences = rng.standard_normal((2000, 800)) + standard_errors / np.sqrt(800)
    guarded = np.mean(paired_excess_test(differences) <= LEVEL)
    plain = np.mean(paired_excess_test(differences, guard=False) <= LEVEL)
    assert plain > 0.85
    assert guarded > plain - 0.02


def test_power_is_kept_on_squared_errors():
    """Losses of a regression: heavy tails on both sides, no peaks."""
    rng = np.random.default_rng(4)
    noise, mine, leaders = rng.standard_normal((3, 1000, 800))
    differences = (noise + 0.6 * mine) ** 2 - (noise + 0.3 * leaders) ** 2
    guarded = np.mean(paired_excess_test(differences) <= LEVEL)
    plain = np.mean(paired_excess_test(differences, guard=False) <= LEVEL)
    assert plain > 0.9
    assert guarded > plain - 0.2


def test_without_guard_it_is_students_t():
    differences = np.random.default_rng(5).normal(0.1, 1.0, (50, 30))
    actual = paired_excess_test(differences, guard=False)
    expected = ttest_1samp(differences, 0, axis=1, alternative="greater").pvalue
    has_excess = differences.mean(axis=1) > 0
    np.testing.assert_allclose(actual[has_excess], expected[has_excess], rtol=1e-9)
    assert (actual[~has_excess] == 1).all()
    assert 0 < has_excess.sum() < 50


@pytest.mark.parametrize("n_rows", [1, 5, 13])
def test_a_handful_of_rows_never_convinces(n_rows):
    """Up to 13 rows with a difference: 13 heads in a row are more likely."""
    differences = np.zeros((2, 1000))
    differences[0, :n_rows] = 1.0
    differences[1, :n_rows] = np.linspace(1, 100, n_rows)
    assert (paired_excess_test(differences) > LEVEL).all()


@settings(max_examples=200, deadline=None)
@given(
    arrays(np.float64, (3, 12), elements=st.integers(-3, 6) | st.floats(-1e300, 1e300))
)
def test_p_values_are_probabilities_and_respect_the_number_of_rows(differences):
    p_values = paired_excess_test(differences)
    n_rows = np.count_nonzero(differences, axis=1)
    assert (p_values >= 0.5**n_rows * (1 - 1e-9)).all()
    assert (p_values <= 1).all()


@pytest.mark.parametrize("n_points", [2, 3, 1000])
@pytest.mark.parametrize("value", [1.0, 1 / 3, 1e-300, 1e300])
def test_equal_differences_count_as_heads_in_a_row(n_points, value):
    differences = np.full((1, n_points), value)
    assert paired_excess_test(differences)[0] == pytest.approx(0.5**n_points)


def test_a_few_negligible_gains_do_not_save_a_clear_loser():
    """Much worse on nearly all rows, and hardly better on three."""
    differences = np.ones((1, 800))
    differences[0, :3] = -0.01
    assert paired_excess_test(differences)[0] < 1e-6


def test_the_correction_for_skewness_adds_no_evidence():
    """Witness: t on the rows that carry the variance, by hand, without correction."""
    differences = np.random.default_rng(9).normal(1.0, 0.05, (40, 100))
    differences[:, :2] = -0.05
    centred = differences - differences.mean(axis=1, keepdims=True)
    n_rows = np.sum(centred**2, axis=1) ** 2 / np.sum(centred**4, axis=1)
    t = ttest_1samp(differences, 0, axis=1).statistic
    uncorrected = student_t.sf(t, n_rows)
    assert (paired_excess_test(differences) >= uncorrected * (1 - 1e-9)).all()


def test_unit_and_order_do_not_matter():
    rng = np.random.default_rng(6)
    differences = rng.normal(0.2, 1.0, (20, 100))
    expected = paired_excess_test(differences)
    np.testing.assert_allclose(paired_excess_test(differences * 1e-200), expected)
    np.testing.assert_allclose(paired_excess_test(differences * 1e200), expected)
    shuffled = differences[:, rng.permutation(100)]
    np.testing.assert_allclose(paired_excess_test(shuffled), expected)


def test_rows_are_tested_one_by_one():
    differences = np.random.default_rng(7).normal(0.2, 1.0, (6, 80))
    one_by_one = [paired_excess_test(row[np.newaxis])[0] for row in differences]
    np.testing.assert_allclose(paired_excess_test(differences), one_by_one)


def test_an_infinite_difference_counts_as_the_largest_finite_one():
    differences = np.random.default_rng(8).normal(0.5, 1.0, (1, 60))
    largest = np.abs(differences).max()
    finite = np.append(differences, [[largest]], axis=1)
    infinite = np.append(differences, [[np.inf]], axis=1)
    np.testing.assert_allclose(paired_excess_test(infinite), paired_excess_test(finite))
    assert paired_excess_test([[np.inf, np.inf]])[0] == pytest.approx(0.25)


@pytest.mark.parametrize("guard", [True, False])
@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (2, 5)])
def test_without_any_difference_the_p_value_is_one(shape, guard):
    p_values = paired_excess_test(np.zeros(shape), guard=guard)
    assert p_values.tolist() == [1.0] * shape[0]


def test_nan_is_refused():
    with pytest.raises(InvalidInputError, match="1 of 2 rows contain NaN"):
        paired_excess_test([[0.0, 1.0], [np.nan, 1.0]])
