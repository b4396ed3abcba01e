from __future__ import annotations

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.proposals import History, with_pending
from cvst.proposals._cost import Cost
from cvst.proposals._evidence import gather_evidence


def test_one_fidelity_serves_all_points():
    history = History.of([[0.1], [0.2]], [1.0, 2.0], 0.5, [3.0, 4.0])

    np.testing.assert_array_equal(history.fidelities, [0.5, 0.5])
    np.testing.assert_array_equal(history.seconds, [3.0, 4.0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[0.1]], [1.0, 2.0]), r"\(1, 1\).*2 losses"),
        (([0.1, 0.2], [1.0, 2.0]), r"\(2,\).*one row"),
        (([[0.1]], [1.0], 0.0), r"fidelity is 0\.0.*\(0, 1\]"),
        (([[0.1]], [1.0], 1.5), r"fidelity is 1\.5"),
        (([[0.1]], [1.0], np.nan), r"fidelity is nan"),
    ],
)
def test_wrong_arrays_are_refused(arguments, words):
    with pytest.raises(InvalidInputError, match=words):
        History.of(*arguments)


def test_fields_of_other_lengths_are_refused():
    one, two = np.ones(1), np.ones(2)
    with pytest.raises(InvalidInputError, match=r"seconds have the shape \(2,\)"):
        History(np.ones((1, 3)), one, one, two)


def test_head_and_extended_are_inverse():
    history = History.of(np.arange(6.0).reshape(3, 2), [1, 2, 3], [0.1, 0.5, 1], 2.0)
    rest = History.of(
        history.points[1:], history.losses[1:], history.fidelities[1:], 2.0
    )

    again = history.head(1).extended(rest)

    np.testing.assert_array_equal(again.points, history.points)
    np.testing.assert_array_equal(again.losses, history.losses)
    np.testing.assert_array_equal(again.fidelities, history.fidelities)


def test_pending_points_get_the_median_of_the_dearest_looks():
    """Cheap looks and failures have no say in the lie."""
    history = History.of(
        [[0.1], [0.2], [0.3], [0.4], [0.5]],
        [50.0, 1.0, 2.0, 9.0, np.nan],
        [0.1, 0.5, 0.5, 0.5, 1.0],
    )

    longer = with_pending(history, [[0.6], [0.7]])

    np.testing.assert_array_equal(longer.losses[5:], [2.0, 2.0])
    np.testing.assert_array_equal(longer.fidelities[5:], [0.5, 0.5])
    np.testing.assert_array_equal(longer.points[5:, 0], [0.6, 0.7])


def test_pending_points_without_any_loss():
    longer = with_pending(History.empty(2), [[0.6, 1.0]])

    np.testing.assert_array_equal(longer.losses, [0.0])
    assert len(with_pending(History.empty(2), np.empty((0, 2)))) == 0


@pytest.mark.parametrize("place", [0.05, 0.95])
def test_times_are_learnt_from_what_has_ended(place):
    """Witness: the forecast without the pending points."""
    points = np.linspace(0, 1, 9)[:, None]
    history = History.of(points, points[:, 0], 1.0, np.exp(4 * points[:, 0]))
    evidence = gather_evidence(with_pending(history, [[place], [place]]))
    cost = Cost.fitted((0,), evidence.points, evidence.seconds)
    alone = Cost.fitted((0,), points, history.seconds)
    np.testing.assert_array_equal(cost.log_seconds(points), alone.log_seconds(points))


def test_unknown_times_are_all_alike():
    points = np.linspace(0, 1, 9)[:, None]
    cost = Cost.fitted((0,), points, np.full(9, np.nan))
    assert np.ptp(cost.log_seconds(points)) == 0
