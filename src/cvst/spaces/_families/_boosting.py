"""Boosting of scikit-learn."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from cvst.spaces._families._family import (
    Case,
    Family,
    Parameter,
    Suggest,
    at_most,
    rows,
    tuned_rounds,
)
from cvst.spaces._ranges import floats, integers

__all__ = ["FAMILIES"]

SOURCE = "scikit-learn's user guide, and ranges common in benchmarks of boosted trees"
RATE = Parameter(
    "learning_rate",
    floats(0.01, 0.3, log=True),
    "The smaller the rate, the more rounds and the better, down to about 0.01.",
)


def hist_gradient_boosting(case: Case) -> Family:
    """Return the space of ``HistGradientBoosting*``."""
    rounds = tuned_rounds(case)
    # With more leaves than a fifth of the rows, a leaf would have fewer than five.
    leaves = at_most(256, 0.2, case.n_samples, low=16)
    fewest = at_most(100, 0.1, case.n_samples)
    return Family(
        (
            RATE,
            Parameter(
                "max_iter",
                rounds,
                "Rounds go with the rate, and one fit tells the losses of all of them.",
            ),
            Parameter(
                "max_leaf_nodes",
                integers(4, leaves, log=True),
                "Leaves set how complex a tree is: few for noisy or small data, "
                "hundreds for large ones.",
            ),
            Parameter(
                "min_samples_leaf",
                integers(2, fewest, log=True),
                "Leaves of a few rows fit noise, leaves of many miss details.",
            ),
            Parameter(
                "l2_regularization",
                floats(1e-3, 100, log=True),
                "Shrinks leaves with few rows; below 0.001 it hardly acts.",
            ),
            Parameter(
                "max_features",
                floats(0.3, 1.0),
                "Splits that see a part of the features make trees less alike.",
            ),
        ),
        rows(
            (
                "learning_rate",
                "max_iter",
                "max_leaf_nodes",
                "min_samples_leaf",
                "l2_regularization",
                "max_features",
            ),
            (0.05, 400, 31, 20, 1.0, 0.8),
            (0.02, 1000, 63, 20, 1.0, 0.6),
            (0.2, 150, 8, 20, 0.1, 0.9),
            (0.05, 500, 8, 50, 10.0, 0.5),
            (0.1, 200, 127, 5, 0.001, 0.8),
            (0.03, 600, 16, 5, 0.01, 0.4),
        ),
        SOURCE,
        ("max_iter", rounds.high),
    )


def gradient_boosting(case: Case) -> Family:
    """Return the space of ``GradientBoosting*``."""
    rounds = tuned_rounds(case)
    return Family(
        (
            RATE,
            Parameter(
                "n_estimators",
                rounds,
                "Rounds go with the rate, and one fit tells the losses of all of them.",
            ),
            Parameter(
                "max_depth",
                integers(1, 8),
                "Depth is how many features may act together; 2 to 5 is usual.",
            ),
            Parameter(
                "min_samples_leaf",
                integers(1, at_most(50, 0.1, case.n_samples), log=True),
                "Leaves of a few rows fit noise, leaves of many miss details.",
            ),
            Parameter(
                "subsample",
                floats(0.5, 1.0),
                "Trees on half to all of the rows make the sum less noisy.",
            ),
            Parameter(
                "max_features",
                floats(0.2, 1.0),
                "Splits that see a part of the features are faster and less alike.",
            ),
        ),
        rows(
            (
                "learning_rate",
                "n_estimators",
                "max_depth",
                "min_samples_leaf",
                "subsample",
                "max_features",
            ),
            (0.05, 300, 3, 5, 0.8, 0.5),
            (0.02, 800, 4, 10, 0.7, 0.3),
            (0.2, 100, 2, 1, 1.0, 1.0),
            (0.1, 200, 6, 20, 0.6, 0.3),
            (0.1, 300, 1, 1, 0.9, 0.5),
            (0.1, 500, 4, 2, 0.9, 1.0),
        ),
        SOURCE,
        ("n_estimators", rounds.high),
    )


def ada_boost(case: Case) -> Family:
    """Return the space of ``AdaBoost*``, and of its trees if they were given."""
    parameters = [
        Parameter(
            "learning_rate",
            floats(0.01, 2.0, log=True),
            "Shrinks each member; 1 is the original method, less needs more members.",
        ),
        Parameter(
            "n_estimators",
            integers(20, 500, log=True),
            "More members fit closer, and one fit tells the losses of all numbers.",
        ),
    ]
    names = ["learning_rate", "n_estimators"]
    table = [(0.1, 200), (1.0, 50), (0.5, 300), (0.03, 500)]
    start = rows(names, *table)
    inner = case.params.get("estimator")
    # Trees that it makes itself cannot be named: its estimator is None then.
    if isinstance(inner, BaseEstimator) and "max_depth" in inner.get_params():
        parameters.append(
            Parameter(
                "estimator__max_depth",
                integers(1, 8),
                "The depth of the trees is how many features may act together.",
            )
        )
        depths = (1, 3, 2, 5)
        start = [
            {**one, "estimator__max_depth": depth}
            for one, depth in zip(start, depths, strict=True)
        ]
    return Family(tuple(parameters), start, SOURCE, ("n_estimators", 500))


FAMILIES: dict[str, Suggest] = {
    "HistGradientBoostingClassifier": hist_gradient_boosting,
    "HistGradientBoostingRegressor": hist_gradient_boosting,
    "GradientBoostingClassifier": gradient_boosting,
    "GradientBoostingRegressor": gradient_boosting,
    "AdaBoostClassifier": ada_boost,
    "AdaBoostRegressor": ada_boost,
}
