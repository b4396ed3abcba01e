from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from cvst.proposals._scores import clipped_scores, normal_scores


@pytest.mark.parametrize("scores", [clipped_scores, normal_scores])
def test_order_is_kept(scores):
    losses = np.random.default_rng(0).lognormal(0, 1, 50)

    np.testing.assert_array_equal(
        np.argsort(scores(losses), kind="stable")[:40],
        np.argsort(losses, kind="stable")[:40],
    )


def test_ranks_become_normal_quantiles():
    actual = normal_scores(np.array([30.0, 10.0, 20.0, 20.0]))

    np.testing.assert_allclose(actual, norm.ppf([0.875, 0.125, 0.5, 0.5]))


def test_the_better_half_is_linear_and_the_tail_is_short():
    scores = clipped_scores(np.array([0.0, 1.0, 2.0, 3.0, 1e300]))

    np.testing.assert_allclose(scores, [-1, -0.5, 0, np.log(1.5), 3])


@pytest.mark.parametrize("losses", [[1.0, 1.0, 1.0], [1.0, 1.0, 9.0], [1.0], []])
def test_half_or_all_equal_losses_are_finite(losses):
    assert np.isfinite(normal_scores(np.array(losses))).all()
    if losses:
        assert np.isfinite(clipped_scores(np.array(losses))).all()
