"""From a look to losses, their means and the uncertainty of these."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import sem
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier
from statsmodels.stats.weightstats import DescrStatsW

from cvst import RaceGridSearchCV
from cvst.evaluation import (
    OneByOne,
    PointwiseLoss,
    batch_evaluator_for,
    resolve_loss,
    resolve_rescaling,
)
from cvst.evaluation._scored import means_with_errors
from cvst.evaluation.machinery import DataSource, RaceData
from cvst.exceptions import InvalidInputError
from cvst.race import Look


def observed(weights=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=60)
    estimator = Ridge()
    grid = [{"alpha": alpha} for alpha in (0.1, 10.0, 1000.0)]
    source = DataSource(
        estimator=estimator,
        configurations=grid,
        data=RaceData(X=X, y=y, n_samples=60, score_weights=weights),
        loss=resolve_loss("neg_mean_squared_error", estimator, y),
        rescaling=resolve_rescaling(None, estimator, grid, False),
        evaluator=batch_evaluator_for(estimator),
    )
    return source.observe(Look(slice(0, 40), slice(40, 60), 40, np.arange(3)))


class Diverging(RegressorMixin, BaseEstimator):
    """Predicts infinity, in a container of one's own choice."""

    def __init__(self, container=np.asarray, limit=0.0):
        self.container = container
        self.limit = limit

    def fit(self, X, y):
        """Learn nothing."""
        return self

    def predict(self, X):
        """Return zeros, and the limit."""
        return self.container([0.0] * (len(X) - 1) + [self.limit])


@pytest.mark.parametrize("limit", [np.inf, np.nan])
@pytest.mark.parametrize("container", [np.asarray, list, tuple, pd.Series])
def test_predictions_that_are_not_finite_are_failures(container, limit):
    """In whatever they come."""
    X, y = np.zeros((60, 2)), np.zeros(60)
    estimator = Diverging(container)
    grid = [{"limit": 0.0}, {"limit": limit}]
    source = DataSource(
        estimator=estimator,
        configurations=grid,
        data=RaceData(X=X, y=y, n_samples=60),
        loss=resolve_loss("neg_mean_squared_error", estimator, y),
        rescaling=resolve_rescaling(None, estimator, grid, False),
        evaluator=batch_evaluator_for(estimator),
    )
    seen = source.observe(Look(slice(0, 40), slice(40, 60), 40, np.arange(2)))
    assert list(seen.failures) == [1]
    assert "The predictions contain NaN or infinity" in seen.failures[1]


def test_standard_errors_are_those_of_the_pointwise_losses():
    """Witness: scipy's standard error of the mean."""
    seen = observed()
    np.testing.assert_allclose(seen.standard_errors, sem(seen.losses, axis=1))


def test_rows_of_equal_weight_count_as_without_weights():
    """Weights that say nothing, and rows of weight zero, change nothing."""
    weights = np.full(60, 3.0)
    np.testing.assert_allclose(
        observed(weights).standard_errors, observed().standard_errors
    )
    weights[-5:] = 0
    seen = observed(weights)
    np.testing.assert_allclose(seen.standard_errors, sem(seen.losses, axis=1))


def test_test_rows_that_do_not_count_are_refused():
    """Nothing can be said of a look whose test rows all have weight zero."""
    weights = np.ones(60)
    weights[40:] = 0
    message = "0 for all 20 rows to be tested on after training on 40"
    with pytest.raises(InvalidInputError, match=message):
        observed(weights)


def test_weighted_means_are_as_uncertain_as_bootstrap_says():
    """Witness: the spread of the weighted mean over resampled rows."""
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.2, 5.0, size=60)
    seen = observed(weights)
    used = weights[40:]

    for losses, mean, error in zip(
        seen.losses, seen.mean_losses, seen.standard_errors, strict=True
    ):
        assert mean == pytest.approx(DescrStatsW(losses, used).mean)
        rows = rng.integers(20, size=(4000, 20))
        spread = np.average(losses[rows], axis=1, weights=used[rows]).std()
        assert error == pytest.approx(spread, rel=0.15)


