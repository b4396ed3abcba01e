import numpy as np
import pytest
from scipy.stats import multivariate_normal

from cvst.datasets import (
    fetch_benchmark,
    make_ringnorm,
    make_twonorm,
    make_waveform,
)

SHIFT = np.full(20, 2 / np.sqrt(20))


def bayes_error(X, y, plus, minus):
    """Error of the best rule for two classes of known distributions."""
    return np.mean((plus.logpdf(X) > minus.logpdf(X)) != (y == 1))


def test_the_best_rule_errs_on_two_percent_of_twonorm():
    """Witness: scipy's densities and Breiman's theoretical error of 2.3 %."""
    X, y = make_twonorm(40_000, random_state=0)

    error = bayes_error(X, y, multivariate_normal(SHIFT), multivariate_normal(-SHIFT))

    assert error == pytest.approx(0.023, abs=0.003)


def test_the_best_rule_errs_on_one_percent_of_ringnorm():
    """Witness: scipy's densities and Breiman's theoretical error of 1.3 %."""
    X, y = make_ringnorm(40_000, random_state=0)

    wide = multivariate_normal(np.zeros(20), 4 * np.eye(20))
    error = bayes_error(X, y, wide, multivariate_normal(SHIFT))

    assert error == pytest.approx(0.013, abs=0.002)


@pytest.mark.parametrize(
    ("make", "share"),
    [(make_twonorm, 1 / 2), (make_ringnorm, 1 / 2), (make_waveform, 1 / 3)],
)
def test_classes_have_their_shares(make, share):
    """Witness: the definitions."""
    _, y = make(30_000, random_state=1)

    assert set(np.unique(y)) == {-1, 1}
    assert np.mean(y == 1) == pytest.approx(share, abs=0.01)


def test_waveform_has_the_moments_of_its_definition():
    """Witness: mean (h + k) / 2, covariance I + (h - k)(h - k)' / 12 of a mixture."""
    X, y = make_waveform(60_000, random_state=2)
    at = np.arange(1, 22)
    h = np.maximum(6 - np.abs(at - 11), 0)
    k = np.maximum(6 - np.abs(at - 7), 0)

    plus = X[y == 1]

    np.testing.assert_allclose(plus.mean(axis=0), (h + k) / 2, atol=0.05)
    expected = np.eye(21) + np.outer(h - k, h - k) / 12
    np.testing.assert_allclose(np.cov(plus.T), expected, atol=0.08)
    # The other class mixes the other two pairs, which meet at the peak at 15.
    other = np.maximum(6 - np.abs(at - 15), 0)
    np.testing.assert_allclose(
        X[y == -1].mean(axis=0), (h + k + 2 * other) / 4, atol=0.05
    )


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("twonorm", make_twonorm),
        ("ringnorm", make_ringnorm),
        ("waveform", make_waveform),
    ],
)
def test_the_published_sample_looks_like_a_generated_one(benchmark_folder, name, make):
    """Witness: the IDA file; both standardised, both classes compared."""
    published = fetch_benchmark(name, data_home=benchmark_folder)
    X, y = make(50_000, random_state=3)
    X = (X - X.mean(axis=0)) / X.std(axis=0)

    for label in (-1, 1):
        ours, theirs = X[y == label], published.data[published.target == label]
        sampling_error = 1 / np.sqrt(len(theirs))
        np.testing.assert_allclose(
            ours.mean(axis=0), theirs.mean(axis=0), atol=5 * sampling_error
        )
        np.testing.assert_allclose(
            ours.std(axis=0), theirs.std(axis=0), atol=5 * sampling_error
        )
