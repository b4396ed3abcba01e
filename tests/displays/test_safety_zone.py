import numpy as np

from cvst.displays import SafetyZoneDisplay
from cvst.statistics import WaldTest


def test_lines_are_the_zones_of_the_tests_as_a_share_of_the_race():
    display = SafetyZoneDisplay.from_levels([6, 10, 20], loser_levels=[0.1, 0.4])

    ax = display.plot().ax_

    low, high = (line.get_ydata() for line in ax.get_lines())
    expected = [WaldTest(10).safety_zone / 10, WaldTest(20).safety_zone / 20]
    np.testing.assert_allclose(low[1:], expected)
    # Six steps are too few at the lower level, and there the line has a gap.
    assert np.isnan(low[0])
    assert high[0] == WaldTest(6, 0.4).safety_zone / 6
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["0.1", "0.4"]
