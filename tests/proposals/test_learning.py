"""Proposers that learn do so: on a bowl they come nearer to its bottom than chance."""

from __future__ import annotations

import numpy as np
import pytest

from cvst.proposals import (
    AutoProposer,
    ForestProposer,
    GaussianProposer,
    History,
    LocalProposer,
    MixedProposer,
    ParzenProposer,
    RandomProposer,
    with_pending,
)

CHOICES = (0, 3, 0)


def bowl(points):
    """Return a loss with its least value 0 at 0.3, with the code 1."""
    numbers = ((points[:, [0, 2]] - 0.3) ** 2).sum(axis=1)
    return numbers + 0.1 * (points[:, 1] != 1)


def bowl_history(n, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.random((n, 3))
    points[:, 1] = rng.integers(3, size=n)
    return History.of(points, bowl(points))


def best_after(proposer, n, seed, loss=bowl):
    rng = np.random.default_rng(seed)
    points, losses = np.empty((0, 3)), np.empty(0)
    for _ in range(n):
        new = proposer.propose(CHOICES, History.of(points, losses), 1, rng)
        points, losses = np.vstack([points, new]), np.append(losses, loss(new))
    return np.nanmin(losses)


def mean_best(proposer, n=25, seeds=6, loss=bowl):
    return np.mean([best_after(proposer, n, seed, loss) for seed in range(seeds)])


@pytest.fixture(scope="module")
def random_best():
    return mean_best(RandomProposer(), seeds=30)


@pytest.mark.parametrize(
    ("proposer", "share"),
    [
        (ParzenProposer(), 0.7),
        (ForestProposer(), 0.7),
        (GaussianProposer(), 0.1),
        (LocalProposer(), 0.7),
        (MixedProposer(GaussianProposer()), 0.3),
        (AutoProposer(), 0.15),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, float) else "",
)
def test_better_than_chance(proposer, share, random_best):
    """The mean distance from the least loss is a share of that of random points."""
    assert mean_best(proposer) < share * random_best


@pytest.mark.parametrize("proposer", [ParzenProposer(), GaussianProposer()])
def test_failures_are_avoided(proposer):
    """Half of the space fails; of 20 proposals far fewer than half lie there."""
    history = bowl_history(40)
    losses = np.where(history.points[:, 2] > 0.5, np.nan, history.losses)

    points = proposer.propose(
        CHOICES, History.of(history.points, losses), 20, np.random.default_rng(0)
    )

    assert (points[:, 2] > 0.5).sum() <= 5


@pytest.mark.parametrize(
    "proposer", [ParzenProposer(), ForestProposer(), GaussianProposer()]
)
def test_cheap_looks_help(proposer):
    """Points seen at a fifth of the work, shifted by 10, lead to the bottom too."""
    cheap, full = bowl_history(40), bowl_history(3)
    history = History.of(
        np.concatenate([cheap.points, full.points]),
        np.concatenate([cheap.losses + 10, full.losses]),
        [0.2] * 40 + [1.0] * 3,
    )

    points = proposer.propose(CHOICES, history, 20, np.random.default_rng(0))

    assert bowl(points).mean() < 0.6 * bowl(bowl_history(500, seed=9).points).mean()


def test_forest_per_second_prefers_the_cheap_half():
    """The loss is the same on both sides of 0.5; the seconds are not."""
    history = bowl_history(60)
    losses = (history.points[:, 0] - 0.3) ** 2
    seconds = np.where(history.points[:, 2] > 0.5, 100.0, 1.0)
    history = History.of(history.points, losses, 1.0, seconds)
    rng = np.random.default_rng(0)

    dear = ForestProposer().propose(CHOICES, history, 40, rng)
    cheap = ForestProposer(per_second=True).propose(CHOICES, history, 40, rng)

    assert (cheap[:, 2] > 0.5).mean() < 0.1 < (dear[:, 2] > 0.5).mean()


def test_what_is_pending_in_the_dear_half_does_not_make_it_cheap():
    history = bowl_history(60)
    losses = (history.points[:, 0] - 0.3) ** 2
    seconds = np.where(history.points[:, 2] > 0.5, 100.0, 1.0)
    history = History.of(history.points, losses, 1.0, seconds)
    busy = bowl_history(40, seed=1).points
    history = with_pending(history, busy[busy[:, 2] > 0.5])
    rng = np.random.default_rng(0)

    cheap = ForestProposer(per_second=True).propose(CHOICES, history, 40, rng)

    assert (cheap[:, 2] > 0.5).mean() < 0.1


def test_local_steps_stay_near_the_best():
    history = bowl_history(200)
    best = history.points[history.losses.argmin()]

    points = LocalProposer(n_best=1).propose(
        CHOICES, history, 200, np.random.default_rng(0)
    )

    # After 200 losses with few records the steps have shrunk to their least size.
    assert np.abs(points[:, [0, 2]] - best[[0, 2]]).max() < 0.05


def test_inactive_parameters_do_not_mislead():
    """With code 2 the last parameter has no effect; the best lies in that branch."""

    def loss(points):
        off = points[:, 1] == 2
        return (points[:, 0] - 0.3) ** 2 + np.where(off, 0.0, 0.2 + points[:, 2])

    history = bowl_history(60)
    points = history.points.copy()
    losses = loss(points)
    points[points[:, 1] == 2, 2] = np.nan
    history = History.of(points, losses)

    for proposer in (ParzenProposer(), GaussianProposer()):
        new = proposer.propose(CHOICES, history, 10, np.random.default_rng(0))
        assert (new[:, 1] == 2).mean() >= 0.75
        assert loss(new).mean() < 0.25 * losses.mean()
