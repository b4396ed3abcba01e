import numpy as np

from cvst.displays import SurvivorsDisplay


def test_counts_are_those_of_the_race(hand_made):
    """Witness: the race, counted by hand."""
    display = SurvivorsDisplay.from_state(hand_made)
    assert display.n_tested.tolist() == [4, 3, 2, 2]
    assert display.n_top.tolist() == [2, 1, 2, 1]
    assert display.n_active.tolist() == [2, 2, 2, 2]


def test_lines_are_the_counts(fitted):
    display = SurvivorsDisplay.from_search(fitted).plot()
    lines = {line.get_label(): line.get_ydata() for line in display.ax_.get_lines()}
    state = fitted.race_

    np.testing.assert_array_equal(lines["tested"], state.present.sum(axis=0))
    np.testing.assert_array_equal(np.nan_to_num(lines["top"]), state.traces.sum(axis=0))
    assert lines["left afterwards"][-1] == state.active.sum()


def test_many_configurations_get_a_logarithmic_axis():
    counts = np.array([2000, 60, 3])
    display = SurvivorsDisplay(
        n_tested=counts,
        n_top=np.array([0, 3, 1]),
        n_active=counts,
        subset_sizes=np.array([10, 20, 30]),
        stages=["race"] * 3,
    )
    ax = display.plot().ax_
    assert ax.get_yscale() == "log"
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["2000", "60", "3"]


def test_a_pool_that_grows_fits_on_the_axes(proposed):
    """The first look is at one configuration, and others join."""
    display = SurvivorsDisplay.from_search(proposed).plot()
    assert display.ax_.get_ylim()[1] > display.n_active.max()
    assert "as others joined" in display.ax_.get_title(loc="left")
