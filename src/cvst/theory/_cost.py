r"""Cost of a race and of cross-validation, counted in fits on the whole data.

A fit on a share :math:`f` of the rows costs :math:`f^m`, and predicting a share
:math:`g` of them with that model :math:`c\,g\,f^q`: :math:`q = 0` for models that
forget their data (linear models, trees), 1 for those that keep them (kernels,
neighbours).
"""

from __future__ import annotations

from math import floor

import numpy as np
import numpy.typing as npt

from cvst._typing import FloatArray
from cvst.exceptions import InvalidInputError
from cvst.statistics import WaldTest
from cvst.theory._survival import first_drop
from cvst.theory._validation import check_count, check_positive, check_share

__all__ = [
    "cross_validation_cost",
    "expected_active",
    "linear_train_shares",
    "race_cost",
    "speedup_ceiling",
]


def linear_train_shares(
    max_steps: int, *, separate_test_set: bool = False
) -> FloatArray:
    """Return the share of all rows that each step of the linear schedule trains on.

    Examples
    --------
    >>> linear_train_shares(4)
    array([0.2, 0.4, 0.6, 0.8])
    >>> linear_train_shares(4, separate_test_set=True)
    array([0.25, 0.5 , 0.75, 1.  ])
    """
    check_count("max_steps", max_steps)
    # With N / S the last step would have nothing left to test on.
    parts = max_steps if separate_test_set else max_steps + 1
    return np.arange(1, max_steps + 1) / parts


def expected_active(
    n_configurations: float, max_steps: int, *, safety_zone: float, survival_rate: float
) -> FloatArray:
    """Return how many configurations each step evaluates, in the model of Section 5.2.

    All of them up to the first step beyond the safety zone, for they are dropped only
    after they have been seen in it; the share that survives from there on.

    Parameters
    ----------
    n_configurations : float
        Configurations at the start, the paper's :math:`K`.
    max_steps : int
        Number of steps.
    safety_zone : float
        Step up to which nothing is dropped.
    survival_rate : float
        Share :math:`r` of the configurations that survives.

    Returns
    -------
    ndarray of shape (max_steps,)

    Examples
    --------
    >>> expected_active(600, 5, safety_zone=1.4, survival_rate=0.1)
    array([600., 600.,  60.,  60.,  60.])
    """
    check_count("max_steps", max_steps)
    check_positive("n_configurations", n_configurations)
    check_positive("safety_zone", safety_zone, zero_allowed=True)
    check_share("survival_rate", survival_rate)
    steps = np.arange(1, max_steps + 1)
    # The small amount keeps 0.29 * 100 from being 28 whole steps.
    all_run = steps <= floor(safety_zone + 1e-9) + 1
    return n_configurations * np.where(all_run, 1.0, survival_rate)


def race_cost(
    n_active: npt.ArrayLike,
    train_shares: npt.ArrayLike,
    *,
    complexity: float,
    test_shares: npt.ArrayLike | None = None,
    predict_cost: float = 0.0,
    predict_complexity: float = 0.0,
) -> float:
    """Return the cost of a race in fits on the whole data.

    Parameters
    ----------
    n_active : array-like of shape (n_steps,)
        Configurations that each step evaluates; a race that stops early has fewer
        steps.
    train_shares : array-like of shape (n_steps,)
        Share of all rows that each step trains on, for instance the beginning of
        :func:`linear_train_shares`.
    complexity : float
        Exponent :math:`m` of the training time.
    test_shares : array-like of shape (n_steps,), optional
        Share of all rows that each step predicts; by default the rest.
    predict_cost : float
        Time to predict all rows with a model trained on all of them, divided by the
        time to train it.
    predict_complexity : float
        Exponent :math:`q` with which predicting a row slows down as training rows
        are added.

    Returns
    -------
    float

    Examples
    --------
    >>> shares = linear_train_shares(10)
    >>> round(race_cost([100, 100, 100], shares[:3], complexity=3), 2)
    2.7
    """
    active = np.asarray(n_active, dtype=np.float64)
    train = np.asarray(train_shares, dtype=np.float64)
    test = 1 - train if test_shares is None else np.asarray(test_shares, dtype=float)
    if not active.shape == train.shape == test.shape:
        raise InvalidInputError(
            f"n_active, train_shares and test_shares have {active.size}, {train.size} "
            f"and {test.size} entries; they must have one for each step of the race."
        )
    per_fit = _fit_cost(train, test, complexity, predict_cost, predict_complexity)
    return float(active @ per_fit)


