"""Axes, levels, neighbours and representatives."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.race import Axis, SearchSpace


def grid(*sizes, ordered=None):
    """Return the space of a full grid with the given numbers of levels."""
    ordered = ordered or [True] * len(sizes)
    codes = np.indices(sizes).reshape(len(sizes), -1)
    return SearchSpace(
        tuple(
            Axis(f"axis{i}", row, flag)
            for i, (row, flag) in enumerate(zip(codes, ordered, strict=True))
        )
    )


def test_neighbours_differ_on_one_axis_by_one_level():
    """The middle of a 3 x 3 grid has four neighbours, a corner two."""
    space = grid(3, 3)
    assert space.neighbours(4, 1).tolist() == [1, 3, 5, 7]
    assert space.neighbours(0, 1).tolist() == [1, 3]


def test_fine_axes_reach_further():
    """Two levels on an axis of more than twenty, one on a coarse axis."""
    space = grid(30, 4)
    index = 10 * 4 + 1
    assert space.neighbours(index, 2).tolist() == sorted(
        [8 * 4 + 1, 9 * 4 + 1, 11 * 4 + 1, 12 * 4 + 1, index - 1, index + 1]
    )


def test_categories_have_no_neighbours():
    """A neighbour never changes a categorical hyper-parameter."""
    space = grid(3, 2, ordered=[True, False])
    assert space.neighbours(2, 1).tolist() == [0, 4]


def test_missing_hyper_parameters_separate_configurations():
    """Parts of a conditional grid are not neighbours of each other."""
    codes = np.array([0, 1, -1, -1]), np.array([-1, -1, 0, 1])
    space = SearchSpace((Axis("a", codes[0], True), Axis("b", codes[1], True)))
    assert space.neighbours(0, 1).tolist() == [1]
    assert space.neighbours(3, 1).tolist() == [2]


def test_every_level_is_represented_by_its_best():
    """Brute force over a random table of losses."""
    space = grid(5, 7)
    losses = np.random.default_rng(0).random(35)
    chosen = space.representatives(losses, np.ones(35, dtype=bool))
    expected = set()
    for axis in space.axes:
        for level in range(axis.n_levels):
            members = np.flatnonzero(axis.codes == level)
            expected.add(int(members[np.argmin(losses[members])]))
    assert chosen.tolist() == sorted(expected)


def test_hopeless_and_unknown_configurations_do_not_represent():
    """A level without a configuration worth a look has no representative."""
    space = grid(4)
    losses = np.array([0.1, np.nan, 5.0, 0.2])
    allowed = np.array([True, True, False, True])
    assert space.representatives(losses, allowed).tolist() == [0, 3]


def test_one_long_axis_is_represented_in_bins():
    """A thousand levels on one axis give about the square root of them."""
    space = grid(1000)
    losses = np.random.default_rng(0).random(1000)
    chosen = space.representatives(losses, np.ones(1000, dtype=bool))
    assert len(chosen) == 32
    assert np.diff(chosen).max() < 2 * 1000 / 32


def test_random_configurations_have_near_ones_for_neighbours():
    """Distance is taken in ranks, within the same categories."""
    rng = np.random.default_rng(0)
    ranks = rng.permutation(100), rng.permutation(100)
    kind = rng.integers(2, size=100)
    space = SearchSpace(
        (
            Axis("a", ranks[0], True),
            Axis("b", ranks[1], True),
            Axis("kind", kind, False),
        ),
        is_grid=False,
    )
    near = space.neighbours(0, 1)
    assert len(near) == 6
    assert (kind[near] == kind[0]).all()
    gaps = np.hypot(ranks[0] - ranks[0][0], ranks[1] - ranks[1][0]).astype(float)
    gaps[(kind != kind[0]) | (np.arange(100) == 0)] = np.inf
    assert sorted(near) == sorted(np.argsort(gaps)[:6])
    assert len(space.representatives(rng.random(100), np.ones(100, bool))) <= 22


@pytest.mark.parametrize("distance", [1, 2])
def test_ten_axes_have_few_neighbours(distance):
    """Their number grows with the axes, not with their product."""
    space = grid(*[2] * 10)
    assert len(space.neighbours(0, distance)) == 10
