import numpy as np
import pytest

from cvst.displays import FalseNegativesDisplay
from cvst.statistics import SpicerTest, WaldTest
from cvst.theory import simulate_false_negatives


@pytest.mark.parametrize(
    ("make_test", "name"), [(WaldTest, "Open"), (SpicerTest, "Closed")]
)
def test_lines_are_the_simulated_rates(make_test, name):
    settings = {"n_resamples": 200, "seed": 3, "win_probabilities_before": (0.1, 0.5)}
    test = make_test(10)
    expected = simulate_false_negatives(test, **settings)

    ax = FalseNegativesDisplay.from_test(test, **settings).plot().ax_

    lines = ax.get_lines()
    np.testing.assert_array_equal([x.get_ydata() for x in lines], expected.rates)
    assert [line.get_label() for line in lines] == ["0.1", "0.5"]
    assert ax.get_title() == f"{name} test, 10 steps"


def test_the_safety_zone_is_shaded_and_the_legend_can_be_left_out():
    display = FalseNegativesDisplay.from_test(WaldTest(10), n_resamples=10)

    ax = display.plot(legend=False).ax_

    (zone,) = ax.patches
    assert zone.get_extents().transformed(ax.transData.inverted()).x1 == pytest.approx(
        WaldTest(10).safety_zone
    )
    assert ax.get_legend() is None