def cross_validation_cost(
    n_configurations: float,
    n_folds: int = 10,
    *,
    complexity: float,
    predict_cost: float = 0.0,
    predict_complexity: float = 0.0,
) -> float:
    """Return the cost of k-fold cross-validation in fits on the whole data.

    Parameters are those of :func:`race_cost`.

    Examples
    --------
    >>> round(cross_validation_cost(100, n_folds=10, complexity=3), 2)
    729.0
    """
    check_count("n_folds", n_folds, smallest=2)
    check_positive("n_configurations", n_configurations)
    test = np.array([1 / n_folds])
    # All folds cost the same, so one is enough to know.
    fold = _fit_cost(1 - test, test, complexity, predict_cost, predict_complexity)
    return float(n_configurations * n_folds * fold[0])


def speedup_ceiling(
    max_steps: int,
    complexity: float,
    n_folds: int = 10,
    *,
    loser_level: float = 0.1,
    winner_level: float = 0.01,
    predict_cost: float = 0.0,
    predict_complexity: float = 0.0,
) -> float:
    r"""Return what a race can save at most over k-fold cross-validation.

    The luckiest race drops all configurations but one in the first step that can drop
    any, and stops. Up to there all configurations run, whatever the data.

    Parameters
    ----------
    max_steps : int
        Largest number of steps, the paper's :math:`S`.
    complexity : float
        Exponent :math:`m` of the training time.
    n_folds : int
        Folds of the cross-validation to compare with.
    loser_level, winner_level : float
        Levels :math:`\beta_l` and :math:`\alpha_l` of the sequential test.
    predict_cost, predict_complexity : float
        As in :func:`race_cost`.

    Returns
    -------
    float
        Cost of cross-validation over cost of the race. Work that configurations share
        comes on top.

    Examples
    --------
    >>> [round(speedup_ceiling(10, complexity=m), 1) for m in (1, 2, 3)]
    [16.5, 70.0, 269.5]
    >>> [round(speedup_ceiling(20, complexity=m), 2) for m in (1, 2, 3)]
    [5.25, 17.51, 52.09]
    """
    check_count("max_steps", max_steps)
    test = WaldTest(max_steps, loser_level, winner_level)
    # A race judges from the second step on, however short the zone.
    n_steps = min(max(2, first_drop(test)), max_steps)
    shares = linear_train_shares(max_steps)[:n_steps]
    # For one configuration: in the ratio their number cancels out.
    race = race_cost(
        np.ones(n_steps),
        shares,
        complexity=complexity,
        predict_cost=predict_cost,
        predict_complexity=predict_complexity,
    )
    full = cross_validation_cost(
        1,
        n_folds,
        complexity=complexity,
        predict_cost=predict_cost,
        predict_complexity=predict_complexity,
    )
    return full / race


def _fit_cost(
    train: FloatArray,
    test: FloatArray,
    complexity: float,
    predict_cost: float,
    predict_complexity: float,
) -> FloatArray:
    """Return the cost of one fit and its predictions for each share of the rows."""
    check_positive("complexity", complexity, zero_allowed=True)
    check_positive("predict_cost", predict_cost, zero_allowed=True)
    check_positive("predict_complexity", predict_complexity, zero_allowed=True)
    if np.any((train <= 0) | (train > 1) | (test < 0)):
        raise InvalidInputError(
            f"train_shares={train} must lie above 0 and at most at 1, and test_shares "
            f"must not be negative (got {test})."
        )
    cost = train**complexity + predict_cost * test * train**predict_complexity
    return np.asarray(cost)
