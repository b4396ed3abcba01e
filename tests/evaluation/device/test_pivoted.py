"""Low-rank features against the matrices that they stand for."""

from __future__ import annotations

import numpy as np

from cvst.evaluation.device import Pivoted


def gaussians(widths, n_rows, seed=0):
    x = np.random.default_rng(seed).uniform(-1, 1, n_rows)
    squares = (x[:, None] - x) ** 2
    return np.array([np.exp(-width * squares) for width in widths])


def decomposed(arrays, matrices, enough=1e-12, **limits):
    on_device = arrays.put(matrices)
    return Pivoted(
        arrays,
        len(matrices),
        matrices.shape[1],
        lambda members, pivots: on_device[members[:, None], pivots] + 0.0,
        enough,
        **limits,
    )


def test_products_of_features_are_the_matrices(arrays):
    matrices = gaussians([0.1, 1.0, 10.0], 150)
    pivoted = decomposed(arrays, matrices)

    pivoted.extend(100)

    assert sorted(pivoted.done) == [0, 1, 2]
    for place, features in pivoted.done.items():
        values = arrays.fetch(features)
        np.testing.assert_allclose(values.T @ values, matrices[place], atol=1e-11)


def test_what_is_not_done_goes_on_where_it_was(arrays):
    """A second call with a higher limit finds what a single one finds."""
    matrices = gaussians([0.1, 30.0], 150)
    once, twice = decomposed(arrays, matrices), decomposed(arrays, matrices)
    once.extend(100)

    twice.extend(20)
    first = sorted(twice.done)
    twice.extend(100)

    assert first == [0]
    assert sorted(twice.done) == [0, 1]
    values = arrays.fetch(twice.done[1])
    np.testing.assert_allclose(values.T @ values, matrices[1], atol=1e-11)
    assert len(values) >= 20
    other = arrays.fetch(once.done[1])
    np.testing.assert_allclose(other.T @ other, matrices[1], atol=1e-11)


def test_matrices_of_full_rank_are_given_up(arrays):
    """One between two others that are done: what is kept need not be adjacent."""
    matrices = gaussians([0.1, 1e9, 1.0], 200)
    pivoted = decomposed(arrays, matrices)

    pivoted.extend(120)

    assert sorted(pivoted.done) == [0, 2]
    for place in (0, 2):
        values = arrays.fetch(pivoted.done[place])
        assert len(values) < 120
        np.testing.assert_allclose(values.T @ values, matrices[place], atol=1e-11)


def test_a_diagonal_that_is_less_than_expected_ends_all_the_same(arrays):
    """As rounding errors make it: then no pivot is left, but something seems to be."""
    matrices = np.full((2, 50, 50), 0.5)
    pivoted = decomposed(arrays, matrices)

    pivoted.extend(40)

    assert sorted(pivoted.done) == [0, 1]
    for features in pivoted.done.values():
        values = arrays.fetch(features)
        np.testing.assert_allclose(values.T @ values, 0.5)


def test_matrices_without_room_are_given_up_and_the_others_kept(arrays):
    """Wide kernels are done before narrow ones would need more than there is."""
    matrices = gaussians([0.1, 300.0], 200)
    room = 8 * 200 * 200

    pivoted = decomposed(arrays, matrices, most_bytes=room)
    pivoted.extend(150)
    unlimited = decomposed(arrays, matrices)
    unlimited.extend(150)

    assert sorted(pivoted.done) == [0]
    assert sorted(unlimited.done) == [0, 1]
    values = arrays.fetch(pivoted.done[0])
    np.testing.assert_allclose(values.T @ values, matrices[0], atol=1e-11)
    # Nothing is left to go on with.
    pivoted.extend(190)
    assert sorted(pivoted.done) == [0]


def test_room_grows_with_what_is_needed(arrays):
    """One matrix of full rank must not cost the others' memory."""
    asked = []

    class Watched(type(arrays)):
        def zeros(self, *shape):
            asked.append(shape)
            return arrays.zeros(*shape)

    watched = arrays.__class__.__new__(Watched)
    watched.__dict__.update(arrays.__dict__)
    matrices = gaussians([0.1, 0.2, 0.5, 100.0], 400)
    pivoted = decomposed(watched, matrices)

    pivoted.extend(300)

    assert sorted(pivoted.done) == [0, 1, 2, 3]
    largest = max(shape[0] * shape[1] for shape in asked if shape[-1] == 400)
    assert largest < 4 * 300
