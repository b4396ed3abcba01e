from dataclasses import replace

import numpy as np
import pytest

from cvst.displays import LearningCurvesDisplay


def test_folds_of_a_stage_are_one_point(hand_made):
    """Average folds of loss 0.1 and 0.3: 0.2, with a standard error smaller by √2."""
    display = LearningCurvesDisplay.from_state(hand_made, ranking=np.array([0, 1]))

    winner = display.survivors[0]
    assert winner.index == 0
    assert winner.n_train.tolist() == [20, 40, 80]
    np.testing.assert_allclose(winner.losses, [0.3, 0.2, 0.2])
    np.testing.assert_allclose(winner.errors, [0.06, 0.06, 0.06 / np.sqrt(2)])


def test_best_dropped_come_in_order_and_the_rest_in_grey(hand_made):
    display = LearningCurvesDisplay.from_state(
        hand_made, ranking=np.array([0, 1]), n_survivors=1, n_dropped=1
    )
    assert [curve.index for curve in display.dropped] == [3]
    assert [curve.index for curve in display.others] == [1, 2]


def test_error_bars_span_one_standard_error(hand_made):
    """Witness: the segments of the drawn bars."""
    display = LearningCurvesDisplay.from_state(
        hand_made, ranking=np.array([0, 1]), n_survivors=1, n_dropped=0
    ).plot()
    bars = [
        segment
        for collection in display.ax_.collections[1:]
        for segment in collection.get_segments()
    ]
    heights = [segment[1, 1] - segment[0, 1] for segment in bars]
    np.testing.assert_allclose(heights, 2 * display.survivors[0].errors)


def test_every_strategy_can_be_drawn(fitted):
    """Losses of the winner are those of its looks, in order of rows."""
    display = LearningCurvesDisplay.from_search(fitted).plot()
    winner = display.survivors[0]

    state = fitted.race_
    assert winner.index == fitted.best_index_
    assert np.all(np.diff(winner.n_train) > 0)
    single = [not seen.look.is_fold for seen in state.observations]
    expected = state.mean_losses[winner.index][single]
    np.testing.assert_allclose(winner.losses[: len(expected)], expected)
    assert "standard error" in display.ax_.get_title(loc="left")


def test_unknown_uncertainty_is_said(hand_made):
    bare = replace(
        hand_made,
        observations=tuple(
            replace(seen, standard_errors=None) for seen in hand_made.observations
        ),
    )
    display = LearningCurvesDisplay.from_state(bare).plot()
    assert "not recorded" in display.ax_.get_title(loc="left")


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_wide_ranges_get_a_logarithmic_axis(hand_made, scale):
    first = hand_made.observations[0]
    losses = first.mean_losses * [1, 1, 1, scale]
    state = replace(
        hand_made,
        observations=(
            replace(first, mean_losses=losses),
            *hand_made.observations[1:],
        ),
    )
    ax = LearningCurvesDisplay.from_state(state).plot().ax_
    assert ax.get_yscale() == ("log" if scale > 1 else "linear")


def test_one_number_of_rows_is_one_place(hand_made):
    """Shifts keep bars apart, but must not look like other numbers of rows."""
    first = replace(hand_made, observations=hand_made.observations[:1])
    ax = LearningCurvesDisplay.from_state(first).plot().ax_
    places = [line.get_xdata() for line in ax.lines if line.get_label()[0] != "_"]
    low, high = ax.get_xlim()
    assert ax.get_xticks().tolist() == [20]
    assert np.ptp(np.concatenate(places)) < (high - low) / 4
