"""How many configurations a race is forecast to see, look by look."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid

from cvst.race import FoldRace, Problem, Program, Prospect, SubsetLook, TrackAndConfirm
from cvst.race.machinery import space_of
from cvst.search.budget import CostModel, expected_looks
from cvst.theory import PowerCurve

LINE = PowerCurve(0.0, 1.0, 1.0)
UNSEEN = CostModel(LINE, LINE, LINE)
SEEN = CostModel(
    *(LINE, LINE, LINE),
    gaps=(0.0, 0.05, 0.1, 0.2),
    gap_rows=1000,
    unlike=(0.125,) * 4,
    paces=(0.8, 1.0, 1.0, 1.2),
)


def problem(n_configurations, n_rows):
    folds = {}
    for n_folds in (5, 10):
        parts = np.array_split(np.arange(n_rows), n_folds)
        folds[n_folds] = tuple((np.setdiff1d(np.arange(n_rows), p), p) for p in parts)
    grid = list(ParameterGrid({"a": range(40), "b": range(5)}))[:n_configurations]
    return Problem(n_configurations, n_rows, folds=folds, space=space_of(grid))


# As it was when the shares were found by the names of the stages.
RECORDED = [
    (
        *(12, 1000, UNSEEN),
        [12.0, 8.26284307633195, 6.66774064307376, 5.799429027198529],
        [5.236090735923044],
    ),
    (
        *(12, 1000, SEEN),
        [12.0, 9.960373039796488, 9.065800762082645, 8.612958607172356],
        [8.335037507394915],
    ),
    (
        *(143, 10_000, UNSEEN),
        [143.0, 78.65, 27.95, 9.72673789514255, 7.282739059814809],
        [6.161160174590744, 5.483400656097946, *[0.6] * 5, *[2.0] * 10],
    ),
]


@pytest.mark.parametrize(("n", "n_rows", "model", "first", "others"), RECORDED)
def test_our_own_races_are_forecast_by_what_was_counted(
    n, n_rows, model, first, others
):
    strategy = TrackAndConfirm(climbs=1)
    counts = expected_looks(strategy, problem(n, n_rows), model).counts
    np.testing.assert_allclose(counts, [*first, *others], rtol=1e-12)


@pytest.mark.parametrize("model", [UNSEEN, SEEN])
def test_names_of_stages_mean_nothing(model):
    """Nothing was counted in races of stages that users put together."""
    forecasts = [
        expected_looks(
            Program([SubsetLook(name=first), FoldRace(name=second)]),
            problem(20, 1000),
            model,
        )
        for first, second in (("first look", "confirm"), ("a", "b"))
    ]
    for forecast in forecasts:
        np.testing.assert_array_equal(forecast.counts, [20] * 6)
        np.testing.assert_array_equal(forecast.paces, 1)


def test_a_strategy_of_ones_own_can_say_what_to_expect():
    """Its prospects count as ours do, and only if all of its looks have some."""

    class Told(Program):
        def planned_looks(self, problem):
            first, *folds = super().planned_looks(problem)
            share = Prospect(0.5, by_tests=True)
            folds = [replace(look, prospect=share) for look in folds]
            return replace(first, prospect=self.first), *folds

    strategy = Told([SubsetLook(name="a"), FoldRace(name="b")])
    strategy.first = Prospect()
    counts = expected_looks(strategy, problem(20, 1000), UNSEEN).counts
    assert counts[:2].tolist() == [20, 10]
    assert (np.diff(counts[1:]) < 0).all()
    strategy.first = None
    counts = expected_looks(strategy, problem(20, 1000), UNSEEN).counts
    assert counts.tolist() == [20] * 6
