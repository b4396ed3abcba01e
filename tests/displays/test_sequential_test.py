import numpy as np
import pytest

from cvst.displays import SequentialTestDisplay
from cvst.exceptions import InvalidInputError
from cvst.statistics import SpicerTest, WaldTest

TRACES = np.array(
    [[0, 0, 0, 1, 1, 1], [1, 1, 1, 1, 1, 1], [0, 1, 0, 0, 1, 0]], dtype=bool
)


@pytest.mark.parametrize("make_test", [WaldTest, SpicerTest])
def test_paths_end_where_the_test_drops_them(make_test):
    """Witness: the verdict of the test on every prefix of every trace."""
    test = make_test(10)

    display = SequentialTestDisplay.from_test(test, TRACES)

    for trace, path, dropped in zip(
        TRACES, display.paths, display.dropped, strict=True
    ):
        verdicts = [test.is_loser(trace[None, :n])[0] for n in range(1, 7)]
        assert dropped == any(verdicts)
        end = verdicts.index(True) + 1 if dropped else 6
        assert path.tolist() == [0, *trace.cumsum()[:end]]


def test_lines_and_paths_are_drawn():
    test = WaldTest(10)
    display = SequentialTestDisplay.from_test(test, TRACES, labels=["a", "b", "c"])

    ax = display.plot().ax_

    lines = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    np.testing.assert_allclose(
        lines["loser boundary"], [test.loser_boundary(s) for s in range(11)]
    )
    np.testing.assert_allclose(
        lines["winner boundary"], [test.winner_boundary(s) for s in range(11)]
    )
    assert lines["a, dropped"].tolist() == [0, 0, 0, 0]
    assert lines["b"].tolist() == list(range(7))
    assert "2.73" in ax.get_title()


def test_boundaries_can_be_drawn_alone():
    display = SequentialTestDisplay.from_test(SpicerTest(20)).plot()

    assert display.paths == []
    assert len(display.ax_.get_lines()) == 2
    assert "Closed" in display.ax_.get_title()


def test_traces_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInputError, match=r"shape \(1, 11\)"):
        SequentialTestDisplay.from_test(WaldTest(10), np.ones((1, 11), dtype=bool))
    with pytest.raises(InvalidInputError, match="2 labels for 3 traces"):
        SequentialTestDisplay.from_test(WaldTest(10), TRACES, labels=["a", "b"])
