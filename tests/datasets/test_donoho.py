from math import pi, sin, sqrt

import numpy as np
import pytest

from cvst.datasets import make_blocks, make_bumps, make_doppler, make_heavisine

MAKERS = {
    "blocks": make_blocks,
    "bumps": make_bumps,
    "heavisine": make_heavisine,
    "doppler": make_doppler,
}

# (place, height of the block, height and width of the bump), one row per jump.
JUMPS = [
    (0.10, 4.0, 4.0, 0.005),
    (0.13, -5.0, 5.0, 0.005),
    (0.15, 3.0, 3.0, 0.006),
    (0.23, -4.0, 4.0, 0.010),
    (0.25, 5.0, 5.0, 0.010),
    (0.40, -4.2, 4.2, 0.030),
    (0.44, 2.1, 2.1, 0.010),
    (0.65, 4.3, 4.3, 0.010),
    (0.76, -3.1, 3.1, 0.005),
    (0.78, 2.1, 5.1, 0.008),
    (0.81, -4.2, 4.2, 0.005),
]


def blocks(x):
    return 3.656993 * sum(height for place, height, _, _ in JUMPS if x > place)


def bumps(x):
    return 10.52884 * sum(
        height / (1 + abs(x - place) / width) ** 4 for place, _, height, width in JUMPS
    )


def heavisine(x):
    jump = 2 if 0.3 < x < 0.72 else 0
    return 2.356934 * (4 * sin(4 * pi * x) - jump)


def doppler(x):
    return 24.22172 * sqrt(x * (1 - x)) * sin(2.1 * pi / (x + 0.05))


@pytest.mark.parametrize("definition", [blocks, bumps, heavisine, doppler])
def test_without_noise_each_is_its_definition(definition):
    """Witness: the formulas of Donoho and Johnstone, one number at a time."""
    X, y = MAKERS[definition.__name__](500, noise=0, random_state=4)

    np.testing.assert_allclose(y, [definition(x) for x in X[:, 0]], atol=1e-10)
    assert X.min() >= 0
    assert X.max() <= 1


@pytest.mark.parametrize("name", MAKERS)
def test_the_signal_is_seven_times_as_strong_as_the_noise(name):
    """Witness: the signal-to-noise ratio of Donoho and Johnstone."""
    _, y = MAKERS[name](100_000, noise=0, random_state=0)

    assert y.std() == pytest.approx(7, rel=0.02)


@pytest.mark.parametrize("case", range(3))
def test_each_is_distributed_as_in_the_r_package(
    r_samples, assert_same_quantiles, case
):
    """Witness: deciles of a sample of the R package, within its sampling error."""
    sample = r_samples["donoho"][case]
    _, y = MAKERS[sample["name"]](100_000, noise=sample["noise"], random_state=0)

    assert_same_quantiles(y, sample["y_deciles"], sample["n_samples"])
