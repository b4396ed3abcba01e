"""The example run of Appendix B, from the matrices that the paper prints."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.race import MeanRank, SimilarTraces

# log10 sigma, nu, four errors and four marks of each remaining configuration.
PRINTED = np.array(
    [
        [-2.3, 0.35, 0.0370, 0.0199, 0.0145, 0.0150, 0, 0, 1, 0],
        [-2.3, 0.40, 0.0362, 0.0197, 0.0146, 0.0146, 0, 1, 1, 0],
        [-2.3, 0.45, 0.0356, 0.0197, 0.0146, 0.0144, 0, 1, 0, 1],
        [-2.2, 0.30, 0.0365, 0.0195, 0.0146, 0.0148, 0, 1, 0, 0],
        [-2.2, 0.35, 0.0351, 0.0193, 0.0142, 0.0145, 0, 1, 1, 0],
        [-2.2, 0.40, 0.0345, 0.0194, 0.0143, 0.0141, 0, 1, 1, 1],
        [-2.2, 0.45, 0.0340, 0.0193, 0.0143, 0.0140, 0, 1, 1, 1],
        [-2.2, 0.50, 0.0332, 0.0200, 0.0145, 0.0138, 0, 0, 1, 1],
        [-2.1, 0.35, 0.0353, 0.0194, 0.0144, 0.0142, 0, 1, 1, 1],
        [-2.1, 0.40, 0.0343, 0.0195, 0.0142, 0.0138, 0, 1, 1, 1],
        [-2.1, 0.45, 0.0340, 0.0197, 0.0140, 0.0138, 0, 1, 1, 1],
        [-2.1, 0.50, 0.0329, 0.0199, 0.0142, 0.0137, 1, 0, 1, 1],
        [-2.0, 0.50, 0.0351, 0.0204, 0.0145, 0.0137, 0, 0, 1, 1],
    ]
)


@pytest.mark.parametrize(("window", "winner"), [(3, (-2.1, 0.4)), (4, (-2.1, 0.5))])
def test_window_of_three_picks_the_printed_winner(window, winner):
    """The text says 4, but the printed winner is that of mean ranks over 3 steps."""
    scores = MeanRank(window).scores(PRINTED[:, 2:6])
    assert tuple(PRINTED[np.argmin(scores), :2]) == winner


def test_window_of_three_stops_after_the_printed_number_of_steps():
    """Step window + 1 is the first that may stop, and there the survivors are alike."""
    traces = PRINTED[:, 6:].astype(bool)
    assert not SimilarTraces(window=3, level=0.05).should_stop(traces[:, :3])
    assert SimilarTraces(window=3, level=0.05).should_stop(traces)
    assert not SimilarTraces(window=4, level=0.05).should_stop(traces)
