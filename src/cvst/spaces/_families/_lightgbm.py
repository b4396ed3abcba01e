"""LightGBM."""

from __future__ import annotations

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


def lightgbm(case: Case) -> Family:
    """Return the space of ``LGBM*``."""
    rounds = tuned_rounds(case)
    # With more leaves than a fifth of the rows, a leaf would have fewer than five.
    leaves = at_most(256, 0.2, case.n_samples, low=16)
    fewest = at_most(100, 0.1, case.n_samples)
    return Family(
        (
            Parameter(
                "learning_rate",
                floats(0.01, 0.3, log=True),
                "The smaller the rate, the more rounds and the better, down to about "
                "0.01.",
                ("eta", "shrinkage_rate"),
            ),
            Parameter(
                "n_estimators",
                rounds,
                "Rounds go with the rate, and one fit tells the losses of all of them.",
                ("num_iterations", "num_boost_round", "num_trees", "num_rounds"),
            ),
            Parameter(
                "num_leaves",
                integers(4, leaves, log=True),
                "Leaves set how complex a tree is: few for noisy or small data, "
                "hundreds for large ones.",
                ("max_leaves", "max_leaf", "max_leaf_nodes"),
            ),
            Parameter(
                "min_child_samples",
                integers(2, fewest, log=True),
                "Leaves of a few rows fit noise, leaves of many miss details.",
                ("min_data_in_leaf", "min_data", "min_samples_leaf"),
            ),
            Parameter(
                "colsample_bytree",
                floats(0.3, 1.0),
                "Trees on a part of the features are faster and less alike.",
                ("feature_fraction", "sub_feature"),
            ),
            Parameter(
                "subsample",
                floats(0.5, 1.0),
                "Trees on half to all of the rows make the sum less noisy.",
                ("bagging_fraction", "bagging", "sub_row"),
            ),
            Parameter(
                "subsample_freq",
                [1],
                "Without it subsample has no effect: new rows are drawn each round.",
                ("bagging_freq",),
            ),
            Parameter(
                "reg_lambda",
                floats(1e-3, 100, log=True),
                "Shrinks leaves with few rows; below 0.001 it hardly acts.",
                ("lambda_l2", "lambda"),
            ),
            Parameter(
                "reg_alpha",
                floats(1e-4, 10, log=True),
                "Sets small leaves to 0; useful with many noisy features.",
                ("lambda_l1",),
            ),
        ),
        rows(
            (
                "learning_rate",
                "n_estimators",
                "num_leaves",
                "min_child_samples",
                "colsample_bytree",
                "subsample",
                "subsample_freq",
                "reg_lambda",
                "reg_alpha",
            ),
            (0.05, 400, 31, 20, 0.8, 0.8, 1, 1.0, 0.001),
            (0.02, 1000, 63, 20, 0.6, 0.8, 1, 1.0, 0.001),
            (0.2, 150, 8, 20, 0.9, 0.9, 1, 0.1, 0.001),
            (0.05, 500, 8, 50, 0.5, 0.7, 1, 10.0, 1.0),
            (0.1, 200, 127, 5, 0.8, 1.0, 1, 0.001, 0.0001),
            (0.03, 600, 16, 5, 0.4, 0.6, 1, 0.01, 0.01),
        ),
        "LightGBM's page on tuning, and ranges common in benchmarks of boosted trees",
        ("n_estimators", rounds.high),
    )


FAMILIES: dict[str, Suggest] = {
    "LGBMClassifier": lightgbm,
    "LGBMRegressor": lightgbm,
    "LGBMRanker": lightgbm,
}
