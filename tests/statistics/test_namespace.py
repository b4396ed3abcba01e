"""Tests on tables of torch are those on tables of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.race._leader_tests import Excesses, excess_p_values
from cvst.statistics import paired_excess_test
from cvst.statistics._namespace import fetched, largest_of_rows, smallest_of_rows

NO_TORCH = "PyTorch is not installed (extra 'gpu')"


@pytest.fixture(params=["torch", "array API"])
def put(request):
    if request.param == "torch":
        return pytest.importorskip("torch", reason=NO_TORCH).as_tensor
    return pytest.importorskip("array_api_strict").asarray


def tables():
    rng = np.random.default_rng(0)
    for n_points in (1, 2, 7, 60, 800):
        yield rng.normal(0.2, 1.0, (6, n_points))
        yield rng.normal(0.2, 1.0, (6, n_points)) * 1e200
    table = rng.normal(0.2, 1.0, (6, 40))
    table[0], table[1], table[2, 3] = 0.0, 0.5, np.inf
    yield table


@pytest.mark.parametrize("guard", [True, False])
def test_paired_tests_are_those_of_numpy(put, guard):
    """But for the last digits: sums are formed in another order."""
    for table in tables():
        found = paired_excess_test(put(table), guard=guard)

        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(
            found, paired_excess_test(table, guard=guard), rtol=1e-9, atol=1e-300
        )


def test_the_few_functions_that_differ(put):
    table = np.abs(next(iter(tables())))
    expected = [largest_of_rows(table), *smallest_of_rows(table, 1)]

    found = fetched(largest_of_rows(put(table)), *smallest_of_rows(put(table), 1))

    np.testing.assert_array_equal(found, expected)


def test_tables_that_cannot_be_tested(put):
    with pytest.raises(InvalidInputError, match="1 of 2 rows contain NaN"):
        paired_excess_test(put(np.array([[0.0, np.nan], [0.0, 1.0]])))
    with pytest.raises(InvalidInputError, match="two axes"):
        paired_excess_test(put(np.zeros(3)))


def test_a_race_tests_losses_where_they_are(put):
    rng = np.random.default_rng(1)
    losses = rng.random((5, 90)) + np.linspace(0, 0.3, 5)[:, None]
    losses[3] = losses[0]

    expected = excess_p_values(Excesses(losses, 0))

    found = excess_p_values(Excesses(losses, 0, put(losses)))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_losses_of_0_and_1_are_tested_exactly_all_the_same(put):
    losses = (np.random.default_rng(2).random((4, 50)) < 0.3).astype(float)

    found = excess_p_values(Excesses(losses, 0, put(losses)))

    np.testing.assert_array_equal(found, excess_p_values(Excesses(losses, 0)))


def test_the_host_tests_where_a_device_is_full():
    class Full:
        def __getitem__(self, rows):
            raise RuntimeError("out of memory")

    losses = np.random.default_rng(3).random((4, 50))

    found = excess_p_values(Excesses(losses, 0, Full()))

    np.testing.assert_array_equal(found, excess_p_values(Excesses(losses, 0)))
