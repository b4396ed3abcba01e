import numpy as np
import pytest

from cvst.displays import LossSurfaceDisplay
from cvst.exceptions import InvalidInputError

GRID = [
    {"C": 10.0, "kernel": "rbf"},
    {"C": 1.0, "kernel": "rbf"},
    {"C": 10.0, "kernel": "linear"},
    {"C": 1.0, "kernel": "linear"},
]


def test_cells_hold_the_last_loss_and_the_last_drop(hand_made):
    """Witness: the race, read by hand; folds are averaged."""
    display = LossSurfaceDisplay.from_state(
        hand_made, GRID, x="C", y="kernel", ranking=np.array([0, 1])
    )

    assert display.x.texts == ["1", "10"]
    assert display.y.texts == ["rbf", "linear"]
    np.testing.assert_allclose(display.losses, [[0.2, 0.2], [0.7, 0.9]])
    np.testing.assert_array_equal(display.dropped_at, [[0, 0], [2, 1]])
    assert display.winner == (0, 1)


def test_a_cell_shows_the_best_of_those_that_share_it(hand_made):
    """Over C alone, the dropped linear ones are hidden by the survivors."""
    display = LossSurfaceDisplay.from_state(
        hand_made,
        [{**one, "degree": 3} for one in GRID],
        x="C",
        y="degree",
        ranking=np.array([0, 1]),
    )
    np.testing.assert_allclose(display.losses, [[0.2, 0.2]])
    assert not display.dropped_at.any()


def test_dropped_cells_are_hatched_and_numbered(hand_made):
    display = LossSurfaceDisplay.from_state(hand_made, GRID, x="C", y="kernel").plot()

    (hatched,) = display.ax_.patches
    assert hatched.get_hatch()
    corners = hatched.get_path().get_extents()
    np.testing.assert_allclose(corners.get_points(), [[-0.5, 0.5], [1.5, 1.5]])
    numbers = {text.get_position(): text.get_text() for text in display.ax_.texts}
    assert numbers == {(0, 1): "2", (1, 1): "1"}


def test_a_missing_parameter_has_a_level_of_its_own(hand_made):
    grid = [{"C": 1}, {"C": 2}, {"C": 1, "gamma": 5}, {"C": 2, "gamma": 5}]
    display = LossSurfaceDisplay.from_state(hand_made, grid)
    assert {display.x.name, display.y.name} == {"C", "gamma"}
    gamma = display.x if display.x.name == "gamma" else display.y
    assert gamma.texts == ["5", "—"]
    assert gamma.codes.tolist() == [1, 1, 0, 0]


def test_one_parameter_is_enough(hand_made):
    grid = [{"C": value} for value in (1, 2, 3, 4)]
    display = LossSurfaceDisplay.from_state(hand_made, grid).plot()
    assert display.losses.shape == (1, 4)
    assert display.ax_.get_ylabel() == ""


def test_random_draws_are_points(hand_made):
    """Where most cells are empty, points replace them: dropped ones are crosses."""
    rng = np.random.default_rng(0)
    grid = [{"a": float(a), "b": float(b)} for a, b in rng.random((4, 2))]
    display = LossSurfaceDisplay.from_state(hand_made, grid)
    # Four of sixteen cells are filled; make it fewer.
    display.losses = np.pad(display.losses, (0, 4), constant_values=np.nan)
    display.dropped_at = np.pad(display.dropped_at, (0, 4))
    ax = display.plot().ax_
    assert not ax.images
    assert [len(points.get_offsets()) for points in ax.collections] == [2, 2]


def test_every_strategy_can_be_drawn(fitted):
    display = LossSurfaceDisplay.from_search(fitted, x="gamma", y="alpha").plot()
    assert display.losses.shape == (6, 3)
    row, column = display.winner
    assert float(display.y.texts[row]) == pytest.approx(
        fitted.best_params_["alpha"], rel=0.01
    )
    assert float(display.x.texts[column]) == fitted.best_params_["gamma"]


def test_an_unknown_name_is_refused_with_those_known(hand_made):
    with pytest.raises(InvalidInputError, match=r"'D' is not a .*'C', 'kernel'"):
        LossSurfaceDisplay.from_state(hand_made, GRID, x="D")
