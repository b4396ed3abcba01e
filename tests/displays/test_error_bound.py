import numpy as np

from cvst.displays import ErrorBoundDisplay
from cvst.theory import drop_error_bound


def test_points_are_the_bounds_and_dotted_lines_their_limits():
    display = ErrorBoundDisplay.from_levels(
        [10, 30], win_probabilities=[0.9, 0.99], loser_level=0.05
    )

    points, limit, *_ = display.plot().ax_.get_lines()

    expected = [drop_error_bound(0.9, steps, 0.05) for steps in (10, 30)]
    np.testing.assert_allclose(points.get_ydata(), expected)
    assert points.get_label() == "0.9"
    np.testing.assert_allclose(limit.get_ydata(), 1 / 9)
