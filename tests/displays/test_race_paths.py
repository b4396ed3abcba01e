import numpy as np
import pytest

from cvst.displays import RacePathsDisplay
from cvst.race import CVST
from cvst.statistics import SpicerTest, WaldTest


def test_edges_count_who_went_where(hand_made):
    """Witness: the race, followed by hand."""
    display = RacePathsDisplay.from_state(hand_made, ranking=np.array([0, 1]))

    assert display.edges == {
        (0, 0, True): 2,
        (0, 0, False): 2,
        (1, 1, True): 1,
        (1, 1, False): 1,
        (1, 0, False): 1,
        (2, 2, True): 1,
        (2, 1, True): 1,
        (3, 3, False): 1,
        (3, 2, True): 1,
    }
    assert display.falls == {(1, 0): 2, (2, 0): 1}
    assert display.winner_path.tolist() == [0, 1, 2, 3, 3]


@pytest.mark.parametrize(
    ("elimination", "expected"),
    [
        ("open", WaldTest(12, 0.2, 0.05)),
        ("closed", SpicerTest(12, 0.2, 0.05)),
        (WaldTest(9), WaldTest(9)),
        ("none", None),
    ],
)
def test_boundaries_are_those_of_the_strategy(hand_made, elimination, expected):
    strategy = CVST(
        max_steps=12, loser_level=0.2, winner_level=0.05, elimination=elimination
    )
    display = RacePathsDisplay.from_state(hand_made, strategy=strategy).plot()
    lines = {line.get_label(): line for line in display.ax_.get_lines()}

    if expected is None:
        assert "loser boundary" not in lines
        return
    x, y = lines["loser boundary"].get_data()
    np.testing.assert_allclose(y, expected.loser_boundary(x))


def test_every_strategy_can_be_drawn(fitted):
    """Every configuration starts, and crosses add up to the drops of the race."""
    display = RacePathsDisplay.from_search(fitted).plot()
    started = sum(n for (n_run, _, _), n in display.edges.items() if n_run == 0)
    assert started == (fitted.race_.present.sum(axis=1) > 0).sum()
    drops = sum(len(seen.drops) for seen in fitted.race_.observations)
    assert sum(display.falls.values()) == drops
