from dataclasses import replace
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from cvst.displays import TracesDisplay
from cvst.exceptions import InvalidInputError
from cvst.race import LookLosses, Problem, RaceState, Verdict

# Not looked at, top, flop, dropped.
ABSENT, TOP, FLOP, DROPPED = range(4)


def test_codes_tell_dropped_from_absent_and_follow_a_return(hand_made):
    """Witness: the race, read by hand; rows are ordered 0, 1, 3, 2."""
    display = TracesDisplay.from_state(hand_made, ranking=np.array([0, 1]))

    np.testing.assert_array_equal(
        display.codes,
        [
            [TOP, TOP, TOP, FLOP],
            [TOP, FLOP, TOP, TOP],
            [FLOP, FLOP, DROPPED, DROPPED],
            [FLOP, DROPPED, DROPPED, DROPPED],
        ],
    )
    assert display.survivors.tolist() == [True, True, False, False]
    assert display.window == 2  # the last stage has two folds


def test_picture_has_the_papers_colours_where_they_belong(hand_made):
    """Top is black, flop red, dropped grey: read back from the image."""
    display = TracesDisplay.from_state(hand_made, ranking=np.array([0, 1])).plot()

    image = np.asarray(display.ax_.images[0].get_array())
    np.testing.assert_allclose(image[0, 0], 0)
    red = image[2, 0]
    assert red[0] > 2 * red[1] > red[2]
    np.testing.assert_allclose(image[3, 3], image[3, 3][0])
    assert 0.5 < image[3, 3][0] < 0.9


def test_zoom_shows_the_last_looks_of_the_survivors(hand_made):
    display = TracesDisplay.from_state(hand_made, ranking=np.array([0, 1])).plot()

    whole = np.asarray(display.ax_.images[0].get_array())
    zoom = np.asarray(display.zoom_ax_.images[0].get_array())
    np.testing.assert_array_equal(zoom, whole[:2, 2:])


def test_stages_are_named(hand_made):
    display = TracesDisplay.from_state(hand_made).plot()
    texts = {text.get_text().replace("\n", " ") for text in display.ax_.texts}
    assert texts == {"first look", "late look", "confirm"}


def test_every_strategy_can_be_drawn(fitted):
    """Every configuration has a row, and the winner is on top."""
    display = TracesDisplay.from_search(fitted).plot()
    state = fitted.race_

    assert display.codes.shape == state.mean_losses.shape
    winner = state.traces[fitted.best_index_]
    np.testing.assert_array_equal(display.codes[0] == TOP, winner)
    window = fitted.strategy_.window
    assert window == 0 or display.window == min(window, state.n_looks)


@pytest.mark.parametrize(
    ("winner", "rows", "lines"),
    [(0, [0, 1, 3, 2], [2.5]), (2, [2, 0, 1, 3], [1.5, 3.5])],
)
def test_the_line_parts_survivors_from_dropped(hand_made, winner, rows, lines):
    """Also if one that fell ranks before a survivor, or was chosen by refit."""
    params = [{"a": index} for index in range(4)]
    search = SimpleNamespace(
        race_=hand_made,
        cv_results_={"rank_test_score": np.array([1, 4, 3, 2]), "params": params},
        best_index_=winner,
        strategy_=None,
    )
    display = TracesDisplay.from_search(search).plot()
    assert display.labels == [f"a={index}" for index in rows]
    blue = [line for line in display.ax_.lines if line.get_color() == "#0072B2"]
    assert [line.get_ydata()[0] for line in blue] == lines


def test_two_thousand_rows_keep_their_share_of_the_picture():
    """A third of the rows is top: so is a third of the drawn pixels."""
    codes = np.repeat([[TOP, FLOP], [FLOP, FLOP], [FLOP, DROPPED]], 667, axis=0)
    display = TracesDisplay(
        codes=codes,
        subset_sizes=np.array([10, 20]),
        stages=["race", "race"],
        labels=[""] * len(codes),
        survivors=np.ones(len(codes), dtype=bool),
        window=2,
    )
    figure, ax = plt.subplots(dpi=100)
    display.plot(ax)
    figure.canvas.draw()

    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(int)
    box = ax.get_window_extent()
    middle = int(box.x0 + box.width / 4)
    column = pixels[::-1][int(box.y0) + 2 : int(box.y1) - 2, middle]
    share = np.mean(column.sum(axis=1) < 60)
    assert share == pytest.approx(1 / 3, abs=0.02)
    # Nothing is blended sideways: next to the border the colour is the column's own.
    left = pixels[::-1][int(box.y1) - 20, int(box.x0 + 0.46 * box.width)]
    np.testing.assert_array_equal(left, column[-1])


def test_zoom_is_left_out_on_given_axes(hand_made):
    _, ax = plt.subplots()
    display = TracesDisplay.from_state(hand_made).plot(ax)
    assert display.ax_ is ax
    assert display.zoom_ax_ is None


def test_nothing_to_draw_is_said():
    state = RaceState(Problem(n_configurations=2, n_samples=10))
    with pytest.raises(InvalidInputError, match="0 looks"):
        TracesDisplay.from_state(state)


def test_names_must_fit(hand_made):
    with pytest.raises(InvalidInputError, match="1 configurations for a race of 4"):
        TracesDisplay.from_state(hand_made, [{"a": 1}])


def test_an_unfitted_search_is_refused():
    with pytest.raises(InvalidInputError, match="Fit it first"):
        TracesDisplay.from_search(object())


def test_no_zoom_that_shows_the_matrix_once_more(hand_made):
    """Two configurations that were never dropped, in one stage."""
    problem = replace(hand_made.problem, n_configurations=2)
    last = [replace(seen, drops={}) for seen in hand_made.observations[2:]]
    state = RaceState(problem)
    for seen in last:
        losses = LookLosses(
            losses=np.zeros((2, 1)),
            mean_losses=np.array([0.1, 0.2]),
            fit_seconds=np.zeros(2),
            score_seconds=np.zeros(2),
        )
        verdict = Verdict(np.ones(2, dtype=bool), np.full(2, 0.5))
        state = state.observe(seen.look, losses, verdict)
    alone = TracesDisplay.from_state(state).plot()
    assert alone.zoom_ax_ is None
    assert TracesDisplay.from_state(hand_made).plot().zoom_ax_ is not None
