import numpy as np

from cvst.displays import SpeedGainDisplay
from cvst.statistics import SpicerTest
from cvst.theory import simulate_speed_gain


def test_lines_are_the_medians_of_the_simulated_gains():
    settings = {"max_steps": [10, 20], "n_resamples": 15, "seed": 2}
    expected = simulate_speed_gain(SpicerTest, **settings)

    ax = SpeedGainDisplay.from_test(SpicerTest, **settings).plot().ax_

    drawn = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    for row, problem in enumerate(("easy", "medium", "hard")):
        medians = [np.median(gains) for gains in expected.gains[row]]
        np.testing.assert_allclose(drawn[problem], medians)
    assert ax.get_title() == "Closed test"
    assert ax.get_yscale() == "log"


def test_ticks_are_plain_numbers_between_the_powers_of_ten_too():
    ax = SpeedGainDisplay.from_test(max_steps=[10], n_resamples=3).plot().ax_
    ax.set_ylim(0.9, 120)
    ax.figure.canvas.draw()
    low, high = ax.get_ylim()
    ticks = zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)
    shown = [label.get_text() for tick, label in ticks if low <= tick <= high]
    assert shown == ["1", "2", "5", "10", "20", "50", "100"]
    assert not len(ax.get_yticks(minor=True))


def test_the_legend_can_be_left_out():
    display = SpeedGainDisplay.from_test(max_steps=[10], n_resamples=3)

    assert display.plot().ax_.get_legend() is not None
    assert display.plot(legend=False).ax_.get_legend() is None
    assert display.ax_.get_title() == "Open test"
