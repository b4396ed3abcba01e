from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import spearmanr

from cvst.displays import (
    ContourDisplay,
    ParallelCoordinatesDisplay,
    SlicesDisplay,
)
from cvst.exceptions import InvalidInputError

ALL = [SlicesDisplay, ParallelCoordinatesDisplay, ContourDisplay]


def test_one_panel_for_each_parameter_with_every_point(fitted):
    display = SlicesDisplay.from_search(fitted).plot()
    assert [ax.get_xlabel() for ax in display.axes_] == ["alpha", "gamma"]
    for ax in display.axes_:
        n_drawn = sum(len(one.get_offsets()) for one in ax.collections)
        assert n_drawn == np.isfinite(display.losses).sum()


def test_confirmed_are_those_with_the_winners_evidence(hand_made):
    """0 and 1 ran both folds; the others were dropped before."""
    configurations = [{"C": c} for c in (1, 10, 100, 1000)]
    display = SlicesDisplay.from_state(hand_made, configurations)
    assert display.confirmed.tolist() == [True, True, False, False]
    blue = display.plot().axes_[0].collections[1]
    assert len(blue.get_offsets()) == 2
    assert display.labels == ("fewer folds", "as many folds as the winner")


def test_without_folds_nothing_is_called_confirmed(hand_made):
    """2 fell in the first look: it has fewer rows than the others, and that is all."""
    configurations = [{"C": c} for c in (1, 10, 100, 1000)]
    display = SlicesDisplay.from_state(hand_made.until(2), configurations)
    assert display.confirmed.tolist() == [True, True, False, True]
    assert not display.by_folds
    texts = [text.get_text() for text in display.plot().figure_.legends[0].texts]
    assert texts == ["fewer rows", "as many rows as the winner", "winner"]


def test_proposed_configurations_are_confirmed_on_all_folds(proposed):
    """Witness: presence in the looks that confirm."""
    display = SlicesDisplay.from_search(proposed)
    state = proposed.race_
    folds = [one.look.stage == "confirm" for one in state.observations]
    ran = state.present[:, folds].sum(axis=1)
    expected = np.flatnonzero(ran == ran[proposed.best_index_])
    assert np.flatnonzero(display.confirmed).tolist() == expected.tolist()


def test_parameters_can_be_chosen_with_or_without_their_path(fitted):
    for name in ("gamma", "model__gamma"):
        display = SlicesDisplay.from_search(fitted, parameters=[name])
        assert [axis.name for axis in display.axes] == ["gamma"]
    with pytest.raises(InvalidInputError, match="'nope' is not a hyper-parameter"):
        SlicesDisplay.from_search(fitted, parameters=["nope"])


def test_axes_of_ones_own_must_be_as_many_as_parameters(fitted):
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, 3)
    with pytest.raises(InvalidInputError, match="3 axes for 2 parameters"):
        SlicesDisplay.from_search(fitted).plot(axes)
    display = SlicesDisplay.from_search(fitted).plot(axes[:2])
    assert list(display.axes_) == list(axes[:2])


def test_lines_run_through_the_positions_of_their_values(proposed):
    display = ParallelCoordinatesDisplay.from_search(proposed)
    ax = display.plot().ax_
    [lines] = ax.collections
    segments = np.array([path.vertices for path in lines.get_paths()])
    assert len(segments) == np.isfinite(display.losses).sum()
    # The best is drawn last, so that nothing hides it.
    best = int(np.nanargmin(display.losses))
    expected = [axis.positions[best] for axis in display.axes]
    np.testing.assert_allclose(segments[-1, :2, 1], expected)
    labels = [text.get_text() for text in ax.get_xticklabels()]
    assert labels == [*(axis.name for axis in display.axes), "loss"]


def test_surface_is_low_where_losses_are(proposed):
    display = ContourDisplay.from_search(proposed, x="alpha", y="gamma")
    known = np.isfinite(display.losses)
    at = [
        np.abs(places[None] - axis.positions[:, None]).argmin(axis=1)
        for places, axis in (
            (display.surface_x, display.x),
            (display.surface_y, display.y),
        )
    ]
    predicted = display.surface[at[1], at[0]]
    # Ranks, because the model does not see how bad the worst are.
    assert spearmanr(predicted[known], display.losses[known]).statistic > 0.8


def test_the_most_important_two_are_drawn_by_default(fitted):
    display = ContourDisplay.from_search(fitted).plot()
    assert {display.x.name, display.y.name} == {"alpha", "gamma"}
    swapped = ContourDisplay.from_search(fitted, x="gamma")
    assert (swapped.x.name, swapped.y.name) == ("gamma", "alpha")


def test_a_contour_of_one_parameter_is_refused(fitted):
    with pytest.raises(InvalidInputError, match=r"needs two.*'gamma' twice"):
        ContourDisplay.from_search(fitted, x="gamma", y="gamma")


def test_a_contour_of_a_race_with_one_parameter_names_it(hand_made):
    configurations = [{"C": value, "tol": 0.1} for value in (1, 2, 3, 4)]
    with pytest.raises(InvalidInputError, match="only 'C' does"):
        ContourDisplay.from_state(hand_made, configurations)
    configurations = [{"C": 1}] * 4
    with pytest.raises(InvalidInputError, match="No hyper-parameter of this race"):
        ContourDisplay.from_state(hand_made, configurations)


@pytest.mark.parametrize("display", ALL[:2])
def test_a_race_in_which_nothing_varies_is_refused(display, hand_made):
    configurations = [{"C": 1}] * 4
    with pytest.raises(InvalidInputError, match="No hyper-parameter of this race"):
        display.from_state(hand_made, configurations).plot()


@pytest.mark.parametrize("display", ALL)
def test_categories_gaps_and_failed_fits_are_drawn(display, hand_made):
    """Conditional parameters, None and strings in one race."""
    configurations = [
        {"kind": "a", "C": 1.0},
        {"kind": "b", "C": None},
        {"kind": "a"},
        {"kind": "c", "C": 100.0, "degree": 3},
    ]
    made = display.from_state(hand_made, configurations)
    made.losses = made.losses.copy()
    made.losses[3] = np.nan
    made.plot().figure_.canvas.draw()


def test_labels_of_values_do_not_touch(proposed):
    """Witness: the boxes that matplotlib draws, slanted ones by their heights."""
    display = SlicesDisplay.from_search(proposed).plot()
    display.figure_.canvas.draw()
    for ax in display.axes_:
        labels = [text for text in ax.get_xticklabels() if text.get_text()]
        boxes = [text.get_window_extent() for text in labels]
        if labels[0].get_rotation():
            continue
        for left, right in pairwise(boxes):
            assert left.x1 < right.x0
