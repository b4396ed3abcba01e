"""What holds for every proposer, however awkward the history."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.proposals import History, Proposer, with_pending

CHOICES = (0, 3, 0, 1)


def points_of(n, choices=CHOICES, seed=0):
    rng = np.random.default_rng(seed)
    columns = [rng.integers(k, size=n) if k else rng.random(n) for k in choices]
    return np.column_stack(columns).astype(float)


def losses_of(n, seed=0):
    return np.random.default_rng(seed + 1).random(n)


def some(n, replaced, value):
    losses = losses_of(n)
    losses[replaced] = value
    return losses


def conditional(n):
    points = points_of(n)
    points[points[:, 1] == 2, 2] = np.nan
    return points


AWKWARD = {
    "empty": History.empty(4),
    "one": History.of(points_of(1), [1.0]),
    "two": History.of(points_of(2), [1.0, 2.0]),
    "usual": History.of(points_of(40), losses_of(40)),
    "all failed": History.of(points_of(20), np.full(20, np.nan)),
    "one succeeded": History.of(points_of(20), some(20, slice(1, None), np.nan)),
    "half failed": History.of(points_of(30), some(30, slice(0, 15), np.nan)),
    "infinite": History.of(points_of(30), some(30, slice(0, 20), np.inf)),
    "negative infinity": History.of(points_of(30), some(30, [3], -np.inf)),
    "all equal": History.of(points_of(30), np.ones(30)),
    "most equal": History.of(points_of(30), some(30, slice(0, 29), 5.0)),
    "huge": History.of(points_of(30), some(30, [0, 5], 1e300)),
    "tiny": History.of(points_of(30), losses_of(30) * 1e-300),
    "same point": History.of(np.repeat(points_of(1), 30, axis=0), losses_of(30)),
    "two points": History.of(np.repeat(points_of(2), 15, axis=0), losses_of(30)),
    "constant columns": History.of(points_of(30) * [1, 0, 0, 0], losses_of(30)),
    "at the borders": History.of(np.round(points_of(30)), losses_of(30)),
    "conditional": History.of(conditional(30), losses_of(30)),
    "never active": History.of(points_of(30) * [1, 1, np.nan, 1], losses_of(30)),
    "fidelities": History.of(
        np.repeat(points_of(20), 2, axis=0), losses_of(40), [0.1, 1.0] * 20, 3.0
    ),
    "no seconds": History.of(points_of(30), losses_of(30), 0.5, 0.0),
    "unknown seconds": History.of(points_of(30), losses_of(30), 0.5, np.nan),
    "pending": with_pending(
        History.of(points_of(20), losses_of(20)), points_of(5, seed=3)
    ),
    "many": History.of(points_of(150), losses_of(150)),
}


def assert_valid(points, choices, count):
    assert points.shape == (count, len(choices))
    assert np.isfinite(points).all()
    for column, k in zip(points.T, choices, strict=True):
        if k:
            assert set(column) <= set(range(k))
        else:
            assert ((column >= 0) & (column <= 1)).all()


@pytest.mark.parametrize("history", AWKWARD.values(), ids=AWKWARD.keys())
def test_any_history_gets_valid_proposals(make_proposer, history):
    rng = np.random.default_rng(0)

    points = make_proposer().propose(CHOICES, history, 3, rng)

    assert_valid(points, CHOICES, 3)


@pytest.mark.parametrize("choices", [(0,), (3,), (1,), (0,) * 30, (4,) * 6])
def test_any_space_gets_valid_proposals(make_proposer, choices):
    history = History.of(points_of(25, choices), losses_of(25))

    points = make_proposer().propose(choices, history, 4, np.random.default_rng(0))

    assert_valid(points, choices, 4)


@pytest.mark.parametrize("name", ["empty", "usual", "conditional", "fidelities"])
def test_same_generator_same_proposals(make_proposer, name):
    first, second = (
        make_proposer().propose(CHOICES, AWKWARD[name], 3, np.random.default_rng(5))
        for _ in range(2)
    )
    other = make_proposer().propose(CHOICES, AWKWARD[name], 3, np.random.default_rng(6))

    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


def test_what_was_proposed_before_does_not_matter(make_proposer):
    """A proposer that has seen more proposes what a fresh one proposes."""
    used, fresh = make_proposer(), make_proposer()
    for n in (12, 13, 29, 40, 17):
        used.propose(CHOICES, AWKWARD["usual"].head(n), 1, np.random.default_rng(n))

    for n in (23, 24, 25):
        history = AWKWARD["usual"].head(n)
        rngs = [np.random.default_rng(0) for _ in range(2)]
        np.testing.assert_array_equal(
            used.propose(CHOICES, history, 2, rngs[0]),
            fresh.propose(CHOICES, history, 2, rngs[1]),
        )


def test_history_is_left_alone(make_proposer):
    history = AWKWARD["conditional"]
    before = history.points.copy(), history.losses.copy()

    make_proposer().propose(CHOICES, history, 2, np.random.default_rng(0))

    np.testing.assert_array_equal(history.points, before[0])
    np.testing.assert_array_equal(history.losses, before[1])


def test_none_wanted_none_proposed(make_proposer):
    for name in ("empty", "usual"):
        points = make_proposer().propose(
            CHOICES, AWKWARD[name], 0, np.random.default_rng(0)
        )
        assert points.shape == (0, 4)


def test_several_proposals_differ(make_proposer):
    points = make_proposer().propose(
        CHOICES, AWKWARD["usual"], 6, np.random.default_rng(0)
    )

    assert len(np.unique(points, axis=0)) == 6


def test_proposers_keep_the_protocol_and_can_be_sent(make_proposer):
    proposer = make_proposer()
    proposer.propose(CHOICES, AWKWARD["usual"], 1, np.random.default_rng(0))

    again = pickle.loads(pickle.dumps(proposer))

    assert isinstance(again, Proposer)
    rngs = [np.random.default_rng(0) for _ in range(2)]
    np.testing.assert_array_equal(
        proposer.propose(CHOICES, AWKWARD["usual"], 1, rngs[0]),
        again.propose(CHOICES, AWKWARD["usual"], 1, rngs[1]),
    )


def test_a_space_of_another_size_is_refused(make_proposer):
    with pytest.raises(InvalidInputError, match="4 columns"):
        make_proposer().propose((0, 0), AWKWARD["usual"], 1, np.random.default_rng(0))
