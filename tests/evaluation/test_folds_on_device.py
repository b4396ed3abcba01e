"""Folds to come are done with the present one on a device, and found again."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from cvst import CrossValidation, RaceGridSearchCV, TrackAndConfirm
from cvst.evaluation.kernels import _device_folds
from cvst.evaluation.kernels._ridge import KernelRidgeEvaluator
from cvst.race import Look, Strategy, Verdict

NO_TORCH = "PyTorch is not installed (extra 'gpu')"
GRID = {"alpha": np.logspace(-3, 1, 5).tolist(), "gamma": [0.1, 0.3, 1.0, 3.0]}


@pytest.fixture(params=["numpy", "torch:cpu"])
def device(request):
    if request.param.startswith("torch"):
        pytest.importorskip("torch", reason=NO_TORCH)
    return request.param


@pytest.fixture
def solved(monkeypatch):
    """How many folds each call of the solver was about, and if it did them."""
    calls = []
    original = KernelRidgeEvaluator.evaluate_folds

    def watched(self, task, later):
        found = original(self, task, later)
        calls.append(len(found))
        return found

    monkeypatch.setattr(KernelRidgeEvaluator, "evaluate_folds", watched)
    return calls


def rows(n=203):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(n)


def search_on(device, strategy, **settings):
    return RaceGridSearchCV(
        settings.pop("model", KernelRidge(kernel="rbf")),
        settings.pop("grid", GRID),
        strategy=strategy,
        random_state=0,
        refit=False,
        return_pointwise=True,
        device=device,
        **settings,
    )


def assert_same(host, other):
    assert other.best_index_ == host.best_index_
    np.testing.assert_array_equal(other.race_.traces, host.race_.traces)
    np.testing.assert_array_equal(other.race_.active, host.race_.active)
    looks = zip(host.pointwise_losses_, other.pointwise_losses_, strict=True)
    for (members, test, losses), (their_members, their_test, their_losses) in looks:
        np.testing.assert_array_equal(members, their_members)
        np.testing.assert_array_equal(test, their_test)
        np.testing.assert_allclose(their_losses, losses, rtol=1e-6, atol=1e-9)


def test_a_stage_of_folds_is_solved_at_once(device, solved):
    """203 rows make folds of two lengths, so that rows of the shorter are filled up."""
    X, y = rows()
    # Looks on subsets, so that there is a final.
    strategy = TrackAndConfirm(direct_below=0, min_rows=50)
    host = search_on("cpu", strategy).fit(X, y)

    other = search_on(device, strategy).fit(X, y)

    assert_same(host, other)
    stages = {seen.look.stage for seen in other.race_.observations if seen.look.is_fold}
    assert [n for n in solved if n > 1] == [5, *[5] * (len(stages) - 2), 10]


@pytest.mark.parametrize(
    "kernel", [{"kernel": ["laplacian"]}, {"kernel": ["linear"], "gamma": [1.0]}]
)
def test_other_kernels(device, solved, kernel):
    X, y = rows()
    grid = GRID | kernel
    host = search_on("cpu", CrossValidation(4), grid=grid).fit(X, y)

    assert_same(host, search_on(device, CrossValidation(4), grid=grid).fit(X, y))
    assert solved == [4]


def test_weights_and_scores_that_only_the_host_knows(device, solved):
    """Results are kept one by one there."""
    X, y = rows()
    weights = {"sample_weight": np.random.default_rng(1).uniform(0.1, 3, len(y))}
    settings = {"scoring": "neg_median_absolute_error"}
    for given in ({}, settings):
        host = search_on("cpu", CrossValidation(4), **given).fit(X, y, **weights)
        other = search_on(device, CrossValidation(4), **given).fit(X, y, **weights)
        assert_same(host, other)
    assert solved == [4, 4]


@pytest.mark.parametrize("rescale", [None, {"alpha": 1.0}, {"gamma": 0.2}])
def test_widths_and_penalties_that_follow_the_rows(device, solved, rescale):
    """Widths that do are not the same in folds of two lengths."""
    X, y = rows()
    host = search_on("cpu", CrossValidation(4), rescale=rescale).fit(X, y)

    other = search_on(device, CrossValidation(4), rescale=rescale).fit(X, y)

    assert_same(host, other)
    assert (solved == [4]) == (rescale != {"gamma": 0.2})


def test_folds_with_more_to_do_are_done_one_by_one(solved, monkeypatch):
    monkeypatch.setattr(_device_folds, "WAITING_OPERATIONS", 0.0)
    monkeypatch.setattr(_device_folds, "WAITING_OPERATIONS_PER_ROW", 1e3)
    X, y = rows()

    search_on("numpy", CrossValidation(4)).fit(X, y)

    assert solved == [1, 1, 1]  # after the last fold there is none to come


def test_folds_that_test_rows_they_train_on(solved):
    X, y = rows()
    every = np.arange(len(y))
    folds = [(every, every[::2]), (every, every[1::2])]
    model = KernelRidge(kernel="rbf")
    host, other = (
        search_on(device, CrossValidation(), model=model, cv=folds).fit(X, y)
        for device in ("cpu", "numpy")
    )

    assert_same(host, other)
    assert solved == [1]


class TwoNumbersOfFolds(Strategy):
    """Looks at folds of both kinds in turn, in a stage of one name."""

    fold_counts = (2, 4)

    def stop_reason(self, state):
        return "done" if state.n_looks == 5 else None

    def next_look(self, state):
        first = state.n_looks == 0
        folds = state.problem.folds[2 if first else 4]
        # From the second fold of four on: the first two have the numbers of two.
        train, test = folds[state.n_looks % 4]
        members = np.arange(state.n_configurations)
        return Look(train, test, len(train), members, "folds", is_fold=True)

    def judge(self, state, look, seen):
        nothing = np.full(len(seen.losses), np.nan)
        return Verdict(np.ones(len(seen.losses), dtype=bool), nothing)

    def ranking(self, state):
        return np.arange(state.n_configurations)


def test_folds_of_two_numbers_are_not_mixed_up(solved):
    X, y = rows()
    host, other = (
        search_on(device, TwoNumbersOfFolds()).fit(X, y) for device in ("cpu", "numpy")
    )

    assert_same(host, other)
    assert [n for n in solved if n > 1] == [2, 4]
