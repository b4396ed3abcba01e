from __future__ import annotations

import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.proposals import AutoProposer, History, MixedProposer


class Constant:
    def __init__(self, value):
        self.value = value
        self.asked = 0

    def propose(self, n_choices, history, count, rng):
        self.asked += count
        return np.full((count, len(n_choices)), self.value)


def test_shares_are_kept():
    model, local = Constant(0.25), Constant(0.75)
    mixed = MixedProposer(model, random_share=0.1, local_share=0.3, local=local)

    points = mixed.propose((0,), History.empty(1), 4000, np.random.default_rng(0))

    assert (points == 0.25).mean() == pytest.approx(0.6, abs=0.03)
    assert (points == 0.75).mean() == pytest.approx(0.3, abs=0.03)
    assert model.asked == (points == 0.25).sum()


@pytest.mark.parametrize("shares", [(-0.1, 0.2), (0.6, 0.6)])
def test_impossible_shares_are_refused(shares):
    with pytest.raises(InvalidInputError, match=f"random_share={shares[0]}"):
        MixedProposer(Constant(0.5), *shares)


@pytest.mark.parametrize(("n", "expected"), [(9, 0.25), (10, 0.75)])
def test_auto_changes_the_model_with_the_number_of_points(n, expected):
    proposer = AutoProposer(n_gaussian=10, early=Constant(0.25), late=Constant(0.75))
    history = History.of(np.zeros((n, 1)), np.zeros(n))

    points = proposer.propose((0,), history, 1, np.random.default_rng(0))

    assert points[0, 0] == expected
