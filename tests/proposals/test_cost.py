"""What an evaluation takes: the features of a point, and what is learnt from them."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.proposals._cost import Cost, _features


def plain_features(n_choices, points):
    """Return the features of each point, written out one by one."""
    rows = []
    for point in points:
        row = []
        for count, value in zip(n_choices, point, strict=True):
            if count:
                row += [float(value == code) for code in range(count)]
            else:
                centred = 0.0 if np.isnan(value) else value - 0.5
                row += [centred, centred**2]
        rows.append(row or [0.0])
    return np.array(rows)


@pytest.mark.parametrize("n_choices", [(0,), (3,), (0, 2, 0, 4), ()])
def test_features_are_those_written_out(n_choices):
    """Inactive numbers are in the middle, and an inactive choice is none of them."""
    rng = np.random.default_rng(0)
    points = np.array(
        [[rng.integers(k) if k else rng.random() for k in n_choices] for _ in range(9)],
        dtype=float,
    )
    points[rng.random(points.shape) < 0.2] = np.nan
    np.testing.assert_array_equal(
        _features(n_choices, points), plain_features(n_choices, points)
    )


def test_forecasts_follow_what_was_seen():
    """Each value of a choice has its own pace, and a power is a straight line."""
    rng = np.random.default_rng(0)
    points = np.column_stack([rng.random(200), rng.integers(2, size=200)])
    seconds = np.exp(3 * points[:, 0] + 2 * points[:, 1])
    cost = Cost.fitted((0, 2), points, seconds)
    np.testing.assert_allclose(cost.log_seconds(points), np.log(seconds), atol=0.2)
