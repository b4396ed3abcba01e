import numpy as np
import pytest

from cvst.exceptions import InvalidInputError
from cvst.statistics import WaldTest
from cvst.theory import (
    cross_validation_cost,
    expected_active,
    linear_train_shares,
    loser_level_for_safety_zone,
    race_cost,
    speedup_ceiling,
)


@pytest.mark.parametrize(
    ("max_steps", "ceilings"), [(10, (16.5, 70, 270)), (20, (5.25, 17.5, 52))]
)
def test_the_ceilings_of_the_default_levels(max_steps, ceilings):
    """First drop in step 3 of 10 and 8 of 20, worked out by hand."""
    actual = [speedup_ceiling(max_steps, complexity=m) for m in (1, 2, 3)]

    assert actual == pytest.approx(ceilings, rel=0.002)


def test_a_race_costs_what_its_fits_and_predictions_cost():
    """Witness: every fit of a small race, counted one by one in rows."""
    n_rows, n_active = 1100, [7, 5, 2]
    cost = 0.0
    for step, n in enumerate(n_active, start=1):
        n_train = step * n_rows // 11
        for _ in range(n):
            fit = (n_train / n_rows) ** 2
            predictions = sum(
                0.5 / n_rows * (n_train / n_rows) for _ in range(n_train, n_rows)
            )
            cost += fit + predictions

    actual = race_cost(
        n_active,
        linear_train_shares(10)[:3],
        complexity=2,
        predict_cost=0.5,
        predict_complexity=1,
    )

    assert actual == pytest.approx(cost)


def test_cross_validation_trains_on_all_rows_but_one_fold():
    """Five folds: 0.8 squared each, and every row is predicted once."""
    actual = cross_validation_cost(3, 5, complexity=2, predict_cost=0.25)

    assert actual == pytest.approx(3 * (5 * 0.64 + 0.25))


def test_a_separate_test_set_leaves_all_rows_for_training():
    shares = linear_train_shares(4, separate_test_set=True)

    cost = race_cost(
        np.ones(4), shares, complexity=1, test_shares=np.full(4, 2.0), predict_cost=0.1
    )

    assert shares[-1] == 1
    assert cost == pytest.approx(2.5 + 4 * 0.2)


@pytest.mark.parametrize("zone", [2, 2.7, 5])
def test_the_model_of_survivors_is_a_race_of_constant_losers(zone):
    """Witness: losers and winners raced with a test that has this safety zone."""
    test = WaldTest(10, loser_level_for_safety_zone(zone, max_steps=10))
    traces = np.repeat([[False], [True]], [15, 5], axis=0) & np.ones(10, dtype=bool)
    active, evaluated = np.ones(20, dtype=bool), []
    for step in range(1, 11):
        evaluated.append(active.sum())
        active &= ~test.is_loser(traces[:, :step])

    actual = expected_active(20, 10, safety_zone=zone, survival_rate=0.25)

    np.testing.assert_allclose(actual, evaluated)


def test_predictions_lower_the_ceiling():
    """A race predicts nearly all rows at every step, cross-validation each once."""
    plain = speedup_ceiling(10, complexity=3)
    predicting = speedup_ceiling(10, complexity=3, predict_cost=0.1)

    expected = (7.29 + 0.1) / ((1 + 8 + 27) / 1331 + 0.1 * (10 + 9 + 8) / 11)
    assert predicting == pytest.approx(expected)
    assert predicting < plain


def test_bad_input_is_refused():
    with pytest.raises(InvalidInputError, match="3, 2 and 2 entries"):
        race_cost([1, 1, 1], [0.1, 0.2], complexity=1)
    with pytest.raises(InvalidInputError, match="train_shares"):
        race_cost([1, 1], [0.0, 0.2], complexity=1)
    with pytest.raises(InvalidInputError, match="complexity=-1"):
        race_cost([1], [0.1], complexity=-1)
    with pytest.raises(InvalidInputError, match="n_folds=1"):
        speedup_ceiling(10, 1, n_folds=1)
    with pytest.raises(InvalidInputError, match="survival_rate=0"):
        expected_active(10, 10, safety_zone=2, survival_rate=0)
