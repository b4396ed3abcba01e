from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from cvst.proposals import History, RandomProposer, SpreadProposer


def sequence(proposer, n, seed):
    rng = np.random.default_rng(seed)
    points = np.empty((0, 2))
    for _ in range(n):
        history = History.of(points, np.zeros(len(points)))
        points = np.vstack([points, proposer.propose((0, 0), history, 1, rng)])
    return points


def test_points_keep_their_distance():
    spread = np.mean([pdist(sequence(SpreadProposer(), 16, s)).min() for s in range(9)])
    random = np.mean([pdist(sequence(RandomProposer(), 16, s)).min() for s in range(9)])

    assert spread > 2.5 * random


def test_points_do_not_crowd_at_the_borders():
    """The outer tenths hold about the 36 % of the area that they are."""
    points = np.concatenate([sequence(SpreadProposer(), 16, s) for s in range(12)])

    outside = (np.abs(points - 0.5) > 0.4).any(axis=1).mean()

    assert abs(outside - 0.36) < 0.1


def test_all_choices_come_early():
    """Of four choices, eight points try each at least once."""
    for seed in range(10):
        points = SpreadProposer().propose(
            (4,), History.empty(1), 8, np.random.default_rng(seed)
        )
        assert len(np.unique(points)) == 4
