import numpy as np
import pytest

from cvst.datasets import (
    make_blocks,
    make_noisy_sinc,
    make_noisy_sine,
    make_ringnorm,
    make_twonorm,
    make_waveform,
)
from cvst.exceptions import InvalidInputError

GENERATORS = [
    make_blocks,
    make_noisy_sinc,
    make_noisy_sine,
    make_ringnorm,
    make_twonorm,
    make_waveform,
]


@pytest.mark.parametrize("make", GENERATORS)
def test_equal_seeds_give_equal_data_and_other_seeds_other_data(make):
    """An integer fixes the data, as everywhere in scikit-learn."""
    X, y = make(50, random_state=7)
    X_again, y_again = make(50, random_state=7)
    X_other, _ = make(50, random_state=8)

    np.testing.assert_array_equal(X, X_again)
    np.testing.assert_array_equal(y, y_again)
    assert not np.array_equal(X, X_other)


@pytest.mark.parametrize("seeded", [np.random.RandomState, np.random.default_rng])
def test_a_random_state_or_generator_moves_on(seeded):
    """Two calls with one object differ; the pair is repeated by an equal object."""
    first, second = seeded(3), seeded(3)

    pair = [make_noisy_sinc(20, random_state=first)[0] for _ in range(2)]
    again = [make_noisy_sinc(20, random_state=second)[0] for _ in range(2)]

    assert not np.array_equal(*pair)
    np.testing.assert_array_equal(pair, again)


def test_none_follows_the_global_seed_of_numpy():
    """As in scikit-learn, None means NumPy's global state."""
    state = np.random.get_state()  # noqa: NPY002 - the global state is what is tested
    try:
        np.random.seed(5)  # noqa: NPY002
        X, _ = make_twonorm(10)
        np.random.seed(5)  # noqa: NPY002
        X_again, _ = make_twonorm(10)
    finally:
        np.random.set_state(state)  # noqa: NPY002
    np.testing.assert_array_equal(X, X_again)


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"n_samples": 0}, "n_samples=0 must be a whole number"),
        ({"n_samples": 2.5}, "n_samples=2.5 must be a whole number"),
        ({"n_samples": True}, "n_samples=True must be a whole number"),
        ({"dimension": -1}, "dimension=-1 must be a whole number"),
        ({"noise": -0.1}, "noise=-0.1 must be a finite"),
        ({"noise": float("inf")}, "noise=inf must be a finite"),
        ({"noise": "loud"}, "noise='loud' must be a finite"),
        ({"random_state": "now"}, "random_state='now' must be an integer"),
    ],
)
def test_bad_arguments_are_refused_with_the_value_and_the_rule(arguments, rule):
    """The message repeats what came in."""
    with pytest.raises(InvalidInputError, match=rule):
        make_noisy_sine(**arguments)


@pytest.mark.parametrize("make", GENERATORS)
def test_numpy_integers_are_welcome(make):
    """Sizes often come out of NumPy."""
    X, y = make(np.int64(3), random_state=np.int64(0))

    assert len(X) == len(y) == 3
