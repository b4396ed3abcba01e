import numpy as np
import pytest
from scipy.stats import zscore

from cvst.datasets import standardise


@pytest.mark.parametrize("shape", [(50,), (50, 4)])
def test_columns_agree_with_scipy(shape):
    """Witness: scipy's z-scores with divisor n - 1."""
    values = np.random.default_rng(0).normal(3, 5, size=shape)

    np.testing.assert_allclose(standardise(values), zscore(values, axis=0, ddof=1))


@pytest.mark.parametrize("constant", [0.0, 7.0, 0.1, 1e9 + 0.1, -1e-12])
def test_a_constant_column_becomes_zero(constant):
    """Also where the mean of equal numbers is not exactly that number."""
    values = np.column_stack([np.full(37, constant), np.arange(37.0)])

    result = standardise(values)

    np.testing.assert_array_equal(result[:, 0], 0)
    assert result[:, 1].std(ddof=1) == pytest.approx(1)


def test_a_single_row_becomes_zero_without_a_warning():
    """One row has no spread."""
    np.testing.assert_array_equal(standardise(np.array([[3.0, 4.0]])), [[0.0, 0.0]])


def test_a_nearly_constant_column_keeps_its_variation():
    """The guard must not swallow real variation on top of a large offset."""
    values = 1e6 + 1e-3 * np.arange(10.0)

    assert standardise(values).std(ddof=1) == pytest.approx(1)
