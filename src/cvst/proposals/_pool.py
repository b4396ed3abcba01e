"""Points among which a model chooses: everywhere, near the best, and likely good."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cvst._typing import FloatArray, IntArray
from cvst.proposals._evidence import Evidence
from cvst.proposals._parzen import good_and_bad
from cvst.proposals._space import perturbed, uniform_points

__all__ = ["draw_pool", "improved_pool"]

N_BEST = 5


def draw_pool(
    evidence: Evidence, choices: IntArray, count: int, rng: np.random.Generator
) -> FloatArray:
    """Draw a third of the points at random, near the best ones, and by Parzen each."""
    third = max(count // 3, 1)
    # Shares as in ParzenProposer.
    good, _ = good_and_bad(evidence, choices, good_share=0.15, max_good=25)
    best = np.argsort(evidence.losses, kind="stable")[:N_BEST]
    known = _filled(evidence.points[best], choices, rng)
    centres = known[rng.integers(len(known), size=third)]
    # Steps of all sizes: the right one depends on how far the search has come.
    steps = 10 ** rng.uniform(-2, -0.5, size=third)
    return np.concatenate(
        [
            uniform_points(choices, third, rng),
            perturbed(centres, choices, steps, rng),
            good.draw(third, rng),
        ]
    )


def improved_pool(
    pool: FloatArray,
    choices: IntArray,
    judge: Callable[[FloatArray], FloatArray],
    rng: np.random.Generator,
    n_rounds: int,
) -> tuple[FloatArray, FloatArray]:
    """Return the pool with points near the best ones, and how all are judged.

    Each round moves the five best points, by steps 0.4 times as large as before.
    """
    values = judge(pool)
    for step in 0.1 * 0.4 ** np.arange(n_rounds):
        order = np.argsort(-values, kind="stable")[:N_BEST]
        near = perturbed(np.repeat(pool[order], 12, axis=0), choices, step, rng)
        # All stay in the pool: a batch of proposals goes on choosing from it.
        pool = np.concatenate([pool, near])
        values = np.concatenate([values, judge(near)])
    return pool, values


def _filled(
    points: FloatArray, choices: IntArray, rng: np.random.Generator
) -> FloatArray:
    """Give inactive parameters random values."""
    # Moved points may fall into another branch, where these parameters are active.
    drawn = uniform_points(choices, len(points), rng)
    return np.where(np.isnan(points), drawn, points)
