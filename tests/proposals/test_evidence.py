from __future__ import annotations

import numpy as np

from cvst.proposals import History, gather_evidence


def test_the_dearest_look_counts():
    history = History.of([[0.1], [0.2], [0.1]], [5.0, 6.0, 4.0], [0.2, 0.2, 1.0])

    evidence = gather_evidence(history)

    np.testing.assert_array_equal(evidence.points.ravel(), [0.1, 0.2])
    np.testing.assert_array_equal(evidence.fidelities, [1.0, 0.2])
    assert evidence.losses[0] == 4.0


def test_cheap_losses_are_shifted_by_the_median_difference():
    """Points 0, 1, 2 were seen twice: differences -1, -2, -6; the median is -2."""
    history = History.of(
        [[0.0], [0.1], [0.2], [0.3], [0.0], [0.1], [0.2]],
        [10, 11, 12, 13, 9, 9, 6],
        [0.2, 0.2, 0.2, 0.2, 1, 1, 1],
    )

    evidence = gather_evidence(history)

    np.testing.assert_allclose(evidence.losses, [9, 9, 6, 11])


def test_three_levels_are_aligned_one_by_one():
    """The middle level is 1 too high, the low one 4 above the aligned middle."""
    history = History.of(
        [[0.0], [0.0], [0.1], [0.1], [0.2]],
        [3, 4, 5, 8, 10],
        [1, 0.5, 0.5, 0.1, 0.1],
    )

    np.testing.assert_allclose(gather_evidence(history).losses, [3, 4, 6])


def test_repeated_looks_are_averaged_and_inactive_ones_are_alike():
    history = History.of([[0.1, np.nan], [0.1, np.nan]], [1.0, 2.0], 1.0, [2.0, 4.0])

    evidence = gather_evidence(history)

    np.testing.assert_array_equal(evidence.losses, [1.5])
    np.testing.assert_array_equal(evidence.seconds, [3.0])


def test_failures_are_as_bad_as_the_worst():
    history = History.of([[0.1], [0.2], [0.3], [0.4]], [1.0, np.nan, 7.0, np.inf])

    evidence = gather_evidence(history)

    np.testing.assert_array_equal(evidence.losses, [1, 7, 7, 7])
    np.testing.assert_array_equal(evidence.failed, [False, True, False, True])
    assert evidence.n_succeeded == 2


def test_a_failure_in_full_outweighs_a_cheap_success():
    history = History.of([[0.1], [0.1], [0.2]], [1.0, np.nan, 3.0], [0.2, 1.0, 1.0])

    np.testing.assert_array_equal(gather_evidence(history).failed, [True, False])


def test_seconds_are_of_full_evaluations():
    history = History.of([[0.1]], [1.0], [0.25], [2.0])

    np.testing.assert_array_equal(gather_evidence(history).seconds, [8.0])


def test_nothing_and_equal_losses_are_flat():
    assert gather_evidence(History.empty(2)).flat
    assert gather_evidence(History.of([[0.1], [0.2]], [1.0, 1.0])).flat
    assert gather_evidence(History.of([[0.1], [0.2]], [np.nan, np.nan])).flat
    assert not gather_evidence(History.of([[0.1], [0.2]], [1.0, 2.0])).flat


def test_looks_of_nearly_the_same_work_are_one_level():
    """Two looks at one point, of 125 and of 126 of 1000 rows, are averaged."""
    history = History.of([[0.1], [0.1]], [1.0, 3.0], [0.125, 0.126])

    evidence = gather_evidence(history)

    np.testing.assert_allclose(evidence.losses, [2.0])
    np.testing.assert_allclose(evidence.fidelities, [0.1255])
