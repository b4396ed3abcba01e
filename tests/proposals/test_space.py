from __future__ import annotations

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.proposals._space import (
    as_choices,
    inactive_as_observed,
    perturbed,
    squared_distances,
    uniform_points,
)

CHOICES = np.array([0, 3, 0, 2])


@pytest.mark.parametrize(
    ("n_choices", "d", "count", "words"),
    [
        ([0, 2], 3, 1, r"\(2,\).*3 columns"),
        ([], 0, 1, "at least one"),
        ([0, -2], 2, 1, r"\[0, -2\] holds a negative"),
        ([0], 1, -1, "count=-1"),
    ],
)
def test_wrong_arguments_are_refused(n_choices, d, count, words):
    with pytest.raises(InvalidInputError, match=words):
        as_choices(n_choices, d, count)


def test_uniform_points_take_every_code_equally_often():
    points = uniform_points(CHOICES, 6000, np.random.default_rng(0))

    np.testing.assert_allclose(np.bincount(points[:, 1].astype(int)), 2000, rtol=0.1)
    assert abs(points[:, 0].mean() - 0.5) < 0.02


@pytest.mark.parametrize("step", [0.01, 0.3, 50.0])
def test_perturbed_points_stay_inside_and_move(step):
    rng = np.random.default_rng(0)
    points = uniform_points(CHOICES, 500, rng)

    moved = perturbed(points, CHOICES, step, rng)

    assert ((moved[:, [0, 2]] >= 0) & (moved[:, [0, 2]] <= 1)).all()
    assert set(np.unique(moved[:, 1])) == {0, 1, 2}
    # A drawn choice may be the old one; most points differ all the same.
    assert (moved != points).any(axis=1).mean() > 0.7
    kept = (moved == points).mean(axis=0)
    assert (kept > 0.2).all()


def test_reflection_at_the_borders():
    """A step over the border by as much as 0.1 comes back by 0.1."""

    class Fixed:
        def random(self, shape):
            return np.zeros(shape)

        def integers(self, high, size):
            return np.zeros(size, dtype=int)

        def normal(self, size):
            return np.array([[-1.0], [1.0]])

    moved = perturbed(np.array([[0.1], [0.9]]), np.array([0]), 0.2, Fixed())

    np.testing.assert_allclose(moved.ravel(), [0.1, 0.9])


def test_squared_distances_equal_those_by_hand():
    left = np.array([[0.1, 2, 0.5, 0], [0.4, 1, np.nan, 1]])
    right = np.array([[0.3, 2, np.nan, 1]])

    squared = squared_distances(left, right, CHOICES)

    np.testing.assert_allclose(squared[:, 0, 0], [0.04, 0, 1, 1])
    np.testing.assert_allclose(squared[:, 1, 0], [0.01, 1, 0, 0])


def test_a_choice_that_switches_a_parameter_off_is_found():
    """Column 2 was missing whenever column 1 had the code 2."""
    observed = np.array(
        [[0.1, 2, np.nan, 0], [0.2, 0, 0.5, 0], [0.3, 1, 0.6, 1], [0.9, 2, np.nan, 1]]
    )
    points = np.array([[0.5, 2, 0.5, 0], [0.5, 1, 0.5, 0]])

    judged = inactive_as_observed(points, observed, CHOICES)

    np.testing.assert_array_equal(np.isnan(judged[:, 2]), [True, False])
    assert not np.isnan(points).any()


def test_what_no_choice_explains_stays_active():
    observed = np.array([[0.1, 2, np.nan, 0], [0.2, 2, 0.5, 0]])
    points = np.array([[0.5, 2, 0.5, 0]])

    assert inactive_as_observed(points, observed, CHOICES) is points
