import numpy as np
import pytest

from cvst.displays import IncumbentDisplay
from cvst.displays import _incumbent as module
from cvst.exceptions import InvalidInputError
from cvst.race import Problem, RaceState


def test_leaders_are_those_that_would_have_won(fitted):
    """Witness: the strategy, asked after every look."""
    display = IncumbentDisplay.from_search(fitted)
    state, strategy = fitted.race_, fitted.strategy_
    expected = [strategy.ranking(state.until(n + 1))[0] for n in range(state.n_looks)]
    assert display.incumbents.tolist() == expected
    assert display.incumbents[-1] == fitted.best_index_


def test_loss_is_what_was_known_then(hand_made):
    """Folds of a stage count together; the last two looks are one stage."""
    display = IncumbentDisplay.from_state(hand_made)
    assert display.unit == "looks"
    assert display.times.tolist() == [1, 2, 3, 4]
    assert display.incumbents.tolist() == [0, 0, 0, 1]
    np.testing.assert_allclose(display.losses, [0.3, 0.2, 0.1, 0.2])
    assert list(display.loss_stages) == [
        "first look",
        "late look",
        "confirm",
        "confirm",
    ]


def test_every_look_at_a_configuration_is_a_point(hand_made):
    display = IncumbentDisplay.from_state(hand_made)
    assert display.point_looks.tolist() == [0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3]
    assert display.point_losses[:4].tolist() == [0.3, 0.4, 0.9, 0.8]


def test_proposed_race_asked_seldom_says_the_same(proposed, monkeypatch):
    """In long races the strategy is asked only where the leader may change."""
    whole = IncumbentDisplay.from_search(proposed)
    monkeypatch.setattr(module, "MANY_LOOKS", 0)
    seldom = IncumbentDisplay.from_search(proposed)
    assert seldom.incumbents.tolist() == whole.incumbents.tolist()
    assert whole.incumbents[-1] == proposed.best_index_
    assert whole.unit == "seconds"
    assert (np.diff(whole.times) > 0).all()


def test_picture_shows_every_point_and_breaks_the_line_between_stages(hand_made):
    display = IncumbentDisplay.from_state(hand_made).plot()
    ax = display.ax_
    assert sum(len(one.get_offsets()) for one in ax.collections) == 11
    labels = ax.get_legend_handles_labels()[1]
    assert labels == ["first look", "late look", "confirm", "leader", "new leader"]
    assert "2 leaders in 4 looks" in ax.get_title(loc="left")


def test_far_points_are_drawn_at_the_edge_and_counted(proposed):
    display = IncumbentDisplay.from_search(proposed)
    display.point_losses = display.point_losses.copy()
    display.point_losses[0] = 1e6
    ax = display.plot().ax_
    top = ax.get_ylim()[1]
    assert top < 1e4
    drawn = np.concatenate([one.get_offsets()[:, 1] for one in ax.collections])
    assert len(drawn) == len(display.point_losses)
    assert (drawn <= top).all()
    n_far = (display.point_losses > top).sum()
    assert any(f"{n_far} of" in text.get_text() for text in ax.texts)


def test_a_race_without_looks_is_refused():
    state = RaceState(Problem(n_configurations=2, n_samples=10))
    with pytest.raises(InvalidInputError, match="0 looks"):
        IncumbentDisplay.from_state(state)