def test_lists_of_probabilities_of_different_width_are_predictions():
    """Several outputs with different numbers of classes, one of them broken."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.column_stack([X[:, 0] > 0, np.digitize(X[:, 1], [-0.5, 0.5])]).astype(int)

    def miss(y_true, probabilities):
        assert [columns.shape[1] for columns in probabilities] == [2, 3]
        return 1 - probabilities[1][np.arange(len(y_true)), y_true[:, 1]]

    estimator = DecisionTreeClassifier(random_state=0)
    grid = [{"max_depth": depth} for depth in (1, 4)]
    source = DataSource(
        estimator=estimator,
        configurations=grid,
        data=RaceData(X=X, y=y, n_samples=60),
        loss=PointwiseLoss(miss, response="predict_proba"),
        rescaling=resolve_rescaling(None, estimator, grid, False),
        evaluator=batch_evaluator_for(estimator),
    )
    seen = source.observe(Look(slice(0, 40), slice(40, 60), 40, np.arange(2)))
    model = estimator.set_params(max_depth=4).fit(X[:40], y[:40])
    expected = miss(y[40:], model.predict_proba(X[40:]))
    np.testing.assert_allclose(seen.losses[1], expected)


def test_configurations_are_admitted_during_a_race():
    """They come after the known ones, rescaled like them; the caller's list stays."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=60)
    estimator = Ridge()
    grid = [{"alpha": 0.1}, {"alpha": 10.0}]
    all_at_once = [*grid, {"alpha": 1000.0}, {"alpha": 3.0}]

    def source_of(configurations):
        return DataSource(
            estimator=estimator,
            configurations=configurations,
            data=RaceData(X=X, y=y, n_samples=60),
            loss=resolve_loss("neg_mean_squared_error", estimator, y),
            rescaling=resolve_rescaling("auto", estimator, configurations, True),
            evaluator=batch_evaluator_for(estimator),
        )

    source = source_of(grid)
    source.observe(Look(slice(0, 20), slice(40, 60), 20, np.arange(2)))
    source.admit(all_at_once[2:])
    assert source.configurations == all_at_once
    assert len(grid) == 2
    look = Look(slice(0, 30), slice(40, 60), 30, np.array([0, 2, 3]))
    actual, expected = source.observe(look), source_of(all_at_once).observe(look)
    np.testing.assert_array_equal(actual.losses, expected.losses)
    model = Ridge(alpha=1.5).fit(X[:30], y[:30])  # 3 on 60 rows
    np.testing.assert_allclose(actual.losses[2], (model.predict(X[40:]) - y[40:]) ** 2)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_in_blocks_equal_those_of_the_whole(weighted, monkeypatch):
    """To the last bit: a block has the rows that BLAS takes together."""
    rng = np.random.default_rng(0)
    losses = rng.random((300, 501)) ** 3
    weights = rng.random(501) if weighted else None
    whole = means_with_errors(losses, weights)
    monkeypatch.setattr("cvst.evaluation._scored.LARGEST_BLOCK", 1)
    blocks = means_with_errors(losses, weights)
    np.testing.assert_array_equal(blocks, whole)


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
def test_large_tables_of_single_precision_decide_alike(monkeypatch, scoring):
    """Losses of 0 and 1 are exact in four bytes, others to seven digits."""
    X, y = make_classification(600, 5, flip_y=0.2, random_state=0)
    grid = {"C": np.logspace(-3, 2, 12)}

    def raced():
        search = RaceGridSearchCV(
            LogisticRegression(),
            grid,
            scoring=scoring,
            strategy="cvst",
            random_state=0,
            return_pointwise=True,
        )
        return search.fit(X, y)

    double = raced()
    monkeypatch.setattr("cvst.evaluation._scored.LARGE_TABLE", 0)
    monkeypatch.setattr("cvst.evaluation._scored.MANY_POINTS", 0)
    single = raced()
    kinds = {losses.dtype.itemsize for _, _, losses in single.pointwise_losses_}
    assert kinds == {4}
    assert single.best_params_ == double.best_params_
    np.testing.assert_array_equal(single.race_.active, double.race_.active)
    tolerance = 0 if scoring == "accuracy" else 1e-6
    np.testing.assert_allclose(
        single.race_.mean_losses, double.race_.mean_losses, rtol=tolerance
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_what_a_look_shares_does_not_reach_the_next_one(weighted):
    """Rows, targets and losses belong to their look: the next one is as if alone."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    y = X @ [1.0, -1.0] + rng.normal(size=60)
    data = RaceData(
        X=X, y=y, n_samples=60, score_weights=rng.random(60) if weighted else None
    )
    grid = [{"alpha": 0.1}, {"alpha": 10.0}]

    def source():
        return DataSource(
            Ridge(),
            grid,
            data,
            resolve_loss("r2", Ridge(), y),
            resolve_rescaling(None, Ridge(), grid, False),
            OneByOne(),
        )

    both = np.arange(2)
    order = rng.permutation(60)
    looks = [
        Look(slice(0, 30), slice(30, 60), 30, both),
        Look(order[:40], order[40:], 40, both),
        Look(order[20:], order[:20], 40, both),
    ]
    one = source()
    for look in looks:
        seen, alone = one.observe(look), source().observe(look)
        np.testing.assert_array_equal(seen.losses, alone.losses)
        np.testing.assert_array_equal(seen.scores, alone.scores)
        rows = np.arange(60)
        for place, configuration in enumerate(grid):
            model = Ridge(**configuration).fit(X[rows[look.train]], y[rows[look.train]])
            test = rows[look.test]
            weights = data.score_weights[test] if weighted else None
            expected = model.score(X[test], y[test], weights)
            assert seen.scores[place] == pytest.approx(expected)
