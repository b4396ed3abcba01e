import pytest

from cvst.displays import SurvivingPathsDisplay
from cvst.exceptions import InvalidInputError
from cvst.theory import surviving_paths


def test_every_number_stands_at_its_point():
    """Witness: the texts of the figure, read back with their positions."""
    paths = surviving_paths(12)
    display = SurvivingPathsDisplay.from_levels(12).plot()

    shown = {
        tuple(int(x) for x in text.get_position()): text.get_text()
        for text in display.ax_.texts
        if text.get_text() != "LOSER"
    }

    expected = {
        (step, wins): str(paths[wins, step])
        for step in range(13)
        for wins in range(13)
        if paths[wins, step]
    }
    assert shown == expected


def test_edges_add_up():
    """Each point has as many incoming edges as terms in its sum."""
    display = SurvivingPathsDisplay.from_levels(10).plot()
    (edges,) = display.ax_.collections[1:]
    arrivals = {}
    for (_, _), (step, wins) in edges.get_segments():
        arrivals[step, wins] = arrivals.get((step, wins), 0) + 1
    paths = surviving_paths(10)

    for (step, wins), n in arrivals.items():
        below = paths[int(wins) - 1, int(step) - 1] if wins else 0
        terms = [paths[int(wins), int(step) - 1], below]
        assert n == sum(term != 0 for term in terms)


def test_an_unreadable_grid_is_refused():
    with pytest.raises(InvalidInputError, match="max_steps=31"):
        SurvivingPathsDisplay.from_levels(31)
